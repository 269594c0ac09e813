import QuireModel
import QuireStorage

// A save, in the order of its steps.
//
// 1. ``beginSave()``: a context that is busy refuses. What others have saved is merged.
// 2. ``preparedSave(asking:)``: the context is brought up to date, as for a fetch; then
//    ``prepareSave(without:asMerged:)`` calls ``ManagedObject/willSave()`` until nothing changes,
//    validates, and lets undo keep what the save will remove.
// 3. The stores are locked, and one ``SaveOperation`` writes each of them
//    (``ContextSave/write(in:settling:waits:)``), unless a ``ConflictSearch`` finds that others
//    have saved what it depends on. A child passes its changes to its parent
//    (``savedToParent(_:)``).
// 4. After a conflict ``savedMerged(_:_:asking:_:)`` locks the stores again, puts the changes on
//    the newest rows, or asks the policy, and prepares and writes again.
// 5. ``finished(_:_:_:asking:_:)`` makes the objects clean, and calls ``ManagedObject/didSave()``.
//    Nothing can fail here, as the save has happened.
// 6. ``announce(_:)`` notifies observers and children when the context is idle again.
extension ManagedObjectContext {
  /// Saves without hooks and validation, and makes the saved objects faults. For a migration, which
  /// makes many objects, validates them at the end, and seldom reads one again.
  final func flush() throws {
    try write(asking: false)
  }

  final func write(asking: Bool) throws {
    try beginSave()
    // A save ends the event when its objects are clean: later changes by hooks and observers belong
    // to the next.
    var isEventOver = false
    defer { if !isEventOver { undoRecording?.endEvent() } }
    let finished = try during(.saving) { try finishedSave(asking: asking, &isEventOver) }
    try announce(finished)
  }

  final func beginSave() throws {
    try requireIdle(for: "save()")
    mergeWaitingCommits()
    undoRecording?.continueEvent()
  }

  /// A save that is over, and whose observers are to be notified.
  enum FinishedSave {
    case toParent(ContextSave, ContextNotice)
    case toStores(FinishedStoreSave)
    /// The merge policy has left nothing to save.
    case emptied(PolicyEffects?)
  }

  struct FinishedStoreSave {
    let outcome: ContextSave.Outcome
    /// The changes of each store, for observers.
    let told: [(part: SaveOperation, saved: SavedChanges)]
    let effects: PolicyEffects?
    /// The stores whose objects did not change.
    let untouched: [StoreSession]
  }

  /// A save before anything is written.
  enum PreparedSave {
    case nothing
    case toParent
    case toStores(ContextSave, [StoreSession])
  }

  /// Saves, and makes the objects clean.
  ///
  /// - Returns: `nil` when there was nothing to save.
  private func finishedSave(
    asking: Bool, _ isEventOver: inout Bool
  ) throws -> FinishedSave? {
    switch try preparedSave(asking: asking) {
    case .nothing: return nil
    case .toParent: return try savedToParent(&isEventOver)
    case .toStores(let save, let sessions):
      do {
        let settling = asking || deferredLinks?.isFull ?? false
        let outcome = try save.write(
          in: ContextSave.beginWrites(in: save.parts.map(\.session)), settling: settling)
        return finished(outcome, nil, sessions, asking: asking, &isEventOver)
      } catch let error where Self.isConflict(error) {
        return try savedMerged(save, sessions, asking: asking, &isEventOver)
      }
    }
  }

  /// Prepares the save, up to the locking of stores.
  final func preparedSave(asking: Bool) throws -> PreparedSave {
    if asking, hasChanges { noticeCenter?.postWillSave() }
    try bringUpToDate()
    if parent != nil { return .toParent }
    guard hasChanges else {
      for session in presentSessions() { try session.store.saveMetadata() }
      return .nothing
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
      undoRecording?.willCommit(asMerged: false)
    }
    // Hooks may have taken back all changes.
    return hasChanges ? .toStores(save, sessions) : .nothing
  }

  final func savedToParent(_ isEventOver: inout Bool) throws -> FinishedSave? {
    guard let parent, hasChanges, let save = try save(to: parent) else { return nil }
    isEventOver = true
    return .toParent(save, finish(save))
  }

  /// Whether a save may succeed when the policy has resolved its conflicts.
  static func isConflict(_ error: any Error) -> Bool {
    error is ConflictFound || error is SaveOperation.Duplicates
  }

