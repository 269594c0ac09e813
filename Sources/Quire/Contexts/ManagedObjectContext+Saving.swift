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
  /// ``ManagedObject/didSave()``. Who observes the context is told before all of this and after it;
  /// see ``ContextNotice``.
  ///
  /// The event ends: what objects change when they are told that they will be saved is undone with
  /// it. What a save has written can be undone, and is then to be saved again.
  ///
  /// - Throws: validation errors (codes 1550 to 1700);
  ///   ``PersistenceError/Code/managedObjectMerge`` when an object to write was changed or deleted
  ///   by another save since it was read here, with the conflicts, unless the policy resolves them,
  ///   or what the policy throws; ``PersistenceError/Code/managedObjectConstraintMerge`` when two
  ///   objects would have values that a uniqueness constraint forbids, in the same way;
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
    mergeWaitingCommits()
    isSaving = true
    undoRecording?.manager.continueEvent()
    var isEventOver = false
    defer {
      isSaving = false
      if !isEventOver { undoRecording?.manager.endEvent() }
    }
    if asking, hasChanges { noticeCenter?.postWillSave() }
    settlePendingChanges()
    try throwUnreported()
    guard hasChanges else { return try store?.saveMetadata() ?? () }
    let store = try requiredStore()
    joinCommits(of: store)
    guard !store.isReadOnly else {
      throw PersistenceError(
        .persistentStoreSave, "the store was opened read-only: open it for writing to save")
    }
    let save = asking ? try prepareSave(to: store) : SaveOperation(self, store)
    // What was there may have been dropped when objects were asked.
    guard hasChanges else { return }
    let hub = asking && store.hub.isListened ? store.hub : nil
    undoRecording?.willCommit(save)
    do {
      let settling = asking || deferredLinks?.isFull ?? false
      let view = try write(save, in: beginWrite(to: store), of: store, settling: settling)
      isEventOver = true
      finish(save, view, isTold: asking, hub)
    } catch let error where error is SaveOperation.Outdated || error is SaveOperation.Duplicates {
      if let merged = try commitMerged(save, to: store) {
        isEventOver = true
        finish(merged.save, merged.view, isTold: asking, hub)
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
      return StoreView(store.entities, try store.commit(transaction))
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
  private func finish(
    _ save: SaveOperation, _ view: StoreView, isTold: Bool, _ hub: CommitHub?
  ) {
    changes = Changes()
    promisedPlaces = PromisedPlaces()
    formerVersions = [:]
    watched = []
    self.view = view
    if pinnedView != nil { pinnedView = view }
    // What objects change when they are told of the save belongs to the next event.
    undoRecording?.manager.endEvent()
    for item in save.inserted {
      unregister(item.object)
      item.object.reference = item.reference
      item.object.storage = item.storage
      enter(item.object)
    }
    for item in save.inserted { item.object.settle(isTold ? view : nil) }
    for object in save.touched { object.settle(isTold ? view : nil) }
    let saved =
      observers.isEmpty && hub == nil ? nil : save.savedChanges(view.snapshot.commitNumber)
    if let saved {
      for observer in observers { observer.didSave(saved) }
      hub?.publish(
        CommitNotice(
          changes: saved, author: transactionAuthor, contextName: name, origin: commitInbox))
    }
    if isTold { save.forEachObject { $0.didSave() } }
    if let saved { noticeCenter?.postDidSave(save, saved) }
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
