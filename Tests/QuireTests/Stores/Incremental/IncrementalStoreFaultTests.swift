import Quire
import Testing

private typealias Artist = SmallGallery.Artist
private typealias Artwork = SmallGallery.Artwork

/// Calls of the store that fail, one after the other.
@Suite struct IncrementalStoreFaultTests {
  /// What a context shows of its objects, read from what it holds.
  private func picture(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Artist")).map { artist in
      let works = try #require(artist as? Artist).artworks.map { $0.title ?? "nil" }.sorted()
      return "\(try artist.value(forKey: "name") ?? "nil"): \(works)"
    }.sorted()
  }

  private func stage(
    _ front: RowServer.Front
  ) throws -> (RowServer, ManagedObjectContext, names: [String: Artist]) {
    let server = RowServer()
    let context = try server.context(front)
    for name in ["Hokusai", "Hiroshige", "Utamaro"] {
      let artist = Artist(context: context)
      artist.name = name
      let artwork = Artwork(context: context)
      artwork.title = "by \(name)"
      artwork.artist = artist
    }
    try context.save()
    let fresh = GotchaHome.context(of: try server.coordinator(front))
    var names: [String: Artist] = [:]
    for artist in try fresh.all(Artist.self) { names[artist.name] = artist }
    return (server, fresh, names)
  }

  /// Insertions, changes on both sides of relationships, and a cascade.
  private func change(_ context: ManagedObjectContext, _ names: [String: Artist]) throws {
    let new = Artist(context: context)
    new.name = "Sharaku"
    names["Hokusai"]?.born = 1760
    for artwork in names["Hiroshige"]?.artworks ?? [] { artwork.artist = new }
    if let artist = names["Utamaro"] { context.delete(artist) }
    context.processPendingChanges()
  }

  @Test(arguments: RowServer.Front.allCases)
  func `a save that the store refuses at any call has changed nothing, and succeeds afterwards`(
    _ front: RowServer.Front
  ) throws {
    var number = 1
    while true {
      let (server, context, names) = try stage(front)
      try change(context, names)
      try #require(context.hasChanges)
      let before = server.now.records
      let (inserted, updated, deleted) =
        (context.insertedObjects, context.updatedObjects, context.deletedObjects)
      server.refuse(call: number)
      do {
        try context.save()
        #expect(number > 3, "a save asks for more than \(number) times")
        return
      } catch let error as PersistenceError {
        #expect(error.underlying is RowServer.Refusal, "\(error)")
      }
      server.refuse(call: nil)
      #expect(server.now.records == before)
      #expect(context.insertedObjects == inserted && context.updatedObjects == updated)
      #expect(context.deletedObjects == deleted)
      let expected = try picture(context)
      try context.save()
      #expect(!context.hasChanges)
      #expect(try picture(context) == expected)
      #expect(server.now.findings(SmallGallery.model).isEmpty)
      #expect(
        try picture(GotchaHome.context(of: server.coordinator(front)))
          == ["Hiroshige: []", "Hokusai: [\"by Hokusai\"]", "Sharaku: [\"by Hiroshige\"]"])
      number += 1
    }
  }

  @Test(arguments: RowServer.Front.allCases)
  func `an error while reading is told, and reading again is right`(
    _ front: RowServer.Front
  ) throws {
    var number = 1
    while true {
      let (server, context, _) = try stage(front)
      context.reset()
      server.refuse(call: number)
      var isRefused = false
      do {
        for artist in try context.all(Artist.self) {
          _ = artist.artworks.map(\.title)
        }
        // Properties cannot throw: what went wrong is told by the next fetch.
        _ = try context.count(for: FetchRequest<Artist>())
      } catch let error as PersistenceError {
        isRefused = true
        #expect(error.underlying is RowServer.Refusal, "\(error)")
      }
      server.refuse(call: nil)
      #expect(!context.hasChanges)
      #expect(
        try picture(context)
          == [
            "Hiroshige: [\"by Hiroshige\"]", "Hokusai: [\"by Hokusai\"]",
            "Utamaro: [\"by Utamaro\"]",
          ])
      if !isRefused {
        #expect(number > 5)
        return
      }
      number += 1
    }
  }

  @Test func `a merge whose reading fails leaves the changes, to be saved again`() throws {
    var number = 1
    while true {
      let (server, context, names) = try stage(.plain)
      let other = SmallGallery.sibling(of: context)
      try #require(try other.named("Hokusai")).born = 1760
      try other.save()
      let artist = try #require(names["Hokusai"])
      artist.name = "Katsushika"
      context.mergePolicy = .mergeByPropertyObjectTrump
      server.refuse(call: number)
      do {
        try context.save()
        #expect(number > 2)
        return
      } catch {
        #expect((error as? PersistenceError)?.underlying is RowServer.Refusal, "\(error)")
      }
      server.refuse(call: nil)
      #expect(artist.name == "Katsushika" && artist.isUpdated)
      try context.save()
      #expect(artist.born == 1760 && artist.name == "Katsushika")
      number += 1
    }
  }

  @Test func `IDs that cannot be had are an error, and nothing has changed`() throws {
    let server = RowServer()
    let context = try server.context()
    let artist = Artist(context: context)
    server.refuse(call: 1)
    let error = #expect(throws: PersistenceError.self) {
      try context.obtainPermanentIDs(for: [artist])
    }
    #expect(error?.code == .persistentStoreSave)
    #expect(artist.objectID.isTemporaryID)
    try context.save()
    #expect(!artist.objectID.isTemporaryID)
  }

  @Test func `a store that cannot say who it is, is not added`() throws {
    let server = RowServer()
    server.refuse(call: 1)
    let error = #expect(throws: PersistenceError.self) { _ = try server.coordinator() }
    #expect(error?.code == .persistentStoreOpen && error?.underlying is RowServer.Refusal)
    // Whoever was made is closed.
    #expect(server.now.calls(.close) == 1)
  }
}
