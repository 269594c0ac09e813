extension ContextNotice {
  /// The notice of a save, with the objects that it has written, and not yet their IDs.
  init(of parts: some Sequence<SaveOperation>, in context: ManagedObjectContext) {
    self.init(.didSaveObjects, context)
    for part in parts {
      insertedObjects.formUnion(part.inserted.lazy.map(\.object))
      updatedObjects.formUnion(part.updated.lazy.map(\.object))
      deletedObjects.formUnion(part.deleted)
    }
  }

  /// The notice of a save to stores.
  ///
  /// - Parameter changes: of each store that the save has written.
  init(
    of parts: some Sequence<SaveOperation>, _ changes: [SavedChanges],
    in context: ManagedObjectContext
  ) {
    self.init(of: parts, in: context)
    completeIDs()
    if changes.count == 1 { objectIDs.commitNumber = changes[0].commit.rawValue }
    for (id, names) in changes.lazy.flatMap(\.updatedProperties) {
      objectIDs.changedProperties[id] = Set(names)
    }
  }
}
