extension PersistentHistoryTransaction {
  /// The transaction as a notice that a context can merge, by
  /// `ManagedObjectContext.mergeChanges(fromContextDidSave:)`. Empty where the transaction was
  /// fetched without its ``changes``.
  public func objectIDNotification() -> ObjectIDNotice {
    var notice = ObjectIDNotice(.didSaveObjectIDs, contextName: contextName, author: author)
    for change in changes ?? [] {
      switch change.changeType {
      case .insert: notice.insertedObjectIDs.insert(change.changedObjectID)
      case .update:
        notice.updatedObjectIDs.insert(change.changedObjectID)
        notice.changedProperties[change.changedObjectID] = change.updatedPropertyNames
      case .delete: notice.deletedObjectIDs.insert(change.changedObjectID)
      }
    }
    return notice
  }
}
