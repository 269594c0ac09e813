import Quire
import Testing

/// What the save of a child context does.
@Suite struct `Saves to a parent` {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show

  private struct Scene {
    let parent: ManagedObjectContext
    let child: ManagedObjectContext
    let artist: Artist
    let own: Artist

    init(_ parent: ManagedObjectContext) throws {
      self.parent = parent
      artist = try #require(try parent.insert("Artist", ["name": "a", "born": 1]) as? Artist)
      try parent.save()
      child = ManagedObjectContext(parent: parent)
      own = try #require(child.object(with: artist.objectID) as? Artist)
      #expect(own.name == "a")
    }

    func stored(_ key: String, _ entity: String = "Artist") throws -> [String] {
      try SmallGallery.sibling(of: parent).values(of: key, entity, sortedBy: key)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a save changes the parent, and the store only when the parent is saved`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      let scene = try Scene(context)
      let gone = try context.insert("Artist", ["name": "gone"])
      try context.save()
      scene.own.name = "b"
      let new = try #require(try scene.child.insert("Artwork", ["title": "new"]) as? Artwork)
      new.artist = scene.own
      scene.child.delete(try #require(scene.child.object(with: gone.objectID)))
      #expect(scene.artist.name == "a" && !context.hasChanges)
      try scene.child.save()
      #expect(scene.artist.name == "b" && scene.artist.isUpdated)
      #expect(scene.artist.artworks.map(\.title) == ["new"])
      #expect(context.insertedObjects == Set<ManagedObject>(scene.artist.artworks))
      #expect(context.deletedObjects == [gone])
      #expect(!scene.child.hasChanges && !new.isInserted && new.title == "new")
      #expect(scene.own.artworks == [new])
      #expect(try scene.stored("name") == ["a", "gone"])
      #expect(try scene.stored("title", "Artwork").isEmpty)
      try context.save()
      #expect(try scene.stored("name") == ["b"])
      #expect(try scene.stored("title", "Artwork") == ["new"])
      #expect(scene.own.artworks == [new] && new.artist === scene.own)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `of an object, only what was changed in the child overwrites what the parent has`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let scene = try Scene(context)
      let show = try #require(try context.insert("Show", ["name": "s"]) as? Show)
      let works = try ["1", "2", "3"].map { try context.insert("Artwork", ["title": $0]) }
      for work in works.prefix(2) { try work.setValue(scene.artist, forKey: "artist") }
      show.artists = [scene.artist]
      try context.save()
      let ownShow = try #require(scene.child.object(with: show.objectID) as? Show)
      scene.own.name = "child's"
      #expect(scene.own.artworks.count == 2)
      let first = try #require(scene.child.object(with: works[0].objectID) as? Artwork)
      first.artist = nil
      let second = try scene.child.insert("Artist", ["name": "second"])
      ownShow.artists = [try #require(second as? Artist), scene.own]
      // Meanwhile in the parent.
      scene.artist.name = "parent's"
      scene.artist.born = 2
      try works[2].setValue(scene.artist, forKey: "artist")
      let third = try #require(try context.insert("Artist", ["name": "third"]) as? Artist)
      show.artists = [third, scene.artist]
      try scene.child.save()
      #expect(scene.artist.name == "child's" && scene.artist.born == 2)
      #expect(Set(scene.artist.artworks.map(\.title)) == ["2", "3"])
      #expect(show.artists.map(\.name) == ["second", "child's", "third"])
      // A saved object shows what the parent has now.
      #expect(scene.own.born == 2)
      try context.save()
      #expect(try scene.stored("name") == ["child's", "second", "third"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a save that fails changes nothing in the parent`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let scene = try Scene(context)
      scene.own.name = "b"
      let new = try scene.child.insert("Tag")
      #expect { try scene.child.save() } throws: { code(of: $0)?.rawValue ?? 0 >= 1550 }
      #expect(!context.hasChanges && scene.artist.name == "a")
      #expect(context.registeredObjects == [scene.artist])
      #expect(scene.child.hasChanges && scene.own.isUpdated && new.isInserted)
      try new.setValue("word", forKey: "word")
      try scene.child.save()
      #expect(context.insertedObjects.count == 1 && scene.artist.name == "b")
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `an object that the parent has deleted is a conflict, or its changes are dropped`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let scene = try Scene(context)
      scene.own.name = "too late"
      try scene.child.insert("Artist", ["name": "other"])
      context.delete(scene.artist)
      #expect { try scene.child.save() } throws: { code(of: $0) == .managedObjectMerge }
      #expect(context.insertedObjects.isEmpty && scene.own.isUpdated)
      scene.child.mergePolicy = .mergeByPropertyObjectTrump
      try scene.child.save()
      #expect(!scene.child.hasChanges && context.insertedObjects.count == 1)
      #expect(context.deletedObjects == [scene.artist])
      #expect(try scene.own.value(forKey: "name") == nil)
      try context.save()
      #expect(try scene.stored("name") == ["other"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `delete rules are applied in the child, and hold in the parent`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let scene = try Scene(context)
      let works = try ["1", "2"].map { try context.insert("Artwork", ["title": $0]) }
      for work in works { try work.setValue(scene.artist, forKey: "artist") }
      let tag = try context.insert("Tag", ["word": "t"])
      try tag.setValue(Set(works), forKey: "artworks")
      let ownTag = try #require(scene.child.object(with: tag.objectID))
      // The parent has saved nothing of them. One is taken away from what is deleted.
      let saved = try #require(scene.child.object(with: works[0].objectID) as? Artwork)
      saved.artist = nil
      scene.child.delete(scene.own)
      try scene.child.save()
      #expect(try scene.child.values(of: "title", "Artwork") == ["1"])
      #expect(try (ownTag.value(forKey: "artworks") as? Set<ManagedObject>)?.count == 1)
      #expect(scene.artist.isDeleted)
      #expect(try context.values(of: "title", "Artwork") == ["1"])
      #expect(try (tag.value(forKey: "artworks") as? Set<ManagedObject>) == [works[0]])
      try context.save()
      #expect(try scene.stored("name").isEmpty)
      #expect(try scene.stored("title", "Artwork") == ["1"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `an object is found by its temporary and by its permanent ID`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let scene = try Scene(context)
      let new = try scene.child.insert("Artwork", ["title": "new", "artist": scene.own])
      let temporary = new.objectID
      try scene.child.save()
      let above = try #require(context.object(with: temporary))
      #expect(new.objectID == temporary && above.objectID == temporary)
      try context.save()
      let permanent = above.objectID
      #expect(!permanent.isTemporaryID && new.objectID == temporary)
      #expect(scene.child.object(with: permanent) === new)
      #expect(scene.child.object(with: temporary) === new)
      #expect(scene.child.registeredObject(for: temporary) === new)
      var request = FetchRequest<Artist>()
      request.predicate = Key("artworks").contains(new)
      #expect(try scene.child.fetch(request) == [scene.own])
      try scene.child.obtainPermanentIDs(for: [new])
      #expect(new.objectID == permanent)
      // Asked for in the child before anybody has saved it.
      let promised = try scene.child.insert("Artwork", ["title": "promised"])
      try scene.child.obtainPermanentIDs(for: [promised])
      let id = promised.objectID
      #expect(!id.isTemporaryID)
      try scene.child.save()
      #expect(promised.objectID == id && context.object(with: id)?.objectID == id)
      try context.save()
      #expect(promised.objectID == id)
      #expect(
        try SmallGallery.sibling(of: context).existingObject(with: id).value(forKey: "title")
          as? String == "promised")
      // Asked for when the parent has it, and has not saved it.
      let passed = try scene.child.insert("Artwork", ["title": "passed"])
      try scene.child.save()
      try scene.child.obtainPermanentIDs(for: [passed])
      let passedID = passed.objectID
      #expect(!passedID.isTemporaryID)
      try context.save()
      #expect(passed.objectID == passedID)
      #expect(
        try scene.child.values(of: "title", "Artwork", sortedBy: "title")
          == ["new", "passed", "promised"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `the parent's save meets conflicts with what the child has read`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let scene = try Scene(context)
      // Nobody holds the parent's object.
      let id = scene.artist.objectID
      let root = SmallGallery.sibling(of: context)
      let child = ManagedObjectContext(parent: root)
      let own = try #require(try child.existingObject(with: id) as? Artist)
      scene.artist.name = "there"
      try context.save()
      own.name = "here"
      try child.save()
      #expect { try root.save() } throws: { code(of: $0) == .managedObjectMerge }
      root.rollback()
      root.mergePolicy = .mergeByPropertyObjectTrump
      child.refresh(own, mergeChanges: false)
      #expect(own.name == "there")
      // An object that only has to be as it was read.
      child.detectConflicts(for: own)
      try child.insert("Artist", ["name": "rests on the other"])
      scene.artist.born = 9
      try context.save()
      try child.save()
      root.mergePolicy = .error
      #expect { try root.save() } throws: { code(of: $0) == .managedObjectMerge }
      root.rollback()
      root.mergePolicy = .mergeByPropertyObjectTrump
      own.name = "here"
      try child.save()
      try root.save()
      #expect(try scene.stored("name") == ["here"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a parent's own save after a child has read is no conflict in the child`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let id = try Scene(context).artist.objectID
      let root = SmallGallery.sibling(of: context)
      let child = ManagedObjectContext(parent: root)
      let own = try #require(try child.existingObject(with: id) as? Artist)
      // Nobody holds the parent's object before and after.
      try root.existingObject(with: id).setValue(5, forKey: "born")
      try root.save()
      own.name = "child's"
      try child.save()
      try root.save()
      #expect(try SmallGallery.sibling(of: root).values(of: "born", "Artist") == ["5"])
      #expect(own.born == 5)
    }
  }

