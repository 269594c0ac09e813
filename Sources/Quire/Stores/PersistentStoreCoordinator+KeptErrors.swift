import QuireStorage

extension PersistentStoreCoordinator {
  /// Called with errors that access to a typed property could not throw; `nil`, the default, writes
  /// each as a line to the standard error.
  ///
  /// An error of the engine (a damaged page, a read error of the disk) is passed when it occurs,
  /// and is also thrown by the context's next fetch or save; any other error is passed when its
  /// context ends without having thrown it. A program that only reads and exits thus learns of data
  /// that it could not read. Errors that ``PropertyReading/value(of:)`` throws are not passed.
  ///
  /// The handler is called from wherever a context is used. It must not use the context.
  public var keptErrorHandler: (@Sendable (any Error) -> Void)? {
    get { errorHandler.withLock { $0 } }
    set { errorHandler.withLock { $0 = newValue } }
  }

  /// A context keeps an error that it cannot throw.
  func recordKeptError(_ error: any Error, of context: ObjectIdentifier) {
    unthrownErrors.withLock { $0[context, default: []].append(error) }
  }

  /// A context has thrown what it kept, or ends.
  func forgetKeptErrors(of context: ObjectIdentifier) {
    _ = unthrownErrors.withLock { $0.removeValue(forKey: context) }
  }

  /// Throws the errors that contexts keep, as one error, and forgets them here; the contexts throw
  /// them as well.
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
