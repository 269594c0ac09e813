import QuireModel

/// The progress of a fetch: see ``ManagedObjectContext/objectIDs(for:progress:)``.
public struct FetchProgress: Hashable, Sendable {
  /// The number of rows read.
  public fileprivate(set) var rowCount = 0
  /// The number of matches among them, including those that offset and limit leave out.
  public fileprivate(set) var matchCount = 0
}

/// Reports the progress of a fetch to a closure, which can end the fetch by throwing.
final class FetchWatch {
  /// The number of rows between two reports.
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

/// A visitor that reports progress and passes the matches on to another visitor.
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
  /// - Parameter watch: reports the progress of the search, and can end it.
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
  /// The IDs of the objects that ``fetch(_:)`` would return, with reports of the search's progress.
  ///
  /// - Parameter progress: called after about every thousand rows read, and at the end. An error
  ///   that it throws ends the search and is rethrown: `try Task.checkCancellation()` makes the
  ///   search one that can be cancelled.
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
