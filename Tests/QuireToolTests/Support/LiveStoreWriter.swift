import Foundation
import Quire
import QuireStorage

/// Gives all artworks another title with each save, and writes to the pages in between.
struct LiveStoreWriter {
  private let coordinator: PersistentStoreCoordinator
  private let store: PersistentStore
  private let pages: PageStore
  private let context = ManagedObjectContext()
  private(set) var saveCount = 0

  init(_ path: String, isShared: Bool) throws {
    let url = URL(filePath: path)
    coordinator = PersistentStoreCoordinator(
      managedObjectModel: try PersistentStoreCoordinator.managedObjectModel(storedAt: url))
    var options = PersistentStoreOptions()
    options.isShared = isShared
    store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    context.persistentStoreCoordinator = coordinator
    pages = try PageStore.open(path)
    try save()
  }

  mutating func save() throws {
    saveCount += 1
    for artwork in try context.fetch(FetchRequest<ManagedObject>(entityName: "Artwork")) {
      try artwork.setValue("Save \(saveCount)", forKey: "title")
    }
    try context.save()
    if saveCount % 4 == 0 { try pages.checkpoint() }
  }

  func close() throws {
    try pages.close()
    try coordinator.remove(store)
  }
}
