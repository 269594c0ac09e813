import Quire
import Testing

/// Where object stores go wrong when changes are undone. The numbers are those of
/// `docs/core-data.md`.
@Suite(.serialized) struct UndoGotchas {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  @Test(arguments: GotchaHome.allCases)
  func `20 – a save that failed leaves what can be undone and made again`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      context.undoManager = UndoManager()
      let artist = Artist(context: context)
      try context.save()
      artist.name = "Hokusai"
      context.processPendingChanges()
      artist.name = "Katsushika"
      context.undo()
      let tag = try context.insert("Tag")
      context.undo()
      context.redo()
      #expect(throws: PersistenceError.self) { try context.save() }
      #expect(context.undoManager?.canUndo == true && tag.isInserted)
      #expect(throws: PersistenceError.self) { try context.save() }
      context.undo()
      #expect(tag.managedObjectContext == nil && context.undoManager?.canRedo == true)
      #expect(artist.name == "Hokusai")
      try context.save()
      context.redo()
      #expect(tag.isInserted && tag.managedObjectContext === context)
      #expect(throws: PersistenceError.self) { try context.save() }
      context.undo()
      context.undo()
      #expect(artist.name == "unknown")
      try context.save()
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `37 – undoing restores both sides, insertions, and deletions with object and ID`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      context.undoManager = UndoManager()
      let artist = Artist(context: context)
      let artworks = [Artwork(context: context), Artwork(context: context)]
      artist.artworks = Set(artworks)
      let show = SmallGallery.Show(context: context)
      let other = Artist(context: context)
      show.artists = [other, artist]
      try context.save()
      let ids = (artworks as [ManagedObject] + [artist]).map(\.objectID)
      for isSaved in [false, true] {
        context.delete(artist)
        if isSaved { try context.save() } else { context.processPendingChanges() }
        #expect(show.artists == [other])
        #expect(try context.count(for: FetchRequest<Artwork>()) == 0)
        context.undo()
        #expect(artist.artworks == Set(artworks) && artworks[0].artist === artist)
        #expect(show.artists == [other, artist] && artist.shows == [show])
        #expect((artworks as [ManagedObject] + [artist]).map(\.objectID) == ids)
        #expect(context.hasChanges == isSaved)
        try context.save()
        #expect(try StoreFacts(context).findings == [])
      }
      context.processPendingChanges()
      let new = Artwork(context: context)
      new.artist = artist
      try context.save()
      context.undo()
      #expect(new.isDeleted && artist.artworks == Set(artworks))
      try context.save()
      let id = new.objectID
      context.redo()
      #expect(new.isInserted && new.artist === artist && artist.artworks.contains(new))
      try context.save()
      #expect(new.objectID == id)
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `37 – undone after a save an object is changed again, against what was saved`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      context.undoManager = UndoManager()
      let artist = Artist(context: context)
      try context.save()
      artist.name = "Hokusai"
      try context.save()
      context.undo()
      #expect(artist.name == "unknown" && artist.isUpdated)
      #expect(artist.changedValues().keys.sorted() == ["name"])
      #expect(try artist.committedValues(forKeys: ["name"])["name"] as? String == "Hokusai")
      try context.save()
      let other = GotchaHome.context(of: try #require(context.persistentStoreCoordinator))
      #expect(try other.all(Artist.self).map(\.name) == ["unknown"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `37 – a rollback and a reset leave nothing to undo`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let undo = UndoManager()
      context.undoManager = undo
      for clear in [context.rollback, context.reset] {
        let artist = Artist(context: context)
        try context.save()
        artist.name = "one"
        context.undo()
        artist.name = "two"
        #expect(undo.canUndo)
        clear()
        #expect(!undo.canUndo && !undo.canRedo)
        context.undo()
        #expect(!context.hasChanges)
      }
    }
  }
}
