import QuireModel
import QuireStorage

/// One store as one context sees it: the objects that stand for its rows, and the state of the
/// store that they are read from.
///
/// A ``Reference`` does not say which store it is of. An object that was saved has a session, which
/// finds rows, links and other objects by their references. As no relationship leads from one store
/// to another, the session is enough for all of them.
///
/// A session belongs to a store by its UUID: when the coordinator opens the store again, or moves
/// it, the session continues with that. When the store is removed, the session stays for objects
/// that the program still refers to, and reading them is an error.
final class StoreSession {
  // Sound: a context separates its objects from their sessions before it ends.
  @exclusivity(unchecked) unowned(unsafe) let context: ManagedObjectContext
  /// The store as the coordinator had it when the context last compared its sessions with it.
  @exclusivity(unchecked) private(set) var store: PersistentStore
  /// The incremental store as the context asks it, made when it is needed.
  private var front: IncrementalSource?
  /// The classes of the context's coordinator.
  let classes: ObjectClasses?
  /// The store's position among those of the coordinator.
  var position = 0
  // Sound: an object leaves the identity map in its deinit, in its context's isolation, so that an
  // entry always points to a living object.
  @exclusivity(unchecked) var identityMap = IdentityMap()
  /// The arenas of the session's objects.
  @exclusivity(unchecked) var arenas = ObjectArenas()
  // Sound: a session's arenas stay as long as the session.
  /// The arena of the object that was made last, and the number of its entity in the store.
  @exclusivity(unchecked) var recent: (number: UInt16, arena: Unmanaged<ObjectArena>)?
  /// The state of the store that relationships and faults are read from.
  @exclusivity(unchecked) var view: StoreView? {
    didSet {
      viewReference = view.map { .passUnretained($0) }
      let former = viewState
      viewState = view?.stateNumber ?? 0
      if viewState != former || viewState == 0 { context.undoRecording?.recordRead() }
      viewDidMove()
      if context.stalenessInterval >= 0 { updateViewTime() }
    }
  }
  /// Which state that is, by ``StoreView/stateNumber``; 0 if there is none.
  private(set) var viewState: UInt32 = 0
  /// The commits that the rows in memory are of.
  private var readCommits = ReadCommits()
  /// How many views there were.
  private var viewCount = 0
  /// The last state that relationships were read from.
  private var lastState: UInt32 = 0
  /// Whether the state has moved since relationships were changed here, so that their changes are
  /// differences from another one.
  private var hasMovedUnderChanges = false
  /// Whether rows in memory may be of another state than ``view``, or changes of relationships
  /// differences from another. Then what an object refers to is looked up in the state, and what
  /// refers to it is asked for its own changes.
  @exclusivity(unchecked) private(set) var linksHaveMoved = false
  /// Whether the state may be too old; see ``ManagedObjectContext/stalenessInterval``.
  private var viewExpires = false
  /// When the state was last known to be the newest, where that matters.
  private var viewTime = ContinuousClock.now
  // Sound: held above. For reads that call nothing which could replace the view.
  @exclusivity(unchecked) private var viewReference: Unmanaged<StoreView>?
  /// The state of the store that a query generation keeps the context at.
  @exclusivity(unchecked) var pinnedView: StoreView?
  /// The versions of rows that a save has removed and the next one writes again.
  var formerVersions: [Reference: UInt32] = [:]
  /// Whether the context has dropped what it had read, as the store was removed.
  var hasLeft = false
  /// Saves of other contexts that wait to be merged; `nil` unless they are merged automatically.
  private(set) var inbox: CommitInbox?
  /// The hub that fills the inbox.
  private var joinedHub: CommitHub?

  init(_ context: ManagedObjectContext, _ store: PersistentStore) {
    self.context = context
    self.store = store
    classes = context.persistentStoreCoordinator?.classes
  }

  deinit { arenas.leave() }

  var identity: StoreIdentity { store.identity }
  var entities: StoreEntities { store.entities }

  /// The incremental store as the context asks it, if the session is of one.
  var incremental: IncrementalSource? {
    if let front { return front }
    front = store.incremental?.front(for: context)
    return front
  }

  /// Whether the store was removed from the coordinator or replaced.
  var isRetired: Bool { store.entities.isRetired }

  /// Whether the session can continue with a store: one with its UUID, and with the layout of the
  /// objects here.
  func canFollow(_ other: PersistentStore) -> Bool {
    store === other
      || identity == other.identity
        && (identityMap.count == 0 || entities.schemaBytes == other.entities.schemaBytes)
  }

  func follow(_ other: PersistentStore) {
    store = other
    front = nil
    recent = nil
    hasLeft = false
  }

