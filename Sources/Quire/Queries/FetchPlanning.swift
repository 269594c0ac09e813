import QuireModel
import QuireStorage

/// What a plan is made for.
final class FetchPlanning {
  let targets: [EntityStorage]
  let entityName: String
  let predicate: FetchPredicate?
  let sortDescriptors: [FetchSortDescriptor]
  /// How many matches are wanted; `Int.max` for all.
  let capacity: Int
  let view: StoreView
  /// Whether nothing unsaved counts.
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
    if let source = try search.source(for: conjuncts),
      let found = try search.read(source, limit: search.limit)
    {
      return .candidates(found, source)
    }
    guard walks, capacity <= search.limit else { return .scan }
    return try walk(conjuncts, search).map { .walk($0) } ?? .scan
  }

  // MARK: Walks

  private func walk(_ conjuncts: [FetchPredicate], _ search: CandidateSearch) throws -> IndexWalk? {
    let conditions = conjuncts.flatMap(FetchCondition.conditions)
    let first = sortDescriptors.first?.keyPath
    // Elements that are narrowed to one value may come before those that give the order.
    let indexes = try search.indexes(conjuncts) { path in
      path == first || conditions.contains { $0.path == path }
    }
    for index in indexes {
      if let walk = walk(search.search(index, conditions), search.limit) { return walk }
    }
    return nil
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
    return IndexWalk(
      search: search,
      range: KeyRange(lower: search.prefix, upper: IndexKey.successor(of: search.prefix)),
      isReversed: isReversed, groupElementCount: search.equalCount + count, capacity: capacity,
      rowLimit: limit)
  }
}
