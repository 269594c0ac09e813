import QuireModel

// Changes that other contexts have saved since the objects of a save were read. Conflicts are
// searched before anything is written, by the search whose findings a merge policy gets.
extension SaveOperation {
  /// Thrown when the save cannot be written because two objects would have values that must be
  /// unique.
  struct Duplicates: Error {}

  /// - Parameter watched: other objects that must not have changed since they were read.
  /// - Throws: ``ConflictFound`` if there is a conflict;
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
        throw referenceTaken(item.object, version)
      }
    }
  }

  /// Whether the destinations of changed one-to-one relationships refer back in the rows that the
  /// save has written, for an assertion. If they did not, the two would contradict each other for
  /// ever.
  func otherEndsAgree(_ writer: StoreWriter) -> Bool {
    func agrees(_ slot: Int, of object: ManagedObject, at reference: Reference) -> Bool {
      guard case .one(let destination?) = object.slots[slot], destination.isLive,
        let inverse = object.inverseSlot(of: slot, on: destination)
      else { return true }
      let other = finalReference(destination)
      guard let field = entities.storage(of: other)?.fieldBySlot[inverse], field >= 0 else {
        return true
      }
      do {
        return try writer.destination(field, at: other) == reference
      } catch {
        return true
      }
    }
    return inserted.allSatisfy { item in
      item.object.binding.oneToOneSlots.allSatisfy { slot in
        item.storage.fieldBySlot[slot] < 0 || item.object.slots.isEmpty
          || agrees(slot, of: item.object, at: item.reference)
      }
    }
      && updated.allSatisfy { update in
        let object = update.object
        return update.changedSlots.allSatisfy { slot in
          !object.binding.oneToOneSlots.contains(slot)
            || agrees(slot, of: object, at: object.reference)
        }
      }
  }

  /// The error for an object whose former reference is not free any more.
  func referenceTaken(_ object: ManagedObject, _ current: UInt32) -> PersistenceError {
    let report = MergeConflict.Report(
      objectID: object.objectID, oldVersion: Int(object.version), newVersion: Int(current))
    var error = PersistenceError(
      .managedObjectMerge, "an object whose deletion was undone is back in the store: \(report)")
    error.conflicts = [report]
    return error
  }
}
