/// The objects of a context that have unsaved changes of one kind.
///
/// Each knows its place in the list, as it is in one list at most: nothing is hashed.
struct ObjectList {
  /// In the order in which they came, unless some have gone since.
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
    // Held until the list is whole again.
    let last = objects.removeLast()
    if last !== object {
      objects[Int(object.listPosition)] = last
      last.listPosition = object.listPosition
    }
    object.listPosition = .max
  }

  /// Tells the objects their positions again, when they may know others.
  func restorePositions() {
    for place in objects.indices { objects[place].listPosition = Int32(place) }
  }

  /// In the order of the objects' places in their stores, so that the same changes make the same
  /// store. New objects are mostly in that order already.
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

  /// Places are sorted, and not objects, of which each comparison would count references.
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
