import QuireModel
import QuireStorage

extension ManagedObjectContext {
  /// How often a save asks objects whether they want to change anything more: beyond that something
  /// changes for ever.
  public static var willSaveLimit: Int { 1_000 }

  /// Saves without asking or telling objects, and lets go of the rows: for whoever makes objects in
  /// large numbers, validates them in the end, and seldom looks at one again.
  final func flush() throws {
    try write(asking: false)
  }

  final func write(asking: Bool) throws {
    guard !isSaving, !isProcessingChanges else {
      throw PersistenceError(
        .managedObjectContextRecursiveSave,
        "save() was called by an object that is being told of a save or of its deletion: "
          + "change what is to be saved with it, and leave saving to the caller")
    }
    guard !isRunningBatch else {
      throw PersistenceError(
        .managedObjectContextRecursiveSave,
        "save() was called by a handler of a batch request, which has the store's only "
          + "transaction: save before the request, or when it has returned")
    }
    guard undoRecording?.manager.isPerforming != true else {
      throw PersistenceError(
        .managedObjectContextRecursiveSave,
        "save() was called while changes are undone or made again, of which half would be saved: "
          + "save when undo() or redo() has returned")
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
    try throwKeptErrors()
    if let parent {
      if hasChanges { isEventOver = try save(to: parent) }
      return
    }
    guard hasChanges else {
      for session in presentSessions() { try session.store.saveMetadata() }
      return
    }
    let sessions = try requiredSessions()
    for session in sessions { session.joinCommits() }
    guard sessions.contains(where: { !$0.store.isReadOnly }) else {
      throw PersistenceError(
        .persistentStoreSave, "the store was opened read-only: open it for writing to save")
    }
    let save: ContextSave
    if asking {
      save = try prepareSave()
    } else {
      save = ContextSave(self)
      try save.checkStores()
    }
    // What was there may have been dropped when objects were asked.
    guard hasChanges else { return }
    undoRecording?.willCommit(save)
    let outcome: ContextSave.Outcome
    var news: MergeNews?
    do {
      let settling = asking || deferredLinks?.isFull ?? false
      outcome = try save.write(
        in: ContextSave.beginWrites(in: save.parts.map(\.session)), settling: settling)
    } catch let error where error is SaveOperation.Outdated || error is SaveOperation.Duplicates {
      mergeNews = MergeNews()
      defer { mergeNews = nil }
      let merged = try commitMerged(save)
      news = mergeNews
      guard let merged else {
        news?.tell(self)
        return
      }
      outcome = merged
    }
    isEventOver = true
    finish(outcome, isTold: asking)
    news?.tell(self)
    if let failure = outcome.failure { throw failure }
    for session in sessions where !outcome.parts.contains(where: { $0.session === session }) {
      try session.store.saveMetadata()
    }
  }

  /// Makes the objects of a committed save clean. The save has happened: nothing here may fail.
  ///
  /// The outcome has the save's own states of the stores. The newest may have a later save, of
  /// which the objects here know nothing.
  private func finish(_ outcome: ContextSave.Outcome, isTold: Bool) {
    forgetChanges(of: outcome)
    for (part, view) in zip(outcome.parts, outcome.views) {
      part.session.formerVersions = [:]
      part.session.view = view
      if part.session.pinnedView != nil { part.session.pinnedView = view }
    }
    // What objects change when they are told of the save belongs to the next event.
    undoRecording?.manager.endEvent()
    let moved = movedObjects(outcome.parts)
    var told: [(part: SaveOperation, saved: SavedChanges)] = []
    for (part, view) in zip(outcome.parts, outcome.views) {
      part.settle(isTold ? view : nil)
      if audience.isEmpty, !isTold || !part.store.hub.isListened { continue }
      told.append((part, part.savedChanges(view.snapshot.commitNumber)))
    }
    noteMovedObjects(moved)
    noteReplacedRows(outcome.parts)
    for (part, saved) in told {
      for observer in audience { observer.didSave(saved) }
      // Of what was set to what it was, nobody else need know.
      guard isTold, part.store.hub.isListened, !saved.isEmpty else { continue }
      part.store.hub.publish(
        CommitNotice(
          changes: saved, author: transactionAuthor, contextName: name, origin: part.session.inbox))
    }
    if isTold { for part in outcome.parts { part.forEachObject { $0.didSave() } } }
    if !told.isEmpty { noticeCenter?.postDidSave(outcome.parts, told.map(\.saved)) }
    for part in outcome.parts {
      for object in part.deleted where object.context === self && object.isDeleted {
        release(object)
      }
    }
    if family != nil { tellChildren(of: outcome.parts) }
  }

  /// What is saved is no change any more.
  private func forgetChanges(of outcome: ContextSave.Outcome) {
    watched = []
    guard outcome.failure != nil else {
      changes = Changes()
      promisedPlaces = PromisedPlaces()
      assignedStores = [:]
      return
    }
    for part in outcome.parts {
      for item in part.inserted {
        changes.inserted.remove(item.object)
        promisedPlaces.keep(item.object.reference)
      }
      for object in part.touched { changes.updated.remove(object) }
      for object in part.deleted { changes.deleted.remove(object) }
    }
  }
}

extension ManagedObjectContext {
  /// - Throws: when all changes were dropped since: half of what a save was about to do is lost.
  final func requireChanges(since dropCount: Int) throws {
    if self.dropCount != dropCount { throw wasMeddledWith }
  }

