import QuireModel
import QuireStorage

/// What one context has of one store: the objects that stand for its rows, and the state of the
/// store that they are read from.
///
/// Places in a store (``Reference``) say nothing about which store it is. An object that was saved
/// knows its session, and asks it for all that a place leads to: rows, links, other objects. As no
/// relationship leads from one store to another, nobody else has to be asked.
///
/// A session belongs to a store by its UUID: when the coordinator opens the store again, or has it
/// at another place, the session goes on with that. When the store is removed, the session stays
/// for the objects that somebody holds, and refuses what they ask for.
final class StoreSession {
  // Sound: a context takes its objects away from their sessions before it goes.
  @exclusivity(unchecked) unowned(unsafe) let context: ManagedObjectContext
  /// The store as the coordinator had it when somebody looked last.
  @exclusivity(unchecked) private(set) var store: PersistentStore
  /// The classes of the context's coordinator.
  let classes: ObjectClasses?
  /// The store's place among those of the coordinator.
  var place = 0
  // Sound: an object leaves the register in its deinit, in its context's isolation, so that a
  // register entry always points to a living object.
  @exclusivity(unchecked) var identityMap = IdentityMap()
  /// Of the objects that are here.
  @exclusivity(unchecked) var arenas = ObjectArenas()
  // Sound: a session's arenas stay as long as the session.
  /// Where the last object was made for a reference, and the number of its entity in the store.
  @exclusivity(unchecked) var recent: (number: UInt16, arena: Unmanaged<ObjectArena>)?
  /// What relationships and faults are read from.
  @exclusivity(unchecked) var view: StoreView? {
    didSet {
      viewReference = view.map { .passUnretained($0) }
      if context.stalenessInterval >= 0 { updateViewTime() }
    }
  }
  /// When the state was the newest; `nil` while it may be of any age.
  private var viewTime: ContinuousClock.Instant?
  // Sound: held above. For looks that call nothing by which it could become another.
  @exclusivity(unchecked) private var viewReference: Unmanaged<StoreView>?
  /// The state of the store that a query generation keeps the context at.
  @exclusivity(unchecked) var pinnedView: StoreView?
  /// What the versions were of rows that saves have removed and the next one writes anew.
  var formerVersions: [Reference: UInt32] = [:]
  /// Whether the context has let go of what it had read, as the store was removed.
  var hasLeft = false
  /// Where others' saves wait to be merged; `nil` unless that is to happen by itself.
  private(set) var inbox: CommitInbox?
  /// Who fills it.
  private var joinedHub: CommitHub?

  init(_ context: ManagedObjectContext, _ store: PersistentStore) {
    self.context = context
    self.store = store
    classes = context.persistentStoreCoordinator?.classes
  }

  deinit { arenas.leave() }

  var identity: StoreIdentity { store.identity }
  var entities: StoreEntities { store.entities }

  /// Whether the store has left the coordinator, or another one has taken its place.
  var isRetired: Bool { store.entities.isRetired }

  /// Whether the session can go on with a store: with its UUID, and the layout that the objects
  /// here know.
  func canFollow(_ other: PersistentStore) -> Bool {
    store === other
      || identity == other.identity
        && (identityMap.count == 0 || entities.schemaBytes == other.entities.schemaBytes)
  }

