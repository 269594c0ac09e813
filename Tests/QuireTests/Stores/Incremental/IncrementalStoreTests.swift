import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Artists with works, in the rows of a server.
private func filled(_ front: RowServer.Front = .plain) throws -> (RowServer, ManagedObjectContext) {
  let server = RowServer()
  let context = try server.context(front)
  for number in 0..<40 {
    let artist = SmallGallery.Artist(context: context)
    artist.name = "artist \(number)"
    artist.born = Int16(number)
    for _ in 0..<(number % 3) { SmallGallery.Artwork(context: context).artist = artist }
  }
  try context.save()
  server.restartCounting()
  return (server, GotchaHome.context(of: try server.coordinator(front)))
}

private func request(
  _ format: String? = nil, sortedBy key: String? = nil, ascending: Bool = true, limit: Int = 0
) throws -> FetchRequest<SmallGallery.Artist> {
  var request = FetchRequest<SmallGallery.Artist>()
  if let format { request.predicate = try FetchPredicate(format: format) }
  if let key { request.sortDescriptors = [FetchSortDescriptor(key: key, ascending: ascending)] }
  request.fetchLimit = limit
  return request
}

@Suite struct IncrementalStoreTests {
  @Test func `a context's save inserts, updates and deletes the store's own rows`() throws {
    let server = RowServer()
    let context = try server.context()
    let artist = SmallGallery.Artist(context: context)
    artist.name = "Hokusai"
    let artwork = SmallGallery.Artwork(context: context)
    artwork.title = "Wave"
    artwork.artist = artist
    try context.save()
    let saved = try #require(server.now.record("Artwork", "title", "Wave"))
    #expect(saved.node.version == 1)
    #expect(saved.node.destinations["artist"] == IncrementalStoreKey(artist.objectID))
    #expect(saved.members == [:])

    artist.name = "Katsushika Hokusai"
    context.delete(artwork)
    try context.save()
    #expect(server.now.records.count == 1)
    #expect(server.now.record("Artist", "name", "Katsushika Hokusai")?.node.version == 2)

    let other = GotchaHome.context(of: try server.coordinator())
    #expect(try other.all(SmallGallery.Artist.self).map(\.name) == ["Katsushika Hokusai"])
  }

  @Test func `a fetch without conditions names objects, and reads none`() throws {
    let (server, context) = try filled()
    let artists = try context.all(SmallGallery.Artist.self)
    #expect(artists.filter(\.isFault).count == 40)
    #expect(server.now.calls(.fetch) == 1 && server.now.calls(.values) == 0)
    #expect(artists[7].name == "artist 7")
    #expect(artists[7].born == 7)
    #expect(server.now.calls(.values) == 1 && server.now.rowCount == 1)
    #expect(artists.filter(\.isFault).count == 39)
  }

  @Test func `a fetch of SELF IN fills many faults in one call`() throws {
    let (server, context) = try filled()
    let artists = try context.all(SmallGallery.Artist.self).filter(\.isFault)
    try #require(artists.count == 40)
    server.restartCounting()
    var batch = FetchRequest<SmallGallery.Artist>()
    batch.predicate = try FetchPredicate(format: "SELF IN %@", Array(artists.prefix(20)))
    #expect(try context.fetch(batch).count == 20)
    #expect(server.now.calls(.values) == 1)
    #expect(artists.prefix(20).allSatisfy { !$0.isFault })
    _ = artists.prefix(20).map(\.name)
    #expect(server.now.calls(.values) == 1)
  }

  @Test func `members are read when they are asked for, once until the next look at the store`()
    throws
  {
    let (server, context) = try filled(.searching)
    let artist = try #require(try context.named("artist 5"))
    server.restartCounting()
    #expect(artist.artworks.count == 2)
    #expect(artist.artworks.filter(\.isFault).count == 2)
    let calls = server.now.calls(.members)
    #expect(calls > 0 && server.now.calls(.fetch) == 0)
    #expect(artist.artworks.count == 2)
    #expect(server.now.calls(.members) == calls)
    context.refresh(artist, mergeChanges: false)
    #expect(artist.artworks.count == 2)
    #expect(server.now.calls(.members) == 2 * calls)
  }

  @Test func `members that the store does not know are found by the other side`() throws {
    let (server, context) = try filled(.plain)
    let artist = try #require(try context.named("artist 5"))
    #expect(Set(artist.artworks.map(\.artist)) == [artist])
    #expect(artist.artworks.count == 2)
    guard case .comparison(let comparison)? = server.now.lastFetch?.predicate else {
      Issue.record("asked for \(String(describing: server.now.lastFetch))")
      return
    }
    #expect(comparison.left == .keyPath(["artist"]))
  }

  @Test func `a store that searches is asked for the first ten of many, and for no more`() throws {
    let (server, context) = try filled(.searching)
    let first = try context.fetch(
      try request("born > 5", sortedBy: "born", ascending: false, limit: 10))
    #expect(first.map(\.born) == (30...39).reversed().map { Int16($0) })
    #expect(server.now.rowCount == 10)
    #expect(server.now.calls(.values) == 0 && server.now.calls(.fetch) == 1)
    #expect(try context.count(for: try request("born > 5")) == 34)
    #expect(server.now.calls(.count) == 1 && server.now.calls(.fetch) == 1)
  }

