import QuireModel

// Conflicts of a context's changes with what other contexts have saved since objects were read.
extension ManagedObjectContext {
  /// Makes the next save compare the version of an object that is not changed here, too: it meets a
  /// conflict if the object was changed or deleted by another save since it was read.
  ///
  /// For changes that depend on the values of another object. Holds until a save that writes, a
  /// ``rollback()`` or a ``reset()``; an object whose row was never read is compared only for
  /// having been deleted. A save to a parent makes the parent compare it. Does nothing for a new
  /// object, or one of another context.
  public final func detectConflicts(for object: ManagedObject) {
    guard object.context === self, object.isPersistent else { return }
    watched.insert(object)
  }

  /// The conflicts of the context's changes with a state of its stores.
  final func conflicts(against views: StoreViews) throws -> [MergeConflict] {
    var search = ConflictSearch(FoundConflicts(in: views))
    let updated = changes.updated.sorted
    defer { withExtendedLifetime(updated) {} }
    try search.search(
      inserted: changes.inserted.sorted,
      updated: Uncounted(updated).compactMap { PendingUpdate($0) },
      deleted: changes.deleted.sorted.filter(\.isPersistent),
      watched: watched.sorted { $0.referenceOrder < $1.referenceOrder })
    return search.states.conflicts
  }

  /// Drops the changes of objects that the parent has deleted.
  final func dropChanges(of conflicts: [MergeConflict]) {
    for object in conflicts.map(\.sourceObject) where object.context === self && object.isUpdated {
      noticeCenter?.didDelete(object)
      object.turnIntoFault()
      object.state.insert(.inaccessible)
    }
    processPendingChangesOfEvent()
  }

  final func mergeError(_ reports: [MergeConflict.Report]) -> PersistenceError {
    var error = PersistenceError(
      .managedObjectMerge,
      reports.isEmpty
        ? "another writer to the store was faster: objects of this save have changed since they were "
          + "compared"
        : "\(reports.count == 1 ? "an object" : "\(reports.count) objects") of this save changed in "
          + "the store since it was read: \(reports.map(\.description).joined(separator: "; ")) "
          + "(a merge policy decides which change stays; PersistentContainer.write(attempts:) does "
          + "the work again)")
    error.conflicts = reports
    return error
  }
}
