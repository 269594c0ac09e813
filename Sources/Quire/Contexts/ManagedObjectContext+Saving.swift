import QuireModel
import QuireStorage

extension ManagedObjectContext {
  /// How often a save asks objects whether they want to change anything more: beyond that something
  /// changes for ever.
  public static var willSaveLimit: Int { 1_000 }

  /// Writes all changes to the store in one transaction, durable when this returns.
  ///
  /// A save either happens whole or leaves the store, and the changes here, as they were. Without
  /// changes nothing is written. In this order: delete rules are applied; objects are told by
  /// ``ManagedObject/willSave()``, again and again while they change something; they are validated,
  /// all of them before the first error is thrown; the store is written, when ``mergePolicy`` has
  /// resolved what conflicts there are; objects become clean, with permanent IDs, and are told by
  /// ``ManagedObject/didSave()``.
  ///
  /// - Throws: validation errors (codes 1550 to 1700);
  ///   ``PersistenceError/Code/managedObjectMerge`` when an object to write was changed or deleted
  ///   by another save since it was read here, with the conflicts, unless the policy resolves them, or
  ///   what the policy throws;
  ///   ``PersistenceError/Code/persistentStoreSave`` when the engine cannot write, with its error;
  ///   ``PersistenceError/Code/managedObjectContextLocking`` when objects do not stop changing;
  ///   ``PersistenceError/Code/managedObjectContextRecursiveSave`` when one of them saves itself.
  public final func save() throws {
    try write(asking: true)
  }

  /// Saves without asking or telling objects, and lets go of the rows: for whoever makes objects in
  /// large numbers, validates them in the end, and seldom looks at one again.
  final func flush() throws {
    try write(asking: false)
  }

  private func write(asking: Bool) throws {
    guard !isSaving, !isProcessingChanges else {
      throw PersistenceError(
        .managedObjectContextRecursiveSave,
        "save() was called by an object that is being told of a save or of its deletion: "
          + "change what is to be saved with it, and leave saving to the caller")
    }
    isSaving = true
    defer { isSaving = false }
    processPendingChanges()
    try throwUnreported()
    guard hasChanges else { return }
    let store = try requiredStore()
    guard !store.isReadOnly else {
      throw PersistenceError(
        .persistentStoreSave, "the store was opened read-only: open it for writing to save")
    }
    let save = asking ? try prepareSave(to: store) : SaveOperation(self, store)
    // What was there may have been dropped when objects were asked.
    guard hasChanges else { return }
    do {
      let settling = asking || deferredLinks?.isFull ?? false
      let view = try write(save, in: beginWrite(to: store), of: store, settling: settling)
      finish(save, view, isTold: asking)
    } catch is SaveOperation.Outdated {
      if let merged = try commitMerged(save, to: store) {
        finish(merged.save, merged.view, isTold: asking)
      }
    }
  }

  final func beginWrite(to store: PersistentStore) throws -> WriteTransaction {
    do {
      return try store.pages.beginWrite()
    } catch {
      throw PersistenceError(
        .persistentStoreSave, "the store cannot be written", underlying: error)
    }
  }

  /// Writes a save, and commits or aborts the transaction.
  ///
  /// - Returns: the store as this save left it.
  final func write(
    _ save: SaveOperation, in transaction: WriteTransaction, of store: PersistentStore,
    settling: Bool
  ) throws -> StoreView {
    do {
      try checkVersion(of: transaction)
      let writer = StoreWriter(transaction, store.entities, deferring: deferredLinks)
      try save.write(to: writer, watching: watched)
      if settling { try writer.settleLinks() }
      return StoreView(store.entities, try transaction.commitAndShow())
    } catch {
      transaction.abort()
      if let error = error as? StorageError {
        throw PersistenceError(
          .persistentStoreSave, "the changes could not be written", underlying: error)
      }
      throw error
    }
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

  /// Makes the objects of a committed save clean. The save has happened: nothing here may fail.
  ///
  /// - Parameter view: the save's own state of the store. The newest may have a later save, of
  ///   which the objects here know nothing.
  private func finish(_ save: SaveOperation, _ view: StoreView, isTold: Bool) {
    changes = Changes()
    watched = []
    self.view = view
    for item in save.inserted {
      unregister(item.object)
      item.object.reference = item.reference
      item.object.storage = item.storage
      enter(item.object)
    }
    for item in save.inserted { item.object.settle(isTold ? view : nil) }
    for object in save.touched { object.settle(isTold ? view : nil) }
    if !observers.isEmpty {
      let saved = save.savedChanges(view.snapshot.commitNumber)
      for observer in observers { observer.didSave(saved) }
    }
    if isTold { save.forEachObject { $0.didSave() } }
    for object in save.deleted where object.context === self && object.isDeleted {
      release(object)
    }
  }
}

extension ManagedObject {
  /// Becomes clean after a save.
  ///
  /// - Parameter view: where the new row is; `nil` to leave the object a fault.
  fileprivate func settle(_ view: StoreView?) {
    keepTransientSlots()
    state = []
    // A row that cannot be read leaves a fault, which says so when it is looked at.
    row = try? view?.row(reference)
  }
}
