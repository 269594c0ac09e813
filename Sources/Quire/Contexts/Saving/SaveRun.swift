import QuireModel
import QuireStorage

/// One call of ``ManagedObjectContext/save()``. In this order:
///
/// 1. ``begin()``: a context that is busy refuses. What others have saved is merged.
/// 2. ``prepare()``: the context is brought up to date, as for a fetch; then hooks are called until
///    nothing changes, objects are validated, and undo keeps what the save will remove
///    (``ManagedObjectContext/prepareSave(without:asMerged:)``).
/// 3. The stores are locked, and one ``SaveOperation`` writes each of them
///    (``ContextSave/write(in:settling:waits:)``), unless a ``ConflictSearch`` finds that others
///    have saved what it depends on. A child passes its changes to its parent (``ChildSave``).
/// 4. After a conflict ``saveMerged(_:_:)`` locks the stores again, puts the changes on the newest
///    rows, or asks the policy, and prepares and writes again (``MergedSave``).
/// 5. ``finish(_:_:_:)`` makes the objects clean, and calls ``ManagedObject/didSave()``. Nothing
///    can fail here, as the save has happened.
/// 6. ``announce(_:)`` notifies observers and children when the context is idle again.
final class SaveRun {
  let context: ManagedObjectContext
  /// Whether hooks are called and objects are validated, and saved objects keep their values.
  private let asks: Bool
  /// A save ends the event when its objects are clean: later changes by hooks and observers belong
  /// to the next.
  private var isEventOver = false

  init(_ context: ManagedObjectContext, asking: Bool) {
    self.context = context
    asks = asking
  }

  func run() throws {
    try begin()
    defer { end() }
    let finished = try context.during(.saving) { () -> Finished? in
      switch try prepare() {
      case .nothing: return nil
      case .toParent(let child): return try save(child)
      case .toStores(let save, let sessions):
        do {
          let settling = asks || context.migration?.links.isFull ?? false
          let outcome = try save.write(
            in: ContextSave.beginWrites(in: save.parts.map(\.session)), settling: settling)
          return finish(outcome, nil, sessions)
        } catch let error where isConflict(error) {
          return try saveMerged(save, sessions)
        }
      }
    }
    try announce(finished)
  }

  // MARK: Beginning

  func begin() throws {
    try context.requireIdle(for: "save()")
    context.mergeWaitingCommits()
    context.undoRecording?.continueEvent()
  }

  /// A save before anything is written.
  enum Prepared {
    case nothing
    case toParent(ChildSave)
    case toStores(ContextSave, [StoreSession])
  }

  /// Prepares the save, up to the locking of stores.
  func prepare() throws -> Prepared {
    if asks, context.hasChanges { context.noticeCenter?.postWillSave() }
    try context.bringUpToDate()
    if let parent = context.parent { return .toParent(ChildSave(of: context, to: parent)) }
    guard context.hasChanges else {
      for session in context.presentSessions() { try session.store.saveMetadata() }
      return .nothing
    }
    let sessions = try context.requiredSessions()
    for session in sessions { session.joinCommits() }
    guard sessions.contains(where: { !$0.store.isReadOnly }) else {
      throw PersistenceError(
        .persistentStoreSave, "the store was opened read-only: open it for writing to save")
    }
    let save: ContextSave
    if asks {
      save = try context.prepareSave()
    } else {
      save = ContextSave(context)
      try save.checkStores()
      context.undoRecording?.willCommit(asMerged: false)
    }
    // Hooks may have taken back all changes.
    return context.hasChanges ? .toStores(save, sessions) : .nothing
  }

  // MARK: Writing

  func save(_ child: ChildSave) throws -> Finished? {
    guard context.hasChanges, let save = try child.write() else { return nil }
    isEventOver = true
    return .toParent(child, save, child.finish(save))
  }

  /// Whether a save may succeed when its changes are merged with what others have saved.
  func isConflict(_ error: any Error) -> Bool {
    error is ConflictFound || error is SaveOperation.Duplicates
  }

