import QuireStorage

/// A message about what happened in a context, as IDs and names of properties. It may be sent to
/// any isolation, and merged there by `ManagedObjectContext.mergeChanges(fromContextDidSave:)`.
public struct ObjectIDNotice: Sendable {
  /// What has happened.
  public internal(set) var kind: ContextNotice.Kind
  /// ``ManagedObjectContext/name`` of the context.
  public let contextName: String?
  /// ``ManagedObjectContext/transactionAuthor`` of the context.
  public let transactionAuthor: String?
  /// The number of the commit, in a notice of a save to one store; `nil` when the save went to
  /// several, or to a parent.
  public internal(set) var commitNumber: UInt64?

  /// The numbers of the commits of which a merge has all changes; empty where that is not known.
  var mergedCommits: [UInt64] = []

  /// The IDs of inserted objects: temporary before they are saved, and permanent in notices of a
  /// save to a store.
  public internal(set) var insertedObjectIDs: Set<ManagedObjectID> = []

  /// The IDs of updated objects; ``changedProperties`` has the names of their properties.
  public internal(set) var updatedObjectIDs: Set<ManagedObjectID> = []

  /// The IDs of deleted objects.
  public internal(set) var deletedObjectIDs: Set<ManagedObjectID> = []

  /// Objects without changes whose values may have changed, by a refresh, a rollback or a merge.
  public internal(set) var refreshedObjectIDs: Set<ManagedObjectID> = []
  /// Objects that the context has forgotten, by ``ManagedObjectContext/reset()``.
  public internal(set) var invalidatedObjectIDs: Set<ManagedObjectID> = []
  /// Whether the context has forgotten all its objects.
  public internal(set) var invalidatedAllObjects = false
  /// Whether there were too many changes to list: other objects may have changed, or be new.
  var isOfAll = false
  /// The names of the properties that changed, of each updated object.
  public internal(set) var changedProperties: [ManagedObjectID: Set<String>] = [:]

  init(_ kind: ContextNotice.Kind, _ context: ManagedObjectContext) {
    self.kind = kind
    contextName = context.name
    transactionAuthor = context.transactionAuthor
  }

  /// A notice of a save that is in the store's history.
  init(_ kind: ContextNotice.Kind, contextName: String?, author: String?) {
    self.kind = kind
    self.contextName = contextName
    transactionAuthor = author
  }

  /// The notice under Core Data's keys: sets of IDs. Empty ones are missing.
  public var userInfo: [ManagedObjectContext.NotificationKey: any Sendable] {
    var userInfo: [ManagedObjectContext.NotificationKey: any Sendable] = [:]
    func put(_ key: ManagedObjectContext.NotificationKey, _ ids: Set<ManagedObjectID>) {
      if !ids.isEmpty { userInfo[key] = ids }
    }
    put(.insertedObjectIDs, insertedObjectIDs)
    put(.updatedObjectIDs, updatedObjectIDs)
    put(.deletedObjectIDs, deletedObjectIDs)
    put(.refreshedObjectIDs, refreshedObjectIDs)
    put(.invalidatedObjectIDs, invalidatedObjectIDs)
    if invalidatedAllObjects { userInfo[.invalidatedAllObjects] = Array(invalidatedObjectIDs) }
    return userInfo
  }
}
