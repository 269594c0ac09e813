import Foundation
import Quire

/// The changes of a save, as an ``NSIncrementalStore`` gets them.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  /// The new objects, which have their permanent IDs.
  public let insertedObjects: Set<NSManagedObject>?
  /// The objects that were changed, also those whose relationships alone were.
  public let updatedObjects: Set<NSManagedObject>?
  /// The objects to remove.
  public let deletedObjects: Set<NSManagedObject>?
  /// Unchanged objects that must not have changed in the store:
  /// ``NSManagedObjectContext/detectConflicts(for:)``.
  public let lockedObjects: Set<NSManagedObject>?
  /// The kind of the request.
  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

  /// The changes of a save.
  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    self.insertedObjects = insertedObjects
    self.updatedObjects = updatedObjects
    self.deletedObjects = deletedObjects
    self.lockedObjects = lockedObjects
  }
}
