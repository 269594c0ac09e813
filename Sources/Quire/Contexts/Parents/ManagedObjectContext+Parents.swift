import QuireModel

/// What a context knows of its parent and of its children; one that has neither has none of this.
struct ContextFamily {
  private struct Child {
    weak var context: ManagedObjectContext?
  }

  var parent: ManagedObjectContext?
  private var children: [Child] = []
  /// In a context with children and without a parent: where objects that had temporary references
  /// are now. Rows that its descendants have read may lead there by the old ones.
  var formerReferences: [Reference: GlobalReference] = [:]
  /// The temporary references that objects of a child go on to show as their IDs.
  var shownReferences: [ObjectIdentifier: Reference] = [:]
  /// Objects of a child that show what an ancestor has saved over by itself since: of that the
  /// ancestor's save is not to be told as of a conflict.
  var outdated: Set<ObjectIdentifier> = []
  /// What the parent has saved or taken from its other children, and this child has not merged.
  var waiting: [GlobalReference: Bool] = [:]
  /// Whether the parent has merged more than it was told one by one.
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
  /// A context for changes that `parent` gets when this one is saved.
  ///
  /// ## What a child sees
  ///
  /// Its parent's objects as they are there, unsaved changes included, and its own changes on top.
  /// There is one object for each object in each context: what was read here keeps its values until
  /// it is refreshed, as it does when it is read from a store.
  ///
  /// ## What a save does
  ///
  /// ``save()`` hands the changes to the parent and writes nothing: objects are inserted, changed
  /// and deleted there as if somebody had done it in the parent, in one event, to be undone and
  /// told as one. Only what was changed here overwrites what the parent has, property by property,
  /// and to-many relationships member by member; there is no comparison of versions. An object that
  /// the parent has deleted meanwhile is a conflict: ``PersistenceError/Code/managedObjectMerge``
  /// with the error policy, with any other the changes of that object are dropped.
  ///
  /// Transient properties are each context's own.
  ///
  /// ## IDs
  ///
  /// A new object has the same temporary ID in all generations. When the first context of the
  /// family saves it, the object here keeps showing the temporary ID until it is refreshed or
  /// ``obtainPermanentIDs(for:)`` is called; it is found by either.
  ///
  /// ## Isolation
  ///
  /// Parent and child belong to one isolation, for the child reads the parent's objects. A child of
  /// the main actor's context works on the main actor. To work elsewhere, take a context of its own
  /// from ``PersistentContainer``, and merge.
  public convenience init(parent: ManagedObjectContext) {
    self.init(concurrencyType: parent.concurrencyType)
    self.parent = parent
  }

  /// Where objects come from and changes go to; `nil` for a context of stores.
  ///
  /// Setting another one forgets all objects here, and takes the other's coordinator. A context
  /// cannot descend from itself: the next fetch or save throws that; ``setParent(_:)`` throws it at
  /// once.
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
    noticeCenter?.postReset(of: forgotten)
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

  /// The coordinator of a context and of its descendants is the same.
  final func coordinatorDidChange() {
    guard let family, family.hasChildren else { return }
    for child in family.livingChildren {
      child.persistentStoreCoordinator = persistentStoreCoordinator
    }
  }
}

extension ManagedObjectContext {
  /// Nothing that was read is left, and nothing of it has to be kept.
  final func forgetFamily() {
    family?.shownReferences = [:]
    family?.outdated = []
    family?.waiting = [:]
  }
}
