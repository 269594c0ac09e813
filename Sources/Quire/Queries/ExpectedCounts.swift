import QuireModel
import QuireStorage

/// The numbers of rows that a plan is expected to read and to match, and a description of its
/// source.
struct ExpectedCounts {
  let source: FetchExplanation.Source
  /// The expected number of rows read.
  let rowCount: Int
  /// The expected number of matches among them.
  let matchCount: Int

  init(_ part: StoreFetch, _ plan: FetchPlan, capacity: Int) throws {
    if case .answer(let answer, _) = plan.access {
      (rowCount, matchCount) = (answer.references.count, answer.references.count)
      source = FetchExplanation.Source(
        kind: .otherStore, conditions: [], parts: [], rowCount: rowCount,
        expectedRowCount: rowCount)
      return
    }
    let search = try part.planning(capacity: capacity).candidateSearch()
    let conjuncts = part.target.predicate.map(FetchCondition.conjuncts) ?? []
    let matches = try search.expectedMatchCount(conjuncts)
    /// The number of rows that are read until enough of them match, if matches are spread evenly.
    func read(of count: Int, matching matches: Int) -> Int {
      guard capacity < matches else { return count }
      return min(count, Int(Double(count) * Double(capacity) / Double(matches)))
    }
    switch plan.access {
    case .candidates(let references, let candidates):
      source = try FetchExplanation.Source(candidates, in: search, rowCount: references.count)
      let expected = source.expectedRowCount
      matchCount = min(matches, expected)
      let endsEarly = part.target.sortDescriptors.isEmpty && !part.isPending
      rowCount = endsEarly ? read(of: expected, matching: matchCount) : expected
    case .walk(let walk):
      source = try FetchExplanation.Source(walk, in: search)
      matchCount = min(matches, capacity)
      rowCount = min(walk.rowLimit, read(of: source.expectedRowCount, matching: matches))
    case .scan, .answer:
      source = FetchExplanation.Source(
        kind: .allRows(entityNames: search.storages.map(\.binding.entity.name)), conditions: [],
        parts: [], rowCount: search.rowCount, expectedRowCount: search.rowCount)
      let endsEarly = part.target.sortDescriptors.isEmpty && !part.isPending
      matchCount = endsEarly ? min(matches, capacity) : matches
      rowCount = endsEarly ? read(of: search.rowCount, matching: matches) : search.rowCount
    }
  }
}

extension FetchExplanation.Source {
  /// - Parameter rowCount: the number of rows that the source has found; `nil` to read it here.
  fileprivate init(_ source: RowSource, in search: CandidateSearch, rowCount: Int?) throws {
    func part(_ source: RowSource, _ search: CandidateSearch) throws -> FetchExplanation.Source {
      try FetchExplanation.Source(source, in: search, rowCount: nil)
    }
    switch source {
    case .names: (kind, conditions, parts) = (.namedObjects, [], [])
    case .index(let index):
      (kind, conditions, parts) = (
        .index(name: index.index.stored.title), index.usedConditions.map(\.predicate), []
      )
    case .inverse(let inverse):
      kind = .links(relationship: inverse.relationship.name)
      conditions = []
      switch inverse.destinations {
      case .named: parts = []
      case .found(let source, let destinations): parts = [try part(source, destinations)]
      }
    case .union(let sources):
      (kind, conditions, parts) = (.union, [], try sources.map { try part($0, search) })
    case .intersection(let sources):
      (kind, conditions, parts) = (.intersection, [], try sources.map { try part($0, search) })
    }
    self.rowCount = try rowCount ?? search.read(source, limit: .max)?.count ?? 0
    expectedRowCount = try search.estimate(source)
  }

  fileprivate init(_ walk: IndexWalk, in search: CandidateSearch) throws {
    kind = .indexOrder(name: walk.search.index.stored.title, isReversed: walk.isReversed)
    conditions = walk.search.usedConditions.map(\.predicate)
    parts = []
    guard let tree = try search.view.indexTree(walk.search.index.stored) else {
      (rowCount, expectedRowCount) = (0, 0)
      return
    }
    let range = walk.range
    expectedRowCount = try search.estimate([range], of: walk.search)
    rowCount = try range.lower.withUnsafeBytes { lower in
      guard let upper = range.upper else { return try tree.keyCount(from: lower, to: nil) }
      return try upper.withUnsafeBytes { try tree.keyCount(from: lower, to: $0) }
    }
  }
}

extension FetchCondition {
  /// The condition as a predicate.
  fileprivate var predicate: FetchPredicate {
    func compare(
      _ operator: FetchPredicate.Operator, _ value: PredicateValue?
    ) -> FetchPredicate { .comparison(.keyPath(path), `operator`, .constant(value)) }
    switch demand {
    case .equal(let values):
      return values.count == 1
        ? compare(.equal, values[0])
        : .comparison(.keyPath(path), .in, .aggregate(values.map { .constant($0) }))
    case .less(let value, let orEqual):
      return compare(orEqual ? .lessThanOrEqual : .lessThan, .value(value))
    case .greater(let value, let orEqual):
      return compare(orEqual ? .greaterThanOrEqual : .greaterThan, .value(value))
    case .prefix(let text): return compare(.beginsWith, .value(.string(text)))
    }
  }
}
