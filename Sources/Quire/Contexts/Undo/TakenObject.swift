/// A deleted object that undoing can bring back, with its content. Retained by those actions.
///
/// An object that leaves its context, as its deletion was saved or it was never stored, drops its
/// content, which is kept here.
final class TakenObject {
  /// A relationship of another object to this one that a save or a refresh has cleared, and that
  /// no action restores.
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
  /// All slots, with values of their own instead of the row's; `nil` until the object is about to
  /// leave.
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

  /// The store and reference of the object; `nil` when it was never saved.
  var globalReference: GlobalReference? {
    guard !reference.isTemporary, let storage else { return nil }
    return GlobalReference(store: storage.identity, reference: reference)
  }

  /// Keeps the content of the object, which is about to leave.
  func keepContent() throws {
    reference = object.reference
    storage = object.savedStorage
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
    // After the row was read, where it had not been: one that is inserted again is told from its
    // former rows by a higher version.
    version = object.version
  }

  /// Drops the content, as the object is in its context again.
  func forgetContent() { (content, losses, lossIndexes) = (nil, [], [:]) }

  func record(_ loss: Loss) {
    let key = LossKey(object: ObjectIdentifier(loss.object), slot: loss.slot)
    if let index = lossIndexes[key] {
      losses[index] = loss
    } else {
      lossIndexes[key] = losses.count
      losses.append(loss)
    }
  }

  /// Drops a loss, as undoing has set the relationship to something else.
  ///
  /// - Returns: the loss; `nil` if there was none.
  @discardableResult
  func forgetLoss(of object: ManagedObject, _ slot: Int) -> Loss? {
    let key = LossKey(object: ObjectIdentifier(object), slot: slot)
    guard let index = lossIndexes.removeValue(forKey: key) else { return nil }
    let loss = losses.remove(at: index)
    for (other, position) in lossIndexes where position > index {
      lossIndexes[other] = position - 1
    }
    return loss
  }

  /// A copy of a slot of the content.
  ///
  /// - Returns: `nil` while the object is in its context.
  func copy(of slot: Int) -> ManagedObject.Slot? { content?[slot].copy }

  /// Calls `body` while the object, which has left, shows its former content.
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
  /// The storage of a stored object; `nil` if only a parent has it, where it is new again when it
  /// is brought back.
  fileprivate final var savedStorage: EntityStorage? { reference.isTemporary ? nil : storage }
}