  /// Saves after the policy has resolved the conflicts.
  final func savedMerged(
    _ save: ContextSave, _ sessions: [StoreSession], asking: Bool, _ isEventOver: inout Bool
  ) throws -> FinishedSave? {
    let (outcome, effects) = try committedMerged(save)
    guard let outcome else {
      effects?.settle()
      return .emptied(effects)
    }
    let finished = finished(outcome, effects, sessions, asking: asking, &isEventOver)
    effects?.settle()
    return finished
  }

  private func committedMerged(
    _ save: ContextSave
  ) throws -> (ContextSave.Outcome?, PolicyEffects?) {
    policyEffects = PolicyEffects()
    defer { policyEffects = nil }
    return (try commitMerged(save), policyEffects)
  }

  /// Makes the objects of a committed save clean.
  final func finished(
    _ outcome: ContextSave.Outcome, _ effects: PolicyEffects?, _ sessions: [StoreSession],
    asking: Bool, _ isEventOver: inout Bool
  ) -> FinishedSave {
    isEventOver = true
    return .toStores(
      FinishedStoreSave(
        outcome: outcome, told: finish(outcome, isTold: asking), effects: effects,
        untouched: sessions.filter { session in
          !outcome.parts.contains { $0.session === session }
        }))
  }

  /// Makes the objects of a committed save clean. Nothing here may fail, as the save has happened.
  ///
  /// The outcome has the save's own states of the stores. The newest states may have a later save,
  /// which is not merged here yet.
  ///
  /// - Returns: the changes of each store, for observers.
  private func finish(
    _ outcome: ContextSave.Outcome, isTold: Bool
  ) -> [(part: SaveOperation, saved: SavedChanges)] {
    forgetChanges(of: outcome)
    for (part, view) in zip(outcome.parts, outcome.views) {
      part.session.formerVersions = [:]
      part.session.view = view
      // Of a save that changed nothing, the state is another's.
      if let commit = part.commit, commit == view.snapshot.commitNumber {
        part.session.recordRows(of: CollectionOfOne(commit))
      }
      if part.session.pinnedView != nil { part.session.pinnedView = view }
    }
    // Changes that `didSave()` makes belong to the next event.
    undoRecording?.endEvent()
    let moved = movedObjects(outcome.parts)
    var told: [(part: SaveOperation, saved: SavedChanges)] = []
    for (part, view) in zip(outcome.parts, outcome.views) {
      part.finishObjects(isTold ? view : nil)
      if audience.isEmpty, !isTold || !part.store.hub.isListened { continue }
      told.append((part, part.savedChanges(view.snapshot.commitNumber)))
    }
    recordMovedObjects(moved)
    recordReplacedRows(outcome.parts)
    for (part, saved) in told {
      for observer in audience { observer.didSave(saved) }
      // A save that has changed no value is not published.
      guard isTold, part.store.hub.isListened, !saved.isEmpty else { continue }
      part.store.hub.publish(
        CommitNotice(
          changes: saved, author: transactionAuthor, contextName: name, origin: part.session.inbox))
    }
    if isTold { for part in outcome.parts { part.forEachObject { $0.didSave() } } }
    return told
  }

  final func announce(_ save: FinishedSave?) throws {
    switch save {
    case nil: return
    case .toParent(let save, let notice): announce(save, notice)
    case .toStores(let save): try announce(save)
    case .emptied(let effects): effects?.notifyObservers(of: self)
    }
  }

  /// Notifies observers and children of a save that is over.
  ///
  /// - Throws: the error by which some of the stores were not saved, or what writing metadata
  ///   throws.
  private func announce(_ save: FinishedStoreSave) throws {
    let parts = save.outcome.parts
    if !save.told.isEmpty, let noticeCenter, noticeCenter.wantsSaves {
      noticeCenter.postDidSave(ContextNotice(of: parts, save.told.map(\.saved), in: self))
    }
    for part in parts { release(part.deleted) }
    if family != nil { notifyChildren(of: parts) }
    save.effects?.notifyObservers(of: self)
    if let failure = save.outcome.failure { throw failure }
    for session in save.untouched { try session.store.saveMetadata() }
  }

  /// Clears the changes that were saved.
  private func forgetChanges(of outcome: ContextSave.Outcome) {
    watched = []
    guard outcome.failure != nil else {
      changes = PendingObjects()
      promisedIDs = PromisedIDs()
      assignedStores = [:]
      return
    }
    for part in outcome.parts {
      for item in part.inserted {
        item.object.setPending(nil)
        promisedIDs.keep(item.object.reference)
      }
      for object in part.touched { object.setPending(nil) }
      for object in part.deleted { changes.remove(object) }
    }
  }
}
