import Quire
import QuireTesting
import Testing

private typealias Artist = SmallGallery.Artist
private typealias Artwork = SmallGallery.Artwork
private typealias Show = SmallGallery.Show

/// What is deleted and not saved yet can be inserted again.
@Suite struct ReinsertionTests {
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `an object that is inserted again after its deletion is as it was`(
    _ home: GotchaHome, _ isProcessed: Bool
  ) throws {
    try home.withContext { context in
      context.undoManager = UndoManager()
      let (artist, spouse, show) = (
        Artist(context: context), Artist(context: context), Show(context: context)
      )
      let others = (0..<2).map { _ in Artist(context: context) }
      artist.name = "Hokusai"
      artist.spouse = spouse
      show.artists = [others[0], artist, others[1]]
      try context.save()
      func expectAll() throws {
        #expect(!artist.isDeleted && artist.name == "Hokusai")
        #expect(artist.spouse === spouse && spouse.spouse === artist)
        #expect(show.artists == [others[0], artist, others[1]] && artist.shows == [show])
        #expect(context.deletedObjects.isEmpty && context.insertedObjects.isEmpty)
      }
      context.delete(artist)
      if isProcessed {
        context.processPendingChanges()
        #expect(spouse.spouse == nil && show.artists == others)
      }
      context.insert(artist)
      try expectAll()
      context.processPendingChanges()
      context.undo()
      if isProcessed {
        #expect(artist.isDeleted && spouse.spouse == nil && show.artists == others)
        context.undo()
      }
      try expectAll()
      context.redo()
      if isProcessed {
        #expect(artist.isDeleted && spouse.spouse == nil && show.artists == others)
        context.redo()
      }
      try expectAll()
      try context.save()
      try expectAll()
      context.refreshAllObjects()
      try expectAll()
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// In the state that the context had read meanwhile it was a member by its own end, and so nobody
  /// looked for its place.
  @Test(arguments: GotchaHome.allCases)
  func `a member that is inserted again has its place though others have saved meanwhile`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { context in
      let thing = try context.insert("Thing")
      let parts = try (0..<3).map { _ in try context.insert("Part", ["owner": thing]) }
      try context.save()
      context.undoManager = UndoManager()
      context.delete(parts[1])
      context.processPendingChanges()
      let there = SmallGallery.sibling(of: context)
      try there.insert("Tag")
      try there.save()
      _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Tag"))
      context.insert(parts[1])
      #expect(try thing.value(forKey: "parts") as? [ManagedObject] == parts)
      context.undo()
      #expect(try thing.value(forKey: "parts") as? [ManagedObject] == [parts[0], parts[2]])
      context.redo()
      #expect(try thing.value(forKey: "parts") as? [ManagedObject] == parts)
      try context.save()
      let same = try there.existingObject(with: thing.objectID)
      #expect(try same.objectIDs(forRelationshipNamed: "parts") == parts.map(\.objectID))
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `who found another one meanwhile stays with that one`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let artists = (0..<2).map { _ in Artist(context: context) }
      let spouses = (0..<2).map { _ in Artist(context: context) }
      let frame = try context.insert("Frame")
      let artwork = Artwork(context: context)
      try frame.setValue(artwork, forKey: "artwork")
      artists[0].spouse = spouses[0]
      artists[0].artworks = [artwork]
      try context.save()
      context.delete(artists[0])
      context.processPendingChanges()
      #expect(artwork.isDeleted, "by its rule")
      spouses[0].spouse = spouses[1]
      context.insert(artists[0])
      #expect(artists[0].spouse == nil && spouses[0].spouse === spouses[1])
      #expect(artists[0].artworks.isEmpty, "what went along does not come back by itself")
      context.insert(artwork)
      #expect(artists[0].artworks == [artwork] && artwork.artist === artists[0])
      #expect(try frame.value(forKey: "artwork") as? Artwork === artwork)
      context.delete(artwork)
      context.processPendingChanges()
      context.insert(artwork)
      artwork.artist = artists[1]
      try context.save()
      #expect(artists.map(\.artworks) == [[], [artwork]])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// It was not told of the owner's deletion, as it was deleted itself.
  @Test(arguments: GotchaHome.allCases)
  func `a part that is inserted again without its owner has none`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let shows = (0..<2).map { _ in Show(context: context) }
      let room = try context.insert("Room", ["show": shows[0]])
      let artist = Artist(context: context)
      let artwork = Artwork(context: context)
      artwork.artist = artist
      try context.save()
      context.delete(shows[0])
      context.delete(artist)
      context.processPendingChanges()
      #expect(room.isDeleted && artwork.isDeleted)
      context.insert(room)
      context.insert(artwork)
      #expect(try artwork.artist == nil && room.value(forKey: "show") == nil)
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(
        error?.code == .validationMissingMandatoryProperty && error?.objectID == room.objectID)
      try room.setValue(shows[1], forKey: "show")
      try context.save()
      #expect(try context.all(Artwork.self) == [artwork] && artwork.artist == nil)
      #expect(shows[1].rooms == [room])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test(arguments: GotchaHome.allCases, ["bag", "tags", "list"])
  func `members that were set without a deleted object stay without it`(
    _ home: GotchaHome, _ key: String
  ) throws {
    try home.withContext(LockstepModel.model, classes: []) { context in
      let destination = key == "list" ? "Thing" : "Tag"
      let owner = try context.insert("Thing", ["number": 1])
      let members = try (2...3).map { try context.insert(destination, ["number": $0]) }
      func set(_ members: [ManagedObject]) throws {
        try owner.setValue(key == "list" ? members as Any : Set(members) as Any, forKey: key)
      }
      try set(members)
      try context.save()
      context.delete(members[0])
      context.processPendingChanges()
      try set([])
      context.insert(members[0])
      #expect(try owner.objectIDs(forRelationshipNamed: key) == [])
      try context.save()
      #expect(try owner.objectIDs(forRelationshipNamed: key) == [])
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// Its rule has cleared the members, and they decide when the context has read another state.
  @Test(arguments: GotchaHome.allCases, ["locks", "children", "parts"])
  func `an object that is inserted again has its members after others have saved`(
    _ home: GotchaHome, _ key: String
  ) throws {
    let (entity, inverse) =
      ["locks": ("Lock", "keeper"), "children": ("Thing", "parent"), "parts": ("Part", "owner")][
        key]!
    try home.withContext(LockstepModel.model, classes: []) { context in
      let owner = try context.insert("Thing", ["number": 1])
      let member = try context.insert(entity, ["number": 2, inverse: owner])
      try context.save()
      context.delete(owner)
      context.processPendingChanges()
      let other = SmallGallery.sibling(of: context)
      try other.insert("Thing", ["number": 3])
      try other.save()
      #expect(try context.found("Thing").objects.contains { $0 !== owner && $0 !== member })
      context.insert(owner)
      context.insert(member)
      #expect(try member.value(forKey: inverse) as? ManagedObject === owner)
      #expect(try owner.objectIDs(forRelationshipNamed: key) == [member.objectID])
      #expect(context.brokenInvariants.isEmpty)
      try context.save()
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// What was kept of it by the first deletion was empty, as the object had not left by that.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `an object that was deleted again after its insertion comes back by undo`(
    _ home: GotchaHome, _ isOneEvent: Bool
  ) throws {
    try home.withContext { context in
      let (artist, spouse) = (Artist(context: context), Artist(context: context))
      artist.name = "Hokusai"
      artist.spouse = spouse
      try context.save()
      context.undoManager = UndoManager()
      context.delete(artist)
      if !isOneEvent { context.processPendingChanges() }
      context.insert(artist)
      if !isOneEvent { context.processPendingChanges() }
      context.delete(artist)
      try context.save()
      #expect(spouse.spouse == nil)
      func expectBack() {
        #expect(context.insertedObjects == [artist] && artist.name == "Hokusai")
        #expect(artist.spouse === spouse && spouse.spouse === artist)
      }
      context.undo()
      expectBack()
      if !isOneEvent {
        context.undo()
        #expect(artist.managedObjectContext == nil && spouse.spouse == nil)
        context.undo()
        expectBack()
        context.redo()
        context.redo()
        expectBack()
      }
      context.redo()
      #expect(artist.managedObjectContext == nil && spouse.spouse == nil)
      context.undo()
      expectBack()
      try context.save()
      #expect(try context.all(Artist.self).count == 2 && artist.spouse === spouse)
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// The action that kept it was the one to take its deletion back again, which another change had
  /// made impossible.
  @Test(arguments: GotchaHome.allCases)
  func `an object whose insertion was taken back is kept by its deletion`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let (artist, spouse) = (Artist(context: context), Artist(context: context))
      artist.spouse = spouse
      try context.save()
      context.undoManager = UndoManager()
      context.delete(artist)
      context.processPendingChanges()
      context.insert(artist)
      context.processPendingChanges()
      context.undo()
      #expect(artist.isDeleted)
      spouse.born = 1760
      try context.save()
      context.undo()
      #expect(spouse.born == nil)
      context.undo()
      #expect(artist.isInserted && artist.spouse === spouse && spouse.spouse === artist)
      try context.save()
      #expect(try context.all(Artist.self).count == 2)
      #expect(try StoreFacts(context).findings == [])
    }
  }

  /// A save keeps what deleted objects are before it is sure to succeed.
  @Test(arguments: GotchaHome.allCases)
  func `an object whose deletion a conflict has kept from being saved comes back as it was last`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let (artist, other) = (Artist(context: context), Artist(context: context))
      artist.name = "Hokusai"
      try context.save()
      let sibling = SmallGallery.sibling(of: context)
      try #require(try sibling.existingObject(with: other.objectID) as? Artist).born = 1759
      try sibling.save()
      context.undoManager = UndoManager()
      other.born = 1760
      context.delete(artist)
      context.processPendingChanges()
      #expect(throws: PersistenceError.self) { try context.save() }
      context.insert(artist)
      artist.name = "Katsushika"
      artist.spouse = other
      context.processPendingChanges()
      context.delete(artist)
      context.mergePolicy = .overwrite
      try context.save()
      context.undo()
      #expect(artist.isInserted)
      #expect(artist.name == "Katsushika")
      #expect(artist.spouse === other)
      #expect(other.spouse === artist)
      try context.save()
      #expect(try context.all(Artist.self).count == 2)
      #expect(try StoreFacts(context).findings == [])
    }
  }
}
