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

  init(_ targets: [EntityStorage], of target: FetchTarget, capacity: Int, in view: StoreView) {
    self.targets = targets
    entityName = target.entityName
    predicate = target.predicate
    sortDescriptors = target.sortDescriptors
    self.capacity = capacity
    self.view = view
  }

  /// Few rows are looked up as fast as they are read one after the other.
  private static let smallCount = 64

  /// How many rows the predicate is true of, where the keys of an index say it: then no row is
  /// read.
  func coveredCount() throws -> Int? {
    guard let conditions = predicate.flatMap(FetchCondition.equalities) else { return nil }
    var rowCount = 0
    for storage in targets { rowCount += try view.count(of: storage) }
    for index in try usableIndexes(conditions) where !canDangle(index) {
      let search = IndexSearch(index, conditions, rowCount: rowCount, reference(of:))
      // An index may have a property twice.
      let narrowed = search.elements.prefix(search.equalCount)
      guard search.isExact,
        conditions.allSatisfy({ condition in narrowed.contains { $0.path == condition.path } })
      else { continue }
      guard let tree = try view.indexTree(index.stored) else { return 0 }
      return try search.ranges.reduce(0) { try $0 + count(tree, $1, index) }
    }
    return nil
  }

  /// Whether a key may be of a row that leads to an object which is gone.
  private func canDangle(_ index: EntityIndex) -> Bool {
    index.stored.elements.contains { element in
      element.kind == .reference
        && targets.contains { storage in
          storage.binding.slot(named: element.path[0])
            .map { storage.binding.traits[$0].canDangle } ?? true
        }
    }
  }

  private func count(_ tree: IndexTree, _ range: KeyRange, _ index: EntityIndex) throws -> Int {
    let takesAll = index.stored.entities.count == targets.count
    return try range.lower.withUnsafeBytes { lower in
      try (range.upper ?? []).withUnsafeBytes { bytes in
        let upper = range.upper == nil ? nil : bytes
        if takesAll { return try tree.keyCount(from: lower, to: upper) }
        var count = 0
        try tree.visitKeys(from: lower) { key in
          if let upper, CanonicalText.byteOrder(key, upper) != .ascending { return false }
          if IndexKey.reference(of: key).map(isTarget) ?? false { count += 1 }
          return true
        }
        return count
      }
    }
  }

  func plan() throws -> FetchPlan { FetchPlan(access: try access(), entityName: entityName) }

  private func access() throws -> FetchPlan.Access {
    let conditions = predicate.map(FetchCondition.conditions) ?? []
    let walks = capacity < .max && !sortDescriptors.isEmpty
    if conditions.isEmpty, !walks { return .scan }
    let indexes = try usableIndexes(conditions)
    if indexes.isEmpty, !conditions.contains(where: \.namesObjects) { return .scan }
    var rowCount = 0
    for storage in targets { rowCount += try view.count(of: storage) }
    let limit = max(FetchPlanning.smallCount, rowCount / 4)
    if let named = namedRows(conditions, limit) { return .candidates(named, .names) }
    // A search is laid out where it narrows something, or has an order to give.
    let searches = indexes.map {
      IndexSearch($0, conditions, rowCount: rowCount, reference(of:))
    }
    var useful = searches.filter(\.isUseful)
    if useful.count > 1 { useful.sort { $0.rank > $1.rank } }
    if useful.first.map({ $0.equalCount < $0.elements.count }) ?? true,
      let links = try linkCandidates(conditions, limit)
    {
      return links
    }
    for search in useful.prefix(3) {
      if let found = try candidates(search, limit) {
        return .candidates(found, .index(search.index))
      }
    }
    guard walks, capacity <= limit else { return .scan }
    for search in searches {
      if let walk = walk(search, limit) { return .walk(walk) }
    }
    return .scan
  }

  private func isTarget(_ reference: Reference) -> Bool {
    targets.contains { $0.stored.number == reference.entity }
  }

  /// The indexes that have all rows of which the predicate can be true, and tell them apart or put
  /// them in an order that is asked for.
  private func usableIndexes(_ conditions: [FetchCondition]) throws -> [EntityIndex] {
    guard let first = targets.first else { return [] }
    let walks = capacity < .max
    var usable: [EntityIndex] = []
    for index in try view.indexes().indexes(of: first.stored.number) {
      // Whatever is narrowed or walked is so by the first element.
      guard let path = index.stored.elements.first?.path,
        conditions.contains(where: { $0.path == path })
          || walks && sortDescriptors.first?.keyPath == path,
        targets.allSatisfy({ index.stored.entities.contains($0.stored.number) }),
        isWhole(index)
      else { continue }
      usable.append(index)
    }
    return usable
  }

  /// Whether the index has all rows, or all of which the predicate can be true.
  private func isWhole(_ index: EntityIndex) -> Bool {
    guard let partial = index.predicate else { return true }
    let conjuncts = predicate.map(FetchCondition.conjuncts) ?? []
    return FetchCondition.conjuncts(of: partial).allSatisfy(conjuncts.contains)
  }

  // MARK: Candidates

  /// - Returns: `nil` when there are more than the limit.
  private func candidates(_ search: IndexSearch, _ limit: Int) throws -> [Reference]? {
    guard let tree = try view.indexTree(search.index.stored) else { return [] }
    var found: [Reference] = []
    var keyCount = 0
    for range in search.ranges {
      var entries = tree.entries(from: range.lower, to: range.upper)
      while try entries.next() {
        keyCount += 1
        if keyCount > limit { return nil }
        let reference = IndexKey.reference(of: try entries.key)
        if let reference, isTarget(reference) { found.append(reference) }
      }
    }
    if found.count > 1 { found.sort() }
    return found
  }

  /// The objects that the predicate names, as far as they may be rows of the fetch.
  private func namedRows(_ conditions: [FetchCondition], _ limit: Int) -> [Reference]? {
    var best: [Reference]?
    for condition in conditions where condition.isOfObjectItself {
      guard case .equal(let values) = condition.demand, values.count <= limit else { continue }
      var found: Set<Reference> = []
      for value in values {
        // An object is nothing else.
        guard case .object(let identity)? = value, let reference = reference(of: identity),
          isTarget(reference)
        else { continue }
        found.insert(reference)
      }
      if let best, best.count <= found.count { continue }
      best = found.sorted()
    }
    return best
  }

  /// Rows that lead to an object which the predicate names: the object's inverse relationship has
  /// them all.
  private func linkCandidates(
    _ conditions: [FetchCondition], _ limit: Int
  ) throws -> FetchPlan.Access? {
    for condition in conditions {
      guard condition.path.count == 1, case .equal(let values) = condition.demand,
        !values.isEmpty, values.count <= FetchPlanning.smallCount
      else { continue }
      var owners: Set<Reference> = []
      var isUsable = true
      for value in values {
        guard case .object(let identity)? = value else {
          isUsable = false
          break
        }
        if let owner = reference(of: identity) { owners.insert(owner) }
      }
      guard isUsable, let found = try members(of: owners, condition.path[0], limit) else {
        continue
      }
      return .candidates(found, .links(condition.path[0]))
    }
    return nil
  }

  private func members(
    of owners: Set<Reference>, _ name: String, _ limit: Int
  ) throws -> [Reference]? {
    guard let slot = targets.first?.binding.slot(named: name),
      case .relationship(let relationship)? = targets.first?.binding.properties[slot],
      !relationship.isToMany, !relationship.isTransient, let inverse = relationship.inverse
    else { return nil }
    var found: Set<Reference> = []
    for owner in owners {
      guard let storage = view.entities.storage(of: owner) else { continue }
      // An object of another entity is nobody's destination.
      guard let back = storage.binding.slot(named: inverse) else { continue }
      guard let link = storage.link(back), let links = try view.links(link) else {
        if storage.link(back) != nil { continue }
        return nil
      }
      var count = 0
      var cursor = links.tree.entries(withPrefix: LinkKey.prefix(of: owner.key))
      while try cursor.next() {
        count += 1
        if count > limit { return nil }
        guard let key = LinkKey(try cursor.key, isOrdered: links.isOrdered) else { return nil }
        if isTarget(key.member) { found.insert(key.member) }
      }
    }
    return found.sorted()
  }

  /// - Returns: `nil` for what no row can lead to.
  private func reference(of identity: OpaqueIdentity) -> Reference? {
    guard let id = identity.base as? ManagedObjectID, let store = id.store,
      targets.first?.identity == store,
      let stored = view.entities.schema.entity(named: id.entity.name)
    else { return nil }
    return Reference(entity: stored.number, key: id.key)
  }

  // MARK: Walks

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
      index: search.index,
      range: KeyRange(lower: search.prefix, upper: IndexKey.successor(of: search.prefix)),
      isReversed: isReversed, groupElementCount: search.equalCount + count, capacity: capacity,
      rowLimit: limit)
  }
}
