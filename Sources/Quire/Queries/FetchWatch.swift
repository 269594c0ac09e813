import QuireModel

/// How far a fetch has come: see ``ManagedObjectContext/objectIDs(for:progress:)``.
public struct FetchProgress: Hashable, Sendable {
  /// How many rows were looked at.
  public fileprivate(set) var rowCount = 0
  /// How many of them are what is looked for, those that offset and limit leave out among them.
  public fileprivate(set) var matchCount = 0
}

/// Somebody who is told how far a fetch is, and may end it.
final class FetchWatch {
  /// How many rows are looked at between two calls.
  static var interval: Int { 1_024 }

  private let report: (FetchProgress) throws -> Void
  private var progress = FetchProgress()

  init(_ report: @escaping (FetchProgress) throws -> Void) { self.report = report }

  fileprivate func countRow() throws {
    progress.rowCount += 1
    if progress.rowCount % FetchWatch.interval == 0 { try report(progress) }
  }

  fileprivate func countMatch() { progress.matchCount += 1 }

  func end() throws { try report(progress) }
}

/// A visitor of a fetch that is watched.
private struct WatchedVisitor<Visitor: MatchVisitor>: MatchVisitor {
  var visitor: Visitor
  let watch: FetchWatch

  var readsKeys: Bool { visitor.readsKeys }

  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) throws -> Bool {
    watch.countMatch()
    return try visitor.visit(subject, at: reference, sortedBy: paths, object, row: row)
  }

  static var countsRows: Bool { true }
  mutating func countRow() throws { try watch.countRow() }

  mutating func abandonWalk() { visitor.abandonWalk() }
}

extension StoreFetch {
  /// - Parameter watch: is told how far the search is, and may end it.
  func visitMatches<Visitor: MatchVisitor>(
    _ visitor: inout Visitor, _ plan: FetchPlan, _ watch: FetchWatch?
  ) throws -> Bool {
    guard let watch else { return try visitMatches(&visitor, plan) }
    var watched = WatchedVisitor(visitor: visitor, watch: watch)
    defer { visitor = watched.visitor }
    return try visitMatches(&watched, plan)
  }
}

extension ManagedObjectContext {
  /// The IDs of the objects that ``fetch(_:)`` would return, told on the way how far the search is.
  ///
  /// - Parameter progress: called every thousand rows or so that are looked at, and at the end.
  ///   What it throws ends the search and is thrown: `try Task.checkCancellation()` makes it one
  ///   that can be cancelled.
  /// - Throws: what ``objectIDs(for:)`` and `progress` throw.
  public final func objectIDs<Result: ManagedObject>(
    for request: FetchRequest<Result>, progress: (FetchProgress) throws -> Void
  ) throws -> [ManagedObjectID] {
    try withoutActuallyEscaping(progress) { progress in
      let watch = FetchWatch(progress)
      let ids = try objectIDs(for: request, watch)
      try watch.end()
      return ids
    }
  }
}

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
