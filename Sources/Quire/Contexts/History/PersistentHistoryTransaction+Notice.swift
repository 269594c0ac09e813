extension PersistentHistoryTransaction {
  /// What a context needs to merge the transaction, by
  /// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)``. Without ``changes`` it is empty.
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
