import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store as short as one can be: all rows of an entity for a fetch, by their keys.
struct RowStore: IncrementalStore {
  static let type = StoreType(rawValue: "Rows")

  let server: RowServer
  let model: ManagedObjectModel

  func loadMetadata() throws -> IncrementalStoreMetadata {
    try server.answering(.metadata) { state in
      IncrementalStoreMetadata(
        identifier: server.identifier, versionHashes: state.versionHashes,
        userMetadata: state.userMetadata)
    }
  }

  func execute(_ request: IncrementalStoreFetch) throws -> IncrementalStoreAnswer {
    try server.answering(.fetch) { state in
      state.lastFetch = request
      return IncrementalStoreAnswer(state.records(of: request.entityNames).map(\.node.key))
    }
  }

  func newValues(forObjectsWith keys: [IncrementalStoreKey]) throws -> [IncrementalStoreNode] {
    try server.answering(.values) { state in
      state.rowCount += keys.count
      return keys.compactMap { state.records[$0]?.node }
    }
  }

  func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith key: IncrementalStoreKey
  ) throws -> [IncrementalStoreKey]? {
    try server.answering(.members) { state in
      guard let record = state.records[key] else { return [] }
      return record.members[relationship.name]
        ?? (isForeignKey(relationship) ? nil : [])
    }
  }

  /// Whether the rows of the members say it all.
  private func isForeignKey(_ relationship: RelationshipDescription) -> Bool {
    guard !relationship.isOrdered, let inverse = relationship.inverse,
      let destination = model.entity(named: relationship.destination)
    else { return false }
    return destination.relationship(named: inverse)?.isToMany == false
  }

  func obtainPermanentIDs(for entityNames: [String]) throws -> [Int64] {
    try server.answering(.ids) { state in
      entityNames.map { name in
        state.lastNumbers[name, default: 0] += 1
        return state.lastNumbers[name] ?? 0
      }
    }
  }

  func execute(_ request: IncrementalStoreSave) throws -> [IncrementalStoreNode] {
    try server.answering(.save) { state in
      if let interference = state.interference {
        state.interference = nil
        interference(&state.records)
      }
      state.lastSave = request
      try state.write(request)
      return []
    }
  }

  func close() throws { try server.answering(.close) { _ in } }
}

/// A store that looks for rows itself where it understands what is asked: comparisons of one
/// attribute, one sort key, limits, counts; and that knows all members.
struct SearchingRowStore: IncrementalStore {
  private let rows: RowStore

  init(_ server: RowServer, _ model: ManagedObjectModel) {
    rows = RowStore(server: server, model: model)
  }

  func loadMetadata() throws -> IncrementalStoreMetadata { try rows.loadMetadata() }

  func execute(_ request: IncrementalStoreFetch) throws -> IncrementalStoreAnswer {
    try rows.server.answering(.fetch) { state in
      state.lastFetch = request
      guard let found = SearchingRowStore.search(request, in: state) else {
        return IncrementalStoreAnswer(state.records(of: request.entityNames).map(\.node.key))
      }
      state.rowCount += found.count
      return IncrementalStoreAnswer(found, handled: [.predicate, .order, .limit])
    }
  }

  func count(_ request: IncrementalStoreFetch) throws -> Int? {
    try rows.server.answering(.count) { SearchingRowStore.search(request, in: $0)?.count }
  }

  func newValues(forObjectsWith keys: [IncrementalStoreKey]) throws -> [IncrementalStoreNode] {
    try rows.newValues(forObjectsWith: keys)
  }

  func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith key: IncrementalStoreKey
  ) throws -> [IncrementalStoreKey]? {
    if let found = try rows.newValue(forRelationship: relationship, forObjectWith: key) {
      return found
    }
    return try rows.server.answering(.members) { state in
      guard let inverse = relationship.inverse else { return [] }
      return state.records.values.filter { $0.node.destinations[inverse] == key }.map(\.node.key)
        .sorted { $0.number < $1.number }
    }
  }

  func obtainPermanentIDs(for entityNames: [String]) throws -> [Int64] {
    try rows.obtainPermanentIDs(for: entityNames)
  }

  func execute(_ request: IncrementalStoreSave) throws -> [IncrementalStoreNode] {
    try rows.execute(request)
  }

  // MARK: Searching

  /// - Returns: `nil` for what it does not understand.
  private static func search(
    _ request: IncrementalStoreFetch, in state: RowServer.State
  ) -> [IncrementalStoreNode]? {
    var found = state.records(of: request.entityNames).map(\.node)
    if let predicate = request.predicate {
      guard case .comparison(let comparison) = predicate, comparison.operator == .greaterThan,
        case .keyPath(let path) = comparison.left, path.count == 1,
        case .constant(.value(.integer(let bound))?) = comparison.right
      else { return nil }
      found.removeAll { node in
        guard case .integer(let value)? = node.values[path[0]] else { return true }
        return value <= bound
      }
    }
    if let descriptor = request.sortDescriptors.first {
      guard request.sortDescriptors.count == 1, descriptor.keyPath.count == 1 else { return nil }
      func number(_ node: IncrementalStoreNode) -> Int64? {
        guard case .integer(let value)? = node.values[descriptor.keyPath[0]] else { return nil }
        return value
      }
      guard found.allSatisfy({ number($0) != nil }) else { return nil }
      found.sort { left, right in
        let (left, right) = (number(left) ?? 0, number(right) ?? 0)
        return descriptor.ascending ? left < right : left > right
      }
    }
    return request.limit > 0 ? Array(found.prefix(request.limit)) : found
  }
}

extension RowServer {
  /// Which store stands before the rows.
  enum Front: CaseIterable { case plain, searching }

  /// A coordinator that has this server's rows as its store.
  func coordinator(
    _ front: Front = .plain, _ model: ManagedObjectModel = SmallGallery.model,
    classes: [ManagedObject.Type] = SmallGallery.classes
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: classes)
    try register(front, with: coordinator)
    try coordinator.addPersistentStore(type: RowStore.type, at: nil)
    return coordinator
  }

  func register(_ front: Front = .plain, with coordinator: PersistentStoreCoordinator) throws {
    try coordinator.registerStoreClass(forStoreType: RowStore.type) { [self] place in
      switch front {
      case .plain: return RowStore(server: self, model: place.model)
      case .searching: return SearchingRowStore(self, place.model)
      }
    }
  }

  func context(_ front: Front = .plain) throws -> ManagedObjectContext {
    GotchaHome.context(of: try coordinator(front))
  }
}
