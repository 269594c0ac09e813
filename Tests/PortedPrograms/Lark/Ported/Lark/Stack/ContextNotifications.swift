import Foundation
import QuireCoreData

struct ContextDidSaveNotification {
  init(note: Notification) {
    guard note.name == .NSManagedObjectContextDidSave else { fatalError() }
    notification = note
  }

  var insertedObjects: AnyIterator<NSManagedObject> {
    return iterator(forKey: NSInsertedObjectsKey)
  }

  var updatedObjects: AnyIterator<NSManagedObject> {
    return iterator(forKey: NSUpdatedObjectsKey)
  }

  var deletedObjects: AnyIterator<NSManagedObject> {
    return iterator(forKey: NSDeletedObjectsKey)
  }

  var managedObjectContext: NSManagedObjectContext {
    guard let c = notification.object as? NSManagedObjectContext else {
      fatalError("Invalid notification object")
    }
    return c
  }

  fileprivate let notification: Notification

  fileprivate func iterator(forKey key: String) -> AnyIterator<NSManagedObject> {
    guard let set = (notification as Notification).userInfo?[key] as? NSSet else {
      return AnyIterator { nil }
    }
    let innerIterator = set.makeIterator()
    return AnyIterator { return innerIterator.next() as? NSManagedObject }
  }
}

extension ContextDidSaveNotification: CustomDebugStringConvertible {
  var debugDescription: String {
    var components = [notification.name.rawValue]
    components.append(managedObjectContext.description)
    for (name, set) in [
      ("inserted", insertedObjects), ("updated", updatedObjects), ("deleted", deletedObjects),
    ] {
      let all = set.map { $0.objectID.description }.joined(separator: ", ")
      components.append("\(name): {\(all)}")
    }
    return components.joined(separator: " ")
  }
}

struct ObjectsDidChangeNotification {
  init(note: Notification) {
    assert(note.name == .NSManagedObjectContextObjectsDidChange)
    notification = note
  }

  var insertedObjects: Set<NSManagedObject> { return objects(forKey: NSInsertedObjectsKey) }
  var updatedObjects: Set<NSManagedObject> { return objects(forKey: NSUpdatedObjectsKey) }
  var deletedObjects: Set<NSManagedObject> { return objects(forKey: NSDeletedObjectsKey) }
  var refreshedObjects: Set<NSManagedObject> { return objects(forKey: NSRefreshedObjectsKey) }
  var invalidatedObjects: Set<NSManagedObject> { return objects(forKey: NSInvalidatedObjectsKey) }

  var invalidatedAllObjects: Bool {
    return (notification as Notification).userInfo?[NSInvalidatedAllObjectsKey] != nil
  }

  fileprivate let notification: Notification

  fileprivate func objects(forKey key: String) -> Set<NSManagedObject> {
    return ((notification as Notification).userInfo?[key] as? Set<NSManagedObject>) ?? Set()
  }
}

extension NSManagedObjectContext {
  func addContextDidSaveNotificationObserver(
    _ handler: @escaping (ContextDidSaveNotification) -> Void
  ) -> NSObjectProtocol {
    let nc = NotificationCenter.default
    return nc.addObserver(forName: .NSManagedObjectContextDidSave, object: self, queue: nil) {
      note in
      handler(ContextDidSaveNotification(note: note))
    }
  }

  func addObjectsDidChangeNotificationObserver(
    _ handler: @escaping (ObjectsDidChangeNotification) -> Void
  ) -> NSObjectProtocol {
    let nc = NotificationCenter.default
    return nc.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: self, queue: nil
    ) { note in
      handler(ObjectsDidChangeNotification(note: note))
    }
  }

  func performMergeChanges(from note: ContextDidSaveNotification) {
    perform {
      self.mergeChanges(fromContextDidSave: note.notification)
    }
  }
}

/// Follows one object: whether it was changed or deleted.
final class ManagedObjectObserver {
  enum ChangeType {
    case delete
    case update
  }

  private var token: NSObjectProtocol!

  init?(object: NSManagedObject, changeHandler: @escaping (ChangeType) -> Void) {
    guard let moc = object.managedObjectContext else { return nil }
    token = moc.addObjectsDidChangeNotificationObserver { [weak self] note in
      guard let changeType = self?.changeType(of: object, in: note) else { return }
      changeHandler(changeType)
    }
  }

  deinit {
    NotificationCenter.default.removeObserver(token as Any)
  }

  private func changeType(
    of object: NSManagedObject, in note: ObjectsDidChangeNotification
  ) -> ChangeType? {
    let deleted = note.deletedObjects.union(note.invalidatedObjects)
    if note.invalidatedAllObjects || deleted.contains(where: { $0 === object }) {
      return .delete
    }
    let updated = note.updatedObjects.union(note.refreshedObjects)
    if updated.contains(where: { $0 === object }) { return .update }
    return nil
  }
}
