import QuireModel

// Objects that nothing can be read of any more: their rows are gone, or their stores.
extension ManagedObject {
  /// Whether the object cannot be read any more: it was deleted by another context and this has
  /// not been merged here, or its store was removed from the coordinator.
  ///
  /// Known from when somebody has tried to read the object; before that a fault looks like any
  /// other (``ManagedObjectContext/existingObject(with:)`` asks the store). What was read before
  /// stays readable until the object is refreshed. Those who observe the context are told of the
  /// object as of a deleted one when it is found out that the row is gone.
  public final var isInaccessible: Bool {
    !hasRow && (state.contains(.inaccessible) || session?.isRetired == true)
  }

  /// The row was looked for, and is not there.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectReferentialIntegrity`` when the context wants
  ///   an error.
  @inline(never)
  final func becomeInaccessible() throws {
    guard let context else { return }
    guard context.shouldDeleteInaccessibleFaults else {
      var error = PersistenceError(
        .managedObjectReferentialIntegrity,
        "\(objectID) cannot be read: its row is gone from the store, as another context has "
          + "deleted it")
      error.entityName = entity.name
      error.objectID = objectID
      throw error
    }
    guard !state.contains(.inaccessible) else { return }
    state.insert(.inaccessible)
    if !isDeleted { context.noticeCenter?.didDelete(self) }
  }

  /// Finds out whether a fault that shows no members has a row at all. Members are read without
  /// the row, so that nobody else would notice.
  @inline(never)
  final func checkRow() throws {
    guard !hasRow, isStored, let session else { return }
    if try state.contains(.inaccessible) || !session.currentView().contains(reference) {
      try becomeInaccessible()
    }
  }

  /// Keeps an error that a property cannot throw while it is read, for the context's next fetch or
  /// save. That a store was removed is known to whoever has removed it, and no reason to refuse
  /// what is to be saved in others: the object says so by ``isInaccessible``.
  @usableFromInline final func keepReadError(_ error: any Error) {
    guard let context else { return }
    if session?.isRetired == true, context.shouldDeleteInaccessibleFaults { return }
    context.report(error)
  }
}
