import QuireModel

// A new object that a uniqueness constraint made the same as another: a merge policy has given its
// values to that one, and a save has written it. The program still has the new object. It refers to
// the other one from then on: what is read of it and set to it is the other's.
extension ManagedObject {
  /// The object that stands for this one; `nil` for all objects but those that gave way.
  final var successor: ManagedObject? {
    if hasSlots || hasRow { return nil }
    return ofArena { $0.successor }
  }

  /// Lets another object stand for this one, which has left its context.
  final func giveWay(to survivor: ManagedObject) {
    dropSlots()
    arena = ObjectArena(binding, successor: survivor)
  }

  /// The slot of a property of this object in the one that stands for it, whose entity may be
  /// another one of the constraint.
  final func slot(_ slot: Int, in successor: ManagedObject) throws -> Int {
    if successor.binding === binding { return slot }
    return try successor.slot(for: binding.name(of: slot))
  }
}