  /// Saves what is left when the conflicts are resolved.
  func saveMerged(_ save: ContextSave, _ sessions: [StoreSession]) throws -> Finished? {
    let effects = PolicyEffects()
    let outcome: ContextSave.Outcome?
    do {
      context.policyEffects = effects
      defer { context.policyEffects = nil }
      outcome = try MergedSave(context).commit(save)
    }
    defer { effects.settle() }
    return outcome.map { finish($0, effects, sessions) } ?? .emptied(effects)
  }

  // MARK: Finishing

  /// A save that is over, and whose observers are to be notified.
  enum Finished {
    case toParent(ChildSave, ContextSave, ContextNotice)
    case toStores(FinishedStores)
    /// The merge policy has left nothing to save.
    case emptied(PolicyEffects)
  }

  struct FinishedStores {
    let outcome: ContextSave.Outcome
    /// The changes of each store, for observers.
    let told: [(part: SaveOperation, saved: SavedChanges)]
    let effects: PolicyEffects?
    /// The stores whose objects did not change.
    let untouched: [StoreSession]
  }

  /// Makes the objects of a committed save clean.
  func finish(
    _ outcome: ContextSave.Outcome, _ effects: PolicyEffects?, _ sessions: [StoreSession]
  ) -> Finished {
    isEventOver = true
    return .toStores(
      FinishedStores(
        outcome: outcome, told: finishObjects(of: outcome), effects: effects,
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
  private func finishObjects(
    of outcome: ContextSave.Outcome
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
    context.undoRecording?.endEvent()
    let moved = context.movedObjects(outcome.parts)
    var told: [(part: SaveOperation, saved: SavedChanges)] = []
    for (part, view) in zip(outcome.parts, outcome.views) {
      part.finishObjects(asks ? view : nil)
      if context.audience.isEmpty, !asks || !part.store.hub.isListened { continue }
      told.append((part, part.savedChanges(view.snapshot.commitNumber)))
    }
    context.recordMovedObjects(moved)
    context.recordReplacedRows(outcome.parts)
    for (part, saved) in told {
      for observer in context.audience { observer.didSave(saved) }
      // A save that has changed no value is not published.
      guard asks, part.store.hub.isListened, !saved.isEmpty else { continue }
      part.store.hub.publish(
        CommitNotice(
          changes: saved, author: context.transactionAuthor, contextName: context.name,
          origin: part.session.inbox))
    }
    if asks { for part in outcome.parts { part.forEachObject { $0.didSave() } } }
    return told
  }

  /// Clears the changes that were saved.
  private func forgetChanges(of outcome: ContextSave.Outcome) {
    context.watched = []
    if context.forgetChanges(of: outcome.parts) {
      context.promisedIDs = PromisedIDs()
      context.assignedStores = [:]
    } else {
      for part in outcome.parts {
        for item in part.inserted { context.promisedIDs.keep(item.object.reference) }
      }
    }
  }

  func end() {
    if !isEventOver { context.undoRecording?.endEvent() }
  }

  // MARK: Notifying

  func announce(_ save: Finished?) throws {
    switch save {
    case nil: return
    case .toParent(let child, let save, let notice): child.announce(save, notice)
    case .toStores(let save): try announce(save)
    case .emptied(let effects): effects.notifyObservers(of: context)
    }
  }

  /// Notifies observers and children of a save that is over.
  ///
  /// - Throws: the error by which some of the stores were not saved, or what writing metadata
  ///   throws.
  private func announce(_ save: FinishedStores) throws {
    let parts = save.outcome.parts
    if !save.told.isEmpty, let center = context.noticeCenter, center.wantsSaves {
      center.postDidSave(ContextNotice(of: parts, save.told.map(\.saved), in: context))
    }
    for part in parts { context.release(part.deleted) }
    if context.family != nil { context.notifyChildren(of: parts) }
    save.effects?.notifyObservers(of: context)
    if let failure = save.outcome.failure { throw failure }
    for session in save.untouched { try session.store.saveMetadata() }
  }
}

extension ManagedObjectContext {
  /// Saves without hooks and validation, and makes the saved objects faults. For a migration, which
  /// makes many objects, validates them at the end, and seldom reads one again.
  final func flush() throws {
    try SaveRun(self, asking: false).run()
  }

  /// What ``save()`` does.
  final func saveChanges() throws {
    try SaveRun(self, asking: true).run()
  }
}
