import Quire
import QuireSimulation
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Notes the commits that the saves of a context were.
private final class CommitNumbers: ContextObserver {
  var all: [CommitNumber] = []
  func willChange(_ property: String, of object: ManagedObject, by change: SlotChange) {}
  func didSave(_ changes: SavedChanges) { all.append(changes.commitNumber) }
}

// What objects show after a save: what that save wrote, not what others wrote since.
@Suite struct SavedStateTests {
  private static let saveCount = 60

  // What happened: after the commit the newest state of the store was read, which another context
  // had made meanwhile; an object could show that one's values under that one's version, and its
  // next save found no conflict where there was one. Commits that wait for one sync of the disk
  // become visible together, so that with several writers it happened all the time.
  @Test func `a save ends with its own state of the store, whoever saves next`() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let container = PersistentContainer(
      name: "Race", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try container.loadPersistentStore(at: folder.url.appending(path: "store"))
    let numbers = try await withThrowingTaskGroup(of: [CommitNumber].self) { group in
      for worker in 1...4 {
        group.addTask {
          try await container.performBackgroundTask { context in
            let numbers = CommitNumbers()
            context.observers = [numbers]
            let artwork = SmallGallery.Artwork(context: context)
            for round in 0..<Self.saveCount {
              artwork.price = Double(worker * 10_000 + round)
              try context.save()
            }
            return numbers.all
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(numbers.count == 4 * Self.saveCount)
    #expect(Set(numbers).count == numbers.count, "two saves cannot be one commit")
  }
}
