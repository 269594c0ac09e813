import Quire
import Testing

/// What a child context sees of its parent.
@Suite struct `Parent contexts` {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show

  /// The child's object for one of the parent's.
  private func same<Object: ManagedObject>(
    _ object: Object, in child: ManagedObjectContext
  ) throws -> Object {
    let own = try #require(child.object(with: object.objectID) as? Object)
    #expect(own !== object && own.managedObjectContext === child)
    return own
  }

  @Test(arguments: GotchaHome.allCases)
  func `a fetch finds what the parent has not saved, with what is changed in the child on top`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { parent in
      let kept = try parent.insert("Artist", ["name": "kept"])
      let changed = try parent.insert("Artist", ["name": "changed"])
      let deleted = try parent.insert("Artist", ["name": "deleted"])
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      #expect(child.parent === parent)
      #expect(child.persistentStoreCoordinator === parent.persistentStoreCoordinator)
      try changed.setValue("new name", forKey: "name")
      parent.delete(deleted)
      let new = try parent.insert("Artist", ["name": "new"])
      #expect(
        try child.values(of: "name", "Artist", sortedBy: "name") == ["kept", "new", "new name"])
      #expect(
        try child.values(of: "name", "Artist", "name BEGINSWITH 'new'", sortedBy: "name")
          == ["new", "new name"])
      #expect(try child.values(of: "name", "Artist", "name == 'changed'").isEmpty)
      #expect(try child.count(for: FetchRequest<Artist>()) == 3)
      let artists = try child.all(Artist.self)
      #expect(artists.allSatisfy { $0.managedObjectContext === child && !$0.hasChanges })
      #expect(Set(artists.map(\.objectID)) == [kept.objectID, changed.objectID, new.objectID])
      #expect(!child.hasChanges)
      // Changes of the child on top: of the parent's new object, and of one it has not touched.
      try same(new, in: child).setValue("newer", forKey: "name")
      child.delete(try same(kept, in: child))
      try child.insert("Artist", ["name": "a child's"])
      #expect(
        try child.values(of: "name", "Artist", sortedBy: "name")
          == ["a child's", "new name", "newer"])
      #expect(
        try parent.values(of: "name", "Artist", sortedBy: "name") == ["kept", "new", "new name"])
      var request = FetchRequest<Artist>()
      request.sortDescriptors = [FetchSortDescriptor(key: "name")]
      request.fetchLimit = 1
      request.fetchOffset = 1
      #expect(try child.fetch(request).map(\.name) == ["new name"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a fault is read from the parent when it is needed`(_ home: GotchaHome) throws {
    try home.withContext { parent in
      let artist = try #require(try parent.insert("Artist", ["name": "saved"]) as? Artist)
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      let own = try same(artist, in: child)
      #expect(own.isFault)
      artist.name = "unsaved"
      artist.born = 1862
      #expect(own.name == "unsaved" && own.born == 1862 && !own.isFault)
      // There is one object for each object: it keeps what it has read.
      artist.name = "later"
      #expect(own.name == "unsaved")
      child.refresh(own, mergeChanges: true)
      #expect(own.name == "later")
      own.born = 1
      artist.name = "last"
      child.refresh(own, mergeChanges: true)
      #expect(own.name == "last" && own.born == 1)
      child.refresh(own, mergeChanges: false)
      #expect(own.born == 1862 && !child.hasChanges)
      #expect(throws: PersistenceError.self) {
        try child.setQueryGeneration(from: .current)
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `relationships lead where they lead in the parent, ordered ones in its order`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { parent in
      let artist = try #require(try parent.insert("Artist", ["name": "a"]) as? Artist)
      let other = try #require(try parent.insert("Artist", ["name": "b"]) as? Artist)
      let first = try #require(try parent.insert("Artwork", ["title": "1"]) as? Artwork)
      let show = try #require(try parent.insert("Show", ["name": "s"]) as? Show)
      first.artist = artist
      show.artists = [artist, other]
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      // Nothing is read before the parent changes it.
      let second = try #require(try parent.insert("Artwork", ["title": "2"]) as? Artwork)
      second.artist = artist
      second.lookalike = first
      first.artist = other
      let third = try #require(try parent.insert("Artist", ["name": "c"]) as? Artist)
      show.artists = [third, other, artist]
      let tag = try parent.insert("Tag", ["word": "t"])
      try first.setValue(Set([tag]), forKey: "tags")
      let own = try same(artist, in: child)
      #expect(own.artworks.map(\.title) == ["2"])
      let ownSecond = try #require(own.artworks.first)
      #expect(ownSecond.managedObjectContext === child && ownSecond.artist === own)
      #expect(try ownSecond.lookalike === same(first, in: child))
      #expect(try same(first, in: child).artist?.name == "b")
      #expect(try same(show, in: child).artists.map(\.name) == ["c", "b", "a"])
      #expect(try same(third, in: child).shows.map(\.name) == ["s"])
      #expect(try child.values(of: "title", "Artwork", "ANY tags.word == 't'") == ["1"])
      #expect(try child.values(of: "title", "Artwork", "artist.name == 'a'") == ["2"])
      #expect(
        try child.values(of: "name", "Artist", "artworks.@count == 1", sortedBy: "name")
          == ["a", "b"])
      var request = FetchRequest<Artwork>()
      request.predicate = Key("artist") == own
      #expect(try child.fetch(request) == [ownSecond])
      // A deleted destination is away when the rules are applied.
      parent.delete(second)
      parent.processPendingChanges()
      #expect(try child.values(of: "title", "Artwork") == ["1"])
      #expect(own.artworks.isEmpty)
      child.refresh(ownSecond, mergeChanges: false)
      #expect(ownSecond.title == nil)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `several generations see through each other`(_ home: GotchaHome) throws {
    try home.withContext { root in
      let artist = try #require(try root.insert("Artist", ["name": "root"]) as? Artist)
      try root.save()
      artist.born = 1
      let child = root.newChildContext()
      let grandchild = child.newChildContext()
      let work = try #require(try root.insert("Artwork", ["title": "root's"]) as? Artwork)
      work.artist = artist
      try child.insert("Artist", ["name": "child's"])
      let deepest = try same(artist, in: grandchild)
      #expect(deepest.born == 1 && deepest.artworks.map(\.title) == ["root's"])
      #expect(
        try grandchild.values(of: "name", "Artist", sortedBy: "name") == ["child's", "root"])
      let middle = try same(artist, in: child)
      middle.name = "middle"
      #expect(try grandchild.values(of: "name", "Artist", "born == 1") == ["root"])
      grandchild.refresh(deepest, mergeChanges: false)
      #expect(deepest.name == "middle" && deepest.born == 1)
      deepest.name = "deepest"
      let new = try #require(try grandchild.insert("Artwork", ["title": "new"]) as? Artwork)
      new.artist = deepest
      try grandchild.save()
      #expect(middle.name == "deepest" && artist.name == "root")
      #expect(middle.artworks.count == 2 && artist.artworks.count == 1)
      try child.save()
      #expect(artist.name == "deepest" && artist.artworks.count == 2)
      try root.save()
      let other = SmallGallery.sibling(of: root)
      #expect(try other.values(of: "title", "Artwork", "artist.name == 'deepest'").count == 2)
      #expect(deepest.artworks.count == 2 && !grandchild.hasChanges)
      #expect(deepest.artworks.contains(new))
      child.parent = grandchild
      #expect(throws: PersistenceError.self) { try child.all(Artist.self) }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `rollback, reset and what becomes of the parent's objects`(_ home: GotchaHome) throws {
    try home.withContext { parent in
      let artist = try #require(try parent.insert("Artist", ["name": "saved"]) as? Artist)
      try parent.save()
      artist.name = "unsaved"
      let new = try #require(try parent.insert("Artist", ["name": "new"]) as? Artist)
      let child = ManagedObjectContext(parent: parent)
      let own = try same(artist, in: child)
      let ownNew = try same(new, in: child)
      own.name = "child's"
      child.delete(ownNew)
      child.rollback()
      #expect(own.name == "unsaved" && ownNew.name == "new" && !ownNew.isDeleted)
      #expect(try child.count(for: FetchRequest<Artist>()) == 2)
      own.name = "child's"
      child.reset()
      #expect(own.managedObjectContext == nil && child.registeredObjects.isEmpty)
      let again = try same(new, in: child)
      #expect(again.name == "new")
      // What the parent drops is gone for the child, as a row that is gone from a store.
      parent.rollback()
      #expect(again.name == "new")
      child.refresh(again, mergeChanges: false)
      #expect(try again.value(forKey: "name") == nil)
      #expect(throws: PersistenceError.self) { try child.existingObject(with: again.objectID) }
      #expect(try child.values(of: "name", "Artist") == ["saved"])
    }
  }

  @MainActor @Test func `a child of the main actor's context is one of the main actor`() throws {
    let container = PersistentContainer(
      name: "gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try container.loadPersistentStore(at: nil)
    let child = ManagedObjectContext(parent: container.viewContext)
    #expect(child.concurrencyType == .mainQueueConcurrencyType)
    try child.insert("Artist", ["name": "a"])
    try child.save()
    #expect(try container.viewContext.values(of: "name", "Artist") == ["a"])
    // As in Core Data: made first, and given its parent then.
    let other = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.parent = container.viewContext
    #expect(try other.values(of: "name", "Artist") == ["a"])
    other.parent = nil
    #expect(try other.values(of: "name", "Artist").isEmpty)
  }
}
