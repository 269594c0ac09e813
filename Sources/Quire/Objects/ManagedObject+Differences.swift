import QuireModel

// Differences between an object and its row, and which of them a save has to write.
extension ManagedObject {
  /// The slots whose content differs from the row's.
  final var changedSlots: SlotSet {
    var changed = SlotSet()
    for slot in 0..<slots.count where isChanged(slot) { changed.append(slot) }
    return changed
  }

  /// The slots that a save has to write.
  final var slotsToWrite: SlotSet {
    var changed = SlotSet()
    for slot in 0..<slots.count where isToBeWritten(slot) { changed.append(slot) }
    return changed
  }

  /// Whether a save has to write a slot.
  final func isToBeWritten(_ slot: Int) -> Bool { isChanged(slot) && !isStillDangling(slot) }

  /// Whether a to-one slot that led nowhere was set to an object that the same save deletes. Until
  /// the save the deletion may be taken back, so the slot keeps the object.
  private func isStillDangling(_ slot: Int) -> Bool {
    guard case .one(let destination?) = slots[slot], !isShown(destination) else { return false }
    return storedReference(slot).map { isGone($0, slot) } ?? true
  }

  /// Whether a destination may be gone from the state that is read while this object refers to it.
  /// A parent may have deleted it, whatever the delete rules are.
  final func canDangle(_ slot: Int) -> Bool {
    ofArena { $0.binding.traits[slot].canDangle } || context?.parent != nil
  }

  /// Whether the row's destination is gone, so that the object shows none: a dangling reference.
  final func isGone(_ reference: Reference, _ slot: Int) -> Bool {
    guard canDangle(slot), let session,
      !(session.registered(reference).map(isSurelyThere) ?? false)
    else { return false }
    return (try? session.read { try $0.contains(reference) }) == false
  }

  /// Whether the content of a slot differs from the row's.
  final func isChanged(_ slot: Int) -> Bool {
    if ofArena({ $0.binding.traits[slot].isTransient || $0.binding.traits[slot].isDerived }) {
      return false
    }
    return switch slots[slot] {
    case .unchanged: false
    case .value(let value): !isEqualToRow(value, slot)
    case .one(let object): !isStored(present(object), slot)
    case .many(let members): isChanged(members, slot)
    }
  }

  private func isEqualToRow(_ value: AttributeValue?, _ slot: Int) -> Bool {
    if let value, let row = rowStart, let field = ofArena({ $0.field(of: slot) }), field.kind != 0,
      !field.isNil(in: row)
    {
      // Numbers, which change most often, are compared without decoding the row.
      switch value {
      case .double(let number) where field.isKind(.double):
        return field.fixed(in: row) == number.bitPattern
      case .date(let date) where field.isKind(.date):
        return field.fixed(in: row) == date.timeIntervalSinceReferenceDate.bitPattern
      case .integer(let number) where field.isKind(.integer64):
        return field.fixed(in: row) == number
      case .boolean(let flag) where field.isKind(.boolean):
        return (field.fixed(in: row) as UInt8 != 0) == flag
      default: break
      }
    }
    do {
      // A value outside of the row is not read if its length differs.
      if let row, row.hasExternal, let field = storage?.fieldBySlot[slot], field >= 0,
        let external = row.external(field), value?.binaryByteCount != external.byteCount
      {
        return false
      }
      let stored = try storedValue(slot)
      guard let value, let stored else { return value == nil && stored == nil }
      return value.isIdentical(to: stored)
    } catch {
      // A value that cannot be read is not equal to anything; reading it reports the damage.
      return false
    }
  }

  /// Whether the row refers to an object. Sessions are compared too, as objects of two stores may
  /// have equal references.
  private func isStored(_ destination: ManagedObject?, _ slot: Int) -> Bool {
    guard destination?.reference == storedReference(slot) else { return false }
    return destination == nil || destination?.session === session
  }

