/// The slots of the new objects of an entity.
final class NewSlots: Sendable {
  // Sound: written in `init` alone, and freed with this. The slots hold values, not objects.
  /// Plain memory, so that copying retains nothing but the values.
  nonisolated(unsafe) let slots: UnsafeMutableBufferPointer<ManagedObject.Slot>

  init(_ binding: EntityBinding) {
    slots = .allocate(capacity: binding.slotCount)
    for (slot, value) in binding.defaultValues.enumerated() {
      slots.initializeElement(at: slot, to: value.map { .value($0) } ?? .unchanged)
    }
  }

  deinit {
    slots.deinitialize()
    slots.deallocate()
  }
}

extension EntityBinding {
  /// The slots of new objects. They stay for as long as the binding.
  var newSlots: UnsafeBufferPointer<ManagedObject.Slot> {
    UnsafeBufferPointer(attachments.object { NewSlots(self) }.slots)
  }
}
