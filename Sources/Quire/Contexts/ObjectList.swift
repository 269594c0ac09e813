/// The objects of a context that have unsaved changes of one kind.
///
/// Each object stores its position, as it is in one list at most, so that nothing is hashed.
struct ObjectList {
  /// In the order of insertion, unless some were removed since.
  private(set) var objects: [ManagedObject] = []

  var isEmpty: Bool { objects.isEmpty }

  func contains(_ object: ManagedObject) -> Bool {
    let place = Int(object.listPosition)
    return place < objects.count && objects[place] === object
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
    for place in objects.indices { objects[place].listPosition = Int32(place) }
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
    return isSorted ? objects : sortedByPlace
  }

  /// References are sorted, and not objects, which each comparison would retain.
  private var sortedByPlace: [ManagedObject] {
    var places = objects.indices.map { index in
      let place = objects[index].referenceOrder
      return (store: place.store, reference: place.reference.rawValue, index: index)
    }
    places.sort { left, right in
      left.store != right.store
        ? left.store < right.store
        : left.reference != right.reference
          ? left.reference < right.reference : left.index < right.index
    }
    return places.map { objects[$0.index] }
  }
}
