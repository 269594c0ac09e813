import QuireModel

extension ManagedObject {
  /// The destination of a to-one slot.
  final func one(_ slot: Int) throws -> ManagedObject? {
    // In most cases the destination is the one that the row names.
    if let reference = sureReference(slot), let session, session.context.parent == nil {
      if let registered = session.registered(reference) { return registered }
      return try session.makeObject(at: reference)
    }
    if let successor { return try successor.one(self.slot(slot, in: successor)) }
    switch try destination(slot) {
    case nil: return nil
    case .object(let object): return object
    case .reference(let reference, let session): return try session.object(at: reference)
    }
  }

  /// The ID of the destination of a to-one slot, without an object being made for it.
  final func destinationID(_ slot: Int) throws -> ManagedObjectID? {
    switch try destination(slot) {
    case nil: return nil
    case .object(let object): return object.objectID
    case .reference(let reference, let session):
      // An object of a family may show another ID than its reference's.
      if context?.family == nil, let identifier = session.objectID(of: reference) {
        return identifier
      }
      return try session.object(at: reference).objectID
    }
  }

  private enum Destination {
    case object(ManagedObject)
    /// The reference of a destination of which there is no object in memory.
    case reference(Reference, StoreSession)
  }

  private func destination(_ slot: Int) throws -> Destination? {
    recordAccess(to: slot)
    if !slots.isEmpty, case .one(let object) = slots[slot] {
      return present(object).map { .object($0) }
    }
    if !hasRow {
      try fulfil()
      if !slots.isEmpty, case .one(let object) = slots[slot] {
        return present(object).map { .object($0) }
      }
    }
    guard let reference = storedReference(slot), let session else { return nil }
    let registered = session.registered(reference)
    if let registered, hasBeenLeft(by: registered, slot) { return nil }
    let canDangle = canDangle(slot)
    if let registered, !canDangle || isSurelyThere(registered) { return .object(registered) }
    if reference.isTemporary {
      return try (registered ?? context?.familyObject(reference)).map { .object($0) }
    }
    if canDangle, try !session.read({ try $0.contains(reference) }) { return nil }
    return registered.map { .object($0) } ?? .reference(reference, session)
  }

  /// The object, unless it left the context: deleted before it was ever saved.
  final func present(_ object: ManagedObject?) -> ManagedObject? {
    if let object, sharesContext(with: object) { return object }
    return nil
  }

  /// Whether the object is in a context, and not deleted there: then others may refer to it.
  final var isLive: Bool { !isDeleted && ofArena { $0.hasContext } }

  final func isLive(in context: ManagedObjectContext) -> Bool {
    self.context === context && !isDeleted
  }

  /// Whether a to-many relationship shows the object.
  final func isShown(_ object: ManagedObject) -> Bool {
    sharesContext(with: object) && !object.state.contains(.propagated)
  }

  private func sharesContext(with object: ManagedObject) -> Bool {
    ofArena { arena in object.ofArena { arena.sharesContext(with: $0) } }
  }

  /// The destinations that a slot shows, whatever its kind.
  final func destinations(_ slot: Int) throws -> [ManagedObject] {
    isToMany(slot) ? try members(slot) : try one(slot).map { [$0] } ?? []
  }

  /// The destinations of a to-many slot, in order if the relationship has one.
  ///
  /// - Complexity: O(log *n* + destinations), each a fault unless its row was read before.
  final func members(_ slot: Int) throws -> [ManagedObject] {
    // No store has a transient relationship; `awakeFromFetch()` may set it.
    if !hasRow, binding.traits[slot].isTransient { try fulfil() }
    if context == nil {
      if let successor { return try successor.members(self.slot(slot, in: successor)) }
      if !slots.isEmpty, case .many(let pending) = slots[slot] {
        return pending.order ?? pending.added
      }
      return []
    }
    if ofArena({ $0.membersHaveMoved }) { return try presentMembers(slot).filter(isShown) }
    if !slots.isEmpty, case .many(let pending) = slots[slot] {
      if let order = shownOrder(slot) { return order.array }
      if let order = pending.order { return order.filter(isShown) }
      var members: [ManagedObject] = []
      for reference in try existingMembers(slot) where !pending.removed.contains(reference) {
        if let session { members.append(try session.object(at: reference)) }
      }
      members += pending.added
      return members.filter(isShown)
    }
    var members: [ManagedObject] = []
    try takeStoredMembers(slot, willTake: { members.reserveCapacity($0) }) { members.append($0) }
    return members
  }

  /// Passes the destinations of a clean object's to-many slot to `take`.
  private func takeStoredMembers(
    _ slot: Int, willTake: (Int) -> Void, _ take: (consuming ManagedObject) throws -> Void
  ) throws {
    guard let session else { return }
    let references = try existingMembers(slot)
    willTake(references.count)
    for reference in references {
      let member = try session.object(at: reference)
      if isShown(member) { try take(consume member) }
    }
  }

  /// Passes the destinations of a to-many property to `take`, in order if it has one, without an
  /// array in between.
  ///
  /// - Parameter willTake: called first, with the largest number that there may be.
  @usableFromInline final func takeMembers(
    _ slot: Int, willTake: (Int) -> Void, _ take: (consuming ManagedObject) throws -> Void
  ) throws {
    let slot = try checkedRelationship(slot, isToMany: true)
    recordAccess(to: slot)
    if ofArena({ $0.membersHaveMoved }) {
      let members = try members(slot)
      willTake(members.count)
      for member in members { try take(member) }
      if members.isEmpty { try checkRow() }
      return
    }
    if slots.isEmpty, context != nil, hasRow || !binding.traits[slot].isTransient {
      var isEmpty = false
      try takeStoredMembers(
        slot,
        willTake: {
          isEmpty = $0 == 0
          willTake($0)
        }, take)
      if isEmpty { try checkRow() }
      return
    }
    if context != nil, hasSlots, case .many(let pending) = slots[slot], !pending.isOrdered {
      return try takeMembers(slot, pending, willTake: willTake, take)
    }
    let members = try members(slot)
    willTake(members.count)
    for member in members { try take(member) }
  }

  /// The same for an unordered relationship with changes.
  private func takeMembers(
    _ slot: Int, _ pending: PendingMembers, willTake: (Int) -> Void,
    _ take: (consuming ManagedObject) throws -> Void
  ) throws {
    let stored = isPersistent ? try existingMembers(slot) : []
    willTake(stored.count + pending.added.count)
    if !stored.isEmpty, let session {
      for reference in stored where !pending.removed.contains(reference) {
        let member = try session.object(at: reference)
        if isShown(member) { try take(consume member) }
      }
    }
    for member in pending.added where isShown(member) { try take(member) }
  }

  /// The error for a destination that is not of the property's class.
  @usableFromInline final func isNoDestination(
    _ object: ManagedObject, of slot: Int
  ) -> any Error {
    unacceptable(object, for: binding.properties[slot].name)
  }

  /// The store's destinations of a to-many slot, without those that are gone, even if there is a
  /// fault for one in memory.
  final func existingMembers(_ slot: Int) throws -> [Reference] {
    let stored = try storedMembers(slot)
    guard !stored.isEmpty, binding.traits[slot].canDangle, let session else { return stored }
    func isRead(_ member: Reference) -> Bool {
      session.registered(member).map(isSurelyThere) ?? false
    }
    return try session.read { view in
      try view.incremental?.read(stored.lazy.filter { !isRead($0) })
      return try stored.filter { try isRead($0) || view.contains($0) }
    }
  }
}
