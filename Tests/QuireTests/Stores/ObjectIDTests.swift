import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// IDs that leave the process, and IDs before the first save.
@Suite struct `IDs of objects` {
  typealias Artist = SmallGallery.Artist

  final class Note: ManagedObject {
    @Managed var text: String
  }

  @Test(arguments: GotchaHome.allCases)
  func `a permanent ID is encoded as its URI, and decoded with a coordinator`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      let coordinator = try #require(context.persistentStoreCoordinator)
      let artist = Artist(context: context)
      #expect(throws: EncodingError.self) { try JSONEncoder().encode([artist.objectID]) }
      #expect(artist.objectID.persistentStore == nil)
      try context.save()
      let bytes = try JSONEncoder().encode(["id": artist.objectID])
      let decoder = JSONDecoder()
      #expect(throws: DecodingError.self) {
        try decoder.decode([String: ManagedObjectID].self, from: bytes)
      }
      decoder.userInfo[.persistentStoreCoordinator] = coordinator
      let decoded = try decoder.decode([String: ManagedObjectID].self, from: bytes)
      #expect(decoded["id"] == artist.objectID)
      #expect(decoded["id"]?.persistentStore === coordinator.persistentStores.first)
      let stranger = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
      try stranger.addPersistentStore(type: .inMemory, at: nil)
      decoder.userInfo[.persistentStoreCoordinator] = stranger
      #expect(throws: DecodingError.self) {
        try decoder.decode([String: ManagedObjectID].self, from: bytes)
      }
      #expect(stranger.persistentStore(for: artist.objectID) == nil)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `an ID that was taken before the save finds the object after it`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let coordinator = try #require(context.persistentStoreCoordinator)
      let artist = Artist(context: context)
      artist.name = "Hokusai"
      let early = artist.objectID
      let dropped = Artist(context: context)
      let gone = dropped.objectID
      context.delete(dropped)
      let other = GotchaHome.context(of: coordinator)
      #expect(throws: PersistenceError.self) { try other.existingObject(with: early) }
      #expect(early.uriRepresentation().host() == nil)
      try context.insert("Artwork", ["title": "Wave", "artist": artist])
      try context.save()

      #expect(early.isTemporaryID && early != artist.objectID)
      #expect(context.object(with: early) === artist)
      #expect(context.registeredObject(for: early) === artist)
      let same = try other.existingObject(with: early, as: Artist.self)
      #expect(same.name == "Hokusai" && same.objectID == artist.objectID)
      #expect(other.registeredObject(for: early) === same)
      #expect(early.uriRepresentation() == artist.objectID.uriRepresentation())
      #expect("\(early)" == "\(artist.objectID)")
      #expect(early.persistentStore === coordinator.persistentStores.first)
      #expect(coordinator.persistentStore(for: early) === coordinator.persistentStores.first)
      #expect(try JSONEncoder().encode([early]) == JSONEncoder().encode([artist.objectID]))
      for key in ["SELF", "artist"] {
        let entity = key == "SELF" ? "Artist" : "Artwork"
        var request = FetchRequest<ManagedObject>(entityName: entity)
        request.predicate = try FetchPredicate(format: "\(key) == %@", early)
        #expect(try other.count(for: request) == 1, "\(key)")
      }
      #expect(throws: PersistenceError.self) { try other.existingObject(with: gone) }
      guard home != .elsewhere else { return }
      let result = try other.execute(BatchDeleteRequest(objectIDs: [early]))
      // With the artist goes what leads to it.
      #expect(result.count == 2)
      #expect(throws: PersistenceError.self) {
        try GotchaHome.context(of: coordinator).existingObject(with: early)
      }
    }
  }

  @Test func `nothing is kept of a temporary ID that nobody has any longer`() throws {
    try GotchaHome.memory.withContext { context in
      var ids: [ManagedObjectID] = []
      for name in ["saved", "dropped"] {
        let artist = Artist(context: context)
        artist.name = name
        ids.append(artist.objectID)
        if name == "dropped" { context.delete(artist) }
      }
      let keys = ids.map(\.key)
      try context.save()
      #expect(keys.allSatisfy(TemporaryIdentity.isLiving))
      #expect(ids.map { "\($0)".contains("/p") } == [true, false])
      ids = []
      #expect(!keys.contains(where: TemporaryIdentity.isLiving))
    }
  }

  @Test func `a child's ID finds the object once the root has saved it`() throws {
    try GotchaHome.memory.withContext { context in
      let child = ManagedObjectContext(parent: context)
      let artist = Artist(context: child)
      let early = artist.objectID
      try child.save()
      let coordinator = try #require(context.persistentStoreCoordinator)
      let other = GotchaHome.context(of: coordinator)
      #expect(throws: PersistenceError.self) { try other.existingObject(with: early) }
      try context.save()
      let same = try other.existingObject(with: early)
      #expect(!same.objectID.isTemporaryID)
      #expect(child.object(with: early) === artist && child.object(with: same.objectID) === artist)
    }
  }

  @Test func `a container's piece of work gives the IDs of what it has made`() async throws {
    let container = try PersistentContainer(name: "Notes", for: Note.self)
    try container.loadPersistentStore(at: nil)
    let ids = try await container.write { context in
      ["one", "two"].map { text in
        let note = Note(context: context)
        note.text = text
        return note.objectID
      }
    }
    let texts = try await container.read { context in
      try ids.map { try context.existingObject(with: $0, as: Note.self).text }
    }
    #expect(texts == ["one", "two"])
  }

  @Test(arguments: GotchaHome.allCases)
  func `an object can have its permanent ID before it is saved`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let coordinator = try #require(context.persistentStoreCoordinator)
      let (first, second, third) = (
        Artist(context: context), Artist(context: context), Artist(context: context)
      )
      first.name = "first"
      first.spouse = second
      try context.insert("Artwork", ["title": "Swan", "artist": first])
      try context.obtainPermanentIDs(for: [second, first])
      let ids = [first.objectID, second.objectID]
      #expect(ids.allSatisfy { !$0.isTemporaryID } && ids[0] != ids[1])
      #expect(third.objectID.isTemporaryID)
      #expect(first.isInserted && first.artworks.count == 1)
      try context.obtainPermanentIDs(for: [first])
      #expect(first.objectID == ids[0], "once for all")
      #expect(context.object(with: ids[0]) === first)
      #expect(try context.existingObject(with: ids[1]) === second)
      #expect(
        coordinator.managedObjectID(forURIRepresentation: ids[0].uriRepresentation()) == ids[0])
      let other = GotchaHome.context(of: coordinator)
      #expect(throws: PersistenceError.self) { try other.existingObject(with: ids[0]) }
      // Somebody else's object does not get the place meanwhile.
      let stranger = Artist(context: other)
      try other.save()
      #expect(!ids.contains(stranger.objectID))
      try context.save()
      #expect([first.objectID, second.objectID] == ids)
      #expect(context.object(with: ids[0]) === first)
      let fresh = GotchaHome.context(of: coordinator)
      let same = try #require(try fresh.existingObject(with: ids[0]) as? Artist)
      #expect(same.name == "first" && same.spouse?.objectID == ids[1])
      #expect(try fresh.all(Artist.self).count == 4)
      #expect(try StoreFacts(fresh).findings == [])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a promised ID outlives a failed save, and goes with its object`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let artist = Artist(context: context)
      let tag = try context.insert("Tag")
      try context.obtainPermanentIDs(for: [artist, tag])
      let id = artist.objectID
      #expect(throws: PersistenceError.self) { try context.save() }
      #expect(artist.objectID == id)
      try tag.setValue("word", forKey: "word")
      context.delete(artist)
      try context.save()
      #expect(throws: PersistenceError.self) { try context.existingObject(with: id) }
      let next = Artist(context: context)
      try context.save()
      #expect(next.objectID != id, "it is never given again")
      let stranger = Artist(context: try SmallGallery.context())
      let error = #expect(throws: PersistenceError.self) {
        try context.obtainPermanentIDs(for: [stranger])
      }
      #expect(error?.code == .persistentStoreOperation)
    }
  }
}
