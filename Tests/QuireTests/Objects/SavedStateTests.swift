import Quire
import QuireTesting
import Testing

// What objects show after a save: what that save wrote, not what others wrote since.
@Suite struct SavedStateTests {
  // What happened: after the commit the newest state of the store was read, which another context
  // had made meanwhile; the object showed that one's values under that one's version, and the next
  // save found no conflict where there was one.
  @Test func `an object shows what its save wrote, whoever saves next`() async throws {
    let container = PersistentContainer(
      name: "Race", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    SmallGallery.Artwork(context: context).price = 0
    try context.save()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 1...4 {
        group.addTask {
          try await container.performBackgroundTask { context in
            let artwork = try #require(try context.all(SmallGallery.Artwork.self).first)
            for round in 0..<2_000 {
              let price = Double(worker * 10_000 + round)
              artwork.price = price
              do {
                try context.save()
                #expect(artwork.price == price)
              } catch let error as PersistenceError where error.code == .managedObjectMerge {
                context.refresh(artwork, mergeChanges: false)
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
