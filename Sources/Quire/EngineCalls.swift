import QuireStorage

/// Runs a call of the engine; its errors arrive as the object layer's.
func storage<Result>(_ body: () throws(StorageError) -> Result) throws(PersistenceError) -> Result {
  do {
    return try body()
  } catch {
    throw PersistenceError(.persistentStoreOperation, "the store cannot do this", underlying: error)
  }
}

extension PersistenceError {
  /// The error of the engine in a step of this layer.
  ///
  /// - Parameters:
  ///   - message: says that nothing has happened.
  ///   - question: what nobody knows where the engine cannot say whether the step took effect: as
  ///     “whether the changes are saved”.
  init(_ code: Code, _ message: String, orUnknown question: String, _ error: StorageError) {
    if case .outcomeUnknown = error {
      self.init(code, "it is unknown \(question)", underlying: error)
    } else {
      self.init(code, message, underlying: error)
    }
  }
}

extension Error {
  /// Whether another process has overwritten the state that was read.
  var isOfOvertakenState: Bool {
    if case .snapshotTooOld? = ofEngine { true } else { false }
  }

  /// The engine's error that this is, or was caused by.
  var ofEngine: StorageError? {
    switch self {
    case let error as StorageError: error
    case let error as PersistenceError: error.underlying?.ofEngine
    default: nil
    }
  }
}