  final var wasMeddledWith: PersistenceError {
    PersistenceError(
      .managedObjectContextLocking,
      "while a save was handing changes to a parent, or was merging them, an object or an observer "
        + "that was told of it has reset a context, rolled it back, or changed what is being saved: "
        + "nothing was saved, save again")
  }
}

extension SaveOperation {
  /// Gives the objects their places in the store, and makes them clean.
  ///
  /// - Parameter view: where the new rows are; `nil` to leave the objects faults.
  func settle(_ view: StoreView?) {
    let context = session.context
    let areAllNew = !hasReturned && context.forgetNewObjects(if: inserted.count)
    session.register.reserve(inserted.count)
    var rows = view.map { RowRun($0) }
    var start = 0
    while start < inserted.count {
      let home = session.home(of: inserted[start].storage)
      var end = start
      while end < inserted.count, inserted[end].hasStorage(of: inserted[start]) {
        let reference = inserted[end].reference
        inserted[end].ofObject { object in
          if !areAllNew { context.unregister(object) }
          object.reference = reference
          object.home = home
          session.enter(object)
        }
        end += 1
      }
      start = end
    }
    for item in inserted { item.ofObject { $0.settle(&rows) } }
    var place = 0
    for object in Uncounted(touched) {
      object._withUnsafeGuaranteedRef { object in
        var keepsRow = false
        if place < updated.count, updated[place].ofObject({ $0 === object }) {
          keepsRow = rows != nil && object.hasRow && isRowUntouched(updated[place])
          place += 1
        }
        if keepsRow { object.settleWithRow() } else { object.settle(&rows) }
      }
    }
  }

  /// Whether the row of a changed object, whose version is that of the store, is as it was.
  private func isRowUntouched(_ update: Update) -> Bool {
    entities.derivations == nil && !hasOwnChange(update)
  }
}

extension ManagedObject {
  /// Becomes clean after a save.
  ///
  /// - Parameter rows: where the new row is; `nil` to leave the object a fault.
  fileprivate func settle(_ rows: inout RowRun?) {
    settleWithRow()
    // A row that cannot be read leaves a fault, which says so when it is looked at.
    if rows?.giveRow(to: self) != true { set(nil) }
  }

  /// Becomes clean, and keeps the row that it has.
  fileprivate func settleWithRow() {
    keepTransientSlots()
    state = []
  }
}
