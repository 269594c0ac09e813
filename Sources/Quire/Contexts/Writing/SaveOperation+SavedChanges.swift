import QuireStorage

extension SaveOperation {
  /// The changes of this save.
  ///
  /// - Parameter commit: the commit that made the save durable.
  func savedChanges(_ commit: CommitNumber) -> SavedChanges {
    SavedChanges(
      entities: entities, commit: commit, inserted: inserted.map(\.reference),
      updated: updateList, deleted: deleted.map(\.reference), historyNumber: historyNumber)
  }

  /// The changed objects whose rows or links are written.
  var updateList: [SavedChanges.Update] {
    updated.map { .init(reference: $0.object.reference, slots: Array($0.changedSlots)) }
  }
}
