/// A message about what happened in a context, in place of Core Data's notifications. It belongs to
/// the context's isolation.
///
/// The sets of objects are filled in notices of changes and of saves
/// (``Kind/didChangeObjects``, ``Kind/willSaveObjects``, ``Kind/didSaveObjects``); the other kinds
/// have IDs alone, in ``objectIDs``.
public struct ContextNotice {
  /// Raw values are the names of Core Data's notifications.
  public enum Kind: String, Sendable, CaseIterable {
    /// Objects have changed since the last of these: posted by
    /// ``ManagedObjectContext/processPendingChanges()``, which fetches and saves call, and at once
    /// by ``ManagedObjectContext/rollback()`` and ``ManagedObjectContext/reset()``.
    case didChangeObjects = "NSObjectsChangedInManagingContextNotification"
    /// A save begins. Without changes to save it is not posted, nor are the following.
    case willSaveObjects = "NSManagingContextWillSaveChangesNotification"
    /// A save is durable, and ``ManagedObject/didSave()`` was called. Deleted objects still show
    /// their values.
    case didSaveObjects = "NSManagingContextDidSaveChangesNotification"
    /// A save is durable. Posted after ``didSaveObjects``, with IDs alone.
    case didSaveObjectIDs = "NSManagedObjectContextDidSaveObjectIDsNotification"
    /// The context has merged what others have saved. The notice has the IDs of all those changes,
    /// also of objects that are not registered here; registered ones that were refreshed are among
    /// the refreshed ones as well.
    case didMergeChangesObjectIDs =
      "NSManagedObjectContextDidMergeChangesObjectIDsNotification"
  }

  /// What has happened.
  public let kind: Kind

  /// The context in which it happened.
  public let context: ManagedObjectContext

  /// Objects that were inserted since the last notice of changes, or that the save inserts. After a
  /// merge also those that other contexts have inserted, as faults.
  public internal(set) var insertedObjects: Set<ManagedObject> = []

  /// Objects of which properties were changed since the last notice of changes, or that the save
  /// writes. One that was inserted or deleted as well is not among them.
  public internal(set) var updatedObjects: Set<ManagedObject> = []

  /// Objects that were deleted since the last notice of changes, here or by a merge, or that the
  /// save deletes. One that was also inserted since then is in neither set.
  public internal(set) var deletedObjects: Set<ManagedObject> = []

  /// Objects without changes whose values may have changed, by a refresh, a rollback or a merge.
  public internal(set) var refreshedObjects: Set<ManagedObject> = []

  /// Updated objects of which other properties may have changed than those that were set.
  var rereadObjects: Set<ManagedObject> = []

  /// Whether the context has forgotten all its objects, by ``ManagedObjectContext/reset()``.
  public var invalidatedAllObjects: Bool { objectIDs.invalidatedAllObjects }

  /// The notice as IDs, with the names of changed properties. It may be sent to other isolations.
  public internal(set) var objectIDs: ObjectIDNotice

  init(_ kind: Kind, _ context: ManagedObjectContext) {
    self.kind = kind
    self.context = context
    objectIDs = ObjectIDNotice(kind, context)
  }

  /// Fills in the IDs of the objects.
  mutating func completeIDs() {
    objectIDs.insertedObjectIDs = Set(insertedObjects.lazy.map(\.objectID))
    objectIDs.updatedObjectIDs = Set(updatedObjects.lazy.map(\.objectID))
    objectIDs.deletedObjectIDs = Set(deletedObjects.lazy.map(\.objectID))
    objectIDs.refreshedObjectIDs = Set(refreshedObjects.lazy.map(\.objectID))
  }

  /// The notice under Core Data's keys: sets of objects or of IDs. Empty ones are missing.
  public var userInfo: [ManagedObjectContext.NotificationKey: Any] {
    var userInfo: [ManagedObjectContext.NotificationKey: Any] = [.sourceContext: context]
    func put(_ key: ManagedObjectContext.NotificationKey, _ objects: Set<ManagedObject>) {
      if !objects.isEmpty { userInfo[key] = objects }
    }
    put(.insertedObjects, insertedObjects)
    put(.updatedObjects, updatedObjects)
    put(.deletedObjects, deletedObjects)
    put(.refreshedObjects, refreshedObjects)
    for (key, value) in objectIDs.userInfo { userInfo[key] = value }
    return userInfo
  }
}

@available(*, unavailable)
extension ContextNotice: Sendable {}

extension ManagedObjectContext {
  /// The keys of Core Data's notifications, for ``ContextNotice/userInfo`` and for
  /// ``mergeChanges(fromRemoteContextSave:into:)``. Raw values are Core Data's.
  ///
  /// A dictionary of changes to merge has collections of IDs, or of their URIs, under any of the
  /// keys but ``sourceContext``, ``invalidatedAllObjects`` and ``queryGeneration``, which a merge
  /// passes over.
  public enum NotificationKey: String, Sendable, CaseIterable {
    /// The context in which it happened: a ``ManagedObjectContext``.
    case sourceContext = "managedObjectContext"

    /// ``ContextNotice/insertedObjects``: a set of objects.
    case insertedObjects = "inserted"

    /// ``ContextNotice/updatedObjects``: a set of objects.
    case updatedObjects = "updated"

    /// ``ContextNotice/deletedObjects``: a set of objects.
    case deletedObjects = "deleted"

    /// ``ContextNotice/refreshedObjects``: a set of objects.
    case refreshedObjects = "refreshed"

    /// Objects that a context has forgotten. No notice has the key, as there are only their IDs.
    case invalidatedObjects = "invalidated"

    /// The IDs of all objects that ``reset()`` has forgotten: an array.
    case invalidatedAllObjects = "invalidatedAll"

    /// ``ObjectIDNotice/insertedObjectIDs``: a set.
    case insertedObjectIDs = "inserted_objectIDs"

    /// ``ObjectIDNotice/updatedObjectIDs``: a set.
    case updatedObjectIDs = "updated_objectIDs"

    /// ``ObjectIDNotice/deletedObjectIDs``: a set.
    case deletedObjectIDs = "deleted_objectIDs"

    /// ``ObjectIDNotice/refreshedObjectIDs``: a set.
    case refreshedObjectIDs = "refreshed_objectIDs"

    /// ``ObjectIDNotice/invalidatedObjectIDs``: a set.
    case invalidatedObjectIDs = "invalidated_objectIDs"

    /// The ``QueryGenerationToken`` of a context that reads a fixed state. No notice has the key;
    /// the notification of a save that `QuireCoreData` posts has it.
    case queryGeneration = "newQueryGeneration"
  }
}
