import QuireStorage

/// What happened in a context, as IDs and names: it may be sent anywhere, and merged there by
/// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)``.
public struct ObjectIDNotice: Sendable {
  public let kind: ContextNotice.Kind
  /// ``ManagedObjectContext/name`` of the context.
  public let contextName: String?
  /// ``ManagedObjectContext/transactionAuthor`` of the context.
  public let transactionAuthor: String?
  /// The number of the commit, when this tells of a save; `nil` when that went to several stores.
  public internal(set) var commitNumber: UInt64?
  public internal(set) var insertedObjectIDs: Set<ManagedObjectID> = []
  public internal(set) var updatedObjectIDs: Set<ManagedObjectID> = []
  public internal(set) var deletedObjectIDs: Set<ManagedObjectID> = []
  /// Clean objects whose values may be others now, as somebody else has saved them.
  public internal(set) var refreshedObjectIDs: Set<ManagedObjectID> = []
  /// Objects that the context has forgotten, by ``ManagedObjectContext/reset()``.
  public internal(set) var invalidatedObjectIDs: Set<ManagedObjectID> = []
  /// Whether the context has forgotten all its objects.
  public internal(set) var invalidatedAllObjects = false
  /// Whether more has happened than was kept one by one: there may be objects, new ones among them,
  /// that are not named.
  var isOfAll = false
  /// The names of the properties that changed, of each updated object.
  public internal(set) var changedProperties: [ManagedObjectID: Set<String>] = [:]

  init(_ kind: ContextNotice.Kind, _ context: ManagedObjectContext) {
    self.kind = kind
    contextName = context.name
    transactionAuthor = context.transactionAuthor
  }

  /// What a history tells of a save.
  init(_ kind: ContextNotice.Kind, contextName: String?, author: String?) {
    self.kind = kind
    self.contextName = contextName
    transactionAuthor = author
  }

  /// The same under Core Data's keys; those without objects are missing.
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
