/// Objects that a context holds because it is told to hold all.
struct RetainedObjects {
  private var objects: [ObjectIdentifier: ManagedObject] = [:]

  init(_ objects: [ManagedObject]) { for object in objects { insert(object) } }

  mutating func insert(_ object: ManagedObject) { objects[ObjectIdentifier(object)] = object }

  /// - Returns: the object, for the caller to let go of when nothing is being changed here.
  mutating func remove(_ object: ManagedObject) -> ManagedObject? {
    objects.removeValue(forKey: ObjectIdentifier(object))
  }
}
