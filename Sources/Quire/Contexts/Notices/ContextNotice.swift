/// What happened in a context, told in the context's isolation.
public struct ContextNotice {
  /// Raw values are the names of Core Data's notifications.
  public enum Kind: String, Sendable, CaseIterable {
    /// Objects have changed since the last of these: posted by
    /// ``ManagedObjectContext/processPendingChanges()``, which fetches and saves call, and at once
    /// by ``ManagedObjectContext/rollback()`` and ``ManagedObjectContext/reset()``.
    case didChangeObjects = "NSObjectsChangedInManagingContextNotification"
    /// A save begins. Without changes to save it is not posted, nor are the following.
    case willSaveObjects = "NSManagingContextWillSaveChangesNotification"
    /// A save is durable, and its objects were told. Deleted ones still show their values.
    case didSaveObjects = "NSManagingContextDidSaveChangesNotification"
    /// The same without objects.
    case didSaveObjectIDs = "NSManagedObjectContextDidSaveObjectIDsNotification"
    /// The context has merged what others have saved. The notice has all of that, also objects
    /// that the context does not know; those that it knows and has read anew are among the
    /// refreshed ones as well.
    case didMergeChangesObjectIDs =
      "NSManagedObjectContextDidMergeChangesObjectIDsNotification"
  }

  public let kind: Kind
  public let context: ManagedObjectContext
  public internal(set) var insertedObjects: Set<ManagedObject> = []
  public internal(set) var updatedObjects: Set<ManagedObject> = []
  public internal(set) var deletedObjects: Set<ManagedObject> = []
  /// Clean objects whose values may be others now, by a refresh or a merge.
  public internal(set) var refreshedObjects: Set<ManagedObject> = []
  /// Updated objects of which more may be another than the properties that were set.
  var rereadObjects: Set<ManagedObject> = []
  /// Whether the context has forgotten all its objects.
  public var invalidatedAllObjects: Bool { objectIDs.invalidatedAllObjects }
  /// The same as IDs, with the names of changed properties: what may be sent to other isolations.
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
  /// What the parts of a notice are called in Core Data's notifications.
  public enum NotificationKey: String, Sendable, CaseIterable {
    case sourceContext = "managedObjectContext"
    case insertedObjects = "inserted"
    case updatedObjects = "updated"
    case deletedObjects = "deleted"
    case refreshedObjects = "refreshed"
    case invalidatedObjects = "invalidated"
    case invalidatedAllObjects = "invalidatedAll"
    case insertedObjectIDs = "inserted_objectIDs"
    case updatedObjectIDs = "updated_objectIDs"
    case deletedObjectIDs = "deleted_objectIDs"
    case refreshedObjectIDs = "refreshed_objectIDs"
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }
}
