// What others have saved since the objects of a save were read.
extension SaveOperation {
  func checkVersion(of object: ManagedObject, _ writer: StoreWriter) throws {
    let current = try writer.withRow(object.reference) { $0.version } ?? 0
    // A deleted object whose row was never read has no version that could be outdated.
    let known = object.row == nil && object.isDeleted && current > 0 ? current : object.version
    if current == 0 || current != known {
      conflicts.append(
        MergeConflict(
          objectID: object.objectID, oldVersion: Int(object.version), newVersion: Int(current)))
    }
  }

  /// Looks whether the former place of an object whose deletion was undone is still free.
  func checkPlace(of object: ManagedObject, _ writer: StoreWriter) throws {
    guard let current = try writer.withRow(object.reference, { $0.version }) else { return }
    conflicts.append(
      MergeConflict(
        objectID: object.objectID, oldVersion: Int(object.version), newVersion: Int(current)))
  }

  func throwConflicts() throws(PersistenceError) {
    guard !conflicts.isEmpty else { return }
    var error = PersistenceError(
      .managedObjectMerge,
      "\(conflicts.count == 1 ? "an object" : "\(conflicts.count) objects") of this save changed in "
        + "the store since it was read: \(conflicts.map(\.description).joined(separator: "; "))")
    error.conflicts = conflicts
    throw error
  }

  func conflictOfGone(_ reference: Reference) {
    guard let storage = entities.storage(of: reference) else { return }
    conflicts.append(
      MergeConflict(
        objectID: ManagedObjectID(
          entity: storage.binding.entity, store: identity, key: reference.key),
        oldVersion: 1, newVersion: 0))
  }
}
