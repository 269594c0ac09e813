import Quire
import Testing

@Suite struct PrimitiveValueTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  private final class Log: ContextObserver {
    var lines: [String] = []
    func willChange(_ property: String, of object: ManagedObject, by change: SlotChange) {
      lines.append(property)
    }
    func didSave(_ changes: SavedChanges) {}
  }

  @Test(arguments: GotchaHome.allCases)
  func `a primitive value is set and nothing else happens`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let (artist, artwork) = (Artist(context: context), Artwork(context: context))
      try context.save()
      let log = Log()
      context.observers.append(log)
      try artist.setPrimitiveValue("Ada", forKey: "name")
      try artwork.setPrimitiveValue(artist, forKey: "artist")
      try artist.setPrimitiveValue(Set<ManagedObject>(), forKey: "artworks")
      #expect(artist.name == "Ada" && artwork.artist === artist && artist.artworks.isEmpty)
      #expect(try artist.primitiveValue(forKey: "name") as? String == "Ada")
      #expect(!context.hasChanges && log.lines.isEmpty)
      try context.save()
      #expect(artist.version == 1)
      artist.born = 1815
      try context.save()
      #expect(artist.version == 2)
      context.refresh(artist, mergeChanges: false)
      #expect(artist.name == "Ada", "saved with another change")
      context.refresh(artwork, mergeChanges: false)
      #expect(artwork.artist == nil)
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `between willChange and didChange it is a change like any other`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let (artist, artwork) = (Artist(context: context), Artwork(context: context))
      try context.save()
      let log = Log()
      context.observers.append(log)
      for (object, key, value) in [
        (artist, "name", "Ada"), (artwork, "artist", artist),
      ] as [(ManagedObject, String, Any)] {
        object.willChangeValue(forKey: key)
        try object.setPrimitiveValue(value, forKey: key)
        object.didChangeValue(forKey: key)
        try object.setPrimitiveValue(value, forKey: key)
      }
      #expect(log.lines == ["name", "artist"])
      #expect(artist.isUpdated && artwork.isUpdated)
      #expect(artist.artworks.isEmpty, "the other side is the caller's")
      try context.save()
      #expect(artist.artworks == [artwork])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `both sides are set where a store keeps both`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let artists = (0..<4).map { _ in Artist(context: context) }
      let show = SmallGallery.Show(context: context)
      show.artists = [artists[0], artists[1], artists[2]]
      try context.save()
      try show.setPrimitiveValue([artists[3], artists[1], artists[3]], forKey: "artists")
      #expect(show.artists == [artists[3], artists[1]] && artists[0].shows.isEmpty)
      try artists[0].setPrimitiveValue(artists[1], forKey: "spouse")
      #expect(artists[1].spouse === artists[0])
      try context.save()
      context.refreshAllObjects()
      #expect(show.artists == [artists[3], artists[1]])
      #expect(artists[0].shows.isEmpty && artists[3].shows == [show])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `both sides are set of objects that are in no context yet`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let entities = SmallGallery.model.entities
      func make(_ name: String) throws -> ManagedObject {
        ManagedObject(entity: try #require(entities.first { $0.name == name }), insertInto: nil)
      }
      let (one, two, show) = (try make("Artist"), try make("Artist"), try make("Show"))
      try one.setPrimitiveValue(two, forKey: "spouse")
      try two.setPrimitiveValue(Set([show]), forKey: "shows")
      for object in [one, two, show] { context.insert(object) }
      try context.save()
      context.refreshAllObjects()
      #expect(try two.value(forKey: "spouse") as? ManagedObject === one)
      #expect(try show.value(forKey: "artists") as? [ManagedObject] == [two])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `mistakes are errors, and wrong values are found at the save`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let (artist, artwork) = (Artist(context: context), Artwork(context: context))
      let stranger = Artist(
        context: GotchaHome.context(of: try #require(context.persistentStoreCoordinator)))
      for (key, value, number) in [
        ("nom", 1, 1_340_001), ("name", 1, 1_340_002), ("spouse", artwork, 1_340_002),
        ("spouse", 3, 1_340_002), ("artworks", [artist], 1_340_002), ("spouse", stranger, 133_010),
      ] as [(String, Any, Int)] {
        let error = #expect(throws: PersistenceError.self) {
          try artist.setPrimitiveValue(value, forKey: key)
        }
        #expect(error?.code.rawValue == number, "\(key)")
      }
      try artist.setPrimitiveValue(40_000, forKey: "born")
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationNumberTooLarge)
      try artist.setPrimitiveValue(nil, forKey: "born")
      try context.save()
      artist.willChangeValue(forKey: "nom")
      let late = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(late?.code == .undefinedKey)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a fault is read when a value is about to be accessed`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let artist = Artist(context: context)
      #expect(artist.faultingState == 0)
      try context.save()
      for access in [
        { artist.willAccessValue(forKey: "name") }, { artist.willAccessValue(forKey: nil) },
      ] {
        context.refresh(artist, mergeChanges: false)
        #expect(artist.isFault && artist.faultingState != 0)
        access()
        artist.didAccessValue(forKey: "name")
        #expect(!artist.isFault && artist.faultingState == 0 && !context.hasChanges)
      }
      context.refresh(artist, mergeChanges: false)
      #expect(try artist.primitiveValue(forKey: "name") as? String == "unknown")
    }
  }
}
