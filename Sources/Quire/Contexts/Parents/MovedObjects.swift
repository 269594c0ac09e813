import QuireModel

/// An object that was saved for the first time, with its permanent reference.
struct MovedObject {
  let temporary: Reference
  let permanent: GlobalReference
}

extension ManagedObjectContext {
  /// The permanent references of new objects of a save, for the context's descendants.
  final func movedObjects(_ parts: some Sequence<SaveOperation>) -> [MovedObject] {
    guard let family else { return [] }
    guard family.hasChildren else {
      // No descendant is left that has read rows with temporary references.
      if !family.permanentReferences.isEmpty { self.family?.permanentReferences = [:] }
      return []
    }
    return parts.flatMap { part in
      part.inserted.lazy.filter { $0.object.reference.isTemporary }.map {
        MovedObject(
          temporary: $0.object.reference,
          permanent: GlobalReference(store: part.session.identity, reference: $0.reference))
      }
    }
  }

  /// Replaces temporary references in the descendants, so that all contexts have the same for one
  /// object.
  final func recordMovedObjects(_ moved: [MovedObject]) {
    guard !moved.isEmpty else { return }
    for object in moved { family?.permanentReferences[object.temporary] = object.permanent }
    for child in family?.livingChildren ?? [] { child.follow(moved) }
  }

  private func follow(_ moved: [MovedObject]) {
    var permanentReferences: [Reference: Reference] = [:]
    for item in moved {
      permanentReferences[item.temporary] = item.permanent.reference
      let isPromised = promisedIDs.reference(of: item.temporary) != nil
      if isPromised { promisedIDs.keep(item.temporary) }
      guard let object = newObject(item.temporary), object.isPersistent,
        let session = session(with: item.permanent.store),
        let storage = session.entities.storage(of: item.permanent.reference)
      else { continue }
      unregister(object)
      object.reference = item.permanent.reference
      object.arena = session.arena(of: storage)
      enter(object)
      if !isPromised { family?.shownReferences[ObjectIdentifier(object)] = item.temporary }
    }
    for object in changes.objects {
      for slot in object.slots {
        guard case .many(let pending) = slot, pending.removed.contains(where: \.isTemporary) else {
          continue
        }
        pending.removed = RemovedReferences(
          pending.removed.map { permanentReferences[$0] ?? $0 })
      }
    }
    for child in family?.livingChildren ?? [] { child.follow(moved) }
  }
}

// MARK: - New objects that are brought back

extension ManagedObjectContext {
  /// Gives permanent references to objects that were brought back by undo, after an ancestor has
  /// saved them: each was new in the ancestor, and its deletion here was saved and undone.
  ///
  /// - Returns: whether there was such an object.
  @discardableResult
  final func followReturned() -> Bool {
    guard root.family?.permanentReferences.isEmpty == false else { return false }
    return changes.inserted.objects.reduce(false) { $1.followReturned(in: self) || $0 }
  }
}

// MARK: - Replaced rows

extension ManagedObjectContext {
  /// Marks the objects of descendants whose rows this context's own save has replaced.
  final func recordReplacedRows(_ parts: some Sequence<SaveOperation>) {
    guard let family, family.hasChildren else { return }
    let references = parts.flatMap { part in
      part.touched.map { GlobalReference(store: part.session.identity, reference: $0.reference) }
    }
    for child in family.livingChildren { child.recordOutdated(references) }
  }

  private func recordOutdated(_ references: [GlobalReference]) {
    for item in references {
      if let object = session(with: item.store)?.registered(item.reference), object.hasRow {
        family?.outdated.insert(ObjectIdentifier(object))
      }
    }
    for child in family?.livingChildren ?? [] { child.recordOutdated(references) }
  }
}
