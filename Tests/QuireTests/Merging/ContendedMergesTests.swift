import Quire
import QuireSimulation
import Synchronization
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

  /// With a file, a save that met conflicts looked for them in the last commit that was on disk,
  /// and was written upon one that was not yet: there were none to resolve, and it failed.
  @Test(arguments: GotchaHome.allCases)
  func `every save ends, asked once, and nothing that was counted is lost`(_ home: GotchaHome)
    throws
  {
    try home.withContext { first in
      let artist = Artist(context: first)
      artist.born = 0
      try first.save()
      let id = artist.objectID
      let coordinator = try #require(first.persistentStoreCoordinator)
      let (threads, rounds) = (6, 50)
      let callCount = Atomic(0)
      let arrivedCount = Atomic(0)
      Threads.run(
        Array(
          repeating: {
            do {
              let context = GotchaHome.context(of: coordinator)
              let policy = Sum()
              context.mergePolicy = policy
              let found = Result { try context.existingObject(with: id) as? Artist }
              // All have the object as it was first, so that there are conflicts for sure.
              arrivedCount.add(1, ordering: .relaxed)
              while arrivedCount.load(ordering: .relaxed) < threads {}
              let artist = try #require(try found.get())
              for _ in 0..<rounds {
                artist.born = (artist.born ?? 0) + 1
                let before = policy.calls
                try context.save()
                #expect(policy.calls - before <= 1)
              }
              callCount.add(policy.calls, ordering: .relaxed)
            } catch {
              Issue.record(error)
            }
          }, count: threads))
      first.refresh(artist, mergeChanges: false)
      #expect(artist.born == Int16(threads * rounds))
      #expect(callCount.load(ordering: .relaxed) > 0)
      #expect(try StoreFacts(first).findings == [])
    }
  }
}
