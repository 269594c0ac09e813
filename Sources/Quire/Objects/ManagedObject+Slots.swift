import QuireModel

// The slots of an object: what it has changed since its row was read. Everything that changes a
// single slot is in this file, and tells the context before, if somebody there wants to know.

// MARK: - Changing one slot

extension ManagedObject {
  /// Makes slots to change, with the row behind them.
  final func prepareForChange() throws {
    guard slots.isEmpty else { return }
    try fulfil()
    // Unless the object has made them itself, when its row came.
    if slots.isEmpty { slots = Array(repeating: .unchanged, count: binding.properties.count) }
  }

  /// Costs two comparisons when nobody wants to know.
  @inline(__always)
  private func announce(_ slot: Int, _ change: @autoclosure () -> SlotChange) {
    if let context, context.isObserved { context.note(slot, of: self, change()) }
  }

  /// Changes an attribute slot.
  final func put(_ value: AttributeValue?, in slot: Int) throws {
    try prepareForChange()
    announce(slot, .value(value))
    slots[slot] = .value(value)
    markUpdated()
  }

  /// Changes a to-one slot, on this side alone.
  final func put(_ destination: ManagedObject?, in slot: Int) throws {
    try prepareForChange()
    announce(slot, .one(destination))
    slots[slot] = .one(destination)
    markUpdated(byRelationship: slot)
  }

  /// Adds to a to-many slot, on this side alone.
  final func pendingAdd(_ object: ManagedObject, _ slot: Int) throws {
    let pending = try pendingMembers(slot)
    announce(slot, .addition(object))
    if pending.removed.remove(object.reference) == nil { pending.added.append(object) }
    pending.order?.append(object)
    markUpdated(byRelationship: slot)
  }

  /// Removes from a to-many slot, on this side alone.
  final func pendingRemove(_ object: ManagedObject, _ slot: Int) throws {
    let pending = try pendingMembers(slot)
    announce(slot, .removal(object))
    if let index = pending.added.firstIndex(where: { $0 === object }) {
      pending.added.remove(at: index)
    } else {
      pending.removed.insert(object.reference)
    }
    pending.order?.removeAll { $0 === object }
    markUpdated(byRelationship: slot)
  }

  /// Gives the members of an ordered slot another order.
  final func putOrder(_ order: [ManagedObject], in slot: Int) throws {
    let pending = try pendingMembers(slot)
    announce(slot, .order(order))
    pending.order = order
    markUpdated(byRelationship: slot)
  }

  private func pendingMembers(_ slot: Int) throws -> PendingMembers {
    try prepareForChange()
    if case .many(let pending) = slots[slot] { return pending }
    let pending = PendingMembers()
    if binding.relationship(slot).isOrdered { pending.order = try initialOrder(slot) }
    slots[slot] = .many(pending)
    return pending
  }

  /// Changes any slot, on this side alone and without a mark. Told only if that was announced.
  final func putPrimitive(_ content: Slot, in slot: Int) throws {
    try prepareForChange()
    if let context, context.isObserved, context.announcedChanges.contains(self, slot) {
      for change in try changes(to: content, of: slot) { context.note(slot, of: self, change) }
    }
    slots[slot] = content
  }

  /// What leads from a slot's content to another.
  private func changes(to content: Slot, of slot: Int) throws -> [SlotChange] {
    switch content {
    case .unchanged: return []
    case .value(let value): return [.value(value)]
    case .one(let destination): return [.one(destination)]
    case .many(let pending):
      let former = try members(slot)
      let wanted =
        try pending.order
        ?? {
          let kept = try storedMembers(slot).filter { !pending.removed.contains($0) }
          return try kept.compactMap { try session?.object(at: $0) } + pending.added
        }()
      let isFormer = Set(former)
      let isWanted = Set(wanted)
      var changes: [SlotChange] = former.filter { !isWanted.contains($0) }.map { .removal($0) }
      changes += wanted.filter { !isFormer.contains($0) }.map { .addition($0) }
      if pending.order != nil { changes.append(.order(wanted)) }
      return changes
    }
  }

  /// Makes a slot what the row says, where that is the same to everybody who looks.
  final func discard(_ slot: Int) { slots[slot] = .unchanged }

