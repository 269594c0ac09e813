import QuireModel

/// The changes that objects make while a save is prepared, in ``ManagedObject/willSave()`` and in
/// validation.
struct SavePreparation {
  /// Objects whose changes to save have changed, in no order, some twice.
  private(set) var changed: [ManagedObject] = []
  /// Whether the list of objects to save has to be made again.
  var isOutdated = false
  /// The number of changes by primitive accessors that are under way. They cause no other call of
  /// ``ManagedObject/willSave()``.
  var primitiveChangeCount = 0

  mutating func recordChange(of object: ManagedObject) {
    isOutdated = true
    if primitiveChangeCount == 0 { changed.append(object) }
  }

  /// The objects that have changed since the last call, each once, ordered by their references.
  mutating func takeChanged() -> [ManagedObject] {
    defer { changed = [] }
    return Set(changed).sorted { $0.referenceOrder < $1.referenceOrder }
  }
}

extension ManagedObjectContext {
  /// Records a property that is about to change, and notifies observers.
  final func record(_ slot: Int, of object: ManagedObject, _ change: SlotChange) {
    journal?.record(object)
    if preparation != nil, object.isChange(change, of: slot) {
      preparation?.recordChange(of: object)
    }
    for observer in audience {
      observer.willChange(object.binding.properties[slot].name, of: object, by: change)
    }
  }
}

extension ManagedObject {
  /// Whether the change makes a difference to what a save writes.
  fileprivate func isChange(_ change: SlotChange, of slot: Int) -> Bool {
    if binding.traits[slot].isTransient || binding.traits[slot].isDerived { return false }
    do {
      switch change {
      case .value(let value):
        guard let value, let present = try attribute(slot) else {
          return try (value == nil) != (attribute(slot) == nil)
        }
        return !value.isIdentical(to: present)
      case .one(let destination): return try one(slot) !== destination
      case .order(let order): return try members(slot) != order()
      case .addition, .removal: return true
      }
    } catch {
      return true
    }
  }
}
