import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What `localizedDescription` says of the errors that Quire throws: what they say themselves. The
// texts are in one language; programs that show errors to people choose their words by the code.

extension PersistenceError: LocalizedError {
  /// The message, without the number that ``description`` puts before it.
  public var errorDescription: String? {
    var text = messageWithObject
    text += underlyingWords
    for detail in detailedErrors { text += "\n  \(detail.messageWithObject)" }
    return text
  }

  /// What ``underlying`` says; `nil` without one.
  public var failureReason: String? { underlying.map { "\($0)" } }
}

extension PersistenceError {
  // Two requirements of the standard library's `Error`, which are where Foundation finds them. The
  // documented way to them, `CustomNSError`, is full Foundation's: `QuireFoundation` conforms to
  // it. Where nobody asks, they cost nothing (`docs/decisions/0063-errors-without-foundation.md`).

  /// The domain of the error `as NSError`: ``domain``.
  public var _domain: String { Self.domain }
  /// The code of the error `as NSError`: ``code``.
  public var _code: Int { code.rawValue }
}

extension StorageError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ModelError: LocalizedError {
  public var errorDescription: String? { description }
}

extension PredicateFormatError: LocalizedError {
  public var errorDescription: String? { description }
}

extension FetchPredicateError: LocalizedError {
  public var errorDescription: String? { description }
}
