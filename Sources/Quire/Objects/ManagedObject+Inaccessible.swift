import QuireModel

// Objects that can no longer be read: their rows are gone, or their stores.
extension ManagedObject {
  /// Whether the object cannot be read any more: it was deleted by another context and this has
  /// not been merged here, or its store was removed from the coordinator.
  ///
  /// That a row is gone is found out when the object is read; before that a fault looks like any
  /// other (`ManagedObjectContext.existingObject(with:)` asks the store). What was read before
  /// stays readable until the object is refreshed. When the context finds out that the row is gone,
  /// its next notice has the object among the deleted ones.
  public final var isInaccessible: Bool {
    !hasRow && (state.contains(.inaccessible) || session?.isRetired == true)
  }

  /// Marks the object, whose row is not in the store, as inaccessible.
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
    if !isDeleted { context.notices?.didDelete(self) }
  }

  /// Finds out whether a fault that shows no members has a row at all. Members are read without the
  /// row, so a missing row would go unnoticed.
  @inline(never)
  final func checkRow() throws {
    guard !hasRow, isStored, let session else { return }
    if try state.contains(.inaccessible) || !session.read({ try $0.contains(reference) }) {
      try becomeInaccessible()
    }
  }

  /// Keeps an error that a property cannot throw while it is read, for the context's next fetch or
  /// save. That the object's store was removed is no error to keep, as the program has removed it
  /// and may go on saving to others: ``isInaccessible`` tells.
  @usableFromInline final func keepReadError(_ error: any Error) {
    guard let context else { return }
    if session?.isRetired == true, context.shouldDeleteInaccessibleFaults { return }
    context.report(error)
  }
}
