import QuireModel
import QuireStorage

// Objects that no store has yet: each context of the family has one, with the same temporary
// reference.
extension ManagedObjectContext {
  /// Updates flags for frequent questions: whether there is a family, or a list of fetched objects.
  final func updateHasFamily() {
    hasFamily = family != nil
    remembersObjects = hasFamily || !fetchedLists.isEmpty
  }

  /// The object with a temporary reference: a new one of this context, or one that stands for the
  /// parent's, made if need be.
  final func familyObject(_ reference: Reference) throws -> ManagedObject? {
    if let object = newObject(reference) { return object }
    guard let parent, let coordinator = persistentStoreCoordinator,
      let source = try parent.familyObject(reference), !source.isDeleted
    else { return nil }
    let identity = try source.session?.identity ?? parent.targetSession(of: source).identity
    guard let session = session(with: identity),
      let storage = session.entities.byIndex[source.binding.index]
    else { return nil }
    // The parent may have made its object just now, whose hook may have looked up the one here.
    if let object = newObject(reference) { return object }
    runningHookCount += 1
    let object = coordinator.classes.makeObject(session.arena(of: storage), at: reference)
    runningHookCount -= 1
    object.state.remove(.awaking)
    if let promised = parent.promisedIDs.reference(of: reference) {
      promisedIDs.promise(promised.reference, to: reference, in: promised.store)
    }
    return object
  }

  /// The present reference of an object that had a temporary one when it was read.
  final func currentReference(_ reference: Reference) -> Reference {
    permanentReference(of: reference)?.reference ?? reference
  }

  /// The permanent reference of an object that had a temporary one when it was read; `nil` of
  /// others.
  final func permanentReference(of reference: Reference) -> GlobalReference? {
    root.family?.permanentReferences[reference]
  }

  /// The temporary reference to which this context or an ancestor has promised a permanent one.
  final func promisedReference(of permanent: Reference, in store: StoreIdentity) -> Reference? {
    var context: ManagedObjectContext? = self
    while let current = context {
      if let reference = current.promisedIDs.temporary(of: permanent, in: store) {
        return reference
      }
      context = current.parent
    }
    return nil
  }

  /// The permanent reference that an ancestor has promised to an object.
  final func inheritedPromise(of reference: Reference) -> GlobalReference? {
    var context = parent
    while let current = context {
      if let promised = current.promisedIDs.reference(of: reference) { return promised }
      context = current.parent
    }
    return nil
  }

  /// Records a promised reference in all ancestors, where the object is new as well.
  final func passPromiseOn(_ promised: GlobalReference, of reference: Reference) {
    var context = parent
    while let current = context {
      current.promisedIDs.promise(promised.reference, to: reference, in: promised.store)
      context = current.parent
    }
  }

  /// Clears the mark of an object that is about to read the parent's present values.
  final func recordRefreshed(_ object: ManagedObject) {
    guard let family, !family.outdated.isEmpty else { return }
    self.family?.outdated.remove(ObjectIdentifier(object))
  }

  /// Makes an object of a child show its permanent ID, if it has one.
  final func showPermanentID(of object: ManagedObject) {
    guard family?.parent != nil else { return }
    recordRefreshed(object)
    family?.shownReferences[ObjectIdentifier(object)] = nil
    if object.reference.isTemporary, promisedIDs.reference(of: object.reference) == nil,
      let promised = inheritedPromise(of: object.reference)
    {
      promisedIDs.promise(promised.reference, to: object.reference, in: promised.store)
    }
  }
}

extension ManagedObject {
  /// Gives its permanent reference to an object that was brought back by undo, after an ancestor
  /// has saved it. Another object that was made for that meanwhile leaves.
  ///
  /// - Returns: whether the object has got one.
  final func followReturned(in context: ManagedObjectContext) -> Bool {
    guard reference.isTemporary, let permanent = context.permanentReference(of: reference),
      let session = context.session(with: permanent.store),
      let storage = session.entities.storage(of: permanent.reference)
    else { return false }
    let temporary = reference
    context.unregister(self)
    if let other = session.registered(permanent.reference) { context.release(other) }
    reference = permanent.reference
    arena = session.arena(of: storage)
    if context.promisedIDs.reference(of: temporary) == nil {
      context.family?.shownReferences[ObjectIdentifier(self)] = temporary
    }
    state.insert(.returning)
    // The version of an object that was saved once.
    session.formerVersions[permanent.reference] = 1
    context.enter(self)
    return true
  }

  /// The temporary ID that an object of a child context still shows, though it has a permanent one.
  final var formerID: ManagedObjectID? {
    guard let reference = context?.family?.shownReferences[ObjectIdentifier(self)] else {
      return nil
    }
    let id = ManagedObjectID(entity: entity, temporaryKey: reference.key)
    if let storage, !self.reference.isTemporary {
      TemporaryIdentity.record(
        reference.key, savedAs: self.reference.key, in: storage.identity)
    }
    return id
  }
}
