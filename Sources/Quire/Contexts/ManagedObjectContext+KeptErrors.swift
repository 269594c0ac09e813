import QuireStorage

extension ManagedObjectContext {
  /// Errors that could not be thrown where they happened: in a typed property, in an array of
  /// objects that are read when they are used, in a hook.
  ///
  /// The next ``fetch(_:)`` or ``save()`` throws and forgets them, and so does
  /// ``throwKeptErrors()``. A program that only reads finds out here at the end whether it has read
  /// everything. At most 16 that differ are kept.
  public final var keptErrors: [any Error] { unthrownErrors.errors }

  /// Throws the errors in ``keptErrors``, if there are any, and forgets them.
  ///
  /// - Throws: the oldest error. Where there are several it is a ``PersistenceError`` that has the
  ///   others as its ``PersistenceError/detailedErrors``.
  public final func throwKeptErrors() throws {
    guard let error = unthrownErrors.take() else { return }
    if unthrownErrors.areThrownAtOnce { throw error }
    persistentStoreCoordinator?.forgetKeptErrors(of: ObjectIdentifier(self))
    guard var persistenceError = error as? PersistenceError else { throw error }
    persistenceError.message += "; kept since an earlier statement, which could not throw it"
    throw persistenceError
  }

  /// Keeps an error that a property could not throw, for the next fetch or save to throw.
  final func report(_ error: any Error) {
    guard unthrownErrors.keep(error), !unthrownErrors.areThrownAtOnce,
      let persistentStoreCoordinator
    else { return }
    persistentStoreCoordinator.recordKeptError(error, of: ObjectIdentifier(self))
    if isStoresFault(error) { persistentStoreCoordinator.handleKeptError(error) }
  }

  /// Calls `body`, and throws the errors that are kept meanwhile.
  final func throwingKeptErrors<Result>(_ body: () throws -> Result) throws -> Result {
    let former = unthrownErrors
    unthrownErrors = KeptErrors(areThrownAtOnce: true)
    defer {
      let left = unthrownErrors
      unthrownErrors = former
      for error in left.errors { report(error) }
    }
    let result = try body()
    try throwKeptErrors()
    return result
  }

  /// Passes the errors that were never thrown to the coordinator's handler, as the context ends.
  final func handOverKeptErrors() {
    if unthrownErrors.isEmpty { return }
    let coordinator = persistentStoreCoordinator
    coordinator?.forgetKeptErrors(of: ObjectIdentifier(self))
    // The handler got those that a store has caused when they happened.
    for error in unthrownErrors.errors where !isStoresFault(error) {
      coordinator?.handleKeptError(error)
    }
  }
}

/// Whether an error came from the engine: the disk or the file is at fault, not the program.
private func isStoresFault(_ error: any Error) -> Bool {
  error is StorageError || (error as? PersistenceError)?.underlying is StorageError
}
