import QuireStorage

extension PersistentStoreCoordinator {
  /// Called with errors that a typed property could not throw; `nil`, as at first, writes each as a
  /// line to the standard error.
  ///
  /// An error of the engine (a damaged page, a disk that does not read) comes here when it happens,
  /// and is thrown by the context's next fetch or save as well; any other comes when its context
  /// ends and has not thrown it. So a program that reads, and exits, learns of what it could not
  /// read. Errors that ``PropertyReading/value(of:)`` throws do not come here.
  ///
  /// The handler is called from wherever a context is used. It must not use the context.
  public var keptErrorHandler: (@Sendable (any Error) -> Void)? {
    get { errorHandler.withLock { $0 } }
    set { errorHandler.withLock { $0 = newValue } }
  }

  /// A context keeps an error that it cannot throw.
  func noteKeptError(_ error: any Error, of context: ManagedObjectContext) {
    unthrownErrors.withLock { $0[ObjectIdentifier(context), default: []].append(error) }
  }

  /// A context has thrown what it kept, or ends.
  func forgetKeptErrors(of context: ManagedObjectContext) {
    _ = unthrownErrors.withLock { $0.removeValue(forKey: ObjectIdentifier(context)) }
  }

  /// Throws what contexts keep, as one error, and forgets it here; the contexts throw it as well.
  ///
  /// - Parameter failure: another error to throw, before all others.
  func throwKeptErrors(and failure: (any Error)?) throws {
    let errors = unthrownErrors.withLock { unthrown in
      defer { unthrown = [:] }
      return unthrown.values.joined()
    }
    var kept = KeptErrors()
    if let failure { _ = kept.keep(failure) }
    for error in errors { _ = kept.keep(error) }
    if let error = kept.take() { throw error }
  }

  func handleKeptError(_ error: any Error) {
    if let handler = keptErrorHandler { return handler(error) }
    StandardError.write(line: "Quire: a property could not be read or set: \(error)")
  }
}
