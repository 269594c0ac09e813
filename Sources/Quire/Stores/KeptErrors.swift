/// Errors of what cannot throw, such as a typed property, until a call that can throws them.
package struct KeptErrors {
  /// More are not told apart: a store that is damaged in many ways has been told of by then.
  package static let limit = 16

  /// The oldest first, each once.
  package private(set) var errors: [any Error] = []
  private var descriptions: [String] = []

  /// Whether the caller of what cannot throw throws them when it has returned.
  package let areThrownAtOnce: Bool

  package init(areThrownAtOnce: Bool = false) { self.areThrownAtOnce = areThrownAtOnce }

  package var isEmpty: Bool { errors.isEmpty }

  /// - Returns: whether the error is a new one.
  package mutating func keep(_ error: any Error) -> Bool {
    let description = "\(error)"
    guard errors.count < KeptErrors.limit, !descriptions.contains(description) else { return false }
    errors.append(error)
    descriptions.append(description)
    return true
  }

  /// Forgets all errors.
  ///
  /// - Returns: the oldest one, with the others as its details; `nil` when there is none.
  package mutating func take() -> (any Error)? {
    let kept = errors
    self = KeptErrors(areThrownAtOnce: areThrownAtOnce)
    guard let first = kept.first, kept.count > 1 else { return kept.first }
    func persistenceError(_ error: any Error) -> PersistenceError {
      error as? PersistenceError
        ?? PersistenceError(
          .persistentStoreOperation, "a property could not be read or set", underlying: error)
    }
    var error = persistenceError(first)
    error.detailedErrors += kept.dropFirst().map(persistenceError)
    return error
  }
}
