/// The objects that ``ManagedObjectContext/retainsRegisteredObjects`` keeps in memory.
struct RetainedObjects {
  private var objects: [ObjectIdentifier: ManagedObject] = [:]

  init(_ objects: [ManagedObject]) { for object in objects { insert(object) } }

  mutating func insert(_ object: ManagedObject) { objects[ObjectIdentifier(object)] = object }

  /// - Returns: the object, for the caller to release when the dictionary is not being changed.
  mutating func remove(_ object: ManagedObject) -> ManagedObject? {
    objects.removeValue(forKey: ObjectIdentifier(object))
  }
}
