import Quire
import Testing

/// Objects whose rows others have deleted, in a context that has not merged that.
@Suite struct InaccessibleObjectTests {
  typealias Artist = SmallGallery.Artist

  /// A fault of a second context, and what the first one has deleted.
  private func withGoneFault(
    _ home: GotchaHome, _ body: (Artist, ManagedObjectContext) throws -> Void
  ) throws {
    try home.withTwoContexts { one, two in
      let artist = Artist(context: one)
      artist.name = "Hilma"
      try one.save()
      let fault = try #require(two.object(with: artist.objectID) as? Artist)
      one.delete(artist)
      try one.save()
      try body(fault, two)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `an object that is gone reads empty, says so, and is told as deleted`(_ home: GotchaHome)
    throws
  {
    try withGoneFault(home) { artist, context in
      // In a store of another make, what a fault reads is the newest there is.
      let book = NoticeBook(context, .didChangeObjects)
      #expect(!artist.isInaccessible)
      _ = try context.count(for: FetchRequest<Artist>())
      #expect(artist.name == "" && artist.born == nil && artist.artworks.isEmpty)
      #expect(artist.isInaccessible && !artist.isDeleted)
      context.processPendingChanges()
      #expect(book.take().map(\.deletedObjects) == [[artist]])
      #expect(try artist.value(forKey: "name") == nil)
      context.processPendingChanges()
      #expect(book.take().isEmpty, "once")
      try context.save()
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a to-many relationship that is looked at first tells as well`(_ home: GotchaHome) throws {
    for look: (Artist) throws -> Bool in [
      { $0.artworks.isEmpty },
      { ((try $0.value(forKey: "artworks")) as? Set<ManagedObject>) == [] },
      { try $0.mutableSetValue(forKey: "artworks").isEmpty },
    ] {
      try withGoneFault(home) { artist, context in
        _ = try context.count(for: FetchRequest<Artist>())
        #expect(try look(artist) && artist.isInaccessible)
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a context can be told to make an error of it`(_ home: GotchaHome) throws {
    try withGoneFault(home) { artist, context in
      context.shouldDeleteInaccessibleFaults = false
      _ = try context.count(for: FetchRequest<Artist>())
      func isGone(_ error: any Error) -> Bool {
        let error = error as? PersistenceError
        return error?.code == .managedObjectReferentialIntegrity
          && error?.objectID == artist.objectID && error?.entityName == "Artist"
      }
      for key in ["name", "spouse", "artworks"] {
        #expect { try artist.value(forKey: key) } throws: { isGone($0) }
      }
      #expect { try artist.setValue("back", forKey: "name") } throws: { isGone($0) }
      try context.save()
      #expect(artist.name == "")
      #expect { try context.save() } throws: { isGone($0) }
      #expect(artist.artworks.isEmpty)
      #expect { try context.fetch(FetchRequest<Artist>()) } throws: { isGone($0) }
      artist.name = "lost"
      #expect { try context.save() } throws: { isGone($0) }
      try context.save()
    }
  }

  @Test func `a list lets go of what was found gone`() throws {
    let context = try SmallGallery.context()
    let other = SmallGallery.sibling(of: context)
    for name in ["A", "B"] { Artist(context: other).name = name }
    try other.save()
    var request = FetchRequest<Artist>()
    request.sortDescriptors = [FetchSortDescriptor(key: "name")]
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: context)
    let delegate = Listener()
    controller.delegate = delegate
    try controller.performFetch()
    let mine = try #require(controller.fetchedObjects)
    other.delete(try other.existingObject(with: mine[0].objectID))
    try other.save()
    context.refresh(mine[0], mergeChanges: false)
    #expect(mine[0].name == "" && mine[0].isInaccessible)
    context.processPendingChanges()
    #expect(controller.fetchedObjects == [mine[1]])
  }

  private final class Listener: FetchedResultsControllerDelegate { typealias Result = Artist }
}
