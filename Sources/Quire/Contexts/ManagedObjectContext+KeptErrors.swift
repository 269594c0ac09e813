import QuireStorage

extension ManagedObjectContext {
  /// Errors that could not be thrown where they happened: a typed property, an array of objects
  /// that are read when they are looked at, a hook.
  ///
  /// The next ``fetch(_:)`` or ``save()`` throws and forgets them, and so does
  /// ``throwKeptErrors()``. A program that only reads, and is done, asks here whether it has read
  /// everything. At most 16 that differ are kept.
  public final var keptErrors: [any Error] { unthrownErrors.errors }

  /// Throws what ``keptErrors`` has, if it has anything, and forgets it.
  ///
  /// - Throws: the oldest error. Where there are several it is a ``PersistenceError`` that has the
  ///   others as its ``PersistenceError/detailedErrors``.
  public final func throwKeptErrors() throws {
    guard let error = unthrownErrors.take() else { return }
    if throwsKeptErrors { throw error }
    persistentStoreCoordinator?.forgetKeptErrors(of: ObjectIdentifier(self))
    guard var persistenceError = error as? PersistenceError else { throw error }
    persistenceError.message += "; kept since an earlier statement, which could not throw it"
    throw persistenceError
  }

  /// Keeps an error that a property could not throw, for the next fetch or save to throw.
  final func report(_ error: any Error) {
    guard unthrownErrors.keep(error), !throwsKeptErrors, let persistentStoreCoordinator else {
      return
    }
    persistentStoreCoordinator.recordKeptError(error, of: ObjectIdentifier(self))
    if isStoresFault(error) { persistentStoreCoordinator.handleKeptError(error) }
  }

  /// Throws the errors that are kept while something is read.
  final func throwingKeptErrors<Result>(_ body: () throws -> Result) throws -> Result {
    let (former, wasThrowing) = (unthrownErrors, throwsKeptErrors)
    (unthrownErrors, throwsKeptErrors) = (KeptErrors(), true)
    defer {
      let left = unthrownErrors
      (unthrownErrors, throwsKeptErrors) = (former, wasThrowing)
      for error in left.errors { report(error) }
    }
    let result = try body()
    try throwKeptErrors()
    return result
  }

  /// Hands what was never thrown to the coordinator's handler, as there is nobody left to throw it.
  final func handOverKeptErrors() {
    if unthrownErrors.isEmpty { return }
    let coordinator = persistentStoreCoordinator
    coordinator?.forgetKeptErrors(of: ObjectIdentifier(self))
    // Of those that a store is to blame for the handler was told at once.
    for error in unthrownErrors.errors where !isStoresFault(error) {
      coordinator?.handleKeptError(error)
    }
  }
}

/// Whether an error came from the engine: the disk or the file is at fault, not the program.
private func isStoresFault(_ error: any Error) -> Bool {
  error is StorageError || (error as? PersistenceError)?.underlying is StorageError
}
