import QuireModel
import QuireStorage

extension ManagedObjectContext {
  /// Writes all changes to the store in one transaction, durable when this returns.
  ///
  /// A save either happens whole or leaves the store, and the changes here, as they were. Without
  /// changes nothing is written.
  ///
  /// - Throws: validation errors (codes 1550 to 1700);
  ///   ``PersistenceError/Code/managedObjectMerge`` when an object to write was changed or deleted
  ///   by another save since it was read here, with the conflicts;
  ///   ``PersistenceError/Code/persistentStoreSave`` when the engine cannot write, with its error.
  public final func save() throws {
    try write(validating: true)
  }

  /// Saves without validating, and lets go of the rows: for whoever makes objects in large numbers,
  /// validates them in the end, and seldom looks at one again.
  final func flush() throws {
    try write(validating: false)
  }

  private func write(validating: Bool) throws {
    processPendingChanges()
    try throwUnreported()
    guard hasChanges else { return }
    let store = try requiredStore()
    guard !store.isReadOnly else {
      throw PersistenceError(
        .persistentStoreSave, "the store was opened read-only: open it for writing to save")
    }
    let save = try SaveOperation(self, store)
    if validating { try save.validate(in: self) }
    let transaction: WriteTransaction
    do {
      transaction = try store.pages.beginWrite()
    } catch {
      throw PersistenceError(
        .persistentStoreSave, "the store cannot be written", underlying: error)
    }
    do {
      try checkVersion(of: transaction)
      let writer = StoreWriter(transaction, store.entities, deferring: deferredLinks)
      try save.write(to: writer)
      if validating || deferredLinks?.isFull ?? false { try writer.settleLinks() }
      try transaction.commit()
    } catch {
      transaction.abort()
      if let error = error as? StorageError {
        throw PersistenceError(
          .persistentStoreSave, "the changes could not be written", underlying: error)
      }
      throw error
    }
    try finish(save, keepsRows: validating)
  }

  /// Puts links that wait in their trees, for somebody who is about to read there.
  final func settleLinks() throws {
    guard let deferredLinks, !deferredLinks.isEmpty else { return }
    let store = try requiredStore()
    try store.pages.write {
      try StoreWriter($0, store.entities, deferring: deferredLinks).settleLinks()
    }
    view = nil
  }

  /// Makes the objects of a committed save clean.
  private func finish(_ save: SaveOperation, keepsRows: Bool) throws {
    changes = Changes()
    view = nil
    let view = try newestView()
    for object in save.deleted { release(object) }
    for item in save.inserted {
      unregister(item.object)
      item.object.reference = item.reference
      item.object.storage = item.storage
      enter(item.object)
    }
    for object in save.inserted.map(\.object) + save.touched {
      object.keepTransientSlots()
      object.state = []
      object.row = keepsRows ? try view.row(object.reference) : nil
    }
  }
}

extension ManagedObject {
  /// After a save the row says everything but the values of transient attributes.
  fileprivate func keepTransientSlots() {
    func isKept(_ slot: Int) -> Bool {
      let trait = binding.traits[slot]
      return trait.isTransient && trait.attributeType != nil
    }
    let hasTransient =
      binding.hasTransientAttributes
      && slots.indices.contains { slot in
        if isKept(slot), case .value = slots[slot] { true } else { false }
      }
    guard hasTransient else {
      slots = []
      return
    }
    for slot in slots.indices where !isKept(slot) { slots[slot] = .unchanged }
  }
}
