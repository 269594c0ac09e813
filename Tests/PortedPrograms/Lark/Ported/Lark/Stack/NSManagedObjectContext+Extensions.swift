import Foundation
import QuireCoreData

extension NSManagedObjectContext {
  func insertObject<A: NSManagedObject>() -> A where A: Managed {
    guard
      let obj = NSEntityDescription.insertNewObject(forEntityName: A.entityName, into: self) as? A
    else { fatalError("Wrong object type") }
    return obj
  }

  func saveOrRollback() -> Bool {
    do {
      try save()
      return true
    } catch {
      rollback()
      return false
    }
  }

  func performChanges(block: @escaping () -> Void) {
    perform {
      block()
      _ = self.saveOrRollback()
    }
  }

  var changedObjectsCount: Int {
    return insertedObjects.count + updatedObjects.count + deletedObjects.count
  }

  /// Saves when enough has changed, or when nothing came for a while.
  func delayedSaveOrRollback(group: DispatchGroup, completion: @escaping (Bool) -> Void = { _ in })
  {
    let changeCountLimit = 100
    guard changeCountLimit >= changedObjectsCount else { return completion(saveOrRollback()) }
    let queue = DispatchQueue.global(qos: DispatchQoS.QoSClass.default)
    group.notify(queue: queue) {
      self.perform {
        guard self.hasChanges else { return completion(true) }
        completion(self.saveOrRollback())
      }
    }
  }

  /// Objects of another context, in this one.
  func objects<T: NSManagedObject>(for others: [T]) -> [T] {
    return others.map { object(with: $0.objectID) as! T }
  }

  /// The first object of a request of any type, without its type.
  func first<T>(_ request: NSFetchRequest<T>) throws -> NSManagedObject? where T: NSManagedObject {
    let copy = NSFetchRequest<NSFetchRequestResult>(request)
    copy.fetchLimit = 1
    return try fetch(copy).first as? NSManagedObject
  }

  func identifiers(of request: NSFetchRequest<Sighting>) throws -> [NSManagedObjectID] {
    let erased = NSFetchRequest<NSFetchRequestResult>(request)
    erased.resultType = .managedObjectIDResultType
    return try fetch(erased) as! [NSManagedObjectID]
  }

  func metadata(for key: String) -> Any? {
    guard let store = persistentStoreCoordinator?.persistentStores.first else { return nil }
    return persistentStoreCoordinator!.metadata(for: store)[key]
  }

  func setMetadata(_ object: Any?, for key: String) {
    guard let coordinator = persistentStoreCoordinator,
      let store = coordinator.persistentStores.first
    else { return }
    var metadata = coordinator.metadata(for: store)
    metadata[key] = object
    coordinator.setMetadata(metadata, for: store)
  }
}

extension Sequence where Iterator.Element: NSManagedObject {
  /// Fulfils all faults with one fetch.
  func fetchFaults() {
    guard let context = self.first(where: { _ in true })?.managedObjectContext else { return }
    let faults = self.filter { $0.isFault }
    guard let object = faults.first else { return }
    let request = NSFetchRequest<NSFetchRequestResult>()
    request.entity = object.entity
    request.returnsObjectsAsFaults = false
    request.predicate = NSPredicate(format: "self in %@", faults)
    _ = try! context.fetch(request)
  }

  func remap(to context: NSManagedObjectContext) -> [Iterator.Element] {
    return map { unmapped in
      guard unmapped.managedObjectContext !== context else { return unmapped }
      return context.object(with: unmapped.objectID) as! Iterator.Element
    }
  }
}
