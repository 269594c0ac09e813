import Foundation
import Quire
import QuireModel

// Core Data's form of an incremental store above Quire's. Quire asks for rows by keys, and gets
// values; a store of Core Data's form is handed a context and its objects. The adapter is what both
// share: it lets one thread at a time into the store, keeps the numbers of its rows, and knows
// which rows were removed. A `StoreFront` is the adapter as one context calls it.

/// An application's ``NSIncrementalStore`` as Quire calls it.
final class StoreAdapter: ContextualIncrementalStore {
  // Sound: all state is used under the lock alone.
  private final class State: @unchecked Sendable {
    /// `nil` when the store was closed, so that the two do not keep each other.
    var store: NSIncrementalStore?
    var references = ReferenceTable()
    /// Rows that were removed by saves, and not named by the store since.
    var removed: Set<IncrementalStoreKey> = []
    /// The context that asks at present.
    var context: NSManagedObjectContext?
    /// Whether the store is asked for all rows of an entity, for the sake of their references.
    var isNaming = false
    var isAdded = false
    /// Known since the store has said what it is.
    var identifier: UUID?
    let descriptions: Descriptions

    init(_ store: NSIncrementalStore, _ model: NSManagedObjectModel) {
      self.store = store
      descriptions = Descriptions(model)
    }
  }

  let type: StoreType
  /// The coordinator's model.
  let model: ManagedObjectModel
  private let lock: Lock
  private let state: State

  // Sound: a lock is used by several threads.
  private struct Lock: @unchecked Sendable { let content: NSRecursiveLock }

  init(
    _ storeClass: NSIncrementalStore.Type, at place: IncrementalStorePlace,
    of coordinator: NSPersistentStoreCoordinator, options: [AnyHashable: Any]
  ) {
    let isWhole = place.configurationName == DefaultConfigurationName
    let store = storeClass.init(
      persistentStoreCoordinator: coordinator,
      configurationName: isWhole ? nil : place.configurationName,
      at: place.url ?? URL(fileURLWithPath: "/dev/null"), options: options)
    store.addedType = place.type.name
    type = place.type
    model = coordinator.quireCoordinator.managedObjectModel
    lock = Lock(content: store.lock)
    state = State(store, coordinator.managedObjectModel)
    store.adapter = self
  }

  /// Calls the store.
  ///
  /// - Throws: what the store throws as a ``StoreFailure``, so that the program gets it as it is.
  func ask<Result>(
    for context: NSManagedObjectContext?, _ body: (NSIncrementalStore) throws -> Result
  ) throws -> Result {
    try lock.content.withLock {
      guard let store = state.store else { throw contradiction("was removed from its coordinator") }
      let former = state.context
      state.context = context ?? former
      defer { state.context = former }
      do {
        return try body(store)
      } catch let error
        where error is PersistenceError || error is StoreFailure
        || error is IncrementalStoreConflict
      {
        throw error
      } catch {
        throw StoreFailure(error: error)
      }
    }
  }

  /// The error for an answer that contradicts the model.
  func contradiction(_ what: String) -> PersistenceError {
    PersistenceError(.persistentStoreOperation, "the store of type \(type.name) \(what)")
  }

  /// The store's descriptions of the model. Under the lock alone.
  var descriptions: Descriptions { state.descriptions }

  /// The store, and from now on its object of Quire's.
  func opened(as store: PersistentStore) -> NSIncrementalStore? {
    lock.content.withLock {
      if state.store?.opened == nil { state.store?.open(as: store) }
      return state.store
    }
  }

  /// Tells the store that it was added.
  func didAdd(to coordinator: NSPersistentStoreCoordinator) {
    lock.content.withLock {
      state.isAdded = true
      state.store?.didAdd(to: coordinator)
    }
  }

  // MARK: The store itself

  func loadMetadata() throws -> IncrementalStoreMetadata {
    try ask(for: nil) { store in
      try store.loadMetadata()
      state.identifier = identifier(of: store)
      let metadata = store.metadata ?? [:]
      let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
      return IncrementalStoreMetadata(
        identifier: identifier(of: store),
        versionHashes: hashes?.compactMapValues { VersionHash(bytes: Array($0)) },
        userMetadata: StoreMetadataKeys.sendable(metadata))
    }
  }

  /// The UUID of the store: its identifier, or one that is computed from it.
  private func identifier(of store: NSIncrementalStore) -> UUID {
    let text = store.identifier ?? ""
    return UUID(uuidString: text) ?? UUID(digestOf: text)
  }

  func front(for context: ManagedObjectContext) -> any IncrementalStoreFront {
    StoreFront(self, context)
  }

  func close() throws {
    lock.content.withLock {
      let store = state.store
      state.store = nil
      if state.isAdded { store?.willRemove(from: store?.persistentStoreCoordinator) }
    }
  }

  // MARK: Without a context

