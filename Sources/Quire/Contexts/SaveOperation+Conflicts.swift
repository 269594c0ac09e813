// What others have saved since the objects of a save were read. Which conflicts that makes is found
// afterwards, by `ManagedObjectContext+Conflicts.swift`: the transaction may be half written here.
extension SaveOperation {
  /// The save cannot be written: there are conflicts.
  struct Outdated: Error {}

  /// The save cannot be written: two objects would have values that a constraint forbids.
  struct Duplicates: Error {}

  func checkVersion(of object: ManagedObject, _ writer: StoreWriter) throws {
    let current = try writer.version(at: object.reference) ?? 0
    // An object whose row was never read has no version that could be outdated.
    let isUnread = !object.hasRow && current > 0 && (object.isDeleted || !object.hasChanges)
    if current == 0 || !isUnread && current != object.version { isOutdated = true }
  }

  /// Looks whether the former place of an object whose deletion was undone is still free.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectMerge`` when another context has undone the
  ///   deletion as well: there is nothing that could be merged with this object.
  func checkPlace(of object: ManagedObject, _ writer: StoreWriter) throws {
    if let current = try writer.version(at: object.reference) {
      throw placeTaken(object, current)
    }
  }

  func placeTaken(_ object: ManagedObject, _ current: UInt32) -> PersistenceError {
    let report = MergeConflict.Report(
      objectID: object.objectID, oldVersion: Int(object.version), newVersion: Int(current))
    var error = PersistenceError(
      .managedObjectMerge, "an object whose deletion was undone is back in the store: \(report)")
    error.conflicts = [report]
    return error
  }

  func throwIfOutdated() throws(Outdated) {
    if isOutdated { throw Outdated() }
  }
}
