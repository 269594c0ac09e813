/// A deleted object that undoing can bring back, kept by the actions that do so.
///
/// An object that leaves its context, as its deletion is saved or it never was, forgets all. What
/// it was is here.
final class TakenObject {
  /// A relationship of another object that led here, which a save has cleared without a trace.
  struct Loss {
    let object: ManagedObject
    let slot: Int
    /// The members at that time, where they have an order.
    let order: [ManagedObject]?
  }

  private struct LossKey: Hashable {
    let object: ObjectIdentifier
    let slot: Int
  }

  let object: ManagedObject
  private(set) var reference: Reference
  private(set) var storage: EntityStorage?
  private(set) var version: UInt32
  /// All slots, none of which relies on a row; `nil` until the object is about to leave.
  private(set) var content: [ManagedObject.Slot]?
  private(set) var losses: [Loss] = []
  private var lossIndexes: [LossKey: Int] = [:]
  private weak var recording: UndoRecording?

  init(_ object: ManagedObject, _ recording: UndoRecording) {
    self.object = object
    self.recording = recording
    reference = object.reference
    storage = object.savedStorage
    version = object.version
  }

  deinit { recording?.forget(self) }

  /// Where the object was saved; `nil` when it never was.
  var place: GlobalReference? {
    guard !reference.isTemporary, let storage else { return nil }
    return GlobalReference(store: storage.identity, reference: reference)
  }

  /// The object is about to leave.
  func keepContent() throws {
    reference = object.reference
    storage = object.savedStorage
    version = object.version
    content = try object.binding.properties.indices.map { slot in
      if !object.binding.relationshipSlots.contains(slot) {
        return .value(try object.attribute(slot))
      }
      if !object.isToMany(slot) { return .one(try object.rawOne(slot)) }
      let members = PendingMembers()
      members.added = try object.rawMembers(slot)
      if object.binding.relationship(slot).isOrdered { members.order = members.added }
      return .many(members)
    }
  }

  /// The object is in its context, and says itself what it is.
  func forgetContent() { (content, losses, lossIndexes) = (nil, [], [:]) }

  func record(_ loss: Loss) {
    let place = LossKey(object: ObjectIdentifier(loss.object), slot: loss.slot)
    if let index = lossIndexes[place] {
      losses[index] = loss
    } else {
      lossIndexes[place] = losses.count
      losses.append(loss)
    }
  }

  /// Undoing has said what the relationship is without this object.
  func forgetLoss(of object: ManagedObject, _ slot: Int) {
    let place = LossKey(object: ObjectIdentifier(object), slot: slot)
    guard let index = lossIndexes.removeValue(forKey: place) else { return }
    losses.remove(at: index)
    for (other, place) in lossIndexes where place > index { lossIndexes[other] = place - 1 }
  }

  /// - Returns: `nil` while the object is in its context.
  func copy(of slot: Int) -> ManagedObject.Slot? { content?[slot].copy }

  /// Calls `body` while the object, which has left, shows what it had.
  func withContent(_ body: () throws -> Void) rethrows {
    guard let content else { return }
    let shown = Array(object.slots)
    object.takeSlots(content)
    defer {
      self.content = Array(object.slots)
      object.takeSlots(shown)
    }
    try body()
  }
}

extension ManagedObject {
  /// Where the object was saved: not if that was in a parent alone, where it is new again when it
  /// comes back.
  fileprivate final var savedStorage: EntityStorage? { reference.isTemporary ? nil : storage }
}
