import Foundation
import Quire
import QuireXcode

class CoreDataStack {
  static let shared = CoreDataStack()

  private let inMemory: Bool

  init(inMemory: Bool = false) {
    self.inMemory = inMemory
  }

  lazy var persistentContainer: PersistentContainer = {
    let container = try! PersistentContainer(
      name: "Trips", classes: [Trip.self, Place.self, Tag.self])
    if inMemory {
      let description = PersistentStoreDescription()
      description.type = .inMemory
      container.persistentStoreDescriptions = [description]
    }
    let description = container.persistentStoreDescriptions.first
    description?.shouldMigrateStoreAutomatically = true
    description?.setOption(true, forKey: PersistentHistoryTrackingKey)
    container.loadPersistentStores { _, error in
      if let error {
        fatalError("Unresolved error \(error)")
      }
    }
    container.viewContext.automaticallyMergesChangesFromParent = true
    container.viewContext.mergePolicy = .mergeByPropertyObjectTrump
    container.viewContext.undoManager = nil
    return container
  }()

  var viewContext: ManagedObjectContext {
    persistentContainer.viewContext
  }

  func saveContext() {
    let context = persistentContainer.viewContext
    guard context.hasChanges else { return }
    do {
      try context.save()
    } catch {
      fatalError("Unresolved error \(error)")
    }
  }

  func deleteAllTrips() throws {
    for trip in try viewContext.fetch(Trip.fetchRequest()) { viewContext.delete(trip) }
    try viewContext.save()
  }
}
