import QuireModel
import QuireStorage

/// A working set of objects that are fetched, changed and saved together.
///
/// ## Isolation
///
/// A context and its objects belong to one isolation at a time and are not `Sendable`: the compiler
/// refuses code that would use them from two. ``PersistentContainer`` makes contexts, a main one on
/// the main actor and background ones as `sending` results; `init()` makes one that belongs to the
/// caller's isolation. A ``ManagedObjectID`` may be passed between contexts.
///
/// ## What a context sees
///
/// A fetch sees the store as of the last save of any context or process, with this context's
/// unsaved changes on top. There is one object for each row: fetching a row again returns the same
/// object with the values it had, until it is refreshed. Relationships are read from the state of
/// the last fetch or save, at both ends.
///
/// A context with a ``parent`` sees the parent's objects instead, and saves to it.
///
/// ## While it is busy
///
/// A context calls the program's code: hooks of objects, merge policies, handlers of batch
/// requests, actions of an undo manager, observers. While it does so in the middle of its work it
/// is *busy*, and so are its parent and its children. The code may read, fetch, insert, change,
/// delete and refresh objects. Calls that would remove its objects, its changes or its stores are
/// refused: ``save()``, ``rollback()``, ``reset()``, ``undo()``, ``redo()``,
/// ``refreshAllObjects()``, merges, batch requests, another coordinator, parent or query generation
/// fail with ``PersistenceError/Code/managedObjectContextBusy``, and change nothing. Those that
/// cannot throw keep the error for the next fetch or save. Observers that are notified after a save
/// or a merge find the context idle.
///
/// ## Lifetime of objects
///
/// Clean objects live for as long as the program refers to them; the context retains changed ones
/// until they are saved.
nonisolated open class ManagedObjectContext {
  /// The isolation that a context is meant for. Raw values are Core Data's.
  ///
  /// In Core Data the type decides which queue runs a context's blocks. Here it changes nothing:
  /// there are no queues, and the compiler checks isolation, whatever the type.
  public enum ConcurrencyType: Int, Sendable {
    /// The isolation in which the context was made.
    case confinementConcurrencyType = 0

    /// A background task's: the type of the contexts that
    /// ``PersistentContainer/newBackgroundContext()`` makes.
    case privateQueueConcurrencyType = 1

    /// The main actor's: the type of ``PersistentContainer/viewContext``.
    case mainQueueConcurrencyType = 2
  }

  /// The isolation that the context was made for; a child has its parent's.
  public let concurrencyType: ConcurrencyType

  /// A name for debugging. It appears in messages of errors and in notices of the context's saves.
  public var name: String?

  /// The author of the context's changes, as notices of saves such as ``StoreRemoteChange`` and the
  /// store's history have it.
  public var transactionAuthor: String?

  /// Values that the program keeps with the context. The library does not use them.
  public var userInfo: [String: Any] = [:]

  /// Whether an object whose row is gone, as another context has deleted it, reads as one without
  /// values.
  ///
  /// When `true`, as at first, all its properties read as nil, zero or empty,
  /// ``ManagedObject/isInaccessible`` is `true`, and the context's next notice has the object among
  /// the deleted ones. When `false`, reading or changing it by key throws
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
  /// Whether the context retains all registered objects, and not only the changed ones. At first
  /// `false`.
  ///
  /// It releases them by ``reset()``, when the context ends, and when this is set to `false` again.
  public final var retainsRegisteredObjects: Bool {
    get { retained != nil }
    set { retained = newValue ? retained ?? .init(allObjects) : nil }
  }
  /// The objects that ``retainsRegisteredObjects`` retains; `nil` without it.
  @exclusivity(unchecked) final var retained: RetainedObjects?
  // Unchecked as in ``ManagedObject``: each access is over before anything else is called, and
  // objects that a change releases are released after it.
  @exclusivity(unchecked) final var changes = PendingObjects()
  /// How often relationships may have come to show something else: by changes here, or as the
  /// context reads another state. For children, which read what it shows.
  @exclusivity(unchecked) final var linkGeneration = 0
  final var promisedIDs = PromisedIDs()
  /// One for each of the coordinator's stores, in their order, as of ``presentSessions()``.
  @exclusivity(unchecked) final var sessions: [StoreSession] = []
  /// The sessions of stores that were removed, for objects that the program still refers to.
  final var formerSessions: [StoreSession] = []
  // Sound: an object leaves the identity map in its deinit, in this context's isolation, so that an
  // entry always points to a living object.
  /// Objects with temporary references: those that were never saved, here or in a parent.
  @exclusivity(unchecked) private var newObjects = IdentityMap()
  /// The arenas of new objects.
  @exclusivity(unchecked) final var newArenas = ObjectArenas()
  /// What is known of the class of the object that was made last.
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
  /// The number of running hooks that were called by reading a row or by an insertion.
  @exclusivity(unchecked) final var runningHookCount = 0
  /// Whether a to-one relationship that is set to what the store has is a change nevertheless: a
  /// merge policy that sets it means it.
  @exclusivity(unchecked) final var keepsEqualDestinations = false
  /// What higher floors keep here.
  final var attachments = ContextAttachments()
  /// Unchanged objects whose versions the next save compares.
  final var watched: Set<ManagedObject> = []
  /// The changes that objects make in ``ManagedObject/willSave()`` and in validation; `nil` at all
  /// other times.
  final var preparation: SavePreparation? { didSet { updateIsObserved() } }
  /// Records the former state of objects before they change; `nil` at most times.
  final var journal: ContextJournal? { didSet { updateIsObserved() } }
  /// The value that ``ManagedObject/validateValue(_:forKey:)`` is being called for.
  @exclusivity(unchecked) final var askedValue = AskedValue()
  /// Observers of changes, each of which is notified by ``record(_:of:_:)`` and others.
  package final var observers: [any ContextObserver] = [] { didSet { updateIsObserved() } }
  /// Whether observers are left out for now, as the changes are those of a merge.
  private var isUnobserved = false { didSet { updateIsObserved() } }
  /// Whether ``record(_:of:_:)`` is to be called.
  @exclusivity(unchecked) final private(set) var isObserved = false
  /// Records which properties are read; `nil` unless ``tracksPropertyAccess``.
  final var accessRecorder: (any AccessRecorder)? {
    didSet {
      newArenas.updateRecordsAccess()
      for session in sessions + formerSessions { session.arenas.updateRecordsAccess() }
    }
  }
  /// Posts notices; `nil` until there is a first observer of them.
  final var notices: (any NoticePoster)?
  /// Whether saves of other contexts are merged automatically.
  final var mergesCommits = false
  /// How often an object became one that relationships hide: it left the context, or its deletion
  /// was processed.
  final var hidingCount = 0
  /// Called, from any thread, when a save of another context begins to wait in the inbox.
  package final var wakeOnCommit: (@Sendable () -> Void)?
  /// Called when something begins to wait for the end of the event, to call ``endEvent()`` then;
  /// `nil` where nothing is processed automatically.
  package final var requestEndOfEvent: (() -> Void)?
  final var isEndOfEventAwaited = false
  /// Whether notices have deletions of objects that were inserted in the same event, as in Core
  /// Data.
  package final var noticesDeletionsOfNewObjects = false
  /// Registers changes with the undo manager; `nil` unless there is one.
  final var undoRecording: (any UndoRecorder)?
  /// Errors that could not be thrown where they happened.
  final var unthrownErrors = KeptErrors()
  final var announcedChanges = AnnouncedChanges()
  final var fetchedLists = FetchedLists() {
    didSet { updateHasFamily() }
  }
  /// Whether objects may be referred to elsewhere than in an identity map. Read when one ends.
  @exclusivity(unchecked) final var remembersObjects = false
  /// In the context by which a migration fills a store; `nil` in all others.
  final var migration: MigrationWriting?

  /// A context for the caller's isolation. It sees no store before it has a
  /// ``persistentStoreCoordinator`` or a ``parent``.
  public convenience init() { self.init(concurrencyType: .confinementConcurrencyType) }

  /// A context that says which isolation it is meant for.
  ///
  /// - Parameter concurrencyType: read again as ``concurrencyType`` and not used otherwise; the
  ///   compiler keeps the context in its isolation.
  public init(concurrencyType: ConcurrencyType) { self.concurrencyType = concurrencyType }

  private final func updateIsObserved() {
    isObserved = !audience.isEmpty || preparation != nil || journal != nil
  }

  /// The observers to notify, in this order.
  final var audience: [any ContextObserver] { isUnobserved ? [] : observers }

  /// Calls `body`, of whose changes no observer is notified. Observers that are added or removed
  /// meanwhile stay so.
  final func withoutObservers<Result>(_ body: () throws -> Result) rethrows -> Result {
    let wasUnobserved = isUnobserved
    isUnobserved = true
    defer { isUnobserved = wasUnobserved }
    return try body()
  }

  deinit {
    handOverKeptErrors()
    // Releasing objects may end registrations of observers.
    notices?.leaveContext()
    newArenas.leave()
    var changed = newObjects.abandon(mayHaveChanges: true)
    for session in sessions + formerSessions { changed += session.abandonObjects() }
    for object in changed { object.letGoOfDestinations() }
  }

  /// The coordinator whose stores the context fetches from and saves to; a child has its parent's.
  ///
  /// Setting another one forgets all objects and unsaved changes, as ``reset()`` does, and leaves a
  /// parent that has another coordinator. The notice about that is posted when the new one is set.
  /// While the context is busy nothing is set, and the next fetch or save throws
  /// ``PersistenceError/Code/managedObjectContextBusy``.
  public final var persistentStoreCoordinator: PersistentStoreCoordinator? {
    get { coordinator }
    set {
      guard newValue !== coordinator, isIdle(for: "persistentStoreCoordinator") else { return }
      let forgotten = leaveStores()
      if let parent, newValue !== parent.persistentStoreCoordinator { leaveParent() }
      take(newValue)
      notices?.postReset(of: forgotten)
    }
  }
  @exclusivity(unchecked) private final var coordinator: PersistentStoreCoordinator?

  /// - Precondition: the context has left the stores of the one before.
  final func take(_ coordinator: PersistentStoreCoordinator?) {
    guard coordinator !== self.coordinator else { return }
    self.coordinator = coordinator
    if family != nil { coordinatorDidChange() }
  }

  /// Forgets all objects, and the sessions of their stores.
  ///
  /// - Returns: as ``forgetObjects()``.
  final func leaveStores() -> Set<ManagedObjectID>? {
    let forgotten = operations.forgetObjects()
    promisedIDs = PromisedIDs()
    recentMaking = nil
    for session in sessions { session.leaveCommits() }
    (sessions, formerSessions) = ([], [])
    return forgotten
  }

  /// Runs `body` in the caller's isolation. Saves that wait to be merged are merged before, and
  /// pending changes are processed afterwards.
  ///
  /// Code ported from Core Data keeps its form. Unlike there, the work is not moved to a queue:
  /// ``PersistentContainer/performBackgroundTask(_:)`` moves it to another thread.
  ///
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  open nonisolated(nonsending) func perform<Result>(
    _ body: () throws -> Result
  ) async rethrows -> Result {
    operations.mergeWaitingCommits()
    defer { processPendingChanges() }
    return try body()
  }

  /// Runs `body` at once, as ``perform(_:)`` does. There is no queue to wait for, so calls cannot
  /// deadlock.
  ///
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  open func performAndWait<Result>(_ body: () throws -> Result) rethrows -> Result {
    operations.mergeWaitingCommits()
    defer { processPendingChanges() }
    return try body()
  }

  /// Writes all changes to the store in one transaction, durable when this returns; or passes them
  /// to the ``parent``, if there is one: see ``init(parent:)``.
  ///
  /// A save either succeeds as a whole or leaves the store, and the changes here, as they were.
  /// Without changes nothing is written. With several stores that holds for each of them: there is
  /// one transaction in each store that has changes, and the first is committed when all of them
  /// are written. If a later one fails then, the objects of the first stores are saved and clean,
  /// and ``PersistenceError/Code/persistentStoreIncompleteSave`` names them; the others keep their
  /// changes. The same is true of a crash between two commits.
  ///
  /// In this order: delete rules are applied; ``ManagedObject/willSave()`` is called, again and
  /// again while objects change something; they are validated, all of them before the first error
  /// is thrown; the store is written, when ``mergePolicy`` has resolved the conflicts; objects
  /// become clean, with permanent IDs, and ``ManagedObject/didSave()`` is called. Observers of the
  /// context get notices before all of this and after it; see ``ContextNotice``.
  ///
  /// The event ends: changes that objects make in ``ManagedObject/willSave()`` are undone with it.
  /// What a save has written can be undone, and is then to be saved again.
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
  ///   (134040); ``PersistenceError/Code/managedObjectContextLocking`` when objects do not stop
  ///   changing, or when objects or observers of the parent change what is being passed to it;
  ///   ``PersistenceError/Code/managedObjectContextBusy`` (132001) while the context is busy.
  open func save() throws {
    try operations.saveChanges()
  }

  /// Marks an object to be deleted by the next save.
  ///
  /// Delete rules are applied by ``processPendingChanges()``, which fetches and saves call; until
  /// then the relationships of the object are unchanged. A deleted object stays deleted. For an
  /// object of another context nothing happens, and the next fetch or save throws
  /// ``PersistenceError/Code/managedObjectExternalRelationship``.
  open func delete(_ object: ManagedObject) {
    let object = object.successor ?? object
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

  /// Removes all objects with temporary references from their identity map at once, if they are as
  /// many as are being saved and are referred to nowhere else. Returns whether it did.
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

  /// Removes an object from the context. One that was never saved keeps its attributes, which could
  /// not be read again; others forget everything, and their hooks are called. Until it has left, a
  /// deleted one says that it is.
  final func release(_ object: ManagedObject) {
    if object.isPersistent { object.turnIntoFault(keeping: [.deleted, .propagated]) }
    letGo(of: object)
  }

  /// Removes objects whose deletion was saved, unless they were inserted again since.
  final func release(_ deleted: some Sequence<ManagedObject>) {
    for object in deleted where object.context === self && object.isDeleted { release(object) }
  }

  /// Removes an object from the context without calling its hooks.
  final func letGo(of object: ManagedObject) {
    // A hook may have removed the object already, or have changed it once more.
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

  /// All objects of the context that are in memory.
  ///
  /// - Complexity: O(objects).
  public final var registeredObjects: Set<ManagedObject> {
    Set(allObjects)
  }

  /// The registered objects, each once, in no order.
  final var allObjects: [ManagedObject] {
    newObjects.objects + sessions.flatMap(\.objects) + formerSessions.flatMap(\.objects)
  }
}
