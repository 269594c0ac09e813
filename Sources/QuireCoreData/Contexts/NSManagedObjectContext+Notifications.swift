// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Core Data's names of constants begin with capitals.

import Foundation
import Quire

/// Inserted objects: `Set<NSManagedObject>`.
public let NSInsertedObjectsKey = "inserted"
/// Changed objects: `Set<NSManagedObject>`.
public let NSUpdatedObjectsKey = "updated"
/// Deleted objects: `Set<NSManagedObject>`.
public let NSDeletedObjectsKey = "deleted"
/// Refreshed objects: `Set<NSManagedObject>`.
public let NSRefreshedObjectsKey = "refreshed"
/// Objects that the context has forgotten: their IDs.
public let NSInvalidatedObjectsKey = "invalidated"
/// All objects of the context, which it has forgotten: their IDs.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// IDs of inserted objects: `Set<NSManagedObjectID>`.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// IDs of changed objects: `Set<NSManagedObjectID>`.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// IDs of deleted objects: `Set<NSManagedObjectID>`.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"

/// The fixed state that a context reads after a save: an `NSQueryGenerationToken`.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"

extension Notification.Name {
  /// A context has processed changes of its objects.
  public static let NSManagedObjectContextObjectsDidChange = Self(
    ContextNotice.Kind.didChangeObjects.rawValue)
  /// A context is about to save.
  public static let NSManagedObjectContextWillSave = Self(
    ContextNotice.Kind.willSaveObjects.rawValue)
  /// A context has saved.
  public static let NSManagedObjectContextDidSave = Self(
    ContextNotice.Kind.didSaveObjects.rawValue)
  /// A context has saved; the notification has IDs alone.
  public static let NSManagedObjectContextDidSaveObjectIDs = Self(
    ContextNotice.Kind.didSaveObjectIDs.rawValue)
  /// A context has merged changes; the notification has IDs alone.
  public static let NSManagedObjectContextDidMergeChangesObjectIDs = Self(
    ContextNotice.Kind.didMergeChangesObjectIDs.rawValue)
}

extension NSManagedObjectContext {
  /// The keys of a notification's `userInfo`.
  public typealias NotificationKey = ManagedObjectContext.NotificationKey

  /// A context has processed changes of its objects.
  public static let didChangeObjectsNotification =
    Notification.Name.NSManagedObjectContextObjectsDidChange
  /// A context is about to save.
  public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
  /// A context has saved.
  public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
  /// A context has saved; the notification has IDs alone.
  public static let didSaveObjectIDsNotification =
    Notification.Name.NSManagedObjectContextDidSaveObjectIDs
  /// A context has merged changes; the notification has IDs alone.
  public static let didMergeChangesObjectIDsNotification =
    Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs

  /// The key of the notice of Quire's that a notification was made of.
  private static let noticeKey = "QuireCoreData.notice"

  /// Posts a notice of Quire's as a notification of Core Data's.
  func post(_ notice: ContextNotice) {
    var userInfo: [AnyHashable: Any] = [
      Self.noticeKey: notice.objectIDs, NotificationKey.sourceContext.rawValue: self,
    ]
    for (key, objects) in [
      (NSInsertedObjectsKey, notice.insertedObjects), (NSUpdatedObjectsKey, notice.updatedObjects),
      (NSDeletedObjectsKey, notice.deletedObjects),
      (NSRefreshedObjectsKey, notice.refreshedObjects),
    ] where !objects.isEmpty {
      userInfo[key] = objects.managed
    }
    for (key, value) in notice.objectIDs.userInfo { userInfo[key.rawValue] = value }
    if notice.kind == .didSaveObjects, let generation = queryGenerationToken {
      userInfo[NotificationKey.queryGeneration.rawValue] = generation
    }
    NotificationCenter.default.post(
      name: Notification.Name(notice.kind.rawValue), object: self, userInfo: userInfo)
  }

  /// A notice of Quire's that has IDs alone, as a notification that contexts can merge.
  static func notification(of notice: ObjectIDNotice) -> Notification {
    var userInfo: [AnyHashable: Any] = [noticeKey: notice]
    for (key, value) in notice.userInfo { userInfo[key.rawValue] = value }
    return Notification(name: Notification.Name(notice.kind.rawValue), userInfo: userInfo)
  }

  /// Merges what another context has saved, from the notification of that save.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    if let notice = notification.userInfo?[Self.noticeKey] as? ObjectIDNotice {
      return mergeChanges(fromContextDidSave: notice)
    }
    Self.mergeChanges(fromRemoteContextSave: notification.userInfo ?? [:], into: [self])
  }

  /// Merges a transaction of the history, or what a batch request has changed:
  /// `transaction.objectIDNotification()`.
  public func mergeChanges(fromContextDidSave notice: ObjectIDNotice) {
    recordingMergedDeletions(notice.deletedObjectIDs) {
      quireContext.mergeChanges(fromContextDidSave: notice)
    }
  }

  private func recordingMergedDeletions(_ ids: some Sequence<NSManagedObjectID>, _ body: () -> Void)
  {
    let known = ids.compactMap { registeredObject(for: $0) }
    body()
    mergedDeletions.formUnion(known.filter { registeredObject(for: $0.objectID) == nil })
  }

  /// Merges what was changed elsewhere into contexts: objects, IDs or URIs by the keys of
  /// notifications.
  ///
  /// Imports call this from queues of their own: each context merges on its own queue, one after
  /// the other, and the call waits for it, as `performAndWait` does.
  public static func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [NSManagedObjectContext],
    file: StaticString = #fileID, line: UInt = #line
  ) {
    var identified: [AnyHashable: Any] = [:]
    for (key, value) in changes {
      let members: [Any]
      switch value {
      case let objects as Set<NSManagedObject>: members = objects.map(\.objectID)
      case let objects as [NSManagedObject]: members = objects.map(\.objectID)
      case let ids as Set<NSManagedObjectID>: members = Array(ids)
      case let list as [Any]: members = list
      default: continue
      }
      identified[key] = members
    }
    // Of these deletions none is in `deletedObjects`: a context that is never saved would keep all
    // of them.
    for context in contexts {
      context.performAndWait {
        raising(file, line) {
          try ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: identified, into: [context.quireContext])
        }
      }
    }
  }
}
