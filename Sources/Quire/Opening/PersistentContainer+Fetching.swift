extension PersistentContainer {
  /// Searches in the background: Core Data's asynchronous fetch, whose result can go anywhere.
  ///
  /// ```swift
  /// let ids = try await container.objectIDs(for: request) { print($0.rowCount) }
  /// let artworks = ids.compactMap { viewContext.object(with: $0) as? Artwork }
  /// ```
  ///
  /// What no context has saved is not found. A cancelled task ends the search with a
  /// `CancellationError`, within a thousand rows or so.
  ///
  /// - Parameter progress: called where the search runs, every thousand rows or so that are looked
  ///   at, and at the end.
  /// - Throws: what ``ManagedObjectContext/fetch(_:)`` throws; `CancellationError`.
  public final func objectIDs<Result: ManagedObject>(
    for request: FetchRequest<Result>,
    progress: (@Sendable (FetchProgress) -> Void)? = nil
  ) async throws -> [ManagedObjectID] {
    try await performBackgroundTask { context in
      try context.objectIDs(for: request) { state in
        try Task.checkCancellation()
        progress?(state)
      }
    }
  }
}
