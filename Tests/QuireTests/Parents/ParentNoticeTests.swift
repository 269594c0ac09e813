import Quire
import Testing

/// What parents and children are told of each other's saves, and what can be undone.
@Suite struct `Notices of parents and children` {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  @Test func `a save of a child is told there as a save, and in the parent as one change`() throws {
    let parent = try SmallGallery.context()
    let artist = try #require(try parent.insert("Artist", ["name": "a"]) as? Artist)
    let gone = try parent.insert("Artist", ["name": "gone"])
    try parent.save()
    let child = ManagedObjectContext(parent: parent)
    let own = try #require(child.object(with: artist.objectID) as? Artist)
    own.name = "b"
    let new = try child.insert("Artwork", ["title": "new", "artist": own])
    child.delete(try #require(child.object(with: gone.objectID)))
    child.processPendingChanges()
    var (above, below): ([ContextNotice], [ContextNotice]) = ([], [])
    let observations = [
      parent.observe { above.append($0) }, child.observe { below.append($0) },
    ]
    try child.save()
    #expect(
      below.map(\.kind) == [.willSaveObjects, .didSaveObjects, .didSaveObjectIDs])
    let saved = try #require(below.first { $0.kind == .didSaveObjects })
    #expect(saved.insertedObjects == [new] && saved.updatedObjects == [own])
    #expect(saved.objectIDs.deletedObjectIDs == [gone.objectID])
    #expect(saved.objectIDs.changedProperties[own.objectID] == ["name", "artworks"])
    #expect(saved.objectIDs.commitNumber == nil)
    #expect(above.map(\.kind) == [.didChangeObjects])
    let change = try #require(above.first)
    #expect(change.insertedObjects.map(\.objectID) == [new.objectID])
    #expect(change.updatedObjects == [artist] && change.deletedObjects == [gone])
    withExtendedLifetime(observations) {}
  }

  @Test func `a child's save is one event of the parent's undo manager`() throws {
    let parent = try SmallGallery.context()
    let artist = try #require(try parent.insert("Artist", ["name": "a"]) as? Artist)
    let gone = try parent.insert("Artist", ["name": "gone"])
    try parent.save()
    parent.undoManager = UndoManager()
    artist.born = 5
    let child = ManagedObjectContext(parent: parent)
    let own = try #require(child.object(with: artist.objectID) as? Artist)
    own.name = "b"
    try child.insert("Artwork", ["title": "new", "artist": own])
    child.delete(try #require(child.object(with: gone.objectID)))
    try child.save()
    parent.undo()
    #expect(artist.name == "a" && artist.artworks.isEmpty && artist.born == 5)
    #expect(!gone.isDeleted && parent.insertedObjects.isEmpty)
    parent.redo()
    #expect(artist.name == "b" && artist.artworks.map(\.title) == ["new"] && gone.isDeleted)
    parent.undo()
    parent.undo()
    #expect(artist.born == nil && !parent.hasPersistentChanges)
  }

  @Test func `a child's undo after its save reaches the parent with the next save`() throws {
    let parent = try SmallGallery.context()
    let artist = try #require(try parent.insert("Artist", ["name": "a"]) as? Artist)
    try parent.save()
    let new = try parent.insert("Artist", ["name": "new"])
    let child = ManagedObjectContext(parent: parent)
    child.undoManager = UndoManager()
    for object in [artist, new] { child.delete(try #require(child.object(with: object.objectID))) }
    try child.save()
    #expect(artist.isDeleted)
    #expect(try parent.values(of: "name", "Artist").isEmpty)
    child.undo()
    #expect(try child.values(of: "name", "Artist", sortedBy: "name") == ["a", "new"])
    try child.save()
    #expect(try parent.values(of: "name", "Artist", sortedBy: "name") == ["a", "new"])
    // The same, when the parent has saved the deletion.
    child.delete(try #require(child.object(with: artist.objectID)))
    try child.save()
    try parent.save()
    #expect(try parent.values(of: "name", "Artist") == ["new"])
    child.undo()
    try child.save()
    try parent.save()
    let stored = SmallGallery.sibling(of: parent)
    #expect(try stored.values(of: "name", "Artist", sortedBy: "name") == ["a", "new"])
  }

  @Test(arguments: GotchaHome.allCases)
  func `a child that merges by itself follows its parent's saves and its siblings'`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { parent in
      let artist = try #require(try parent.insert("Artist", ["name": "a"]) as? Artist)
      let gone = try parent.insert("Artist", ["name": "gone"])
      try parent.save()
      let (child, sibling) = (parent.newChildContext(), parent.newChildContext())
      child.automaticallyMergesChangesFromParent = true
      let own = try #require(child.object(with: artist.objectID) as? Artist)
      let ownGone = try #require(child.object(with: gone.objectID))
      #expect(own.name == "a")
      own.born = 3
      // By itself nothing but a save comes.
      artist.name = "b"
      #expect(own.name == "a")
      try parent.save()
      #expect(own.name == "b" && own.born == 3)
      let other = try #require(sibling.object(with: artist.objectID) as? Artist)
      other.name = "sibling's"
      let new = try sibling.insert("Artist", ["name": "new"])
      sibling.delete(try #require(sibling.object(with: gone.objectID)))
      var merged: [ObjectIDNotice] = []
      let observation = child.observe([.didMergeChangesObjectIDs]) { merged.append($0.objectIDs) }
      try sibling.save()
      #expect(own.name == "sibling's" && own.born == 3)
      #expect(ownGone.managedObjectContext == nil)
      #expect(merged.map(\.insertedObjectIDs) == [[new.objectID]])
      #expect(merged.map(\.deletedObjectIDs) == [[gone.objectID]])
      let ownNew = try #require(child.object(with: new.objectID))
      #expect(try ownNew.value(forKey: "name") as? String == "new")
      // A merge refreshes: the ID is the permanent one.
      try parent.save()
      #expect(!ownNew.objectID.isTemporaryID && new.objectID.isTemporaryID)
      try child.save()
      #expect(artist.born == 3 && artist.name == "sibling's")
      withExtendedLifetime(observation) {}
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a child merges what its parent merges`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let artist = try #require(try context.insert("Artist", ["name": "a"]) as? Artist)
      try context.save()
      let parent = SmallGallery.sibling(of: context)
      let child = parent.newChildContext()
      parent.automaticallyMergesChangesFromParent = true
      child.automaticallyMergesChangesFromParent = true
      let own = try #require(try child.existingObject(with: artist.objectID) as? Artist)
      artist.name = "b"
      try context.save()
      parent.performAndWait {}
      #expect(own.name == "b")
    }
  }
}

extension ManagedObjectContext {
  /// Whether a save would write anything.
  fileprivate var hasPersistentChanges: Bool {
    !insertedObjects.isEmpty || !deletedObjects.isEmpty
      || updatedObjects.contains(where: \.hasPersistentChangedValues)
  }
}
