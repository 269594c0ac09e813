import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct ContextTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  @Test func `defaults are set at insertion and ids become permanent at save`() throws {
    let context = try SmallGallery.context()
    let artist = Artist(context: context)
    #expect(artist.name == "unknown")
    #expect(artist.objectID.isTemporaryID)
    let temporary = artist.objectID
    #expect(context.object(with: temporary) === artist)
    try context.save()
    #expect(!artist.objectID.isTemporaryID)
    #expect(!artist.isInserted && !context.hasChanges)
    #expect(context.object(with: artist.objectID) === artist)
    #expect(
      artist.objectID.uriRepresentation().absoluteString.hasSuffix("/Artist/p1"),
      "\(artist.objectID.uriRepresentation())")
  }

  @Test func `an object is found again by the URI of its id`() throws {
    let context = try SmallGallery.context()
    let coordinator = try #require(context.persistentStoreCoordinator)
    let artist = Artist(context: context)
    let temporary = artist.objectID.uriRepresentation()
    #expect(coordinator.managedObjectID(forURIRepresentation: temporary) == nil)
    try context.save()
    let uri = artist.objectID.uriRepresentation()
    let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
    #expect(id == artist.objectID && context.object(with: id) === artist)
    let other = try #require(try SmallGallery.context().persistentStoreCoordinator)
    #expect(other.managedObjectID(forURIRepresentation: uri) == nil)
    for text in ["x-coredata://x/Artist/p1", "http://a/Artist/p1", uri.absoluteString + "x"] {
      let url = try #require(URL(string: text))
      #expect(coordinator.managedObjectID(forURIRepresentation: url) == nil)
    }
  }

  @Test func `deleting many objects takes time in proportion`() throws {
    let context = try SmallGallery.context()
    let owner = Artist(context: context)
    for _ in 0..<3_000 { Artwork(context: context).artist = owner }
    try context.save()
    context.delete(owner)
    try context.save()
    #expect(try context.count(for: FetchRequest<Artwork>()) == 0)
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `a row fetched twice is one object, and its values stay until it is refreshed`() throws
  {
    let context = try SmallGallery.context()
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    try context.save()
    let other = SmallGallery.sibling(of: context)
    let same = try #require(try other.all(Artist.self).first)
    #expect(same !== artist && same.objectID == artist.objectID)
    same.name = "Katsushika Hokusai"
    try other.save()
    #expect(try context.all(Artist.self).first === artist)
    #expect(artist.name == "Hokusai")
    context.refresh(artist, mergeChanges: false)
    #expect(artist.isFault)
    #expect(artist.name == "Katsushika Hokusai")
    #expect(!artist.isFault)
  }

  @Test func `refreshing with merge keeps unsaved changes on top`() throws {
    let context = try SmallGallery.context()
    let artist = Artist(context: context)
    try context.save()
    artist.born = 1760
    let other = SmallGallery.sibling(of: context)
    let same = try #require(try other.all(Artist.self).first)
    same.name = "Hokusai"
    try other.save()
    context.refresh(artist, mergeChanges: true)
    #expect(artist.born == 1760)
    #expect(artist.name == "Hokusai")
    try context.save()
    other.refresh(same, mergeChanges: false)
    #expect(same.born == 1760)
  }

  @Test func `a fault holds its place and reads its row when asked`() throws {
    let context = try SmallGallery.context()
    let artwork = Artwork(context: context)
    artwork.title = "Great Wave"
    artwork.artist = Artist(context: context)
    try context.save()
    let other = SmallGallery.sibling(of: context)
    let found = try #require(try other.all(Artwork.self).first)
    let artist = try #require(found.artist)
    #expect(artist.isFault)
    #expect(artist.entity.name == "Artist" && artist.isFault)
    #expect(artist.name == "unknown")
    #expect(!artist.isFault)
  }

  @Test func `clean objects are held by their users alone`() throws {
    let context = try SmallGallery.context()
    var artist: Artist? = Artist(context: context)
    artist?.name = "Hokusai"
    weak let inserted = artist
    artist = nil
    #expect(inserted != nil, "an unsaved object is held by its context")
    try context.save()
    #expect(inserted == nil)
    #expect(context.registeredObjects.isEmpty)
    artist = try context.named("Hokusai")
    #expect(artist != nil)
  }

  @Test func `objects outlive their context without it`() throws {
    var context: ManagedObjectContext? = try SmallGallery.context()
    let artist = Artist(context: try #require(context))
    try context?.save()
    weak let held = context
    context = nil
    #expect(held == nil)
    #expect(artist.managedObjectContext == nil)
    #expect(artist.name == "unknown", "what was read stays readable")
  }

  @Test func `rollback drops every unsaved change`() throws {
    let context = try SmallGallery.context()
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    let gone = Artist(context: context)
    try context.save()
    artist.name = "changed"
    artist.spouse = gone
    context.delete(gone)
    let new = Artwork(context: context)
    new.artist = artist
    context.rollback()
    #expect(!context.hasChanges)
    #expect(artist.name == "Hokusai" && artist.spouse == nil && artist.artworks.isEmpty)
    #expect(!gone.isDeleted)
    #expect(new.managedObjectContext == nil)
    #expect(try context.all(Artist.self).count == 2)
    #expect(try context.all(Artwork.self).isEmpty)
  }

  @Test(arguments: GotchaHome.allCases)
  func `after a rollback a context shows what others have saved meanwhile`(
    _ home: GotchaHome
  ) throws {
    try home.withTwoContexts { context, other in
      let artist = Artist(context: context)
      artist.name = "first"
      let gone = try context.insert("Tag", ["word": "gone"])
      try context.save()
      let same = try #require(try other.named("first"))
      same.name = "second"
      Artwork(context: other).artist = same
      other.delete(try other.existingObject(with: gone.objectID))
      artist.born = 1
      try gone.setValue("mine", forKey: "word")
      #expect(artist.artworks.isEmpty)
      try other.save()
      #expect(artist.name == "first")
      context.rollback()
      #expect(artist.name == "second" && artist.born == nil)
      #expect(artist.artworks.count == 1)
      #expect(throws: PersistenceError.self) { try context.existingObject(with: gone.objectID) }
      // What is changed now is changed of what others have saved: no conflict.
      artist.born = 2
      try context.save()
    }
  }

  @Test func `a save without changes writes nothing`() throws {
    let context = try SmallGallery.context()
    let artist = Artist(context: context)
    try context.save()
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    let before = store.statistics.commitNumber
    try context.save()
    #expect(store.statistics.commitNumber == before)
    artist.name = artist.name
    #expect(artist.isUpdated && !artist.hasPersistentChangedValues)
    #expect(artist.changedValues().isEmpty)
    try context.save()
    #expect(!artist.isUpdated)
    let other = SmallGallery.sibling(of: context)
    let same = try #require(try other.all(Artist.self).first)
    artist.name = "x"
    artist.name = "unknown"
    try context.save()
    same.born = 1
    try other.save()  // No conflict: the version was not raised.
  }

  @Test func `changed and committed values tell what a save would change`() throws {
    let context = try SmallGallery.context()
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    try context.save()
    artist.name = "Katsushika"
    artist.born = 1760
    #expect(Set(artist.changedValues().keys) == ["name", "born"])
    #expect(try artist.committedValues()["name"] as? String == "Hokusai")
    #expect(try artist.committedValues()["born"] == nil)
    artist.born = nil
    #expect(Set(artist.changedValues().keys) == ["name"])
  }

  @Test func `an unknown key, a wrong type and an abstract entity are errors that say so`() throws {
    let context = try SmallGallery.context()
    let artist = Artist(context: context)
    #expect { try artist.value(forKey: "nmae") } throws: { code(of: $0) == .undefinedKey }
    #expect { try artist.setValue(3.5, forKey: "name") } throws: {
      code(of: $0) == .unacceptableValue
    }
    #expect { try artist.setValue(Artwork(context: context), forKey: "spouse") } throws: {
      code(of: $0) == .unacceptableValue
    }
    #expect(throws: PersistenceError.self) {
      try EntityDescription.insertNewObject(forEntityName: "Document", into: context)
    }
    #expect { try context.fetch(FetchRequest<ManagedObject>(entityName: "Nothing")) } throws: {
      code(of: $0) == .undefinedKey
    }
    let unbound = ManagedObjectContext()
    #expect(throws: PersistenceError.self) {
      try unbound.fetch(FetchRequest<ManagedObject>(entityName: "Artist"))
    }
  }

  @Test func `a store for a configuration that the model lacks is refused`() {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)
    #expect {
      try coordinator.addPersistentStore(type: .inMemory, configuration: "Some", at: nil)
    } throws: { code(of: $0) == .persistentStoreOperation }
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func `an error that a property could not throw is thrown by the next save`() throws {
    let context = try SmallGallery.context()
    let stranger = Artist(context: try SmallGallery.context())
    let artist = Artist(context: context)
    artist.spouse = stranger
    #expect(artist.spouse == nil)
    #expect { try context.save() } throws: { code(of: $0) == .managedObjectExternalRelationship }
    try context.save()
  }

  @Test func `all that is wrong with a save is told at once, and nothing is lost`() throws {
    let context = try SmallGallery.context()
    let tag = try EntityDescription.insertNewObject(forEntityName: "Tag", into: context)
    let room = SmallGallery.Room(context: context)
    let show = SmallGallery.Show(context: context)
    show.artists = (0..<5).map { _ in Artist(context: context) }
    do {
      try context.save()
      Issue.record("the save should have failed")
    } catch let error as PersistenceError {
      #expect(error.code == .validationMultipleErrors)
      #expect(
        Set(error.detailedErrors.map(\.code)) == [
          .validationMissingMandatoryProperty, .validationRelationshipExceedsMaximumCount,
        ])
      #expect(error.detailedErrors.count == 3)
    }
    #expect(context.insertedObjects.count == 8)
    try tag.setValue("tag", forKey: "word")
    room.show = show
    show.artists.removeLast()
    try context.save()
    #expect(show.artists.count == 4)
  }

  @Test func `a transient value is tracked but never stored`() throws {
    let context = try SmallGallery.context()
    let artwork = Artwork(context: context)
    artwork.seen = 7
    try context.save()
    #expect(artwork.seen == 7)
    context.refresh(artwork, mergeChanges: false)
    #expect(artwork.seen == 0)
  }

  @Test func `every attribute type round-trips exactly`() throws {
    try AttributeTypesFixture.expectRoundTrip()
  }
}
