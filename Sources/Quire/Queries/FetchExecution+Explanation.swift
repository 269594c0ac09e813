import QuireModel
import QuireStorage

extension FetchRequest {
  /// Runs the request as ``ManagedObjectContext/fetch(_:)`` would, without making objects, and says
  /// how: which indexes are searched, what is filtered and sorted, and how many rows were expected
  /// and read.
  ///
  /// ```swift
  /// print(try request.explain(in: context))
  /// ```
  ///
  /// - Throws: what ``ManagedObjectContext/fetch(_:)`` throws.
  /// - Complexity: that of the fetch; keys of indexes that are parts of a plan are read twice.
  public func explain(in context: ManagedObjectContext) throws -> FetchExplanation {
    try context.bringUpToDate()
    return try context.inOneState {
      try FetchExecution(self, in: context).explanation(of: self)
    }
  }
}

extension FetchExecution {
  fileprivate func explanation<Result>(
    of request: FetchRequest<Result>
  ) throws -> FetchExplanation {
    var visitor = CountingVisitor()
    var searches: [FetchExplanation.Search] = []
    let first = try parts.first?.plan(capacity: capacity)
    let isInOrder = sortDescriptors.isEmpty || parts.count == 1 && first?.isSorted ?? false
    if isInOrder, !parts.contains(where: \.isPending) { visitor.limit = capacity }
    for (index, part) in parts.enumerated() {
      let plan = index == 0 ? first : nil
      searches.append(try explain(part, plan ?? part.plan(capacity: capacity), &visitor))
      if visitor.hasEnough { break }
    }
    let count = max(0, visitor.matchCount - offset)
    return FetchExplanation(
      entityName: parts.first?.target.entityName ?? request.entityName,
      predicate: request.predicate, sortDescriptors: sortDescriptors, fetchLimit: limit,
      fetchOffset: offset, searches: searches, objectCount: limit > 0 ? min(count, limit) : count)
  }

  private func explain(
    _ part: StoreFetch, _ plan: FetchPlan, _ visitor: inout CountingVisitor
  ) throws -> FetchExplanation.Search {
    let expected = try ExpectedCounts(part, plan, capacity: capacity)
    let before = visitor.matchCount
    visitor.tally = CountingVisitor.Tally()
    _ = try part.visitMatches(&visitor, plan)
    let isWalked = plan.isWalk && visitor.tally.abandonedRowCount == 0
    let isCountedByKeys =
      try part.target.predicate != nil && part.view.incremental == nil && part.rowCount() != nil
    let order: FetchExplanation.Order
    if sortDescriptors.isEmpty {
      order = .none
    } else if plan.isSorted || isWalked {
      order = .source
    } else {
      order = .sort(kept: capacity == .max ? nil : capacity)
    }
    return FetchExplanation.Search(
      storeIdentifier: part.session.store.identifier, source: expected.source,
      filter: part.target.predicate, order: order, rowCount: visitor.tally.rowCount,
      expectedRowCount: expected.rowCount, unsavedObjectCount: part.unsavedCount,
      matchCount: visitor.matchCount - before, expectedMatchCount: expected.matchCount,
      endedEarly: visitor.hasEnough
        || isWalked && visitor.tally.rowCount < expected.source.rowCount,
      abandonedRowCount: visitor.tally.abandonedRowCount,
      isCountedByKeys: isCountedByKeys)
  }
}

/// Counts the rows that a fetch reads, and its matches.
private struct CountingVisitor: MatchVisitor {
  /// The counts that survive when the visitor's copy is discarded with an abandoned walk.
  final class Tally {
    var rowCount = 0
    var abandonedRowCount = 0
  }

  var tally = Tally()
  private(set) var matchCount = 0
  /// The number of matches after which the search stops.
  var limit = Int.max

  var readsKeys: Bool { false }

  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) -> Bool {
    matchCount += 1
    return !hasEnough
  }

  var hasEnough: Bool { matchCount >= limit }

  static var countsRows: Bool { true }
  mutating func countRow() { tally.rowCount += 1 }
  mutating func abandonWalk() { tally.abandonedRowCount = tally.rowCount }
}
