import Foundation
import Quire
import QuireModel

/// An application's ``NSIncrementalStore`` as one context asks it.
///
/// Sound: called in the isolation of the context, whose session holds it.
final class StoreFront: IncrementalStoreFront, @unchecked Sendable {
  private let adapter: StoreAdapter
  private weak var base: ManagedObjectContext?
  /// The rows that the store was told to be in use.
  private var inUse: Set<ManagedObjectID> = []

  init(_ adapter: StoreAdapter, _ context: ManagedObjectContext) {
    self.adapter = adapter
    base = context
  }

  deinit {
    guard !inUse.isEmpty else { return }
    try? adapter.ask(for: nil) {
      $0.managedObjectContextDidUnregisterObjects(with: Array(inUse))
    }
  }

  private func ask<Result>(
    _ body: (NSIncrementalStore, NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    guard let base else { throw adapter.contradiction("was asked by a context that has ended") }
    let context = NSManagedObjectContext.of(base)
    return try adapter.ask(for: context) { try body($0, context) }
  }

  func loadMetadata() throws -> IncrementalStoreMetadata { try adapter.loadMetadata() }

  // MARK: Fetches

  func execute(_ request: IncrementalStoreFetch) throws -> IncrementalStoreAnswer {
    try ask { store, context in
      endUse(in: context, store)
      let form = StoreRequest(request, adapter)
      let fetch = form.fetchRequest(store, .managedObjectResultType)
      let what = "a fetch of \(fetch.entityName ?? "")"
      let keys = try adapter.keys(of: try store.execute(fetch, with: context), in: what)
        .filter { form.isExact || request.entityNames.contains($0.entityName) }
      beginUse(of: keys, store)
      return IncrementalStoreAnswer(
        keys, handled: form.isExact ? [.predicate, .order, .limit] : [.predicate, .order])
    }
  }

  func count(_ request: IncrementalStoreFetch) throws -> Int? {
    try ask { store, context in
      let form = StoreRequest(request, adapter)
      guard form.isExact else { return nil }
      let answer = try store.execute(form.fetchRequest(store, .countResultType), with: context)
      if let count = answer as? NSNumber { return count.intValue }
      let members = answer as? [Any]
      if members?.count == 1, let count = members?.first as? NSNumber { return count.intValue }
      // A store that does not distinguish kinds of results has answered with the objects.
      return try adapter.keys(of: answer, in: "a count").count
    }
  }

  // MARK: Rows

  func newValues(forObjectsWith keys: [IncrementalStoreKey]) throws -> [IncrementalStoreNode] {
    try ask { store, context in
      try keys.compactMap { key in
        guard try adapter.mayHaveRow(key), let id = adapter.objectID(of: key) else { return nil }
        beginUse(of: [key], store)
        do {
          return try node(at: key, id, store, context)
        } catch let error where CocoaError.isMissingRow(error) {
          return nil
        }
      }
    }
  }

  private func node(
    at key: IncrementalStoreKey, _ id: ManagedObjectID, _ store: NSIncrementalStore,
    _ context: NSManagedObjectContext
  ) throws -> IncrementalStoreNode {
    let node = try store.newValuesForObject(with: id, with: context)
    guard node.objectID == id else {
      throw adapter.contradiction("was asked for \(key), and answered with \(node.objectID)")
    }
    return try adapter.node(node, at: key) { relationship in
      try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
    }
  }

  func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith key: IncrementalStoreKey
  ) throws -> [IncrementalStoreKey]? {
    try ask { store, context in
      guard try adapter.mayHaveRow(key), let id = adapter.objectID(of: key) else { return [] }
      let description = try adapter.descriptions.relationship(relationship.name, key.entityName)
      let answer = try store.newValue(
        forRelationship: description, forObjectWith: id, with: context)
      if answer is NSIncrementalStore.NotAnswered { return nil }
      let keys = try adapter.keys(of: answer, in: "\(relationship.name) of \(key)")
      beginUse(of: keys, store)
      return keys
    }
  }

  // MARK: Saves

  func obtainPermanentIDs(for entityNames: [String]) throws -> [Int64] {
    try adapter.obtainPermanentIDs(for: entityNames)
  }

  func obtainPermanentIDs(for objects: [ManagedObject]) throws -> [Int64] {
    try ask { store, context in
      let ids = try store.obtainPermanentIDs(for: objects.map { $0 as! NSManagedObject })
      guard ids.count == objects.count else {
        throw adapter.contradiction("was asked for \(objects.count) IDs, and gave \(ids.count)")
      }
      let keys = try zip(objects, ids).map { object, id in
        let key = try adapter.key(of: id, in: "a new \(object.entity.name)")
        guard key.entityName == object.entity.name,
          context.quireContext.registeredObject(for: id) == nil
        else {
          throw adapter.contradiction(
            "gave a new \(object.entity.name) the ID \(id) of another object")
        }
        return key
      }
      beginUse(of: keys, store)
      return keys.map(\.number)
    }
  }

  func execute(_ save: IncrementalStoreSave) throws -> [IncrementalStoreNode] {
    try ask { store, context in
      endUse(in: context, store)
      adapter.takeMetadata(save.metadata, store)
      func object(_ key: IncrementalStoreKey) -> NSManagedObject? {
        adapter.objectID(of: key).flatMap { context.registeredObject(for: $0) }
      }
      let inserted = save.inserted.compactMap { object($0.node.key) }
      let unchanged = save.unchanged.compactMap { object($0.key) }
      // Only the other ends of their relationships have the changes, in Quire's form.
      let related = unchanged.filter(\.hasChanges)
      let updated = save.updated.compactMap { object($0.node.key) } + related
      let deleted = save.deleted.compactMap { object($0.key) }
      let request = NSSaveChangesRequest(
        inserted: Set(inserted), updated: Set(updated), deleted: Set(deleted),
        locked: Set(unchanged.filter { !$0.hasChanges }))
      do {
        _ = try store.execute(request, with: context)
      } catch let error where CocoaError.isConflict(error) {
        throw IncrementalStoreConflict([])
      }
      adapter.record(save)
      return (inserted + updated).compactMap { rowAfterSave(of: $0, store, context) }
    }
  }

  /// The row as the store has it after a save, as it counts versions, and may have changed values.
  ///
  /// - Returns: a node of version 0 if it cannot be read: the save has happened, and the object
  ///   reads the row when it is used.
  private func rowAfterSave(
    of object: NSManagedObject, _ store: NSIncrementalStore, _ context: NSManagedObjectContext
  ) -> IncrementalStoreNode? {
    let id = object.objectID
    return IncrementalStoreKey(id).map { key in
      (try? node(at: key, id, store, context)) ?? IncrementalStoreNode(key: key, version: 0)
    }
  }

  // MARK: Objects in use

  private func beginUse(of keys: [IncrementalStoreKey], _ store: NSIncrementalStore) {
    guard store.watchesObjects else { return }
    let new = keys.compactMap(adapter.objectID(of:)).filter { inUse.insert($0).inserted }
    if !new.isEmpty { store.managedObjectContextDidRegisterObjects(with: new) }
  }

  /// Tells the store of rows that have no objects any more.
  private func endUse(in context: NSManagedObjectContext, _ store: NSIncrementalStore) {
    guard store.watchesObjects else { return }
    let gone = inUse.filter { context.quireContext.registeredObject(for: $0) == nil }
    guard !gone.isEmpty else { return }
    inUse.subtract(gone)
    store.managedObjectContextDidUnregisterObjects(with: Array(gone))
  }
}
