import QuireModel
import QuireStorage

// The number of members that a relationship may have, when several saves have contributed to it.
extension SaveOperation {
  /// Checks the counts of changed relationships that other saves may have changed since this one
  /// was validated, as the commit will have them.
  ///
  /// Where no other save has come in between, and where the count is the one that this context has
  /// shown, validation has decided. A class may have its own.
  ///
  /// - Throws: as validation.
  /// - Complexity: O(members) of each relationship with a limit that was changed; nothing if no
  ///   other save came in between.
  func checkCounts(_ writer: StoreWriter) throws {
    if let view = session.view, writer.transaction.begins(with: view.snapshot.contentCommit) {
      return
    }
    if writer.defersLinks { return }
    var validation = Validation()
    for update in updated {
      try update.ofObject { object in
        guard !object.ofArena({ $0.binding.limitedSlots.isEmpty }), let storage = object.storage
        else { return }
        try checkCounts(of: object, update.changedSlots, storage, writer, &validation)
      }
    }
    try validation.finishSave()
  }

  private func checkCounts(
    of object: ManagedObject, _ slots: SlotSet, _ storage: EntityStorage, _ writer: StoreWriter,
    _ validation: inout Validation
  ) throws {
    for slot in object.binding.limitedSlots where slots.contains(slot) {
      guard let link = storage.link(slot) else { continue }
      var members = try writer.linkKeys(link, of: object.reference.key).map(\.member)
      if object.binding.traits[slot].canDangle { members = try members.filter(writer.contains) }
      let known = try object.members(slot).count { !$0.isDeleted }
      if members.count == known { continue }
      validation.checkCount(
        members.count, object.binding.relationship(slot),
        Validation.Subject(entityName: object.entity.name, objectID: object.objectID))
    }
  }
}
