/// The slots of an object, to read: empty as long as nothing was changed.
///
/// A view of the object's memory, valid until the object gets other slots.
struct ObjectSlots: RandomAccessCollection {
  fileprivate let start: UnsafeMutablePointer<ManagedObject.Slot>?
  let endIndex: Int

  var startIndex: Int { 0 }

  var isEmpty: Bool { start == nil }

  /// Borrowed where it is, so that reading copies nothing.
  ///
  /// Without slots every slot is unchanged: a caller that visits slots and calls hooks in between
  /// may find that the object was saved, or its context reset.
  subscript(slot: Int) -> ManagedObject.Slot {
    _read {
      if slot >= 0 && slot < endIndex {
        yield start.unsafelyUnwrapped[slot]
      } else {
        precondition(start == nil, "an entity has no such slot")
        yield ManagedObject.Slot.unchanged
      }
    }
  }

  /// Calls `body` with a slot's content, moved out of the slot meanwhile so that it is not
  /// retained.
  ///
  /// - Parameter body: must not change slots, nor call anything that may. It can still read the
  ///   slot, whose bits stay.
  func lend<Result>(
    _ slot: Int, _ body: (borrowing ManagedObject.Slot) throws -> Result
  ) rethrows -> Result {
    guard let start else { return try body(.unchanged) }
    precondition(slot >= 0 && slot < endIndex, "an entity has no such slot")
    let address = start + slot
    let content = address.move()
    defer { address.initialize(to: content) }
    return try body(content)
  }
}

// The memory of an object's slots. It is never shared, so a change need not check for that; and it
// has one slot for each property of the entity, whose number the arena knows.
//
// Sound: the memory is taken, exchanged and given back in this file and in the object's `deinit`
// alone, and is read through `slots`, which checks bounds.
extension ManagedObject {
  final var hasSlots: Bool { slotStart != nil }

  final var slots: ObjectSlots {
    ObjectSlots(start: slotStart, endIndex: slotStart == nil ? 0 : ofArena { $0.slotCount })
  }

  /// Gives the object slots, all unchanged.
  final func makeSlots() {
    let count = ofArena { $0.slotCount }
    if count == 0 { return }
    let start = ofArena { $0.takeSlotMemory() }
    start.initialize(repeating: .unchanged, count: count)
    replaceSlots(with: start)
  }

  /// Replaces the slots by a copy of these: one for each property, or none at all.
  final func takeSlots(_ content: [Slot]) { content.withUnsafeBufferPointer(takeSlots) }

  /// Replaces the slots by a copy of these, which the caller keeps valid during the call.
  final func takeSlots(_ content: UnsafeBufferPointer<Slot>) {
    if content.isEmpty { return dropSlots() }
    precondition(content.count == ofArena { $0.slotCount }, "each property has one slot")
    let start = ofArena { $0.takeSlotMemory() }
    // One by one, which the compiler specialises; copying an array would ask the type's metadata.
    for slot in content.indices { (start + slot).initialize(to: content[slot]) }
    replaceSlots(with: start)
  }

  /// Drops all slots, so that the object shows its row.
  final func dropSlots() {
    if slotStart != nil { replaceSlots(with: nil) }
  }

  private func replaceSlots(with start: UnsafeMutablePointer<Slot>?) {
    let former = slotStart
    let count = ofArena {
      $0.recordSlots()
      return $0.slotCount
    }
    slotStart = start
    // Releasing the former content may run a `deinit`: the object has its new slots already.
    if let former { ManagedObject.free(former, count) }
  }

  /// Takes the slots along when the object moves to another arena.
  final func bringSlots(to arena: ObjectArena) {
    arena.recordSlots()
    guard let former = slotStart, !ofArena({ arena.takesSlots(from: $0) }) else { return }
    let count = ofArena { $0.slotCount }
    precondition(count == arena.slotCount, "equal entities have equal slots")
    let start = arena.takeSlotMemory()
    start.moveInitialize(from: former, count: count)
    slotStart = start
    SlotMemory.give(former)
  }

  /// Gives the memory of slots back.
  static func free(_ start: UnsafeMutablePointer<Slot>, _ count: Int) {
    for slot in 0..<count { _ = (start + slot).move() }
    SlotMemory.give(start)
  }

  /// Sets the content of a slot.
  ///
  /// The caller has made slots; they are made again if an observer of the change had them dropped.
  final func setSlot(_ slot: Int, _ content: consuming Slot) {
    if slotStart == nil { makeSlots() }
    precondition(slot >= 0 && slot < ofArena { $0.slotCount }, "an entity has no such slot")
    slotStart.unsafelyUnwrapped[slot] = content
  }
}
