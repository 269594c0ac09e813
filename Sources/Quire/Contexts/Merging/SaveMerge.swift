import QuireStorage

/// One merge of what others have saved:
///
/// 1. Objects that are gone leave; those that are new are remembered.
/// 2. The others get the newest rows (``RowExchange``), as in a refresh.
/// 3. The next notice gets the new objects; observers and children are notified.
struct SaveMerge {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// - Parameters:
  ///   - commits: the saves that have changed the objects with these references, and no others.
  ///   - isOfAll: whether objects may have changed that are not listed; the list then has all
  ///     objects that are registered here.
  /// - Returns: whether all rows were read again, or will be when they are used.
  func merge(
    _ references: [MergedReference], of commits: [CommitNumber], isOfAll: Bool = false
  ) -> Bool {
    guard !references.isEmpty || isOfAll else { return true }
    defer {
      if context.family != nil {
        isOfAll ? context.notifyChildrenOfAll() : context.notifyChildren(of: references)
      }
    }
    do {
      // As a merge reads what is there, it can be begun again.
      var ids = try context.inOneState {
        try context.during(.merging) {
          try mergeObjects(at: references, isOfAll: isOfAll)
        }
      }
      // Commits of several stores are not numbered together.
      if !context.hasSeveralStores { ids.mergedCommits = commits.map(\.rawValue) }
      context.noticeCenter?.postMerge(ids)
      return true
    } catch {
      context.report(error)
      return false
    }
  }

  /// - Returns: the notice of the merge for observers.
  private func mergeObjects(
    at references: [MergedReference], isOfAll: Bool
  ) throws -> ObjectIDNotice {
    try context.moveQueryGeneration()
    var ids = ObjectIDNotice(.didMergeChangesObjectIDs, context)
    ids.isOfAll = isOfAll
    var merged: [ManagedObject] = []
    var new: [MergedReference] = []
    for session in context.sessions where references.contains(where: { $0.session === session }) {
      let view = try session.latestView()
      try view.incremental?.read(references.lazy.filter { $0.session === session }.map(\.reference))
    }
    // Sorted, so that the same saves have the same effects.
    for item in references.sorted(by: { $0.order < $1.order }) {
      let reference = item.reference
      guard let id = item.session.objectID(of: reference) else { continue }
      let object = item.session.registered(reference)
      // An object whose deletion was undone here stays inserted, though its row is gone.
      if object?.isNew ?? false { continue }
      if try !item.session.currentView().contains(reference) {
        ids.deletedObjectIDs.insert(id)
        if let object { mergeDeletion(of: object) }
        continue
      }
      if item.isInsertion {
        ids.insertedObjectIDs.insert(id)
      } else {
        ids.updatedObjectIDs.insert(id)
      }
      if let object {
        merged.append(object)
      } else if item.isInsertion {
        new.append(item)
      }
    }
    try RowExchange(context).exchange(merged, besides: new)
    if context.noticeCenter != nil {
      for object in merged where object.context === context && !object.hasChanges {
        ids.refreshedObjectIDs.insert(object.objectID)
      }
    }
    for item in new {
      context.noticeCenter?.didInsert(try item.session.object(at: item.reference))
    }
    return ids
  }

  /// Removes an object that another context has deleted, with its unsaved changes.
  private func mergeDeletion(of object: ManagedObject) {
    if !object.isDeleted { context.noticeCenter?.didDelete(object) }
    context.release(object)
  }
}
