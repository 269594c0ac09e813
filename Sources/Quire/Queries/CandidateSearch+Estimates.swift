import QuireModel
import QuireStorage

// Estimates of the number of rows that a source finds. No statistics are kept: trees know their
// numbers of entries, and the paths to two keys tell roughly how many entries lie between.
extension CandidateSearch {
  func estimate(_ source: RowSource) throws -> Int {
    switch source {
    case .names(let rows): return rows.count
    case .index(let search): return try estimate(search)
    case .inverse(let search): return min(rowCount, try estimate(search))
    case .union(let parts):
      // Assumes that the parts have no rows in common.
      return min(rowCount, try parts.reduce(0) { try $0 + estimate($1) })
    case .intersection(let parts):
      // Assumes that the conditions are independent.
      let shares = try parts.map { Double(try estimate($0)) / Double(max(1, rowCount)) }
      return Int((Double(rowCount) * shares.reduce(1, *)).rounded())
    }
  }

  /// Upper estimate of the number of rows that match all predicates. A condition that no index
  /// covers is taken to be true of every row.
  func expectedMatchCount(_ conjuncts: [FetchPredicate]) throws -> Int {
    var paths: Set<[String]> = []
    var expected = Double(rowCount)
    for choice in try choices(for: conjuncts).sorted(by: { $0.paths.count > $1.paths.count })
    where choice.paths.isDisjoint(with: paths) {
      paths.formUnion(choice.paths)
      expected *= Double(try estimate(choice.source)) / Double(max(1, rowCount))
    }
    return Int(expected.rounded())
  }

  private func estimate(_ search: IndexSearch) throws -> Int {
    try estimate(search.ranges, of: search)
  }

  /// The same estimate for other ranges of the search's index.
  func estimate(_ ranges: [KeyRange], of search: IndexSearch) throws -> Int {
    guard let tree = try view.indexTree(search.index.stored) else { return 0 }
    let count = try estimate(ranges, in: tree)
    // An index of an ancestor has rows of other entities as well.
    guard search.index.stored.entities.count > storages.count, tree.count > rowCount else {
      return min(rowCount, count)
    }
    return Int((Double(count) * Double(rowCount) / Double(tree.count)).rounded(.up))
  }

  /// Estimates many ranges from a sample of them.
  private func estimate(_ ranges: [KeyRange], in tree: IndexTree) throws -> Int {
    let step = max(1, ranges.count / CandidateSearch.sampleCount)
    var (sampleCount, keyCount) = (0, 0)
    for index in stride(from: 0, to: ranges.count, by: step) {
      sampleCount += 1
      keyCount += try tree.estimatedKeyCount(from: ranges[index].lower, to: ranges[index].upper)
    }
    guard sampleCount < ranges.count else { return keyCount }
    return Int((Double(keyCount) * Double(ranges.count) / Double(sampleCount)).rounded(.up))
  }

  private func estimate(_ search: InverseSearch) throws -> Int {
    switch search.destinations {
    case .named(let objects):
      return try objects.reduce(0) { try $0 + estimateMembers(of: $1, search.inverse) }
    case .found(let source, let destinations):
      let expected = Double(try destinations.estimate(source))
      let members = try destinations.memberCount(search.inverse)
      return Int((expected * members).rounded(.up))
    }
  }

  private func estimateMembers(of owner: Reference, _ inverse: String) throws -> Int {
    guard let storage = view.entities.storage(of: owner),
      let slot = storage.binding.slot(named: inverse)
    else { return 0 }
    guard let link = storage.link(slot) else { return 1 }
    guard let links = try view.links(link) else { return 0 }
    let prefix = LinkKey.prefix(of: owner.key)
    return try links.tree.estimatedKeyCount(from: prefix, to: IndexKey.successor(of: prefix))
  }

  /// The average number of objects that a row refers to by a relationship.
  private func memberCount(_ relationship: String) throws -> Double {
    // Entities of a family may share a tree.
    var trees: Set<StoredEntity.Link> = []
    for storage in storages {
      guard let slot = storage.binding.slot(named: relationship) else { continue }
      guard let link = storage.link(slot) else { return 1 }
      trees.insert(link)
    }
    let linkCount = try trees.reduce(0) { try $0 + (view.links($1)?.tree.count ?? 0) }
    return Double(linkCount) / Double(max(1, rowCount))
  }

  private static let sampleCount = 16
}
