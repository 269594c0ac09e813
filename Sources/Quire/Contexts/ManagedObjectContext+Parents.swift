import QuireModel

/// The parent and children of a context, and what they share; only in contexts with either.
struct ContextFamily {
  private struct Child {
    weak var context: ManagedObjectContext?
  }

  var parent: ManagedObjectContext?
  private var children: [Child] = []
  /// In a context with children and without a parent: the permanent references of objects that had
  /// temporary ones. Rows that its descendants have read may still have the latter.
  var permanentReferences: [Reference: GlobalReference] = [:]
  /// The temporary references that objects of a child still show as their IDs.
  var shownReferences: [ObjectIdentifier: Reference] = [:]
  /// Objects of a child whose rows an ancestor has replaced by a save of its own. That save is no
  /// conflict with the child's changes.
  var outdated: Set<ObjectIdentifier> = []
  /// Objects that the parent has saved or got from other children, and this child has not merged;
  /// each with whether it was inserted.
  var waiting: [GlobalReference: Bool] = [:]
  /// Whether the parent has merged more changes than were listed.
  var waitsForAll = false

  var hasChildren: Bool { children.contains { $0.context != nil } }
  var livingChildren: [ManagedObjectContext] { children.compactMap(\.context) }

  mutating func add(_ child: ManagedObjectContext) {
    children.removeAll { $0.context == nil }
    children.append(Child(context: child))
  }

  mutating func forget(_ object: ManagedObject) {
    if !shownReferences.isEmpty { shownReferences[ObjectIdentifier(object)] = nil }
    if !outdated.isEmpty { outdated.remove(ObjectIdentifier(object)) }
  }

  mutating func remove(_ child: ManagedObjectContext) {
    children.removeAll { $0.context == nil || $0.context === child }
  }
}

// MARK: - Parents and children

extension ManagedObjectContext {
  /// A child context, whose changes are saved to `parent`.
  ///
  /// ## What a child sees
  ///
  /// Its parent's objects as they are there, unsaved changes included, and its own changes on top.
  /// Each context has an object of its own for each: one that was read here keeps its values until
  /// it is refreshed, as an object that was read from a store does.
  ///
  /// ## What a save does
  ///
  /// ``save()`` passes the changes to the parent and writes nothing to a store: objects are
  /// inserted, changed and deleted in the parent, in one event, which is one undo group and one
  /// notice. Only properties that were changed here overwrite the parent's, and to-many
  /// relationships are merged member by member; versions are not compared. An object that the
  /// parent has deleted meanwhile is a conflict: ``PersistenceError/Code/managedObjectMerge`` with
  /// the error policy; with any other the changes of that object are dropped.
  ///
  /// Transient values that were set here are handed on with the object; transient relationships are
  /// each context's own.
  ///
  /// ## IDs
  ///
  /// A new object has the same temporary ID in parent and child. When the context without a parent
  /// saves it, the object here keeps showing the temporary ID until it is refreshed or
  /// ``obtainPermanentIDs(for:)`` is called; lookup by either ID finds it.
  ///
  /// ## Isolation
  ///
  /// Parent and child belong to one isolation, as the child reads the parent's objects. A child of
  /// the main actor's context works on the main actor. To work in the background, use a background
  /// context of ``PersistentContainer``, and merge its saves.
  public convenience init(parent: ManagedObjectContext) {
    self.init(concurrencyType: parent.concurrencyType)
    self.parent = parent
  }

  /// The context that this one fetches from and saves to; `nil` for a context of stores.
  ///
  /// Setting another one forgets all objects here, and takes the other's coordinator. The errors of
  /// ``setParent(_:)``, which throws them at once, are thrown by the next fetch or save.
  public final var parent: ManagedObjectContext? {
    get { family?.parent }
    set {
      do {
        try setParent(newValue)
      } catch {
        report(error)
      }
    }
  }

  /// Sets the ``parent``.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` (134070) when the context would
  ///   descend from itself; ``PersistenceError/Code/managedObjectContextBusy`` (132001). Nothing
  ///   has changed then.
  public final func setParent(_ newParent: ManagedObjectContext?) throws {
    guard newParent !== parent else { return }
    try requireIdle(for: "setParent(_:)")
    var ancestor = newParent
    while let context = ancestor {
      if context === self {
        throw PersistenceError(
          .persistentStoreOperation,
          "the context \(name ?? "without a name") cannot have "
            + (newParent === self
              ? "itself as its parent"
              : "the context \(newParent?.name ?? "without a name") as its parent, which descends "
                + "from it"))
      }
      ancestor = context.parent
    }
    let forgotten = leaveStores()
    leaveParent()
    if let newParent { join(newParent) }
    notices?.postReset(of: forgotten)
  }

  /// A context whose parent this one is; see ``init(parent:)``.
  public final func newChildContext() -> ManagedObjectContext { ManagedObjectContext(parent: self) }

  private final func join(_ parent: ManagedObjectContext) {
    var family = self.family ?? ContextFamily()
    family.parent = parent
    self.family = family
    if parent.family == nil { parent.family = ContextFamily() }
    parent.family?.add(self)
    take(parent.persistentStoreCoordinator)
  }

  final func leaveParent() {
    family?.parent?.family?.remove(self)
    family?.parent = nil
  }

  /// Gives the context's coordinator to its descendants.
  final func coordinatorDidChange() {
    guard let family, family.hasChildren else { return }
    for child in family.livingChildren {
      child.persistentStoreCoordinator = persistentStoreCoordinator
    }
  }
}

extension ManagedObjectContext {
  /// Clears what is kept for objects that were read, as the context has forgotten them all.
  final func forgetFamily() {
    family?.shownReferences = [:]
    family?.outdated = []
    family?.waiting = [:]
  }
}
