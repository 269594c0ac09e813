import Quire
import Testing

/// Contexts on several threads that all want to change one object.
@Suite struct ContendedMergesTests {
  typealias Artist = SmallGallery.Artist

  /// Adds what was counted here to what the store has.
  private final class Sum: MergePolicy {
    var calls = 0

    init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

    override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
      calls += 1
      for conflict in list {
        guard let old = conflict.objectSnapshot["born"] as? Int,
          let stored = conflict.persistedSnapshot?["born"] as? Int,
          let mine = try conflict.sourceObject.value(forKey: "born") as? Int
        else { continue }
        try conflict.sourceObject.setValue(stored + mine - old, forKey: "born")
      }
    }
  }

  @Test func `every save ends, asked once, and nothing that was counted is lost`() async throws {
    let first = try SmallGallery.context()
    let artist = Artist(context: first)
    artist.born = 0
    try first.save()
    let id = artist.objectID
    let coordinator = try #require(first.persistentStoreCoordinator)
    let (tasks, rounds) = (6, 50)
    let calls = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<tasks {
        group.addTask {
          let context = GotchaHome.context(of: coordinator)
          let policy = Sum()
          context.mergePolicy = policy
          let artist = try #require(try context.existingObject(with: id) as? Artist)
          for _ in 0..<rounds {
            artist.born = (artist.born ?? 0) + 1
            // Also where there is one thread for all.
            await Task.yield()
            let before = policy.calls
            try context.save()
            #expect(policy.calls - before <= 1)
          }
          return policy.calls
        }
      }
      return try await group.reduce(0, +)
    }
    first.refresh(artist, mergeChanges: false)
    #expect(artist.born == Int16(tasks * rounds))
    #expect(calls > 0)
    #expect(try StoreFacts(first).findings == [])
  }
}
