import QuireModel
import QuireStorage

/// A scratch pad of objects: what is fetched, changed and saved together.
///
/// ## Isolation
///
/// A context and its objects belong to one isolation at a time and are not `Sendable`: the compiler
/// refuses code that would use them from two. ``PersistentContainer`` hands contexts out, a main
/// one on the main actor and background ones as `sending` results; `init()` makes one that belongs
/// to whoever made it. What may travel between contexts is a ``ManagedObjectID``.
///
/// ## What a context sees
///
/// A fetch sees the store as of its last save by anyone, with this context's unsaved changes on
/// top. There is one object for each row: fetching a row again returns the same object with the
/// values it had, until it is refreshed. Relationships are read from the state of the last fetch or
/// save.
///
/// A context with a ``parent`` sees the parent's objects instead, and saves to it.
///
/// ## While it is busy
///
/// A context calls the program's code: hooks of objects, merge policies, handlers of batch
/// requests, actions of an undo manager, observers. While it does so in the middle of its work it
/// is *busy*, and so are its parent and its children. The code may read, fetch, insert, change,
/// delete and refresh objects. What would take its objects, its changes or its stores away has to
/// wait: ``save()``, ``rollback()``, ``reset()``, ``undo()``, ``redo()``, ``refreshAllObjects()``,
/// merges, batch requests, another coordinator, parent or query generation are refused with
/// ``PersistenceError/Code/managedObjectContextBusy``, and nothing has changed. What cannot throw
/// keeps the error for the next fetch or save. Observers that are notified of what is over, such as
/// a save or a merge, find the context idle.
///
/// Clean objects are held by whoever uses them; changed ones by the context until they are saved.
nonisolated open class ManagedObjectContext {
  public enum ConcurrencyType: Int, Sendable {
    /// Belongs to the isolation that made it.
    case confinementConcurrencyType = 0
    case privateQueueConcurrencyType = 1
    case mainQueueConcurrencyType = 2
  }

  public let concurrencyType: ConcurrencyType
  /// For people: in notices of what this context saves, and while debugging.
  public var name: String?
  /// Who makes the changes, for those who are told of saves, such as ``StoreRemoteChange``.
  public var transactionAuthor: String?
  /// Whatever the program wants to keep with the context.
  public var userInfo: [String: Any] = [:]
  /// What a save does with objects that another save has changed since they were read; at first
  /// it fails.
  public final var mergePolicy = MergePolicy.error
  /// Whether an object whose row is gone, as another context has deleted it, reads as one without
  /// values.
  ///
  /// When `true`, as at first, all its properties read as nil, zero or empty; it says that it is
  /// ``ManagedObject/isInaccessible``, and whoever observes the context is told of it as of a
  /// deleted object. When `false`, reading or changing it by key throws
  /// ``PersistenceError/Code/managedObjectReferentialIntegrity`` (133000); a typed property reads
  /// the empty value, and the next fetch or save throws that error. In both cases a save that would
  /// write the object is a conflict.
  public final var shouldDeleteInaccessibleFaults = true
  /// Whether delete rules are applied when changes are processed, at the end of an event and by
  /// fetches, or only by the save. At first the former.
  public final var propagatesDeletesAtEndOfEvent = true
  /// How old the state of the store may be, in seconds, that faults and relationships are read
  /// from. Below 0, as at first, it is that of the last fetch or save however old; with 0 each
  /// fault is read from the newest state. Objects that were read keep their values, and a query
  /// generation its state.
  public final var stalenessInterval: Double = -1 {
    didSet { for session in sessions { session.updateViewTime() } }
  }
  /// Whether the context holds all objects that it knows, and not only the changed ones.
  ///
  /// They go with ``reset()``, when the context goes, and when this becomes `false` again.
  public final var retainsRegisteredObjects: Bool {
    get { retained != nil }
    set { retained = newValue ? retained ?? .init(allObjects) : nil }
  }
  /// What ``retainsRegisteredObjects`` holds; `nil` without it.
  @exclusivity(unchecked) final var retained: RetainedObjects?
  // Unchecked as in ``ManagedObject``: each access is over before anything else is called, and the
  // objects that a change lets go of go when it is made.
  @exclusivity(unchecked) final var changes = PendingObjects()
  final var promisedIDs = PromisedIDs()
  /// One for each of the coordinator's stores, in their order, as of the last look at them.
  @exclusivity(unchecked) final var sessions: [StoreSession] = []
  /// Those of stores that were removed, for the objects that somebody holds.
  final var formerSessions: [StoreSession] = []
  // Sound: an object leaves the register in its deinit, in this context's isolation, so that a
  // register entry always points to a living object.
  /// Objects with temporary references: those that were never saved, here or in a parent.
  @exclusivity(unchecked) private var newObjects = IdentityMap()
  /// Of objects that are new here.
  @exclusivity(unchecked) final var newArenas = ObjectArenas()
  /// Where the object was made that was made last.
  @exclusivity(unchecked) final var recentMaking: ObjectMaking?
  /// Parent and children; `nil` in a context that has had neither.
  @exclusivity(unchecked) final var family: ContextFamily? {
    didSet { updateHasFamily() }
  }
  @exclusivity(unchecked) final var hasFamily = false
  /// The stores that new objects were assigned to, by their temporary references.
  final var assignedStores: [Reference: StoreIdentity] = [:]
  /// What the context is in the middle of; `nil` when it is idle, apart from hooks.
  final var activity: ContextActivity?
  /// How many hooks are running that rows and insertions call.
  @exclusivity(unchecked) final var runningHookCount = 0
  /// The conflicts that a policy is asked about; `nil` at all other times.
  final var merge: Merge?
  /// What a save's policy has made of objects, to be told when they are saved; `nil` at all other
  /// times.
  final var policyEffects: PolicyEffects?
  /// Unchanged objects whose versions the next save compares.
  final var watched: Set<ManagedObject> = []
  /// What objects do while they are told that they will be saved; `nil` at all other times.
  final var preparation: SavePreparation? { didSet { updateIsObserved() } }
  /// Told what objects held before they change; `nil` at most times.
  final var journal: ContextJournal? { didSet { updateIsObserved() } }
  /// What an object is asked to validate at the moment.
  @exclusivity(unchecked) final var askedValue = AskedValue()
  /// Those who want to know what happens here.
  package final var observers: [any ContextObserver] = [] { didSet { updateIsObserved() } }
  /// Whether what happens now is nobody's change: only a merge's.
  private var isUnobserved = false { didSet { updateIsObserved() } }
  /// Whether ``record(_:of:_:)`` is to be called.
  @exclusivity(unchecked) final private(set) var isObserved = false
  /// Tells those who asked what happens here; `nil` until somebody does.
  final var noticeCenter: NoticeCenter?
  /// Whether others' saves are to be merged by themselves.
  final var mergesCommits = false
  /// Called, from anywhere, when a save begins to wait.
  final var wakeOnCommit: (@Sendable () -> Void)?
  /// Called when something begins to wait for the end of the event, to call ``endEvent()`` then;
  /// `nil` where nothing is processed by itself.
  final var requestEndOfEvent: (() -> Void)?
  final var isEndOfEventAwaited = false
  /// Enters what happens here with an undo manager; `nil` unless there is one.
  final var undoRecording: UndoRecording?
  /// What could not be thrown where it happened.
  final var unthrownErrors = KeptErrors()
  /// Whether somebody throws what is kept as soon as it is.
  final var throwsKeptErrors = false
  final var announcedChanges = AnnouncedChanges()
  final var fetchedLists = FetchedLists() {
    didSet { updateHasFamily() }
  }
  /// Whether an object may be known elsewhere than in a identityMap. Read when one goes.
  @exclusivity(unchecked) final var remembersObjects = false
  /// Where the links that ``flush()`` makes wait; only in a context that has its store for itself.
  final var deferredLinks: DeferredLinks?
  /// What a migration has inserted and written here. It stays registered, and counts as inserted,
  /// until the migration ends; empty in all other contexts.
  final var writtenObjects: [ManagedObject] = []

  /// A context for the isolation that calls this.
  public convenience init() { self.init(concurrencyType: .confinementConcurrencyType) }

  /// - Parameter concurrencyType: says what the context is meant for; the compiler, not this value,
  ///   keeps it in its isolation.
  public init(concurrencyType: ConcurrencyType) { self.concurrencyType = concurrencyType }

  private final func updateIsObserved() {
    isObserved = !audience.isEmpty || preparation != nil || journal != nil
  }

  /// Told what happens here, in this order.
  final var audience: [any ContextObserver] { isUnobserved ? [] : observers }

  /// Calls `body`, of whose changes no observer is told. Who comes or goes meanwhile has.
  final func withoutObservers<Result>(_ body: () throws -> Result) rethrows -> Result {
    let wasUnobserved = isUnobserved
    isUnobserved = true
    defer { isUnobserved = wasUnobserved }
    return try body()
  }

  deinit {
    handOverKeptErrors()
    // What goes with the objects may be registrations of observers.
    noticeCenter?.leaveContext()
    newArenas.leave()
    var changed = newObjects.abandon(mayHaveChanges: true)
    for session in sessions + formerSessions { changed += session.abandonObjects() }
    for object in changed { object.letGoOfDestinations() }
  }

  /// Where objects come from and go to. Setting another one forgets all objects; who is told of
  /// that finds the other one here.
  public final var persistentStoreCoordinator: PersistentStoreCoordinator? {
    get { coordinator }
    set {
      guard newValue !== coordinator, isIdle(for: "persistentStoreCoordinator") else { return }
      let forgotten = leaveStores()
      if let parent, newValue !== parent.persistentStoreCoordinator { leaveParent() }
      take(newValue)
      noticeCenter?.postReset(of: forgotten)
    }
  }
  @exclusivity(unchecked) private final var coordinator: PersistentStoreCoordinator?

  /// - Precondition: the context has left the stores of the one before.
  final func take(_ coordinator: PersistentStoreCoordinator?) {
    guard coordinator !== self.coordinator else { return }
    self.coordinator = coordinator
    if family != nil { coordinatorDidChange() }
  }

  /// Forgets all objects, and the stores they are of.
  ///
  /// - Returns: as ``forgetObjects()``.
  final func leaveStores() -> Set<ManagedObjectID>? {
    let forgotten = forgetObjects()
    promisedIDs = PromisedIDs()
    recentMaking = nil
    for session in sessions { session.leaveCommits() }
    (sessions, formerSessions) = ([], [])
    return forgotten
  }

  /// Runs `body` where the caller runs.
  ///
  /// Code ported from Core Data keeps its shape; what moves work to another thread is
  /// ``PersistentContainer/performBackgroundTask(_:)``.
  open nonisolated(nonsending) func perform<Result>(
    _ body: () throws -> Result
  ) async rethrows -> Result {
    mergeWaitingCommits()
    defer { processPendingChanges() }
    return try body()
  }

  /// Runs `body` in place, so that it cannot wait for itself.
  open func performAndWait<Result>(_ body: () throws -> Result) rethrows -> Result {
    mergeWaitingCommits()
    defer { processPendingChanges() }
    return try body()
  }

  /// Writes all changes to the store in one transaction, durable when this returns; or hands them
  /// to the ``parent``, where that is one: see ``init(parent:)``.
  ///
  /// A save either happens whole or leaves the store, and the changes here, as they were. Without
  /// changes nothing is written. With several stores that holds for each of them: there is one
  /// transaction in each store that has changes, and the first is committed when all of them are
  /// written. Should a later one fail then, the objects of the first stores are saved and clean,
  /// and ``PersistenceError/Code/persistentStoreIncompleteSave`` says which; the others keep their
  /// changes. The same is true of a crash between two commits.
  ///
  /// In this order: delete rules are applied; objects are told by
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
  ///   ``PersistenceError/Code/persistentStoreSave`` when the engine cannot write, with its error,
  ///   when a store is read-only, or when none takes a new object;
  ///   ``PersistenceError/Code/managedObjectExternalRelationship`` (133010) when a relationship
  ///   leads from one store to another; ``PersistenceError/Code/persistentStoreIncompleteSave``
  ///   (134040); ``PersistenceError/Code/managedObjectContextLocking`` when
  ///   objects do not stop changing, or when objects or observers of the parent change what it is
  ///   being handed; ``PersistenceError/Code/managedObjectContextBusy`` (132001) while the context
  ///   is busy.
  open func save() throws {
    try write(asking: true)
  }

  /// Marks an object to be deleted by the next save.
  ///
  /// Delete rules are applied by ``processPendingChanges()``, which fetches and saves call; until
  /// then the relationships of the object are whole.
  open func delete(_ object: ManagedObject) {
    guard object.context === self else {
      report(
        PersistenceError(
          .managedObjectExternalRelationship,
          "\(object.objectID) does not belong to this context and cannot be deleted in it"))
      return
    }
    guard !object.isDeleted else { return }
    changes.decideLater(on: object)
    markDeleted(object)
    awaitEndOfEvent()
  }
}

