#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Everything that is wrong with a fixture, or with a folder of them, in one error.
///
/// The text is meant to be read where a test fails: Swift Testing and XCTest both print it when a
/// test throws.
///
/// ```
/// 2 failures of the fixture “Gallery 1.3.quire”:
///   1. Artwork: objects: 24 instead of 25
///   2. opening it took 412 ms, the best of 3 copies, and may take 200 ms
/// ```
public struct MigrationFixtureError: Error, Sendable, CustomStringConvertible {
  /// The subject of the check: the fixture's name, or the folder's path.
  public let subject: String
  /// One text for each thing that is wrong; never empty.
  public let failures: [String]

  init(_ subject: String, _ failures: [String]) {
    self.subject = subject
    self.failures = failures
  }

  public var description: String {
    let count = failures.count == 1 ? "1 failure" : "\(failures.count) failures"
    let list = failures.enumerated().map { number, failure in
      "\n  \(number + 1). " + failure.replacing("\n", with: "\n     ")
    }
    return "\(count) of \(subject):" + list.joined()
  }
}

#if !canImport(FoundationEssentials)
  // There XCTest asks Foundation for the text of an error.
  extension MigrationFixtureError: LocalizedError {
    public var errorDescription: String? { description }
  }
#endif

extension MigrationFixtureError: LocalizedError {
  public var errorDescription: String? { description }
}
