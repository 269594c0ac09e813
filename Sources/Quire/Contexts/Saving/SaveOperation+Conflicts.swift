import QuireModel

// Changes that other contexts have saved since the objects of a save were read. Conflicts are
// searched before anything is written, by the search whose findings a merge policy gets.
extension SaveOperation {
  /// Thrown when the save cannot be written because of conflicts.
  struct Outdated: Error {}

  /// Thrown when the save cannot be written because two objects would have values that must be
  /// unique.
  struct Duplicates: Error {}

  /// - Parameter watched: other objects that must not have changed since they were read.
  /// - Throws: ``Outdated`` if there is a conflict;
  ///   ``PersistenceError/Code/managedObjectMerge`` when another context has undone a deletion that
  ///   is undone here. The two cannot be merged, as this object has no former values.
  func throwIfOutdated(_ writer: StoreWriter, watching watched: Set<ManagedObject>) throws {
    var search = ConflictSearch(StateToWrite(session: session, state: writer))
    try search.search(
      inserted: new, updated: updated, deleted: deleted,
      watched: watched.filter { $0.session === session })
    guard hasReturned else { return }
    for item in inserted where item.object.isPersistent {
      if let version = try writer.version(at: item.object.reference) {
        throw placeTaken(item.object, version)
      }
    }
  }

  /// The error for an object whose former reference is not free any more.
  func placeTaken(_ object: ManagedObject, _ current: UInt32) -> PersistenceError {
    let report = MergeConflict.Report(
      objectID: object.objectID, oldVersion: Int(object.version), newVersion: Int(current))
    var error = PersistenceError(
      .managedObjectMerge, "an object whose deletion was undone is back in the store: \(report)")
    error.conflicts = [report]
    return error
  }
}