@available(*, unavailable)
extension ManagedObjectContext: Sendable {}

// MARK: - The model

extension ManagedObjectContext {
  final var modelBinding: ModelBinding? { persistentStoreCoordinator?.binding }
}

// MARK: - Registered objects

extension ManagedObjectContext {
  /// The object with a temporary reference.
  final func newObject(_ reference: Reference) -> ManagedObject? {
    newObjects[reference]?.takeUnretainedValue()
  }

  final func enter(_ object: ManagedObject) {
    if let session = object.session {
      session.enter(object)
    } else {
      enterNew(object)
    }
  }

  final func enterNew(_ object: ManagedObject) {
    newObjects.set(object.reference, to: Unmanaged.passUnretained(object))
  }

  /// Forgets all objects with temporary references, if they are as many as are being saved, and
  /// nobody else knows them; says whether it did.
  final func forgetNewObjects(if count: Int) -> Bool {
    if remembersObjects || newObjects.count != count { return false }
    newObjects = IdentityMap()
    return true
  }

  final func unregisterNew(_ object: ManagedObject) { newObjects.removeEntry(of: object) }

  final func unregister(_ object: ManagedObject) {
    let held = retained?.remove(object)
    defer { withExtendedLifetime(held) {} }
    if family != nil { family?.forget(object) }
    if !fetchedLists.isEmpty { fetchedLists.forget(object) }
    if let session = object.session {
      session.unregister(object)
    } else {
      unregisterNew(object)
    }
  }

  /// Lets go of an object: it belongs to nobody. One that was never saved keeps its attributes, as
  /// there is nothing to read them from again; others forget all.
  final func release(_ object: ManagedObject) {
    if object.isPersistent { object.turnIntoFault() }
    letGo(of: object)
  }

  /// The same without a word to the object.
  final func letGo(of object: ManagedObject) {
    // When it was told it may have left by itself, or may have changed something once more.
    guard object.context === self else { return }
    object.setPending(nil)
    if object.isPersistent {
      object.dropSlots()
      object.row = nil
      object.state = []
    } else {
      object.letGoOfDestinations()
      object.state.formIntersection(.awoken)
    }
    unregister(object)
    object.arena = object.arena.outside
  }

  /// All objects this context knows and somebody holds.
  public final var registeredObjects: Set<ManagedObject> {
    Set(allObjects)
  }

  /// The same, each once, in no order.
  final var allObjects: [ManagedObject] {
    newObjects.objects + sessions.flatMap(\.objects) + formerSessions.flatMap(\.objects)
  }
}
