import Quire
import Testing

@Suite struct MutableMembersTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show
  typealias Room = SmallGallery.Room

  @Test(arguments: GotchaHome.allCases)
  func `a set changed in place changes the other side`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let (artist, other) = (Artist(context: context), Artist(context: context))
      let artworks = (0..<4).map { _ in Artwork(context: context) }
      other.artworks = [artworks[3]]
      try context.save()
      let members = try artist.mutableSetValue(forKey: "artworks")
      #expect(members.isEmpty)
      try members.add(artworks[0])
      try members.add(artworks[0])
      try members.formUnion(artworks[2...])
      #expect(members.count == 3 && members.set == [artworks[0], artworks[2], artworks[3]])
      #expect(members.contains(artworks[2]) && !members.contains(artworks[1]))
      #expect(artworks[0].artist === artist && other.artworks.isEmpty)
      try members.remove(artworks[0])
      try members.remove(artworks[1])
      #expect(artworks[0].artist == nil && Set(members) == [artworks[2], artworks[3]])
      try context.save()
      #expect(members.count == 2, "it shows what is there now")
      try members.formIntersection([artworks[2], artworks[0]])
      #expect(artist.artworks == [artworks[2]] && artworks[3].artist == nil)
      try other.setValue(members, forKey: "artworks")
      #expect(members.isEmpty && other.artworks == [artworks[2]])
      try other.mutableSetValue(forKey: "artworks").removeAll()
      try context.save()
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `an ordered set is changed in place by places`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let (show, other) = (Show(context: context), Show(context: context))
      let rooms = (0..<6).map { number in
        let room = Room(context: context)
        room.number = number
        room.show = other
        return room
      }
      let members = try show.mutableOrderedSetValue(forKey: "rooms")
      func numbers() -> [Int] { members.compactMap { ($0 as? Room)?.number } }
      try members.add(rooms[0])
      try members.insert(rooms[1], at: 0)
      try members.insert([rooms[2], rooms[1], rooms[3]], at: 1)
      #expect(numbers() == [1, 2, 3, 0] && show.rooms.map(\.number) == [1, 2, 3, 0])
      #expect(rooms[3].show === show && other.rooms.map(\.number) == [4, 5])
      try context.save()
      try members.moveObjects(at: [0, 2], to: 2)
      #expect(numbers() == [2, 0, 1, 3])
      try members.moveObjects(at: [3], to: 0)
      #expect(numbers() == [3, 2, 0, 1])
      try members.exchangeObject(at: 0, withObjectAt: 3)
      try members.replaceObject(at: 1, with: rooms[4])
      #expect(numbers() == [1, 4, 0, 3] && rooms[2].show == nil)
      #expect(members.index(of: rooms[0]) == 2 && members.index(of: rooms[5]) == nil)
      #expect(try members.object(at: 3) === rooms[3])
      try members.removeObject(at: 0)
      rooms[1].show = other
      rooms[2].show = other
      try context.save()
      context.refreshAllObjects()
      #expect(numbers() == [4, 0, 3])
      try members.sort { ($0 as? Room)?.number ?? 0 < ($1 as? Room)?.number ?? 0 }
      #expect(numbers() == [0, 3, 4])
      try other.setValue(members, forKey: "rooms")
      #expect(members.isEmpty && other.rooms.map(\.number) == [0, 3, 4])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `members are added and removed by the name of the relationship`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let show = Show(context: context)
      let artists = (0..<4).map { _ in Artist(context: context) }
      try artists[0].addToRelationship(show, forKey: "shows")
      try show.addToRelationship(artists[1...2], forKey: "artists")
      try show.insertIntoRelationship(artists[3], at: 1, forKey: "artists")
      #expect(show.artists == [artists[0], artists[3], artists[1], artists[2]])
      try show.removeFromRelationship(at: 0, forKey: "artists")
      try show.replaceInRelationship(at: 0, with: artists[0], forKey: "artists")
      try artists[1].removeFromRelationship([show], forKey: "shows")
      try show.removeFromRelationship(artists[3], forKey: "artists")
      #expect(show.artists == [artists[0], artists[2]] && artists[1].shows.isEmpty)
      try context.save()
      #expect(artists[2].shows == [show])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `mistakes are errors and change nothing`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let (artist, show) = (Artist(context: context), Show(context: context))
      let stranger = Artist(
        context: GotchaHome.context(of: try #require(context.persistentStoreCoordinator)))
      show.artists = [artist]
      let members = try show.mutableOrderedSetValue(forKey: "artists")
      let mistakes: [(Int, () throws -> Void)] = [
        (1_340_001, { _ = try show.mutableSetValue(forKey: "painters") }),
        (1_340_002, { _ = try show.mutableSetValue(forKey: "artists") }),
        (1_340_002, { _ = try artist.mutableOrderedSetValue(forKey: "shows") }),
        (1_340_002, { _ = try artist.mutableSetValue(forKey: "spouse") }),
        (1_340_002, { try artist.addToRelationship(show, forKey: "name") }),
        (1_340_002, { try members.add(show) }),
        (133_010, { try members.add(stranger) }),
        (133_010, { try members.insert(stranger, at: 0) }),
        (1_340_002, { _ = try members.object(at: 1) }),
        (1_340_002, { try members.insert(Artist(context: context), at: 2) }),
        (1_340_002, { try members.removeObject(at: -1) }),
        (1_340_002, { try members.moveObjects(at: [0], to: 1) }),
        (1_340_002, { try members.exchangeObject(at: 0, withObjectAt: 1) }),
        (1_340_001, { _ = try artist.objectIDs(forRelationshipNamed: "name") }),
        (1_340_001, { _ = try artist.hasFault(forRelationshipNamed: "nothing") }),
      ]
      for (index, (number, mistake)) in mistakes.enumerated() {
        let error = #expect(throws: PersistenceError.self, "\(index)") { try mistake() }
        #expect(error?.code.rawValue == number, "\(index)")
        #expect(show.artists == [artist])
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `the IDs at the other end are known without an object`(_ home: GotchaHome) throws {
    try home.withContext { context in
      var artist: Artist? = Artist(context: context)
      let artworks = (0..<3).map { _ in Artwork(context: context) }
      artist?.artworks = Set(artworks)
      let show = Show(context: context)
      show.artists = [try #require(artist)]
      try context.save()
      let ids = artworks.map(\.objectID)
      let id = try #require(artist?.objectID)
      artist = nil

      let other = GotchaHome.context(of: try #require(context.persistentStoreCoordinator))
      let same = try #require(other.object(with: id) as? Artist)
      #expect(try same.hasFault(forRelationshipNamed: "artworks"))
      #expect(Set(try same.objectIDs(forRelationshipNamed: "artworks")) == Set(ids))
      #expect(other.registeredObjects == [same] && same.isFault)
      let first = try #require(other.object(with: ids[0]) as? Artwork)
      #expect(try first.hasFault(forRelationshipNamed: "artist"))
      first.title = "x"
      #expect(try first.hasFault(forRelationshipNamed: "artist"), "the artist is a fault")
      _ = same.name
      #expect(try !first.hasFault(forRelationshipNamed: "artist"))
      #expect(try !first.hasFault(forRelationshipNamed: "frame"), "there is none")
      #expect(try first.objectIDs(forRelationshipNamed: "artist") == [id])
      #expect(try first.objectIDs(forRelationshipNamed: "frame") == [])

      first.artist = nil
      let new = Artwork(context: other)
      new.artist = same
      let deleted = try #require(other.object(with: ids[1]))
      other.delete(deleted)
      other.processPendingChanges()
      #expect(
        Set(try same.objectIDs(forRelationshipNamed: "artworks")) == [ids[2], new.objectID])
      #expect(try !new.hasFault(forRelationshipNamed: "tags"))
      let sameShow = try #require(other.object(with: show.objectID) as? Show)
      #expect(try sameShow.objectIDs(forRelationshipNamed: "artists") == [id])
      sameShow.artists.append(Artist(context: other))
      #expect(try sameShow.objectIDs(forRelationshipNamed: "artists").count == 2)
    }
  }
}
