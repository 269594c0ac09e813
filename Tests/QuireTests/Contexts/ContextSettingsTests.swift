import Quire
import QuireModel
import QuireTesting
import Synchronization
import Testing

/// What can be set of a context, and overridden.
@Suite struct ContextSettingsTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  private func withTwoContexts(
    _ body: (ManagedObjectContext, ManagedObjectContext) throws -> Void
  ) throws {
    let context = try ManagedObjectContext.stubbed(
      SmallGallery.model, classes: SmallGallery.classes)
    let other = SmallGallery.sibling(of: context)
    for name in ["Ana", "Ben"] { try context.insert("Artist", ["name": name]) }
    try context.save()
    context.reset()
    try body(context, other)
  }

  @Test(arguments: [-1.0, 3600, 0, .infinity, .nan])
  func `a fault is read from a state that is as new as the context wants it`(
    _ interval: Double
  ) throws {
    try withTwoContexts { context, other in
      context.stalenessInterval = interval
      var request = FetchRequest<Artist>()
      request.includesPropertyValues = false
      request.sortDescriptors = [FetchSortDescriptor(key: "name")]
      let artists = try context.fetch(request)
      #expect(artists[0].name == "Ana")
      for artist in try other.fetch(request) { artist.name += " II" }
      try other.save()
      // What was read stays; what was not is read now.
      #expect(artists[0].name == "Ana")
      #expect(artists[1].name == (interval == 0 ? "Ben II" : "Ben"))
      context.stalenessInterval = -1
      #expect(try context.fetch(request).count == 2)
      context.refresh(artists[1], mergeChanges: false)
      #expect(artists[1].name == "Ben II")
    }
  }

  @Test func `a fault in the middle of a save is read from one state`() throws {
    try withTwoContexts { context, other in
      context.stalenessInterval = 0
      let artists = try context.fetch(FetchRequest<Artist>())
      artists[0].spouse = artists[1]
      try other.insert("Artist", ["name": "Cy"])
      try other.save()
      try context.save()
      #expect(artists[1].spouse === artists[0])
    }
  }

  @Test func `a context that retains objects holds the clean ones too`() throws {
    try withTwoContexts { context, _ in
      func count() -> Int { context.registeredObjects.count }
      _ = try context.fetch(FetchRequest<Artist>())
      #expect(count() == 0)
      context.retainsRegisteredObjects = true
      _ = try context.fetch(FetchRequest<Artist>())
      #expect(count() == 2)
      try context.insert("Artist", ["name": "Cy"])
      try context.save()
      #expect(count() == 3)
      let request = FetchRequest<Artist>()
      context.delete(try #require(try context.fetch(request).first))
      try context.save()
      #expect(count() == 2)
      context.reset()
      #expect(count() == 0)
      _ = try context.fetch(request)
      #expect(context.retainsRegisteredObjects && count() == 2)
      context.retainsRegisteredObjects = false
      #expect(count() == 0)
      _ = try context.fetch(request)
      #expect(count() == 0)
    }
  }

  @Test func `a context that retains objects goes, and they stay with who holds them`() throws {
    var held: [Artist] = []
    weak var gone: ManagedObjectContext?
    try withTwoContexts { context, _ in
      let last = SmallGallery.sibling(of: context)
      last.retainsRegisteredObjects = true
      held = Array(try last.fetch(FetchRequest<Artist>()).prefix(1))
      gone = last
    }
    #expect(gone == nil)
    #expect(held[0].managedObjectContext == nil)
  }

  @Test func `delete rules wait for the save where a context wants that`() throws {
    try withTwoContexts { context, _ in
      let artist = try #require(try context.fetch(FetchRequest<Artist>()).first)
      let work = Artwork(context: context)
      work.artist = artist
      try context.save()
      context.propagatesDeletesAtEndOfEvent = false
      context.delete(artist)
      context.processPendingChanges()
      #expect(!work.isDeleted)
      #expect(try context.count(for: FetchRequest<Artwork>()) == 1)
      try context.save()
      #expect(try context.count(for: FetchRequest<Artwork>()) == 0)
      // And as usual otherwise.
      context.propagatesDeletesAtEndOfEvent = true
      let other = try #require(try context.fetch(FetchRequest<Artist>()).first)
      let second = Artwork(context: context)
      second.artist = other
      try context.save()
      context.delete(other)
      context.processPendingChanges()
      #expect(second.isDeleted)
    }
  }

  /// What a subclass may do at each of these.
  private final class CountingContext: ManagedObjectContext {
    var calls: [String] = []

    override func save() throws {
      calls.append("save")
      try super.save()
    }

    override func delete(_ object: ManagedObject) {
      calls.append("delete")
      super.delete(object)
    }

    override func performAndWait<Result>(_ body: () throws -> Result) rethrows -> Result {
      calls.append("performAndWait")
      return try super.performAndWait(body)
    }

    override nonisolated(nonsending) func perform<Result>(
      _ body: () throws -> Result
    ) async rethrows -> Result {
      calls.append("perform")
      return try await super.perform(body)
    }
  }

  @Test func `a subclass is asked to save, delete and perform`() async throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = CountingContext()
    context.persistentStoreCoordinator = coordinator
    let artist = context.performAndWait { Artist(context: context) }
    try await context.perform { try context.save() }
    context.delete(artist)
    #expect(context.calls == ["performAndWait", "perform", "save", "delete"])
    #expect(artist.isDeleted)
  }

  @Test func `stores that come and go are told`() async throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    let changes = Mutex<[StoresChange]>([])
    let stream = coordinator.storeChanges()
    let observation = coordinator.observeStores { change in changes.withLock { $0.append(change) } }
    let store = try coordinator.performAndWait {
      try coordinator.addPersistentStore(type: .inMemory, at: nil)
    }
    try coordinator.remove(store)
    observation.cancel()
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let told = changes.withLock { $0 }
    #expect(told.map(\.added.count) == [1, 0] && told.map(\.removed.count) == [0, 1])
    #expect(told[0].added[0] === store && told[1].removed[0] === store)
    #expect(told[0].userInfo.keys.sorted() == ["added"])
    var streamed = 0
    for await change in stream {
      streamed += 1
      if streamed == 3 {
        #expect(change.added.count == 1)
        break
      }
    }
  }
}