  func requiredStore() throws -> PersistentStore {
    if !isRetired { return store }
    context.matchSessions()
    guard !isRetired else {
      throw PersistenceError(
        .persistentStoreOperation,
        "the store \(store.identifier) is not there any more: it was removed from the context's "
          + "coordinator, and its objects cannot be used")
    }
    return store
  }
}

// MARK: - The state of the store

extension StoreSession {
  /// A child reads what its parent has at the moment; a store of another make has no states, and a
  /// row is what it was when it was read.
  private func viewDidMove() {
    context.linkGeneration &+= 1
    viewCount &+= 1
    guard let view else {
      if !context.changes.mayHaveRelationships { (lastState, hasMovedUnderChanges) = (0, false) }
      return findWhetherLinksHaveMoved()
    }
    let isMoved = !view.isPlain || lastState != 0 && viewState != lastState
    lastState = viewState
    hasMovedUnderChanges =
      context.changes.mayHaveRelationships && (hasMovedUnderChanges || isMoved)
    if view.isPlain {
      readCommits.move(to: view.snapshot.commitNumber, isFirst: identityMap.count == 0)
    }
    findWhetherLinksHaveMoved()
  }

  /// By which the states that relationships are read from are told apart: of the store, or of all
  /// that the context's ancestors have changed.
  var linkState: Int {
    if context.parent == nil { return viewState == 0 ? viewCount : Int(viewState) }
    var (state, ancestor) = (0, context.parent)
    while let context = ancestor {
      (state, ancestor) = (state &+ context.linkGeneration, context.parent)
    }
    return state
  }

  private func findWhetherLinksHaveMoved() {
    // Without a state the next one may be any.
    let mayRowsDiffer =
      store.incremental == nil
      && (view == nil ? identityMap.count > 0 : !readCommits.areOfOneState)
    // In a migration nobody else writes, and what is deferred changes nothing that is read.
    linksHaveMoved =
      context.parent != nil
      || context.migration == nil && (hasMovedUnderChanges || mayRowsDiffer)
  }

  /// To be called when all rows that commits have changed are in memory, or will be read again.
  func recordRows(of commits: some Sequence<CommitNumber>) {
    readCommits.insert(commits)
    findWhetherLinksHaveMoved()
  }

  /// To be called when an object got a row that the state does not have any more.
  func recordOlderRow() {
    readCommits.insertOlder()
    findWhetherLinksHaveMoved()
  }

  /// To be called when all rows that are in memory were read from the present state, or will be.
  func recordRowsOfState() {
    guard let view, view.isPlain else { return }
    readCommits.move(to: view.snapshot.commitNumber, isFirst: true)
    findWhetherLinksHaveMoved()
  }

  /// The state of the store that relationships and faults are read from.
  func currentView() throws -> StoreView {
    if let view, pinnedView == nil, !view.entities.isRetired, !isStale {
      return view
    }
    return try newestView()
  }

  /// Called when ``ManagedObjectContext/stalenessInterval`` or the state has changed.
  func updateViewTime() {
    viewExpires = context.stalenessInterval >= 0
    guard viewExpires else {
      viewReference = view.map { .passUnretained($0) }
      return
    }
    viewTime = .now
    // The time has to be checked for every read.
    viewReference = nil
  }

  /// Whether the state is older than ``ManagedObjectContext/stalenessInterval``. Not while the
  /// context is busy: writing or processing changes uses one state from beginning to end.
  private var isStale: Bool {
    guard viewExpires, context.activity == nil else { return false }
    // An interval may be too long for a duration.
    let age = (ContinuousClock.now - viewTime).components
    return Double(age.seconds) + Double(age.attoseconds) / 1e18 >= context.stalenessInterval
  }

  /// Gives a fault its row from the current view. Calls no hook.
  ///
  /// - Returns: `false` when there is none.
  func giveRow(to object: ManagedObject) throws -> Bool {
    do {
      return try giveRowAtOnce(to: object)
    } catch {
      guard error.isOfOvertakenState else { throw error }
      return try context.inOneState { try giveRowAtOnce(to: object) }
    }
  }

  private func giveRowAtOnce(to object: ManagedObject) throws -> Bool {
    if let viewReference, pinnedView == nil,
      try viewReference._withUnsafeGuaranteedRef({ try $0.givePlainRow(to: object) })
    {
      return true
    }
    return try currentView().giveRow(to: object)
  }

  /// Moves on to the store's last saved state, unless the context is pinned to a query generation.
  func latestView() throws -> StoreView {
    context.parent?.processPendingChangesOfEvent()
    try writeDeferredLinks()
    return try newestView()
  }

