import QuireModel
import QuireStorage

/// Chooses the plan of a fetch in one store.
final class FetchPlanning {
  let targets: [EntityStorage]
  let entityName: String
  let predicate: FetchPredicate?
  let sortDescriptors: [FetchSortDescriptor]
  /// The number of matches wanted; `Int.max` for all.
  let capacity: Int
  let view: StoreView
  /// Whether no unsaved change counts.
  let showsRowsAlone: Bool

  init(
    _ targets: [EntityStorage], of target: FetchTarget, capacity: Int, in view: StoreView,
    showsRowsAlone: Bool
  ) {
    self.targets = targets
    entityName = target.entityName
    predicate = target.predicate
    sortDescriptors = target.sortDescriptors
    self.capacity = capacity
    self.view = view
    self.showsRowsAlone = showsRowsAlone
  }

  func candidateSearch() throws -> CandidateSearch {
    try CandidateSearch(targets, in: view, showsRowsAlone: showsRowsAlone)
  }

  func plan() throws -> FetchPlan { FetchPlan(access: try access(), entityName: entityName) }

  private func access() throws -> FetchPlan.Access {
    let conjuncts = predicate.map(FetchCondition.conjuncts) ?? []
    let walks = capacity < .max && !sortDescriptors.isEmpty
    if conjuncts.isEmpty, !walks { return .scan }
    let search = try candidateSearch()
    let source = try search.source(for: conjuncts)
    let walk = walks && capacity <= search.limit ? try walk(conjuncts, search) : nil
    if let source {
      if var cheaper = walk, try isCheaper(&cheaper, than: source, conjuncts, search) {
        return .walk(cheaper)
      }
      if let found = try search.read(source, limit: search.limit) {
        return .candidates(found, source)
      }
    }
    return walk.map { .walk($0) } ?? .scan
  }

  // MARK: Walks

  /// Whether a walk is expected to end before it has read as many rows as there are candidates. If
  /// so, it gets that number as its limit, and the candidates as its fallback.
  private func isCheaper(
    _ walk: inout IndexWalk, than source: RowSource, _ conjuncts: [FetchPredicate],
    _ search: CandidateSearch
  ) throws -> Bool {
    if source.isSurelyBest { return false }
    let candidates = try search.estimate(source)
    guard candidates > max(CandidateSearch.smallCount, capacity) else { return false }
    let matches = max(1, try search.expectedMatchCount(conjuncts))
    let inRange = try search.estimate([walk.range], of: walk.search)
    // The factor 2: rows in the order of an index are scattered, candidates are read in row order.
    guard 2 * Double(capacity) * Double(inRange) / Double(matches) < Double(candidates) else {
      return false
    }
    walk.rowLimit = min(walk.rowLimit, candidates)
    walk.fallback = source
    return true
  }

  private func walk(_ conjuncts: [FetchPredicate], _ search: CandidateSearch) throws -> IndexWalk? {
    let conditions = conjuncts.flatMap(FetchCondition.conditions)
    let first = sortDescriptors.first?.keyPath
    // Elements that are fixed to one value may precede those that give the order.
    let indexes = try search.indexes(conjuncts) { path in
      path == first || conditions.contains { $0.path == path }
    }
    var best: IndexWalk?
    for index in indexes {
      guard let walk = walk(search.search(index, conditions), search.limit) else { continue }
      // A narrower search meets fewer rows, and with more sort keys fewer rows are equal.
      if let best,
        (best.search.rank, best.groupElementCount) >= (walk.search.rank, walk.groupElementCount)
      {
        continue
      }
      best = walk
    }
    return best
  }

  private func walk(_ search: IndexSearch, _ limit: Int) -> IndexWalk? {
    let elements = search.elements
    guard search.isSingle, search.equalCount < elements.count else { return nil }
    var isReversed: Bool?
    var count = 0
    for (descriptor, element) in zip(sortDescriptors, elements[search.equalCount...]) {
      guard descriptor.keyPath == element.path, element.kind != .reference,
        element.kind != .string || descriptor.options.comparesTextAsItIs,
        !descriptor.movesAbsentValues,
        isReversed.map({ $0 == (descriptor.ascending != element.isAscending) }) ?? true
      else { break }
      isReversed = descriptor.ascending != element.isAscending
      count += 1
    }
    guard let isReversed else { return nil }
    // If the next element is bounded, only the range between its bounds is walked.
    let whole = KeyRange(lower: search.prefix, upper: IndexKey.successor(of: search.prefix))
    let bounded = search.ranges.first ?? KeyRange(lower: search.prefix, upper: search.prefix)
    return IndexWalk(
      search: search, range: search.isBounded ? bounded : whole,
      isReversed: isReversed, groupElementCount: search.equalCount + count, capacity: capacity,
      rowLimit: limit)
  }
}
