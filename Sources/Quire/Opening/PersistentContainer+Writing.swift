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
  /// - Returns: what `body` returns, when it is saved: no object, but an
  ///   ``ManagedObject/objectID``, which is permanent by then if it is asked for after
  ///   ``ManagedObjectContext/obtainPermanentIDs(for:)``.
  /// - Throws: what `body` or ``ManagedObjectContext/save()`` throws.
  @concurrent
  @discardableResult
  public final func write<Result: Sendable>(
    _ body: @Sendable (ManagedObjectContext) async throws -> Result
  ) async throws -> Result {
    try await performBackgroundTask { context in
      let result = try await body(context)
      try context.save()
      return result
    }
  }

  /// The same, on the caller's thread.
  @discardableResult
  public final func writeAndWait<Result: Sendable>(
    _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let context = newBackgroundContext()
    let result = try body(context)
    try context.save()
    return result
  }

  /// Runs `body` off the caller's actor with a context of its own, to read.
  ///
  /// - Throws: what `body` throws; ``PersistenceError/Code/persistentStoreOperation`` when it has
  ///   changed objects, which are not saved; an error of reading that the context has kept.
  @concurrent
  public final func read<Result: Sendable>(
    _ body: @Sendable (ManagedObjectContext) async throws -> Result
  ) async throws -> Result {
    try await performBackgroundTask { context in
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
