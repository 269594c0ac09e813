/// The objects of a context that have unsaved changes of one kind.
///
/// Each object stores its position, as it is in one list at most, so that nothing is hashed.
struct ObjectList {
  /// In the order of insertion, unless some were removed since.
  private(set) var objects: [ManagedObject] = []

  var isEmpty: Bool { objects.isEmpty }

  func contains(_ object: ManagedObject) -> Bool {
    let position = Int(object.listPosition)
    return position < objects.count && objects[position] === object
  }

  mutating func insert(_ object: ManagedObject) {
    if contains(object) { return }
    object.listPosition = Int32(objects.count)
    objects.append(object)
  }

  mutating func remove(_ object: ManagedObject) {
    guard contains(object) else { return }
    // Retained until the list is complete again.
    let last = objects.removeLast()
    if last !== object {
      objects[Int(object.listPosition)] = last
      last.listPosition = object.listPosition
    }
    object.listPosition = .max
  }

  /// Stores their positions in the objects again, after these were replaced.
  func restorePositions() {
    for position in objects.indices { objects[position].listPosition = Int32(position) }
  }

  /// The objects ordered by their references, so that the same changes make the same store. New
  /// objects are usually in that order already.
  var sorted: [ManagedObject] {
    var last = Reference(rawValue: 0)
    var isSorted = true
    let session = objects.first?.ofArena { $0.sessionIdentity }
    for object in Uncounted(objects) where isSorted {
      object._withUnsafeGuaranteedRef { object in
        isSorted = object.reference >= last && object.ofArena { $0.sessionIdentity } == session
        last = object.reference
      }
    }
    return isSorted ? objects : sortedByReference
  }

  /// References are sorted, and not objects, which each comparison would retain.
  private var sortedByReference: [ManagedObject] {
    var references = objects.indices.map { index in
      let order = objects[index].referenceOrder
      return (store: order.store, reference: order.reference.rawValue, index: index)
    }
    references.sort { left, right in
      left.store != right.store
        ? left.store < right.store
        : left.reference != right.reference
          ? left.reference < right.reference : left.index < right.index
    }
    return references.map { objects[$0.index] }
  }
}
