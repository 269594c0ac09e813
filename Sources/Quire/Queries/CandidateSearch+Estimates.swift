import QuireModel
import QuireStorage

// How many rows a source is expected to lead to. Nothing is kept for it: trees know how many
// entries they have, and the ways to two keys tell about how many lie between.
extension CandidateSearch {
  func estimate(_ source: RowSource) throws -> Int {
    switch source {
    case .names(let rows): return rows.count
    case .index(let search): return try estimate(search)
    case .inverse(let search): return min(rowCount, try estimate(search))
    case .union(let parts):
      // As if no row were found twice.
      return min(rowCount, try parts.reduce(0) { try $0 + estimate($1) })
    case .intersection(let parts):
      // As if one condition said nothing of another.
      let shares = try parts.map { Double(try estimate($0)) / Double(max(1, rowCount)) }
      return Int((Double(rowCount) * shares.reduce(1, *)).rounded())
    }
  }

  /// How many rows all the predicates are expected to be true of, at most: as if what no index
  /// knows were true of all.
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

  /// The same of other ranges of its index.
  func estimate(_ ranges: [KeyRange], of search: IndexSearch) throws -> Int {
    guard let tree = try view.indexTree(search.index.stored) else { return 0 }
    let count = try estimate(ranges, in: tree)
    // An index of an ancestor has rows of other entities as well.
    guard search.index.stored.entities.count > storages.count, tree.count > rowCount else {
      return min(rowCount, count)
    }
    return Int((Double(count) * Double(rowCount) / Double(tree.count)).rounded(.up))
  }

  /// Of many ranges some are looked at, and the rest is taken to be like them.
  private func estimate(_ ranges: [KeyRange], in tree: IndexTree) throws -> Int {
    let step = max(1, ranges.count / CandidateSearch.sampleCount)
    var (sampleCount, keyCount) = (0, 0)
    for place in stride(from: 0, to: ranges.count, by: step) {
      sampleCount += 1
      keyCount += try tree.estimatedKeyCount(from: ranges[place].lower, to: ranges[place].upper)
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

  /// How many objects one of the rows leads to by a relationship, on average.
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
