import Quire
import QuireSimulation
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Several contexts of one container at once. To be run under the thread sanitizer too:
// swift test --sanitize=thread --scratch-path .build-tsan --filter ConcurrencyTests
@Suite struct ConcurrencyTests {
  private static let workerCount = 4
  private static let roundCount = 40
  private static let accountCount = 6
  private static let total = accountCount * 100

  /// Accounts are artworks: what they are worth is their price.
  private func container(at url: URL?) throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Bank", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try container.loadPersistentStore(at: url)
    let context = container.newBackgroundContext()
    for number in 0..<Self.accountCount {
      let account = SmallGallery.Artwork(context: context)
      account.title = "account \(number)"
      account.price = 100
    }
    try context.save()
    return container
  }

  private struct Outcome: Sendable {
    var transfers = 0
    var conflicts = 0
    var inserted = 0
    var readings = 0
  }

  /// Moves money between accounts, again and again until nobody was faster, and notes each move as
  /// an artist with an artwork.
  private func work(_ worker: Int, in container: PersistentContainer) async throws -> Outcome {
    try await container.performBackgroundTask { context in
      var outcome = Outcome()
      var request = FetchRequest<SmallGallery.Artwork>()
      request.predicate = Key("title").beginsWith("account")
      for round in 0..<Self.roundCount {
        var isDone = false
        while !isDone {
          context.reset()
          let accounts = try context.fetch(request)
          #expect(accounts.reduce(0) { $0 + $1.price } == Double(Self.total))
          let from = accounts[(worker + round) % accounts.count]
          let to = accounts[(worker * 3 + round * 5 + 1) % accounts.count]
          from.price -= 1
          to.price += 1
          let artist = SmallGallery.Artist(context: context)
          artist.name = "worker \(worker) round \(round)"
          let note = SmallGallery.Artwork(context: context)
          note.title = "note"
          note.artist = artist
          do {
            try context.save()
            #expect(!artist.objectID.isTemporaryID)
            outcome.transfers += 1
            outcome.inserted += 2
            isDone = true
          } catch let error as PersistenceError where error.code == .managedObjectMerge {
            outcome.conflicts += 1
          }
          await Task.yield()
        }
      }
      return outcome
    }
  }

  /// Looks while others write: a fetch sees one state of the store, and both sides of each link.
  private func look(in container: PersistentContainer) async throws -> Outcome {
    try await container.performBackgroundTask { context in
      var outcome = Outcome()
      var accounts = FetchRequest<SmallGallery.Artwork>()
      accounts.predicate = Key("title").beginsWith("account")
      var seen = 0
      while seen < Self.workerCount * Self.roundCount {
        // Another context each time: objects of this one would keep the values they had.
        let fresh = SmallGallery.sibling(of: context)
        let sum = try fresh.fetch(accounts).reduce(0) { $0 + $1.price }
        #expect(sum == Double(Self.total))
        let artists = try fresh.all(SmallGallery.Artist.self)
        #expect(artists.count >= seen)
        seen = artists.count
        for artist in artists.suffix(20) {
          #expect(artist.artworks.count == 1)
          #expect(artist.artworks.first?.artist === artist)
        }
        outcome.readings += 1
        await Task.yield()
        // When a worker has failed, what is waited for does not come.
        try Task.checkCancellation()
      }
      return outcome
    }
  }

  private func run(at url: URL?) async throws {
    let container = try container(at: url)
    let outcome = try await withThrowingTaskGroup(of: Outcome.self) { group in
      for worker in 0..<Self.workerCount {
        group.addTask { try await work(worker, in: container) }
      }
      for _ in 0..<2 { group.addTask { try await look(in: container) } }
      return try await group.reduce(into: Outcome()) {
        $0.transfers += $1.transfers
        $0.conflicts += $1.conflicts
        $0.inserted += $1.inserted
        $0.readings += $1.readings
      }
    }
    print(
      "\(outcome.transfers) transfers, \(outcome.conflicts) conflicts, "
        + "\(outcome.readings) readings")
    #expect(outcome.transfers == Self.workerCount * Self.roundCount)
    let context = container.newBackgroundContext()
    #expect(try context.all(SmallGallery.Artist.self).count == outcome.transfers)
    let artworks = try context.all(SmallGallery.Artwork.self)
    #expect(artworks.count == outcome.transfers + Self.accountCount)
    #expect(artworks.reduce(0) { $0 + $1.price } == Double(Self.total))
    #expect(try StoreFacts(context).findings == [])
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    try container.persistentStoreCoordinator.remove(store)
    if let url { #expect(try StoreInspection(of: url).findings == []) }
  }

  @Test func `contexts of one container work at once, and no save is lost`() async throws {
    try await run(at: nil)
  }

  @Test func `contexts of one file work at once, and no save is lost`() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    try await run(at: folder.url.appending(path: "store"))
  }

  @Test func `containers opened and closed at once on one file share it`() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let url = folder.url.appending(path: "store")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for round in 0..<10 {
            let container = PersistentContainer(
              name: "Shared", managedObjectModel: SmallGallery.model,
              classes: SmallGallery.classes)
            try container.loadPersistentStore(at: url)
            let context = container.newBackgroundContext()
            SmallGallery.Artist(context: context).name = "\(worker) \(round)"
            try context.save()
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    let container = PersistentContainer(
      name: "Shared", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try container.loadPersistentStore(at: url)
    let names = try container.newBackgroundContext().all(SmallGallery.Artist.self).map(\.name)
    #expect(Set(names).count == 40 && names.count == 40)
  }
}