  /// As ``latestView()``, without writing deferred links first.
  func newestView() throws -> StoreView {
    let store = try requiredStore()
    if let pinnedView {
      try checkReadable(pinnedView)
      if view !== pinnedView { leaveState() }
      view = pinnedView
      return pinnedView
    }
    if let parent = context.parent { return try newestView(of: parent) }
    // Before the snapshot: a save in between is then in the inbox, in the snapshot, or in both.
    joinCommits()
    if let view, view.entities === store.entities, view.incremental == nil,
      try storage({ () throws(StorageError) in try store.pages.isNewest(view.snapshot) })
    {
      if viewExpires { viewTime = .now }
      return view
    }
    let snapshot = try storage { () throws(StorageError) in try store.pages.snapshot() }
    try checkVersion(of: snapshot)
    // If nothing was read yet, earlier saves need not be merged.
    if view == nil, identityMap.count == 0 { inbox?.forget(through: snapshot.commitNumber) }
    leaveState()
    let view = view(of: snapshot, store)
    self.view = view
    return view
  }

  /// Drops the current state before it is replaced. Values that were set to those of this state are
  /// dropped first: that they are no changes cannot be found out later.
  func leaveState() {
    guard let view else { return }
    self.view = nil
    guard !view.entities.isRetired else { return }
    for object in context.changes.updated.objects where object.session === self {
      object.discardUnchanged(view)
    }
  }

  /// A view of the parent's objects, with the parent's newest state of the store behind them.
  private func newestView(of parent: ManagedObjectContext) throws -> StoreView {
    guard let source = parent.session(with: identity) else {
      throw PersistenceError(
        .persistentStoreOperation, "the parent of the context has no store \(store.identifier)")
    }
    let behind = try source.newestView()
    if let view, view.snapshot.commitNumber == behind.snapshot.commitNumber,
      view.entities === behind.entities, view.parentRows?.source === source,
      view.incremental === behind.incremental
    {
      return view
    }
    let view = StoreView(
      behind.entities, behind.snapshot, ParentRows(self, source), behind.incremental)
    self.view = view
    return view
  }

  /// The state in a snapshot; for an incremental store, the state from now on.
  private func view(of snapshot: Snapshot, _ store: PersistentStore) -> StoreView {
    StoreView(store.entities, snapshot, nil, incremental.map { IncrementalRows($0) })
  }

  /// The store's newest state, even if the context is pinned to a query generation.
  func newestState() throws -> StoreView {
    let store = try requiredStore()
    let snapshot = try storage { () throws(StorageError) in try store.pages.snapshot() }
    return view(of: snapshot, store)
  }

  /// Checks that the store still has the version and layouts with which it was opened. Another
  /// coordinator of this process may have migrated it since; and a third one back to the same
  /// version, with other layouts.
  func checkVersion(of reader: some TreeReader) throws {
    if try StoreSchema.isOf(entities.model, entities.hashBytes, in: reader),
      try StoreSchema.hasEntities(entities.schemaBytes, in: reader)
    {
      return
    }
    throw PersistenceError(
      .persistentStoreIncompatibleVersionHash,
      "the store was migrated to another version of the model since this coordinator opened it")
  }

  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` when the view has expired.
  func checkReadable(_ pinned: StoreView) throws {
    do {
      try pinned.snapshot.checkReadable()
    } catch {
      throw PersistenceError(
        .persistentStoreOperation,
        "the query generation of commit \(pinned.snapshot.commitNumber.rawValue) cannot be read any "
          + "more: pin the context to a newer one by setQueryGeneration(from:)",
        underlying: error)
    }
  }

  /// Writes deferred links to their trees, before something is read there.
  func writeDeferredLinks() throws {
    guard let links = context.migration?.links, !links.isEmpty else { return }
    let store = try requiredStore()
    try store.pages.write {
      try StoreWriter($0, store.entities, deferring: links).writeDeferredLinks()
    }
    view = nil
  }
}

// MARK: - Saves of other contexts

extension StoreSession {
  /// Begins to collect the store's saves in the inbox, if the context merges them.
  func joinCommits() {
    // A child gets them by its parent.
    guard context.mergesCommits, context.parent == nil, joinedHub !== store.hub else { return }
    let inbox = inbox ?? CommitInbox(wake: context.wakeOnCommit)
    self.inbox = inbox
    joinedHub?.remove(inbox)
    // The saves in the inbox are of the store before it was moved, and others may have saved since.
    inbox.begin(missesSome: joinedHub != nil)
    joinedHub = store.hub
    store.hub.add(inbox)
    store.watch()
  }

  func leaveCommits() {
    if let inbox { joinedHub?.remove(inbox) }
    inbox = nil
    joinedHub = nil
  }
}
