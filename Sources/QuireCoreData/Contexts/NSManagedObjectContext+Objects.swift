import Foundation
import Quire
import QuireModel

extension Set<ManagedObject> {
  /// The objects as Core Data's code has them.
  var managed: Set<NSManagedObject> { Set<NSManagedObject>(map { $0 as! NSManagedObject }) }
}

// Objects, changes, saves.
extension NSManagedObjectContext {
  /// The objects in memory.
  public var registeredObjects: Set<NSManagedObject> { quireContext.registeredObjects.managed }
  /// The objects that the next save inserts.
  public var insertedObjects: Set<NSManagedObject> { quireContext.insertedObjects.managed }
  /// The objects that were changed.
  public var updatedObjects: Set<NSManagedObject> { quireContext.updatedObjects.managed }
  /// The objects that the next save deletes. Until then it has those too whose deletion the program
  /// has merged by ``mergeChanges(fromContextDidSave:)-(Notification)``, as in Core Data.
  public var deletedObjects: Set<NSManagedObject> {
    quireContext.deletedObjects.managed.union(mergedDeletions)
  }
  /// Whether anything was inserted, changed or deleted and not saved.
  public var hasChanges: Bool { quireContext.hasChanges }

  /// The object with an ID; a fault, if it is not in memory. An ID of no store of the coordinator
  /// stops the program.
  public func object(
    with objectID: NSManagedObjectID, file: StaticString = #fileID, line: UInt = #line
  ) -> NSManagedObject {
    guard let object = quireContext.object(with: objectID) else {
      fatalError(
        "no store of the context's coordinator has the object \(objectID)", file: file, line: line)
    }
    return object as! NSManagedObject
  }

  /// The object with an ID, if it is in memory.
  public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    quireContext.registeredObject(for: objectID) as? NSManagedObject
  }

  /// The object with an ID, which is read if it is not in memory.
  public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    try translatingErrors { try quireContext.existingObject(with: objectID) } as! NSManagedObject
  }

  /// Takes an object that has no context.
  public func insert(_ object: NSManagedObject) { quireContext.insert(object) }

  /// Refreshes an object: makes it a fault, or puts the store's values below its changes.
  public func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    quireContext.refresh(object, mergeChanges: flag)
  }

  /// Makes all objects without changes faults, and puts the store's values below the changes of the
  /// others.
  public func refreshAllObjects() { quireContext.refreshAllObjects() }

  /// Gives new objects their permanent IDs before they are saved.
  public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    try translatingErrors { try quireContext.obtainPermanentIDs(for: objects) }
  }

  /// Lets a new object be saved to a store.
  public func assign(_ object: Any, to store: NSPersistentStore) {
    guard let object = object as? ManagedObject else { return }
    quireContext.assign(object, to: store.quireStore)
  }

  /// Lets the next save fail if an object was changed by another.
  public func detectConflicts(for object: NSManagedObject) {
    quireContext.detectConflicts(for: object)
  }

  /// Applies delete rules and posts what has changed.
  public func processPendingChanges() { quireContext.processPendingChanges() }
  /// Drops all changes.
  public func rollback() {
    mergedDeletions = []
    quireContext.rollback()
  }
  /// Forgets all objects and changes.
  public func reset() {
    mergedDeletions = []
    quireContext.reset()
  }
  /// Undoes the last event.
  public func undo() { quireContext.undo() }
  /// Makes again what was undone.
  public func redo() { quireContext.redo() }
}
