import QuireModel

/// An object that was saved for the first time, and where it is now.
struct MovedObject {
  let temporary: Reference
  let place: GlobalReference
}

extension ManagedObjectContext {
  /// Where a save has put new objects, for the context's descendants.
  final func movedObjects(_ parts: some Sequence<SaveOperation>) -> [MovedObject] {
    guard let family else { return [] }
    guard family.hasChildren else {
      // Nobody has read a row that leads to an old place.
      if !family.formerReferences.isEmpty { self.family?.formerReferences = [:] }
      return []
    }
    return parts.flatMap { part in
      part.inserted.lazy.filter { $0.object.reference.isTemporary }.map {
        MovedObject(
          temporary: $0.object.reference,
          place: GlobalReference(store: part.session.identity, reference: $0.reference))
      }
    }
  }

  /// Lets descendants know, so that all contexts name one object by one reference.
  final func recordMovedObjects(_ moved: [MovedObject]) {
    guard !moved.isEmpty else { return }
    for object in moved { family?.formerReferences[object.temporary] = object.place }
    for child in family?.livingChildren ?? [] { child.follow(moved) }
  }

  private func follow(_ moved: [MovedObject]) {
    var places: [Reference: Reference] = [:]
    for item in moved {
      places[item.temporary] = item.place.reference
      let isPromised = promisedIDs.place(of: item.temporary) != nil
      if isPromised { promisedIDs.keep(item.temporary) }
      guard let object = newObject(item.temporary), object.isPersistent,
        let session = session(with: item.place.store),
        let storage = session.entities.storage(of: item.place.reference)
      else { continue }
      unregister(object)
      object.reference = item.place.reference
      object.arena = session.arena(of: storage)
      enter(object)
      if !isPromised { family?.shownReferences[ObjectIdentifier(object)] = item.temporary }
    }
    for object in changes.objects {
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

// MARK: - New objects that come back

extension ManagedObjectContext {
  /// An object that was new in an ancestor, and whose deletion here was handed on and undone, may
  /// have been saved by that ancestor meanwhile: it comes back to the place that it was given. What
  /// the parent has of it is there.
  ///
  /// - Returns: whether there was such an object.
  @discardableResult
  final func followReturned() -> Bool {
    var root = self
    while let parent = root.parent { root = parent }
    guard let places = root.family?.formerReferences, !places.isEmpty else { return false }
    var isAnyMoved = false
    for object in changes.inserted.objects where object.reference.isTemporary {
      guard let place = places[object.reference], let session = session(with: place.store),
        let storage = session.entities.storage(of: place.reference)
      else { continue }
      let temporary = object.reference
      unregister(object)
      object.reference = place.reference
      object.arena = session.arena(of: storage)
      if promisedIDs.place(of: temporary) == nil {
        family?.shownReferences[ObjectIdentifier(object)] = temporary
      }
      object.state.insert(.returning)
      // What an object has that was saved once.
      session.formerVersions[place.reference] = 1
      enter(object)
      isAnyMoved = true
    }
    return isAnyMoved
  }
}

// MARK: - Rows that are written over

extension ManagedObjectContext {
  /// Lets descendants know which rows this context's own save has replaced.
  final func recordReplacedRows(_ parts: some Sequence<SaveOperation>) {
    guard let family, family.hasChildren else { return }
    let places = parts.flatMap { part in
      part.touched.map { GlobalReference(store: part.session.identity, reference: $0.reference) }
    }
    for child in family.livingChildren { child.recordOutdated(places) }
  }

  private func recordOutdated(_ places: [GlobalReference]) {
    for place in places {
      if let object = session(with: place.store)?.registered(place.reference), object.hasRow {
        family?.outdated.insert(ObjectIdentifier(object))
      }
    }
    for child in family?.livingChildren ?? [] { child.recordOutdated(places) }
  }

  /// An object of a child is about to read what its parent has now.
  final func recordRefreshed(_ object: ManagedObject) {
    guard let family, !family.outdated.isEmpty else { return }
    self.family?.outdated.remove(ObjectIdentifier(object))
  }
}