  final func markUpdated() {
    guard let context,
      state.isDisjoint(with: [.inserted, .updated, .deleted, .awaking])
    else { return }
    state.insert(.updated)
    context.changes.updated.insert(self)
  }

  /// A stored relationship is changed in earnest even when the object's row has just come, as the
  /// other side is changed too.
  private func markUpdated(byRelationship slot: Int) {
    guard state.contains(.awaking), !binding.traits[slot].isTransient else { return markUpdated() }
    state.remove(.awaking)
    markUpdated()
    state.insert(.awaking)
  }
}

// MARK: - All slots

extension ManagedObject {
  final func applyDefaults() { slots = binding.newSlots }

  /// Forgets unsaved changes of relationships, by which objects hold each other; attributes stay.
  final func letGoOfDestinations() {
    for slot in slots.indices {
      switch slots[slot] {
      case .unchanged, .value: continue
      case .one, .many: slots[slot] = .unchanged
      }
    }
  }

  /// After a save the row says everything but transient properties.
  ///
  /// Transient relationships keep their objects in memory, as there is nothing to read them from
  /// again, until the object is refreshed or its context goes.
  final func keepTransientSlots() {
    guard binding.hasTransientProperties else {
      slots = []
      return
    }
    var isAnyKept = false
    for slot in slots.indices {
      if !binding.traits[slot].isTransient {
        slots[slot] = .unchanged
      } else if case .unchanged = slots[slot] {
        continue
      } else {
        isAnyKept = true
      }
    }
    if !isAnyKept { slots = [] }
  }

  /// Becomes an object that no store has seen, with the values of new ones.
  final func becomeNew() {
    reference = Reference(
      entity: Reference.temporaryEntity, key: ManagedObjectID.takeTemporaryKey())
    home = ObjectHome(binding)
    row = nil
    state = []
    applyDefaults()
  }
}

// MARK: - What differs from the row

extension ManagedObject {
  /// The slots whose content differs from the row's: what a save has to write.
  final var changedSlots: [Int] { slots.indices.filter(isChanged) }

  /// Whether a save has to write a slot.
  final func isChanged(_ slot: Int) -> Bool {
    if binding.traits[slot].isTransient || binding.traits[slot].isDerived { return false }
    return switch slots[slot] {
    case .unchanged: false
    case .value(let value): !isEqualToRow(value, slot)
    case .one(let object): !isStored(present(object), slot)
    case .many(let members): isChanged(members, slot)
    }
  }

  private func isEqualToRow(_ value: AttributeValue?, _ slot: Int) -> Bool {
    do {
      // What is large is not read to be compared with what is longer or shorter.
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

  /// Whether the row leads there. Places alone do not tell an object of another store.
  private func isStored(_ destination: ManagedObject?, _ slot: Int) -> Bool {
    guard destination?.reference == storedReference(slot) else { return false }
    return destination == nil || destination?.session === session
  }

  private func isChanged(_ members: PendingMembers, _ slot: Int) -> Bool {
    guard let order = members.order else {
      return !members.removed.isEmpty || members.added.contains(where: isShown)
    }
    do {
      return try storedMembers(slot) != order.lazy.filter(isShown).map(\.reference)
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
  /// was read, the one that the row has now: the former is nowhere.
  private func storedValue(
    _ external: ExternalValue, _ field: Int, _ row: Row
  ) throws -> AttributeValue? {
    guard let view = try session?.currentView() else { return nil }
    if let data = try view.data(of: external) {
      return row.withReader { $0.externalValue(field, data) }
    }
    return try view.row(reference)?.value(field, in: view)
  }

  /// The row's destination of a to-one slot.
  final func storedReference(_ slot: Int) -> Reference? {
    guard let row, let field = storage?.fieldBySlot[slot], field >= 0 else { return nil }
    guard let reference = row.reference(field), reference.isTemporary, let context else {
      return row.reference(field)
    }
    return context.currentReference(reference)
  }

  /// The store's destinations of a to-many slot.
  final func storedMembers(_ slot: Int) throws -> [Reference] {
    guard let session, let link = storage?.link(slot) else { return [] }
    try session.settleLinks()
    return try session.currentView().members(of: reference, link)
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
