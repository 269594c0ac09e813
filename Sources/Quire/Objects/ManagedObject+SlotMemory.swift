/// The slots of an object, to look at: none as long as nothing was changed.
///
/// Valid until the object gets other slots; its memory is the object's.
struct ObjectSlots: RandomAccessCollection {
  fileprivate let start: UnsafeMutablePointer<ManagedObject.Slot>?
  let endIndex: Int

  var startIndex: Int { 0 }

  @inline(__always) var isEmpty: Bool { start == nil }

  /// Lent in its place: who only looks copies nothing.
  ///
  /// Without slots nothing is changed: who goes from slot to slot, and calls what a program does
  /// when an object is told of something, may find that the object has been saved, or reset.
  @inline(__always)
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

  /// What `body` says of a slot's content, of which nothing is counted: it is out of its place
  /// meanwhile.
  ///
  /// - Parameter body: changes no slots, and calls nothing that may. Who looks at the slot sees
  ///   what was in it.
  @inline(__always)
  func lend<Result>(
    _ slot: Int, _ body: (borrowing ManagedObject.Slot) throws -> Result
  ) rethrows -> Result {
    guard let start else { return try body(.unchanged) }
    precondition(slot >= 0 && slot < endIndex, "an entity has no such slot")
    let place = start + slot
    let content = place.move()
    defer { place.initialize(to: content) }
    return try body(content)
  }
}

// The memory of an object's slots. It is the object's alone, so that no change asks whether
// somebody shares it; and there is as much of it as the entity has properties, which the arena
// knows.
//
// Sound: the memory is taken, exchanged and given back in this file and in the object's `deinit`
// alone, and whoever looks goes by `slots`, which checks its bounds.
extension ManagedObject {
  @inline(__always) final var hasSlots: Bool { slotStart != nil }

  @inline(__always) final var slots: ObjectSlots {
    ObjectSlots(start: slotStart, endIndex: slotStart == nil ? 0 : ofArena { $0.slotCount })
  }

  /// Makes slots that say what the row says.
  final func makeSlots() {
    let count = ofArena { $0.slotCount }
    if count == 0 { return }
    let start = ofArena { $0.takeSlotMemory() }
    start.initialize(repeating: .unchanged, count: count)
    replaceSlots(with: start)
  }

  /// Makes the slots these: one for each property, or none at all.
  final func takeSlots(_ content: [Slot]) { content.withUnsafeBufferPointer(takeSlots) }

  /// The same of slots that somebody keeps meanwhile.
  final func takeSlots(_ content: UnsafeBufferPointer<Slot>) {
    if content.isEmpty { return dropSlots() }
    precondition(content.count == ofArena { $0.slotCount }, "each property has one slot")
    let start = ofArena { $0.takeSlotMemory() }
    // One by one: that is known to the compiler, where a copy of an array asks the type.
    for slot in content.indices { (start + slot).initialize(to: content[slot]) }
    replaceSlots(with: start)
  }

  /// Goes back to what the row says.
  @inline(__always)
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
    // What they hold may end here, and its `deinit` run: the object has its new slots already.
    if let former { ManagedObject.free(former, count) }
  }

  /// The object is about to move to another arena, with its slots.
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

  /// Changes what a slot holds.
  ///
  /// There are slots, unless who is told of the change has made the object drop them.
  @inline(__always)
  final func setSlot(_ slot: Int, _ content: consuming Slot) {
    if slotStart == nil { makeSlots() }
    precondition(slot >= 0 && slot < ofArena { $0.slotCount }, "an entity has no such slot")
    slotStart.unsafelyUnwrapped[slot] = content
  }
}
