import QuireModel
import QuireStorage

// Rows that are found through a relationship, from its destinations.
extension CandidateSearch {
  /// A search that finds destinations by conditions, and follows the inverse back to the rows.
  ///
  /// - Parameter all: conditions that one destination must meet together.
  /// - Returns: `nil` if they do not follow a relationship that has an inverse, or if a row without
  ///   a destination may meet all of them.
  func inverseSearch(_ all: [FetchCondition]) throws -> InverseSearch? {
    let conditions = all.filter { !$0.allowsAbsence }
    guard let name = conditions.first?.path.first, let binding = storages.first?.binding,
      conditions.allSatisfy({ $0.path.first == name }),
      let slot = binding.slot(named: name),
      case .relationship(let relationship) = binding.properties[slot], !relationship.isTransient,
      let inverse = relationship.inverse,
      showsRowsAlone || !relationship.isToMany && hasLinks(inverse, of: relationship.destination)
    else { return nil }
    if conditions[0].path.count == 1 {
      guard let objects = objects(conditions[0]) else { return nil }
      return InverseSearch(
        relationship: relationship, inverse: inverse, destinations: .named(objects))
    }
    guard showsRowsAlone else { return nil }
    let destinations = try CandidateSearch(
      storages(ofFamily: relationship.destination), in: view, showsRowsAlone: true)
    guard let source = try destinations.source(ofConditions: conditions.map(\.ofDestination)) else {
      return nil
    }
    return InverseSearch(
      relationship: relationship, inverse: inverse, destinations: .found(source, destinations))
  }

  private func hasLinks(_ name: String, of entity: String) -> Bool {
    view.entities.model.entity(named: entity)?.relationshipsByName[name]?.isToMany ?? false
  }

  /// The objects of which one must be the destination; `nil` if there are many, or if the condition
  /// is of another kind.
  private func objects(_ condition: FetchCondition) -> [Reference]? {
    guard case .equal(let values) = condition.demand, values.count <= CandidateSearch.smallCount
    else { return nil }
    var found: Set<Reference> = []
    for value in values {
      guard case .object(let identity)? = value else { return nil }
      if let reference = reference(of: identity) { found.insert(reference) }
    }
    return found.sorted()
  }

  private func storages(ofFamily name: String) -> [EntityStorage] {
    let model = view.entities.model
    guard let entity = model.entity(named: name) else { return [] }
    let names = Set(model.family(of: entity).map(\.name))
    return view.entities.byIndex.compactMap { storage in
      storage.flatMap { names.contains($0.binding.entity.name) ? $0 : nil }
    }
  }

  // MARK: Reading

  /// - Returns: the rows, in order; `nil` when there are more than `limit`.
  func read(_ search: InverseSearch, limit: Int) throws -> [Reference]? {
    let owners: [Reference]
    switch search.destinations {
    case .named(let objects): owners = objects
    case .found(let source, let destinations):
      // The limit is larger, as many of them may have no row that refers to them.
      guard let found = try destinations.read(source, limit: max(limit, destinations.limit)) else {
        return nil
      }
      owners = found
    }
    var found: Set<Reference> = []
    for owner in owners {
      // An object of another entity has no such relationship.
      guard let storage = view.entities.storage(of: owner),
        let slot = storage.binding.slot(named: search.inverse)
      else { continue }
      guard try insertMembers(of: owner, slot, storage, into: &found, limit) else { return nil }
    }
    return found.sorted()
  }

  /// - Returns: `false` when there are too many.
  private func insertMembers(
    of owner: Reference, _ slot: Int, _ storage: EntityStorage, into found: inout Set<Reference>,
    _ limit: Int
  ) throws -> Bool {
    guard let link = storage.link(slot) else {
      // The inverse is to-one.
      if let row = try RowSubject(at: owner, in: view), let member = row.destination(slot),
        isTarget(member)
      {
        found.insert(member)
      }
      return found.count <= limit
    }
    guard let links = try view.links(link) else { return true }
    var cursor = links.tree.entries(withPrefix: LinkKey.prefix(of: owner.key))
    var count = 0
    while try cursor.next() {
      count += 1
      guard count <= limit, let key = LinkKey(try cursor.key, isOrdered: links.isOrdered) else {
        return false
      }
      if isTarget(key.member) { found.insert(key.member) }
    }
    return found.count <= limit
  }
}

extension FetchCondition {
  /// The same condition, for the object that the first step of the path leads to.
  fileprivate var ofDestination: FetchCondition {
    FetchCondition(path: Array(path.dropFirst()), demand: demand)
  }

  /// Whether a row without a destination may match.
  fileprivate var allowsAbsence: Bool {
    if case .equal(let values) = demand { values.contains { $0 == nil } } else { false }
  }
}