  @Test(arguments: RowServer.Front.allCases)
  func `who searches makes no difference to what is found`(_ front: RowServer.Front) throws {
    let (_, context) = try filled(front)
    let memory = try SmallGallery.context()
    for number in 0..<40 {
      let artist = SmallGallery.Artist(context: memory)
      artist.name = "artist \(number)"
      artist.born = Int16(number)
      for _ in 0..<(number % 3) { SmallGallery.Artwork(context: memory).artist = artist }
    }
    try memory.save()
    for format in [
      nil, "born > 11", "name ENDSWITH '3'", "artworks.@count == 2", "born > 100", "NOT born > 3",
    ] {
      for key in [nil, "born", "name"] {
        for (limit, offset) in [(0, 0), (5, 0), (5, 3), (0, 7), (100, 38)] {
          var request = try request(format, sortedBy: key, ascending: false, limit: limit)
          request.fetchOffset = offset
          let expected = try memory.fetch(request).map(\.name)
          let found = try context.fetch(request).map(\.name)
          #expect(found == expected, "\(request)")
          #expect(try context.count(for: request) == expected.count, "\(request)")
        }
      }
    }
  }

  @Test func `rows that a fetch has to look into are asked for many at a time`() throws {
    let server = RowServer()
    let context = try server.context()
    for number in 0..<600 { SmallGallery.Artist(context: context).name = "artist \(number)" }
    try context.save()
    let other = GotchaHome.context(of: try server.coordinator())
    server.restartCounting()
    #expect(try other.fetch(try request("name ENDSWITH '99'")).count == 6)
    #expect(server.now.rowCount == 600)
    #expect(server.now.calls(.values) == 3)
  }

  @Test(arguments: RowServer.Front.allCases)
  func `unsaved changes stand in front of what the store finds`(_ front: RowServer.Front) throws {
    let (_, context) = try filled(front)
    let artists = try context.fetch(try request("born > 35", sortedBy: "born"))
    #expect(artists.map(\.born) == [36, 37, 38, 39])
    artists[0].born = 1
    context.delete(artists[1])
    let new = SmallGallery.Artist(context: context)
    new.born = 37
    let found = try context.fetch(try request("born > 35", sortedBy: "born", limit: 2))
    #expect(found == [new, artists[2]])
    #expect(try context.count(for: try request("born > 35")) == 3)
    var saved = try request("born > 35", sortedBy: "born")
    saved.includesPendingChanges = false
    #expect(try context.fetch(saved).count == 4)
  }

  @Test func `a path to a changed object is followed here, whatever the store would say`() throws {
    let (server, context) = try filled(.searching)
    let artist = try #require(try context.named("artist 2"))
    artist.born = 500
    var works = FetchRequest<SmallGallery.Artwork>()
    works.predicate = Key("artist.born") > 100
    #expect(try context.fetch(works).count == 2)
    #expect(server.now.lastFetch?.predicate == nil)
  }

  @Test func `an object keeps what it read until it is refreshed`() throws {
    let (server, context) = try filled()
    let artist = try #require(try context.named("artist 3"))
    let key = try #require(IncrementalStoreKey(artist.objectID))
    server.edit { state in
      state.records[key]?.node.values["name"] = .string("another")
      state.records[key]?.node.version = 9
    }
    #expect(try context.named("another") === artist)
    #expect(artist.name == "artist 3")
    context.refresh(artist, mergeChanges: true)
    #expect(artist.name == "another")
    server.edit { $0.records[key] = nil }
    context.refresh(artist, mergeChanges: false)
    #expect(throws: PersistenceError.self) { try context.existingObject(with: artist.objectID) }
  }

  @Test func `a store's change is merged into a context by the key of its object`() throws {
    let (server, context) = try filled()
    let artist = try #require(try context.named("artist 3"))
    let key = try #require(IncrementalStoreKey(artist.objectID))
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    let id = try #require(store.objectID(for: key))
    #expect(id == artist.objectID)
    #expect(store.objectID(for: IncrementalStoreKey("Nobody", 1)) == nil)
    #expect(store.objectID(for: IncrementalStoreKey("Artist", 0)) == nil)
    server.edit { state in
      state.records[key]?.node.values["name"] = .string("another")
      state.records[key]?.node.version = 9
    }
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [ManagedObjectContext.NotificationKey.updatedObjectIDs: [id]],
      into: [context])
    #expect(artist.name == "another")
    artist.name = "mine"
    try context.save()
    #expect(server.now.records[key]?.node.version == 10)
  }

  @Test func `an ID survives as a URI, also when the store is added again`() throws {
    let (server, context) = try filled()
    let artist = try #require(try context.named("artist 3"))
    let uri = artist.objectID.uriRepresentation()
    let coordinator = try server.coordinator()
    let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
    #expect(id == artist.objectID)
    let other = GotchaHome.context(of: coordinator)
    let found = try other.existingObject(with: id) as? SmallGallery.Artist
    #expect(found?.name == "artist 3")
    #expect(IncrementalStoreKey(id)?.description == "\(id)")
  }

  @Test func `a promised ID is the one that the store is told`() throws {
    let server = RowServer()
    let context = try server.context()
    let artist = SmallGallery.Artist(context: context)
    try context.obtainPermanentIDs(for: [artist])
    let id = artist.objectID
    #expect(!id.isTemporaryID && server.now.records.isEmpty)
    try context.save()
    #expect(artist.objectID == id)
    #expect(server.now.records.keys.map { $0 } == [try #require(IncrementalStoreKey(id))])
    #expect(server.now.calls(.ids) == 1)
  }
}
