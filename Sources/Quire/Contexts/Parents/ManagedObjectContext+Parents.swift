import QuireModel
import QuireStorage

/// What a context knows of its parent and of its children; one that has neither has none of this.
struct ContextFamily {
  private struct Child {
    weak var context: ManagedObjectContext?
  }

  var parent: ManagedObjectContext?
  private var children: [Child] = []
  /// In a context with children and without a parent: where objects that had temporary references
  /// are now. Rows that its descendants have read may lead there by the old ones.
  var formerReferences: [Reference: StorePlace] = [:]
  /// The temporary references that objects of a child go on to show as their IDs.
  var shownReferences: [ObjectIdentifier: Reference] = [:]
  /// What the parent has saved or taken from its other children, and this child has not merged.
  var waiting: [StorePlace: Bool] = [:]

  var hasChildren: Bool { children.contains { $0.context != nil } }
  var livingChildren: [ManagedObjectContext] { children.compactMap(\.context) }

  mutating func add(_ child: ManagedObjectContext) {
    children.removeAll { $0.context == nil }
    children.append(Child(context: child))
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
  /// cannot descend from itself: the next fetch or save throws that.
  public final var parent: ManagedObjectContext? {
    get { family?.parent }
    set {
      guard newValue !== parent else { return }
      var ancestor = newValue
      while let context = ancestor {
        if context === self {
          return report(
            PersistenceError(
              .persistentStoreOperation, "a context cannot be its own parent, or its parent's"))
        }
        ancestor = context.parent
      }
      reset()
      leaveParent()
      for session in sessions { session.leaveCommits() }
      (sessions, formerSessions) = ([], [])
      guard let newValue else { return }
      var family = self.family ?? ContextFamily()
      family.parent = newValue
      self.family = family
      if newValue.family == nil { newValue.family = ContextFamily() }
      newValue.family?.add(self)
      persistentStoreCoordinator = newValue.persistentStoreCoordinator
    }
  }

  /// A context whose parent this one is; see ``init(parent:)``.
  public final func newChildContext() -> ManagedObjectContext { ManagedObjectContext(parent: self) }

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
    family?.waiting = [:]
  }
}

// MARK: - Objects that no store has

extension ManagedObjectContext {
  /// The object with a temporary reference: one of this context's own, or one for its parent's.
  final func familyObject(_ reference: Reference) throws -> ManagedObject? {
    if let object = newObject(reference) { return object }
    guard let parent, let coordinator = persistentStoreCoordinator,
      let source = try parent.familyObject(reference), !source.isDeleted
    else { return nil }
    let identity = try source.session?.identity ?? parent.targetSession(of: source).identity
    guard let session = session(with: identity),
      let storage = session.entities.byIndex[source.binding.index]
    else { return nil }
    let object = coordinator.classes.makeObject(storage.binding)
    object.reference = reference
    object.storage = storage
    object.session = session
    object.context = self
    enter(object)
    if let place = parent.promisedPlaces.place(of: reference) {
      promisedPlaces.promise(place.reference, to: reference, in: place.store)
    }
    return object
  }

  /// Where an object is now that had a temporary reference when it was read.
  final func currentReference(_ reference: Reference) -> Reference {
    formerPlace(of: reference)?.reference ?? reference
  }

  final func formerPlace(of reference: Reference) -> StorePlace? {
    var context = self
    while let parent = context.parent { context = parent }
    return context.family?.formerReferences[reference]
  }

  /// The temporary reference that some context of the family has promised a place.
  final func promisedReference(of place: Reference, in store: StoreIdentity) -> Reference? {
    var context: ManagedObjectContext? = self
    while let current = context {
      if let reference = current.promisedPlaces.temporary(of: place, in: store) { return reference }
      context = current.parent
    }
    return nil
  }

  /// The promise that some ancestor has made to an object.
  final func inheritedPromise(of reference: Reference) -> StorePlace? {
    var context = parent
    while let current = context {
      if let place = current.promisedPlaces.place(of: reference) { return place }
      context = current.parent
    }
    return nil
  }

  /// What was promised here holds wherever the object is new.
  final func passPromiseOn(_ place: StorePlace, of reference: Reference) {
    var context = parent
    while let current = context {
      current.promisedPlaces.promise(place.reference, to: reference, in: place.store)
      context = current.parent
    }
  }

  /// From now on an object shows its permanent ID.
  final func showPermanentID(of object: ManagedObject) {
    guard family?.parent != nil else { return }
    family?.shownReferences[ObjectIdentifier(object)] = nil
    if object.reference.isTemporary, promisedPlaces.place(of: object.reference) == nil,
      let place = inheritedPromise(of: object.reference)
    {
      promisedPlaces.promise(place.reference, to: object.reference, in: place.store)
    }
  }
}

extension ManagedObject {
  /// The ID that an object of a child context shows still, though it has another.
  final var formerID: ManagedObjectID? {
    guard let reference = context?.family?.shownReferences[ObjectIdentifier(self)] else {
      return nil
    }
    return ManagedObjectID(entity: entity, store: nil, key: reference.key)
  }
}

// MARK: - Saves of the first context

/// An object that was saved for the first time, and where it is now.
struct MovedObject {
  let temporary: Reference
  let place: StorePlace
}

extension ManagedObjectContext {
  /// Where a save has put new objects, for the context's descendants.
  final func movedObjects(_ parts: some Sequence<SaveOperation>) -> [MovedObject] {
    guard let family, family.hasChildren else { return [] }
    return parts.flatMap { part in
      part.inserted.lazy.filter { $0.object.reference.isTemporary }.map {
        MovedObject(
          temporary: $0.object.reference,
          place: StorePlace(store: part.session.identity, reference: $0.reference))
      }
    }
  }

  /// Lets descendants know, so that all contexts name one object by one reference.
  final func noteMovedObjects(_ moved: [MovedObject]) {
    guard !moved.isEmpty else { return }
    for object in moved { family?.formerReferences[object.temporary] = object.place }
    for child in family?.livingChildren ?? [] { child.follow(moved) }
  }

  private func follow(_ moved: [MovedObject]) {
    var places: [Reference: Reference] = [:]
    for item in moved {
      places[item.temporary] = item.place.reference
      let isPromised = promisedPlaces.place(of: item.temporary) != nil
      if isPromised { promisedPlaces.keep(item.temporary) }
      guard let object = newObject(item.temporary), object.isPersistent,
        let session = session(with: item.place.store),
        let storage = session.entities.storage(of: item.place.reference)
      else { continue }
      unregister(object)
      object.reference = item.place.reference
      object.session = session
      object.storage = storage
      enter(object)
      if !isPromised { family?.shownReferences[ObjectIdentifier(object)] = item.temporary }
    }
    for object in changes.inserted.objects + changes.updated.objects + changes.deleted.objects {
      for slot in object.slots {
        guard case .many(let pending) = slot, pending.removed.contains(where: \.isTemporary) else {
          continue
        }
        pending.removed = Set(pending.removed.map { places[$0] ?? $0 })
      }
    }
    for child in family?.livingChildren ?? [] { child.follow(moved) }
  }
}
