import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Contexts in processes that save to one store in turn.
@Suite struct SharingTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  private let disk = SimulatedDisk()
  private static let url = URL(filePath: "/gallery.quire")

  /// A context of another process.
  private func opened(
    _ number: UInt64, on disk: SimulatedDisk? = nil, history: Bool? = nil, migrates: Bool = true,
    model: ManagedObjectModel = SmallGallery.model,
    classes: [ManagedObject.Type] = SmallGallery.classes, trustsNetworkLocks: Bool = false
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: classes)
    var options = PersistentStoreOptions()
    options.isShared = true
    options.trustsNetworkLocks = trustsNetworkLocks
    options.tracksHistory = history
    options.migratesAutomatically = migrates
    options.infersMappingModel = migrates
    try coordinator.addPersistentStore(
      type: .quire, at: Self.url, options: options,
      in: OtherProcess(disk ?? self.disk, number: number))
    return GotchaHome.context(of: coordinator)
  }

  private func close(_ context: ManagedObjectContext) throws {
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  private func store(_ context: ManagedObjectContext) throws -> PersistentStore {
    try #require(context.persistentStoreCoordinator?.persistentStores.first)
  }

  private func artworks(_ context: ManagedObjectContext) throws -> [Artwork] {
    var request = FetchRequest<Artwork>(entityName: "Artwork")
    request.sortDescriptors = [FetchSortDescriptor(key: "title")]
    return try context.fetch(request)
  }

  @Test func `each has what the others have saved, and no two objects one ID`() throws {
    let contexts = [try opened(1), try opened(2), try opened(3)]
    var ids: Set<ManagedObjectID> = []
    for number in 0..<30 {
      let context = contexts[number % 3]
      let artwork = Artwork(context: context)
      artwork.title = "\(100 + number)"
      try context.save()
      #expect(ids.insert(artwork.objectID).inserted)
      #expect(try artworks(contexts[(number + 1) % 3]).map(\.title).last == "\(100 + number)")
    }
    for context in contexts {
      #expect(Set(try artworks(context).map(\.objectID)) == ids)
      #expect(try store(context).check().isSound)
      try close(context)
    }
    #expect(try disk.paths(beginningWith: "") == ["/gallery.quire"])
  }

  @Test func `nobody writes over what he has not seen`() throws {
    let (one, other) = (try opened(1), try opened(2))
    let artwork = Artwork(context: one)
    artwork.price = 1
    artwork.title = "a"
    try one.save()
    let same = try #require(try artworks(other).first)
    #expect(same.price == 1)
    artwork.price = 2
    try one.save()
    same.price = 3
    let error = #expect(throws: PersistenceError.self) { try other.save() }
    #expect(error?.code == .managedObjectMerge)
    other.mergePolicy = .mergeByPropertyObjectTrump
    same.title = "b"
    try other.save()
    #expect(same.price == 3 && same.title == "b")
    #expect(try artworks(one).count == 1)
    one.refresh(artwork, mergeChanges: false)
    #expect(artwork.price == 3 && artwork.title == "b")
    // A deletion by one, a change by the other.
    one.delete(artwork)
    try one.save()
    same.price = 4
    other.mergePolicy = .error
    #expect(throws: PersistenceError.self) { try other.save() }
    other.rollback()
    #expect(try artworks(other).isEmpty)
    try close(one)
    try close(other)
  }

  @Test func `what is unique is so for all`() throws {
    let model = try ManagedObjectModel {
      Entity("Page") {
        Attribute("slug", .string)
        UniquenessConstraint("slug")
      }
    }
    let one = try opened(1, model: model, classes: [])
    let other = try opened(2, model: model, classes: [])
    try one.insert("Page", ["slug": "home"])
    try one.save()
    try other.insert("Page", ["slug": "home"])
    let error = #expect(throws: PersistenceError.self) { try other.save() }
    #expect(error?.code == .managedObjectConstraintMerge)
    try close(one)
    try close(other)
  }

  @Test func `a history has the saves of all, whoever began it`() throws {
    let one = try opened(1)
    one.transactionAuthor = "one"
    let other = try opened(2, history: true)
    other.transactionAuthor = "other"
    for context in [one, other, one] {
      Artwork(context: context).title = "a"
      try context.save()
    }
    for context in [one, other] {
      let transactions = try context.execute(
        PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
      ).transactions
      #expect(transactions.map(\.author) == ["one", "other", "one"])
      try close(context)
    }
  }

  @Test func `a context merges what another process has saved, and saves on`() throws {
    let (one, other) = (try opened(1), try opened(2))
    one.automaticallyMergesChangesFromParent = true
    let artwork = Artwork(context: one)
    artwork.price = 1
    try one.save()
    for price in 2..<10 {
      let same = try #require(try artworks(other).first)
      other.refresh(same, mergeChanges: false)
      same.price = Double(price)
      try other.save()
      one.processPendingChanges()
      #expect(artwork.price == Double(price))
      artwork.title = "\(price)"
      try one.save()
    }
    try one.throwKeptErrors()
    try close(one)
    try close(other)
  }

  @Test func `on a network file system a store is not shared, unless its locks are trusted`() throws
  {
    disk.networkType = "smb2"
    let error = #expect(throws: PersistenceError.self) { try opened(1) }
    #expect(error?.code == .persistentStoreOpen)
    #expect(
      error?.underlying as? StorageError
        == .networkFileSystem(path: "/gallery.quire", type: "smb2"))
    #expect("\(try #require(error))".contains("(smb2)"))
    #expect(disk.files.isEmpty)
    let context = try opened(1, trustsNetworkLocks: true)
    Artwork(context: context).title = "a"
    try context.save()
    #expect(try artworks(context).count == 1)
    try close(context)
  }

  @Test func `while one is suspended, others save, and it does when it goes on`() throws {
    let (one, other) = (try opened(1), try opened(2))
    let artwork = Artwork(context: one)
    artwork.title = "a"
    try one.save()
    let coordinator = try #require(one.persistentStoreCoordinator)
    try coordinator.suspend()
    artwork.price = 5
    let error = #expect(throws: PersistenceError.self) { try one.save() }
    #expect(error?.underlying as? StorageError == .suspended)
    #expect(one.hasChanges)
    #expect(try artworks(one).count == 1)
    Artwork(context: other).title = "b"
    try other.save()
    #expect(try artworks(one).count == 2)
    coordinator.resume()
    try one.save()
    #expect(try artworks(other).count == 2)
    try coordinator.suspend()
    try close(one)
    try close(other)
    // A store that is this process's alone is locked while it is open.
    let alone = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try alone.addPersistentStore(
      type: .quire, at: URL(filePath: "/alone.quire"), options: [:], in: disk)
    #expect(throws: PersistenceError.self) { try alone.suspend() }
  }

  @Test func `one migrates, and the others are told`() throws {
    let former = try opened(1)
    Artwork(context: former).title = "a"
    try former.save()
    let model = try ManagedObjectModel {
      Entity("Artwork") {
        Attribute("title", .string)
        Attribute("year", .integer32)
      }
    }
    let refusal = #expect(throws: PersistenceError.self) {
      _ = try opened(2, migrates: false, model: model, classes: [])
    }
    #expect(refusal?.code == .persistentStoreIncompatibleVersionHash)
    let new = try opened(3, model: model, classes: [])
    #expect(try new.count(for: FetchRequest<ManagedObject>(entityName: "Artwork")) == 1)
    Artwork(context: former).title = "b"
    let error = #expect(throws: PersistenceError.self) { try former.save() }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    try new.insert("Artwork", ["title": "c"])
    try new.save()
    try close(former)
    try close(new)
  }

  @Test func `whatever two processes save, links and counts stay right`() throws {
    for seed in Seeds.upTo(Amount.of(debug: 6, release: 60, exhaustive: 2_000)) {
      let disk = SimulatedDisk()
      var generator = SeededGenerator(seed: seed)
      let contexts = [try opened(1, on: disk), try opened(2, on: disk)]
      for context in contexts { context.mergePolicy = .mergeByPropertyObjectTrump }
      for _ in 0..<80 {
        let context = contexts[generator.below(2)]
        for _ in 0...generator.below(4) { try change(context, &generator) }
        if generator.below(4) == 0 { continue }
        do {
          try context.save()
        } catch {
          context.rollback()
        }
        if generator.below(10) == 0 { context.reset() }
      }
      for context in contexts {
        try context.throwKeptErrors()
        context.reset()
        let report = try store(context).check()
        #expect(report.isSound, "seed \(seed): \(report)")
      }
      func content(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Artist>(entityName: "Artist")).map { artist in
          "\(artist.name) \(artist.artworks.map { "\($0.price)" }.sorted())"
        }.sorted()
      }
      #expect(try content(contexts[0]) == content(contexts[1]), "seed \(seed)")
      for context in contexts { try close(context) }
    }
  }

  private func change(
    _ context: ManagedObjectContext, _ generator: inout SeededGenerator
  ) throws {
    let artists = try context.fetch(FetchRequest<Artist>(entityName: "Artist"))
    let works = try context.fetch(FetchRequest<Artwork>(entityName: "Artwork"))
    let artist = artists.randomElement(using: &generator)
    let work = works.randomElement(using: &generator)
    switch generator.below(8) {
    case 0:
      Artist(context: context).name = "\(generator.below(1_000))"
    case 1, 2:
      let new = Artwork(context: context)
      new.price = Double(generator.below(1_000))
      new.artist = artist
    case 3: work?.artist = artist
    case 4: if let work { artist?.artworks.insert(work) }
    case 5: work?.price = Double(generator.below(1_000))
    case 6: if let work { context.delete(work) }
    default: if let artist, generator.below(3) == 0 { context.delete(artist) }
    }
  }
}