  func follow(_ other: PersistentStore) {
    store = other
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
  /// The state of the store that relationships and faults are read from.
  func currentView() throws -> StoreView {
    if let view, pinnedView == nil, !view.entities.isRetired, viewTime == nil || !isStale {
      return view
    }
    return try newestView()
  }

  /// Called when ``ManagedObjectContext/stalenessInterval`` or the state has changed.
  func updateViewTime() {
    guard context.stalenessInterval >= 0 else {
      viewTime = nil
      viewReference = view.map { .passUnretained($0) }
      return
    }
    viewTime = .now
    // Every look has to ask for the time.
    viewReference = nil
  }

  /// Whether the state is older than the context wants it to be. Where changes are written or
  /// processed one state serves to the end.
  private var isStale: Bool {
    guard let viewTime, context.activity == nil else { return false }
    // An interval may be too long for a duration.
    let age = (ContinuousClock.now - viewTime).components
    return Double(age.seconds) + Double(age.attoseconds) / 1e18 >= context.stalenessInterval
  }

  /// Gives a fault its row from that state, and tells nobody.
  ///
  /// - Returns: `false` when there is none.
  @inline(__always)
  func giveRow(to object: ManagedObject) throws -> Bool {
    if let viewReference, pinnedView == nil,
      try viewReference._withUnsafeGuaranteedRef({ try $0.givePlainRow(to: object) })
    {
      return true
    }
    return try currentView().giveRow(to: object)
  }

  /// Moves on to the store's last saved state, unless a query generation keeps the context back.
  func latestView() throws -> StoreView {
    context.parent?.processPendingChangesOfEvent()
    try writeDeferredLinks()
    return try newestView()
  }

  /// The same, in which links that wait are missing.
  func newestView() throws -> StoreView {
    let store = try requiredStore()
    if let pinnedView {
      try checkReadable(pinnedView)
      if view !== pinnedView { leaveState() }
      view = pinnedView
      return pinnedView
    }
    if let parent = context.parent { return try newestView(of: parent) }
    // Before the snapshot: what is saved in between waits here or is in the snapshot, or both.
    joinCommits()
    if let view, view.entities === store.entities, view.incremental == nil,
      try storage({ () throws(StorageError) in try store.pages.isNewest(view.snapshot) })
    {
      if viewTime != nil { viewTime = .now }
      return view
    }
    let snapshot = try storage { () throws(StorageError) in try store.pages.snapshot() }
    try checkVersion(of: snapshot)
    // Where nothing was read yet, nothing is out of date.
    if view == nil, identityMap.count == 0 { inbox?.forget(through: snapshot.commitNumber) }
    leaveState()
    let view = store.view(snapshot)
    self.view = view
    return view
  }

  /// Lets go of the state that everything was read from, before it becomes another. What was set to
  /// what it is in it is no change, which can be seen now for the last time.
  func leaveState() {
    guard let view else { return }
    self.view = nil
    guard !view.entities.isRetired else { return }
    for object in context.changes.updated.objects where object.session === self {
      object.discardUnchanged(view)
    }
  }

  /// The parent as it is, with its own newest state of the store behind it.
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

  /// The store as it is, whatever a query generation shows.
  func newestState() throws -> StoreView {
    let store = try requiredStore()
    let snapshot = try storage { () throws(StorageError) in try store.pages.snapshot() }
    return store.view(snapshot)
  }

  /// Another coordinator of this process may have migrated the store since it was opened here; and
  /// a third one back to our version, with other layouts.
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

  /// - Throws: when the view has expired, saying what to do.
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

  /// Puts links that wait in their trees, for somebody who is about to read there.
  func writeDeferredLinks() throws {
    guard let deferredLinks = context.deferredLinks, !deferredLinks.isEmpty else { return }
    let store = try requiredStore()
    try store.pages.write {
      try StoreWriter($0, store.entities, deferring: deferredLinks).writeDeferredLinks()
    }
    view = nil
  }
}

// MARK: - Others' saves

extension StoreSession {
  /// From now on the store's saves wait in the inbox, if the context wants that.
  func joinCommits() {
    // A child is told by its parent.
    guard context.mergesCommits, context.parent == nil, joinedHub !== store.hub else { return }
    let inbox = inbox ?? CommitInbox(wake: context.wakeOnCommit)
    self.inbox = inbox
    joinedHub?.remove(inbox)
    // What waited was of a store that has moved, and others may have saved there since.
    inbox.begin(missesSome: joinedHub != nil)
    joinedHub = store.hub
    store.hub.add(inbox)
  }

  func leaveCommits() {
    if let inbox { joinedHub?.remove(inbox) }
    inbox = nil
    joinedHub = nil
  }
}
