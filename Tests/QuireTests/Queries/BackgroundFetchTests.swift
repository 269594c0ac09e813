import Quire
import QuireModel
import QuireTesting
import Synchronization
import Testing

/// Searches that say how far they are, and can be ended.
@Suite struct BackgroundFetchTests {
  typealias Artist = SmallGallery.Artist

  private static func container(_ count: Int) async throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    container.persistentStoreDescriptions = [PersistentStoreDescription()]
    _ = try await container.loadPersistentStores()
    try await container.performBackgroundTask { context in
      for number in 0..<count {
        let artist = Artist(context: context)
        artist.name = "artist \(number)"
        artist.born = Int16(number % 100)
      }
      try context.save()
    }
    return container
  }

  private static var request: FetchRequest<Artist> {
    var request = FetchRequest<Artist>()
    request.predicate = Key("born") == 7
    return request
  }

  @Test func `IDs are found in the background, and it is told how far the search is`() async throws
  {
    let container = try await Self.container(5_000)
    let told = Mutex<[FetchProgress]>([])
    let ids = try await container.objectIDs(for: Self.request) { state in
      told.withLock { $0.append(state) }
    }
    #expect(ids.count == 50)
    let rows = told.withLock { $0.map(\.rowCount) }
    #expect(rows == [1_024, 2_048, 3_072, 4_096, 5_000])
    #expect(told.withLock { $0.last?.matchCount } == 50)
    let born = await MainActor.run {
      ids.compactMap { (container.viewContext.object(with: $0) as? Artist)?.born }
    }
    #expect(born == Array(repeating: 7, count: 50))
  }

  @Test func `a cancelled search ends soon`() async throws {
    let container = try await Self.container(5_000)
    let rows = Mutex(0)
    let search = Task {
      try await container.objectIDs(for: Self.request) { state in
        rows.withLock { $0 = state.rowCount }
        withUnsafeCurrentTask { $0?.cancel() }
      }
    }
    await #expect(throws: CancellationError.self) { try await search.value }
    #expect(rows.withLock { $0 } == 1_024)
  }

  @Test func `objectIDs with a progress block finds the same IDs as without`() async throws {
    let container = try await Self.container(300)
    try await container.performBackgroundTask { context in
      let artists = try context.fetch(FetchRequest<Artist>())
      for artist in artists.prefix(50) { artist.born = 7 }
      for artist in artists.suffix(30) { context.delete(artist) }
      var request = Self.request
      for key in [nil, "name"] {
        request.sortDescriptors = key.map { [FetchSortDescriptor(key: $0, ascending: false)] } ?? []
        request.fetchLimit = 20
        request.fetchOffset = 3
        var calls = 0
        let watched = try context.objectIDs(for: request) { _ in calls += 1 }
        #expect(try watched == context.objectIDs(for: request))
        #expect(calls == 1)
      }
    }
  }
}