  private func isChanged(_ members: PendingMembers, _ slot: Int) -> Bool {
    guard members.isOrdered else {
      return !members.removed.isEmpty || members.added.contains(where: isShown)
    }
    // Mostly that decides without the members being read.
    if ofArena({ !$0.membersHaveMoved }),
      !members.removed.isEmpty || members.added.contains(where: isShown)
    {
      return true
    }
    do {
      return try storedMembers(slot) != shownReferences(slot)
    } catch {
      return true
    }
  }

  /// The row's value of an attribute slot.
  final func storedValue(_ slot: Int) throws -> AttributeValue? {
    guard let row, let field = storage?.fieldBySlot[slot], field >= 0 else { return nil }
    if row.hasExternal, let external = row.external(field) {
      return try storedValue(external, field, row)
    }
    return try row.value(field)
  }

  /// A value that is outside of the object's row. When another save has replaced it since the row
  /// was read, the present one is returned, as the former is gone.
  private func storedValue(
    _ external: ExternalValue, _ field: Int, _ row: Row
  ) throws -> AttributeValue? {
    try session?.read { view in
      if let data = try view.data(of: external) {
        return row.withReader { $0.externalValue(field, data) }
      }
      return try view.row(reference)?.value(field, in: view)
    }
  }

  /// The store's destination of a to-one slot, in the state that the members of relationships are
  /// read from as well.
  ///
  /// The object's own row may be of another state (``ReadCommits``): read from it, one end of a
  /// relationship would contradict the other.
  final func storedReference(_ slot: Int) -> Reference? {
    ofArena({ $0.linksHaveMoved }) ? presentReference(slot) : readReference(slot)
  }

  @inline(never)
  private func presentReference(_ slot: Int) -> Reference? {
    guard hasRow, let session, let field = storage?.fieldBySlot[slot], field >= 0 else {
      return readReference(slot)
    }
    do {
      return try session.read { view in
        if let parentRows = view.parentRows {
          return try parentRows.destination(slot, of: reference).map { parentRows.current($0) }
        }
        guard view.isPlain, returnedEnd(slot) == nil else { return readReference(slot) }
        guard let row = try view.row(reference) else { return nil }
        return row.version == rowVersion ? readReference(slot) : row.reference(field)
      }
    } catch {
      // Reading a value of a damaged row reports it.
      return readReference(slot)
    }
  }

  /// The destination that the object's own row has for a to-one slot, as it was read.
  final func readReference(_ slot: Int) -> Reference? {
    if let row = rowStart, let field = ofArena({ $0.field(of: slot) }), field.isKind(.reference) {
      // In most cases the field of the row is all that is needed.
      if field.isNil(in: row) { return nil }
      let reference = Reference(rawValue: field.fixed(in: row))
      if !reference.isTemporary { return reference }
    }
    guard let row, let field = storage?.fieldBySlot[slot], field >= 0 else { return nil }
    guard let reference = row.reference(field), reference.isTemporary, let context else {
      return row.reference(field)
    }
    return context.currentReference(reference)
  }

  /// The store's destinations of a to-many slot.
  final func storedMembers(_ slot: Int) throws -> [Reference] {
    guard let session, let link = storage?.link(slot) else { return [] }
    try session.writeDeferredLinks()
    return try session.read { try $0.members(of: reference, link) }
  }

  /// The same for an ordered relationship, with the positions of its links.
  final func storedOrder(_ slot: Int) throws -> StoredOrder {
    guard isPersistent, let session, let link = storage?.link(slot) else {
      return StoredOrder(members: [])
    }
    try session.writeDeferredLinks()
    return try session.read { try $0.order(of: reference, link) }
  }
}

extension AttributeValue {
  /// The length of binary data.
  fileprivate var binaryByteCount: Int? {
    switch self {
    case .binary(let data), .transformed(let data): data.count
    default: nil
    }
  }
}
