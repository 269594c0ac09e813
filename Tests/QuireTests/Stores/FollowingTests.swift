import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Contexts of a store that is only read, while another process writes it.
@Suite struct FollowingTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  private let disk = SimulatedDisk()
  private static let url = URL(filePath: "/gallery.quire")
  private static let count = 400

  private func opened(
    in files: any FileSystem, isReadOnly: Bool, history: Bool = false,
    model: ManagedObjectModel = SmallGallery.model,
    classes: [ManagedObject.Type] = SmallGallery.classes
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: classes)
    var options = PersistentStoreOptions()
    options.isReadOnly = isReadOnly
    options.migratesAutomatically = !isReadOnly
    options.infersMappingModel = !isReadOnly
    if history { options.tracksHistory = true }
    try coordinator.addPersistentStore(type: .quire, at: Self.url, options: options, in: files)
    return GotchaHome.context(of: coordinator)
  }

  private func close(_ context: ManagedObjectContext) throws {
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// An artist with many artworks of one price.
  private func made(
    _ count: Int = Self.count, history: Bool = false
  ) throws -> ManagedObjectContext {
    let context = try opened(in: disk, isReadOnly: false, history: history)
    let artist = Artist(context: context)
    artist.name = "1"
    for number in 0..<count {
      let artwork = Artwork(context: context)
      artwork.title = String(repeating: "\(number) ", count: 40)
      artwork.price = 1
      artwork.artist = artist
    }
    try context.save()
    return context
  }

  /// Gives all artworks another price, and the artist another name, so that every row changes.
  private func reprice(_ price: Double, in context: ManagedObjectContext) throws {
    for artwork in try context.fetch(FetchRequest<Artwork>(entityName: "Artwork")) {
      artwork.price = price
    }
    for artist in try context.fetch(FetchRequest<Artist>(entityName: "Artist")) {
      artist.name = "\(price)"
    }
    try context.save()
  }

  private func prices(_ context: ManagedObjectContext) throws -> Set<Double?> {
    Set(try context.fetch(FetchRequest<Artwork>(entityName: "Artwork")).map(\.price))
  }

  @Test func `a fetch shows what another process has saved, and objects keep what they had`() throws
  {
    let writer = try made()
    let reader = try opened(in: OtherProcess(disk), isReadOnly: true)
    let artist = try #require(
      try reader.fetch(FetchRequest<Artist>(entityName: "Artist")).first)
    #expect(artist.name == "1")
    for price in [2.0, 3, 4] {
      try reprice(price, in: writer)
      var dear = FetchRequest<Artwork>(entityName: "Artwork")
      dear.predicate = try FetchPredicate(format: "price == %@", price)
      #expect(try reader.count(for: dear) == Self.count)
      #expect(artist.name == "1")
    }
    reader.refreshAllObjects()
    #expect(artist.name == "4.0")
    #expect(try prices(reader) == [4])
    // A reader keeps nobody from closing, and goes on.
    try close(writer)
    reader.reset()
    #expect(try prices(reader) == [4])
    try close(reader)
  }

  @Test func `a fault whose row was overwritten gets the newest`() throws {
    // More than the first pages of the file have, which are read when it is opened.
    let count = 3_000
    let writer = try made(count)
    let ids = try writer.objectIDs(for: FetchRequest<Artwork>(entityName: "Artwork"))
    try close(writer)
    let reader = try opened(in: OtherProcess(disk), isReadOnly: true)
    #expect(try reader.count(for: FetchRequest<Artwork>(entityName: "Artwork")) == count)
    let again = try opened(in: disk, isReadOnly: false)
    try reprice(2, in: again)
    try close(again)
    let faults = ids[1_000...].compactMap { reader.object(with: $0) as? Artwork }
    #expect(faults.count == count - 1_000 && faults.allSatisfy { $0.isFault })
    #expect(Set(faults.map(\.price)) == [2])
    // So do links.
    let artist = try #require(faults[0].artist)
    #expect(artist.name == "2.0" && artist.artworks.count == count)
    try reader.throwKeptErrors()
    let child = ManagedObjectContext(parent: reader)
    #expect(try prices(child) == [2])
    try close(reader)
  }

  /// The writer acts before one of the reads, whichever it is.
  @Test func `a fetch shows one commit, whatever is done meanwhile`() throws {
    try close(made())
    let other = OtherProcess(disk)
    let remaining = Mutex(Int.max)
    // Called on this very thread.
    nonisolated(unsafe) var price = 1.0
    @Sendable func act() throws {
      price += 1
      let writer = try opened(in: disk, isReadOnly: false)
      try reprice(price, in: writer)
      try close(writer)
    }
    other.beforeEachRead {
      let isNow = remaining.withLock { count in
        count -= 1
        return count == 0
      }
      guard isNow else { return }
      do { try act() } catch { Issue.record(error) }
    }
    let reader = try opened(in: other, isReadOnly: true)
    var read = 1
    while true {
      // So that nothing is in memory that is still right.
      try act()
      let before = price
      remaining.withLock { $0 = read }
      reader.reset()
      let found = try prices(reader)
      #expect(found == [before] || found == [price], "read \(read): \(found), \(before), \(price)")
      let artist = try reader.fetch(FetchRequest<Artist>(entityName: "Artist")).first
      #expect(artist?.artworks.count == Self.count)
      try reader.throwKeptErrors()
      let hasActed = remaining.withLock { count in
        defer { count = .max }
        return count <= 0
      }
      if !hasActed { break }
      read += 1
    }
    #expect(read > 10)
    try close(reader)
  }

  @Test func `a context that merges by itself has what another process has saved`() throws {
    let writer = try made()
    let reader = try opened(in: OtherProcess(disk), isReadOnly: true)
    reader.automaticallyMergesChangesFromParent = true
    var request = FetchRequest<Artwork>(entityName: "Artwork")
    request.sortDescriptors = [FetchSortDescriptor(key: "title")]
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: reader, sectionNameKeyPath: nil, cacheName: nil)
    try controller.performFetch()
    let own = try #require(controller.fetchedObjects)
    let gone = own[7].objectID
    try reprice(2, in: writer)
    writer.delete(try writer.existingObject(with: gone))
    let new = Artwork(context: writer)
    new.title = "zzz"
    try writer.save()
    reader.processPendingChanges()
    #expect(own[0].price == 2)
    #expect(own[7].isDeleted || own[7].managedObjectContext == nil)
    #expect(try reader.fetch(request).count == Self.count)
    #expect(try reader.fetch(request).last?.title == "zzz")
    try reader.throwKeptErrors()
    try close(writer)
    try close(reader)
  }

  @Test(arguments: [false, true])
  func `a coordinator hears of another process's saves`(hasHistory: Bool) async throws {
    let writer = try made(history: hasHistory)
    let reader = try opened(in: OtherProcess(disk), isReadOnly: true)
    let coordinator = try #require(reader.persistentStoreCoordinator)
    let changes = coordinator.remoteChanges()
    try reprice(2, in: writer)
    var change: StoreRemoteChange?
    for await next in changes {
      change = next
      break
    }
    let heard = try #require(change)
    #expect(heard.isOfAnotherProcess && heard.updatedObjectIDs.isEmpty)
    #expect(heard.storeUUID == coordinator.persistentStores.first?.identifier)
    #expect((heard.historyToken != nil) == hasHistory)
    if let token = heard.historyToken {
      #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == token)
    }
    try close(writer)
    try close(reader)
  }

  @Test func `a query generation that was overwritten is an error that says so`() throws {
    try close(made())
    let reader = try opened(in: OtherProcess(disk), isReadOnly: true)
    try reader.setQueryGeneration(from: .current)
    let writer = try opened(in: disk, isReadOnly: false)
    try reprice(2, in: writer)
    try close(writer)
    let error = #expect(throws: PersistenceError.self) { try prices(reader) }
    #expect(error?.code == .persistentStoreOperation)
    #expect("\(error as Any)".contains("pin it to a newer one"))
    try reader.setQueryGeneration(from: .current)
    #expect(try prices(reader) == [2])
    try close(reader)
  }

  @Test func `a reader of a store that another process has migrated says what has happened`() throws
  {
    func model(_ hasYear: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Book") {
          Attribute("title", .string)
          if hasYear { Attribute("year", .integer16) }
        }
      }
    }
    func opened(_ files: any FileSystem, isReadOnly: Bool, hasYear: Bool) throws
      -> ManagedObjectContext
    {
      try self.opened(
        in: files, isReadOnly: isReadOnly, model: try model(hasYear), classes: [])
    }
    let books = FetchRequest<ManagedObject>(entityName: "Book")
    let writer = try opened(disk, isReadOnly: false, hasYear: false)
    try writer.insert("Book", ["title": "one"])
    try writer.save()
    try close(writer)
    let reader = try opened(OtherProcess(disk), isReadOnly: true, hasYear: false)
    #expect(try reader.count(for: books) == 1)
    try close(opened(disk, isReadOnly: false, hasYear: true))
    let error = #expect(throws: PersistenceError.self) { try reader.count(for: books) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect("\(error as Any)".contains("was migrated"))
    try close(reader)
    // Whoever only reads does not migrate.
    #expect(throws: PersistenceError.self) {
      try opened(OtherProcess(disk), isReadOnly: true, hasYear: false)
    }
    let other = try opened(OtherProcess(disk), isReadOnly: true, hasYear: true)
    #expect(try other.count(for: books) == 1)
    try close(other)
  }
}
