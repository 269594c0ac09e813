import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where object stores go wrong with objects that are used. The numbers are those of
/// `docs/core-data.md`.
@Suite(.serialized) struct ObjectGotchas {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  @Test(arguments: GotchaHome.allCases)
  func `8 – a number out of range is an error, never another number`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let artist = try context.insert("Artist", ["name": "Methuselah"])
      for born in [Int(Int16.max) + 1, Int(Int16.min) - 1, Int.max] {
        #expect(throws: PersistenceError.self) {
          try artist.setValue(born, forKey: "born")
          try context.save()
        }
        try artist.setValue(1, forKey: "born")
      }
      try context.save()
      #expect(try artist.value(forKey: "born") as? Int == 1)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `8 – so it is in elements of composites and in transient attributes`(_ home: GotchaHome)
    throws
  {
    let model = try ManagedObjectModel {
      Entity("Page") {
        Attribute("seen", .integer16, transient: true)
        Attribute("place", .composite) { Attribute("line", .integer32) }
        Attribute("weight", .float, range: 0.1...0.3)
      }
    }
    try home.withContext(model) { context in
      let page = try context.insert("Page", ["place": ["line": 1]])
      for (key, value, failing) in [
        ("seen", Int(Int16.max) + 1, "seen"), ("place", ["line": Int(Int32.max) + 1], "place.line"),
      ] as [(String, Any, String)] {
        try page.setPrimitiveValue(value, forKey: key)
        let error = #expect(throws: PersistenceError.self) { try context.save() }
        #expect(error?.code == .validationNumberTooLarge && error?.key == failing)
        try page.setPrimitiveValue(nil, forKey: key)
      }
      for weight in [Float(0.1), Float(0.3)] {
        try page.setValue(weight, forKey: "weight")
        try context.save()
        #expect(try page.value(forKey: "weight") as? Float == weight)
      }
      try page.setValue(Float(0.3).nextUp, forKey: "weight")
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationNumberTooLarge)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `11 – an ID becomes permanent on the same object, whose hash stays`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      let artist = Artist(context: context)
      let artwork = Artwork(context: context)
      artwork.artist = artist
      let set: Set<ManagedObject> = [artist, artwork]
      let dictionary = [artist: "artist", artwork: "artwork"]
      let temporary = artist.objectID
      try context.save()
      #expect(artist.objectID != temporary && !artist.objectID.isTemporaryID)
      #expect(set.contains(artist) && set.contains(artwork))
      #expect(dictionary[artist] == "artist" && dictionary[artwork] == "artwork")
      #expect(artist.artworks == [artwork] && artwork.artist === artist)
      #expect(context.registeredObject(for: artist.objectID) === artist)
      let id = artist.objectID
      artist.name = "again"
      try context.save()
      #expect(artist.objectID == id)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `13 – a set that nobody has looked at has the changes made at its other side`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let artist = Artist(context: context)
      let first = Artwork(context: context)
      first.artist = artist
      try context.save()
      let id = artist.objectID
      let other = GotchaHome.context(of: try #require(context.persistentStoreCoordinator))
      let fault = try #require(other.object(with: id) as? Artist)
      let second = Artwork(context: other)
      second.artist = fault
      let same = try #require(other.object(with: first.objectID) as? Artwork)
      same.artist = nil
      #expect(fault.artworks == [second])
      try other.save()
      #expect(fault.artworks == [second])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `17 – nullifying what must not be empty is error 1570 at the save, not at the deletion`(
    _ home: GotchaHome
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Show") { Relationship("rooms", toMany: "Room", inverse: "show") }
      Entity("Room") { Relationship("show", toOne: "Show", inverse: "rooms", optional: false) }
    }
    try home.withContext(model, classes: []) { context in
      let show = try context.insert("Show")
      let room = try context.insert("Room", ["show": show])
      try context.save()
      context.delete(show)
      context.processPendingChanges()
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
      context.delete(room)
      try context.save()
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `19 – what is deleted is validated too, and all that is wrong is told`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      let artwork = Artwork(context: context)
      let frame = try context.insert("Frame", ["artwork": artwork])
      let tag = try context.insert("Tag", ["word": "sea"])
      try context.save()
      context.delete(frame)
      try tag.setValue(nil, forKey: "word")
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationMultipleErrors)
      #expect(
        error?.detailedErrors.map(\.code) == [
          .validationRelationshipDeniedDelete, .validationMissingMandatoryProperty,
        ])
      #expect(error?.detailedErrors.map(\.objectID) == [frame.objectID, tag.objectID])
      #expect(error?.detailedErrors.map(\.key) == ["artwork", "word"])
      context.delete(artwork)
      context.delete(tag)
      try context.save()
      #expect(try context.values(of: "wood", "Frame").isEmpty)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `20 – a save that failed leaves all changes, and nobody claims to be saved`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let kept = Artist(context: context)
      kept.name = "kept"
      let gone = Artist(context: context)
      try context.save()
      kept.name = "changed"
      context.delete(gone)
      let new = Artist(context: context)
      let tag = try context.insert("Tag")
      #expect(throws: PersistenceError.self) { try context.save() }
      #expect(context.hasChanges && kept.isUpdated && new.isInserted && tag.isInserted)
      #expect(gone.isDeleted && new.objectID.isTemporaryID)
      #expect(context.insertedObjects == [new, tag])
      #expect(context.updatedObjects == [kept] && context.deletedObjects == [gone])
      let other = GotchaHome.context(of: try #require(context.persistentStoreCoordinator))
      #expect(Set(try other.all(Artist.self).map(\.name)) == ["kept", "unknown"])
      try tag.setValue("word", forKey: "word")
      try context.save()
      #expect(!context.hasChanges)
      #expect(Set(try other.all(Artist.self).map(\.objectID)) == [kept.objectID, new.objectID])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `21 – what is set to the value it has is a change that a save does not write`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let artist = Artist(context: context)
      let show = SmallGallery.Show(context: context)
      show.artists = [artist]
      artist.name = "Ada"
      try context.save()
      let versions = [artist.version, show.version]
      artist.name = "Ada"
      show.artists = [artist]
      #expect(context.hasChanges && artist.isUpdated)
      #expect(!artist.hasPersistentChangedValues && artist.changedValues().isEmpty)
      try context.save()
      #expect([artist.version, show.version] == versions)
      #expect(!context.hasChanges && !artist.isUpdated)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `22 – a value set back to what it was is no change`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let (artist, other) = (Artist(context: context), Artist(context: context))
      let artwork = Artwork(context: context)
      artist.name = "Ada"
      artwork.artist = artist
      try context.save()
      artist.name = "Bea"
      artwork.artist = other
      #expect(Array(artist.changedValues().keys.sorted()) == ["artworks", "name"])
      artist.name = "Ada"
      artwork.artist = artist
      #expect(artist.changedValues().isEmpty && artwork.changedValues().isEmpty)
      #expect(other.changedValues().isEmpty)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `23 – a row's version rises once a save, also by a many-to-many alone`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      let artwork = Artwork(context: context)
      let tag = try context.insert("Tag", ["word": "sea"])
      try context.save()
      #expect(artwork.version == 1 && tag.version == 1)
      artwork.title = "one"
      artwork.price = 2
      try context.save()
      #expect(artwork.version == 2 && tag.version == 1)
      try artwork.setValue(Set([tag]), forKey: "tags")
      try context.save()
      #expect(artwork.version == 3 && tag.version == 2)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `28 – an object asked for by its ID is not read, one that must exist is`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      let artist = Artist(context: context)
      artist.name = "Ada"
      try context.save()
      let id = artist.objectID
      let coordinator = try #require(context.persistentStoreCoordinator)
      let (asking, deleting) = (
        GotchaHome.context(of: coordinator), GotchaHome.context(of: coordinator)
      )
      let fault = try #require(asking.object(with: id) as? Artist)
      #expect(fault.isFault && asking.object(with: id) === fault)
      deleting.delete(try deleting.existingObject(with: id))
      try deleting.save()
      #expect(asking.object(with: id) === fault && fault.isFault)
      let error = #expect(throws: PersistenceError.self) {
        try GotchaHome.context(of: coordinator).existingObject(with: id)
      }
      #expect(error?.code == .managedObjectReferentialIntegrity)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `29 – an object that a fetch finds again keeps its values, and may not match`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let artist = Artist(context: context)
      artist.name = "old"
      try context.save()
      let other = GotchaHome.context(of: try #require(context.persistentStoreCoordinator))
      let same = try #require(try other.all(Artist.self).first)
      same.name = "new"
      try other.save()
      let found = try context.named("new")
      #expect(found === artist && artist.name == "old")
      context.refresh(artist, mergeChanges: true)
      #expect(artist.name == "new")
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `38 – what one context has not saved is not seen in another`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let artist = Artist(context: context)
      artist.name = "saved"
      try context.save()
      artist.name = "unsaved"
      let other = GotchaHome.context(of: try #require(context.persistentStoreCoordinator))
      let same = try #require(try other.all(Artist.self).first)
      #expect(same.name == "saved")
      context.delete(artist)
      _ = Artist(context: context)
      #expect(try other.all(Artist.self).map(\.name) == ["saved"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `39 – a value is copied when it is set`(_ home: GotchaHome) throws {
    let model = try ManagedObjectModel {
      Entity("Page") { Attribute("bytes", .binaryData) }
    }
    try home.withContext(model) { context in
      var bytes = Data([1, 2, 3])
      let page = try context.insert("Page", ["bytes": bytes])
      bytes[0] = 9
      #expect(try page.value(forKey: "bytes") as? Data == Data([1, 2, 3]))
      try context.save()
      #expect(try page.value(forKey: "bytes") as? Data == Data([1, 2, 3]))
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `40 – a transient value goes with the fault, and stays when changes are merged`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let artwork = Artwork(context: context)
      try context.save()
      artwork.seen = 7
      context.refresh(artwork, mergeChanges: true)
      #expect(artwork.seen == 7)
      try context.save()
      #expect(artwork.seen == 7)
      context.refresh(artwork, mergeChanges: false)
      #expect(artwork.seen == 0)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `41 – an unknown key is an error that can be caught`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let artist = Artist(context: context)
      for key in ["nom", "", "name.x", "@count"] {
        #expect(throws: PersistenceError.self, "\(key)") { try artist.value(forKey: key) }
        #expect(throws: PersistenceError.self, "\(key)") { try artist.setValue(1, forKey: key) }
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `53 – how many objects a relationship may have is asked at the save only`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let show = SmallGallery.Show(context: context)
      let artists = (0..<5).map { _ in Artist(context: context) }
      show.artists = artists
      context.processPendingChanges()
      #expect(show.artists.count == 5)
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationRelationshipExceedsMaximumCount)
      show.artists.removeLast()
      try context.save()
      #expect(show.artists == Array(artists.prefix(4)))
    }
  }
}
