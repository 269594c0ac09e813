import QuireModel

// Short pieces of work with a context of their own.

extension PersistentContainer {
  /// Runs `body` off the caller's actor with a context of its own, and saves what it has changed.
  ///
  /// ```swift
  /// try await container.write { context in
  ///   let artist = Artist(context: context)
  ///   artist.name = "Katsushika Hokusai"
  /// }
  /// ```
  ///
  /// When `body` throws, or the save fails, nothing is saved and all changes are dropped with the
  /// context.
  ///
  /// `body` runs on a thread of the stores', apart from those that Swift runs tasks on. While the
  /// save waits for its turn to write, or for the disk, it has no thread: thousands may wait. Among
  /// tasks, those that have come first have the first turn.
  ///
  /// - Parameters:
  ///   - attempts: how often `body` may be run, each time in a new context with the newest state:
  ///     again if the save fails as another one came first
  ///     (``PersistenceError/Code/managedObjectMerge``,
  ///     ``PersistenceError/Code/managedObjectConstraintMerge``). Work that is to be run again
  ///     should do nothing but change objects of its context.
  ///   - body: the work.
  /// - Returns: what `body` returns, when it is saved: no object, but an
  ///   ``ManagedObject/objectID``, which finds the object in another context.
  /// - Throws: what `body` or ``ManagedObjectContext/save()`` throws; `CancellationError` if the
  ///   task is cancelled before `body` is run, or before it is the save's turn to write. Nothing is
  ///   written then; a write that was begun is finished, and on disk when this returns.
  @concurrent
  @discardableResult
  public final func write<Result: Sendable>(
    attempts: Int = 1, _ body: @Sendable (ManagedObjectContext) async throws -> Result
  ) async throws -> Result {
    for _ in 1..<max(attempts, 1) {
      do {
        return try await save(body)
      } catch let error as PersistenceError where error.isConflict {
        try Task.checkCancellation()
      }
    }
    return try await save(body)
  }

  private func save<Result: Sendable>(
    _ body: @Sendable (ManagedObjectContext) async throws -> Result
  ) async throws -> Result {
    try await performBackgroundTask { context in
      try Task.checkCancellation()
      let result = try await body(context)
      try await context.saveInTask()
      return result
    }
  }

  /// The same, on the caller's thread, which waits. Cancellation is not heard.
  @discardableResult
  public final func writeAndWait<Result: Sendable>(
    attempts: Int = 1, _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    for _ in 1..<max(attempts, 1) {
      do {
        return try save(body)
      } catch let error as PersistenceError where error.isConflict {}
    }
    return try save(body)
  }

  private func save<Result: Sendable>(
    _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let context = newBackgroundContext()
    let result = try body(context)
    try context.save()
    return result
  }

  /// Runs `body` off the caller's actor with a context of its own, to read.
  ///
  /// It runs on a thread of the stores', as in ``performBackgroundTask(_:)``.
  ///
  /// - Throws: what `body` throws; ``PersistenceError/Code/persistentStoreOperation`` when it has
  ///   changed objects, which are not saved; an error of reading that the context has kept;
  ///   `CancellationError` if the task is cancelled before `body` is run.
  @concurrent
  public final func read<Result: Sendable>(
    _ body: @Sendable (ManagedObjectContext) async throws -> Result
  ) async throws -> Result {
    try await performBackgroundTask { context in
      try Task.checkCancellation()
      let result = try await body(context)
      try context.requireNothingToSave()
      return result
    }
  }

  /// The same, on the caller's thread.
  public final func readAndWait<Result: Sendable>(
    _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let context = newBackgroundContext()
    let result = try body(context)
    try context.requireNothingToSave()
    return result
  }
}

extension ManagedObjectContext {
  fileprivate final func requireNothingToSave() throws {
    try throwKeptErrors()
    guard hasChanges else { return }
    throw PersistenceError(
      .persistentStoreOperation,
      "objects were changed while they were to be read, and are not saved: change them in write(_:)"
    )
  }
}

extension PersistenceError {
  /// Whether another save came first, so that the same work may succeed with the newest state.
  fileprivate var isConflict: Bool {
    code == .managedObjectMerge || code == .managedObjectConstraintMerge
  }
}