  @Test func `hooks run in the child, and an object is told of its insertion once`() throws {
    final class Counted: ManagedObject {
      override class var modelEntityName: String { "Tag" }
      var calls: [String] = []
      override func awakeFromInsert() { calls.append("insert") }
      override func willSave() { calls.append("willSave") }
      override func didSave() { calls.append("didSave") }
      override func validateForInsert() throws { calls.append("validate") }
    }
    let parent = try ManagedObjectContext.stubbed(SmallGallery.model, classes: [Counted.self])
    let child = ManagedObjectContext(parent: parent)
    let tag = try #require(try child.insert("Tag", ["word": "t"]) as? Counted)
    try child.save()
    #expect(tag.calls == ["insert", "willSave", "validate", "didSave"])
    let above = try #require(parent.object(with: tag.objectID) as? Counted)
    #expect(above.calls.isEmpty)
    try parent.save()
    #expect(above.calls == ["willSave", "validate", "didSave"])
  }

  @Test func `each store gets what is its own`() throws {
    try SeveralStoresScene.with((.memory, .file)) { scene in
      let (hilma, wassily) = try scene.artists()
      let child = ManagedObjectContext(parent: scene.context)
      let new = try child.insert("Artist", ["name": "new"])
      child.assign(new, to: scene.second)
      for artist in [hilma, wassily] {
        try #require(child.object(with: artist.objectID)).setValue("x", forKey: "name")
      }
      try child.save()
      #expect(try child.values(of: "name", "Artist", sortedBy: "name") == ["new", "x", "x"])
      try scene.context.save()
      child.refresh(new, mergeChanges: false)
      #expect(scene.coordinator.persistentStore(for: new.objectID) === scene.second)
      #expect(
        try scene.sibling().values(of: "name", "Artist", sortedBy: "name")
          == ["new", "x", "x"])
    }
  }
}