  // A store is added, closed and given metadata without a context; rows are asked for by one.

  func execute(_ request: IncrementalStoreSave) throws -> [IncrementalStoreNode] {
    try ask(for: nil) { store in
      takeMetadata(request.metadata, store)
      _ = try store.execute(
        NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil), with: nil)
      return []
    }
  }

  /// Puts metadata that the application has set into those of the store, which writes them.
  func takeMetadata(_ user: [String: any Sendable]?, _ store: NSIncrementalStore) {
    // What was removed is gone already; the store may have added more of its own since.
    if let user { store.metadata.merge(user) { $1 } }
  }

  func execute(_ request: IncrementalStoreFetch) throws -> IncrementalStoreAnswer {
    throw contradiction("was asked by no context")
  }

  func newValues(forObjectsWith keys: [IncrementalStoreKey]) throws -> [IncrementalStoreNode] {
    throw contradiction("was asked by no context")
  }

  func obtainPermanentIDs(for entityNames: [String]) throws -> [Int64] {
    throw contradiction("was asked by no context")
  }
}

// MARK: - IDs

// Called under the lock.
extension StoreAdapter {
  private var identifier: UUID {
    if let known = state.identifier { return known }
    // A call that comes from no store has made this first.
    guard let store = state.store else { fatalError("the store of type \(type.name) is closed") }
    return identifier(of: store)
  }

  func objectID(of entityName: String, _ reference: Any) throws -> ManagedObjectID {
    let number = try state.references.number(of: reference, in: entityName)
    guard let id = objectID(of: IncrementalStoreKey(entityName, number)) else {
      throw PersistenceError(
        .undefinedKey, "the store of type \(type.name) has no entity \(entityName)")
    }
    return id
  }

  func objectID(of key: IncrementalStoreKey) -> ManagedObjectID? {
    key.objectID(in: identifier, of: model)
  }

  func reference(of objectID: ManagedObjectID) throws -> Any {
    guard let key = IncrementalStoreKey(objectID), objectID.isOf(store: identifier) else {
      throw PersistenceError(
        .managedObjectReferentialIntegrity,
        "\(objectID) is no permanent ID of the store of type \(type.name), and has no reference "
          + "object there")
    }
    var refusal = ""
    do {
      if !isNamed(key) { try nameRows(of: key.entityName) }
    } catch {
      refusal = ": \(error)"
    }
    guard let reference = state.references.reference(of: key) else {
      throw PersistenceError(
        .managedObjectReferentialIntegrity,
        "the store of type \(type.name) has never named the row of \(objectID)\(refusal)")
    }
    return reference
  }

  /// The key of an ID in an answer, or of an object.
  func key(of answer: Any, in what: String) throws -> IncrementalStoreKey {
    let id = answer as? ManagedObjectID ?? (answer as? ManagedObject)?.objectID
    guard let id else {
      throw contradiction("answered with a \(Swift.type(of: answer)) for \(what), not with an ID")
    }
    guard let key = IncrementalStoreKey(id), id.isOf(store: identifier) else {
      throw contradiction("answered with \(id) for \(what), which is no permanent ID of it")
    }
    state.removed.remove(key)
    return key
  }

  /// The keys of the IDs or objects in an answer.
  func keys(of answer: Any, in what: String) throws -> [IncrementalStoreKey] {
    let members: [Any]
    switch answer {
    case let set as NSSet: members = set.allObjects
    case let list as NSOrderedSet: members = list.array
    case let list as [Any]: members = list
    case is NSNull: members = []
    default:
      throw contradiction(
        "answered with a \(Swift.type(of: answer)) for \(what), not with an array or a set")
    }
    return try members.map { try key(of: $0, in: what) }
  }

  // MARK: Rows that were named and removed

  /// Whether the store has named the row of a key since it was opened.
  private func isNamed(_ key: IncrementalStoreKey) -> Bool {
    state.references.reference(of: key) != nil
  }

  /// Whether there may be a row. A reference that is not known belongs to an ID that the program
  /// has kept from an earlier run: the store then names all rows of the entity once.
  func mayHaveRow(_ key: IncrementalStoreKey) throws -> Bool {
    if state.removed.contains(key) { return false }
    if !isNamed(key) { try nameRows(of: key.entityName) }
    return isNamed(key)
  }

  private func nameRows(of entityName: String) throws {
    guard !state.isNaming, let context = state.context, let store = state.store else { return }
    state.isNaming = true
    defer { state.isNaming = false }
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: entityName)
    request.entity = descriptions.entity(entityName)
    request.includesSubentities = false
    request.affectedStores = [store]
    _ = try store.execute(request, with: context)
  }

  func record(_ save: IncrementalStoreSave) {
    for insertion in save.inserted { state.removed.remove(insertion.node.key) }
    for deletion in save.deleted { state.removed.insert(deletion.key) }
  }
}
