import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where results go wrong that live longer than the fetch. The numbers are those of
/// `docs/core-data.md`.
@Suite(.serialized) struct ResultGotchas {
  typealias Artwork = SmallGallery.Artwork

  @Test(arguments: GotchaHome.allCases)
  func `34 – a batched result stays what it was, and deleted objects cannot be fulfilled`(
    _ home: GotchaHome
  ) throws {
    try home.withTwoContexts { context, other in
      for number in 0..<40 { try context.insert("Artwork", ["price": Double(number)]) }
      try context.save()
      context.reset()
      var request = FetchRequest<Artwork>()
      request.sortDescriptors = [FetchSortDescriptor(key: "price")]
      request.fetchBatchSize = 4
      let artworks = try context.fetchBatched(request)
      let ids = artworks.indices.map(artworks.objectID)
      try #require(artworks.count == 40)

      // Somebody else deletes one and changes one, and inserts one that would come first.
      let theirs = try other.fetch(request)
      other.delete(theirs[21])
      theirs[22].price = 1_000
      try other.insert("Artwork", ["price": -1.0])
      try other.save()
      // We delete one, and change one so that it would come last.
      let mine = try #require(try context.existingObject(with: ids[10]) as? Artwork)
      context.delete(mine)
      artworks[11].price = 2_000
      try context.save()

      #expect(artworks.count == 40)
      #expect(artworks.indices.map(artworks.objectID) == ids)
      #expect(artworks.map(\.objectID) == ids)
      for gone in [10, 21] {
        #expect(artworks[gone].isFault && artworks[gone].managedObjectContext === context)
        #expect(artworks[gone].title == nil && artworks[gone].price == 0)
        #expect(throws: PersistenceError.self) { try context.existingObject(with: ids[gone]) }
      }
      #expect(artworks[11].price == 2_000 && artworks[22].price == 1_000)
      #expect(artworks[39].price == 39)
      #expect(try context.fetchBatched(request).count == 39)
    }
  }
}

/// The same of fetched results controllers.
extension ResultGotchas {
  private static func withController(
    _ home: GotchaHome,
    _ body: (ManagedObjectContext, FetchedResultsController<Jukebox.Song>, ResultsBook) throws
      -> Void
  ) throws {
    try home.withContext(Jukebox.model, classes: [Jukebox.Song.self]) { context in
      for (genre, rank) in [("blues", 1), ("blues", 2), ("jazz", 3), ("jazz", 4), ("jazz", 5)] {
        context.addSong(genre, rank)
      }
      try context.save()
      let controller = FetchedResultsController(
        fetchRequest: Jukebox.songs("genre", "rank"), managedObjectContext: context,
        sectionNameKeyPath: "genre")
      try controller.performFetch()
      let book = ResultsBook(controller)
      try body(context, controller, book)
      context.processPendingChanges()
      #expect(book.failures == [])
      #expect(book.sections.flatMap(\.songs) == (try context.fetch(controller.fetchRequest)))
      #expect(book.objectIDs == book.sections.flatMap(\.songs).map(\.objectID))
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `35 – an object whose section name changes moves, and sections come and go`(
    _ home: GotchaHome
  ) throws {
    try Self.withController(home) { context, controller, book in
      let song = try controller.object(at: IndexPath(item: 1, section: 0))
      song.genre = "jazz"
      context.processPendingChanges()
      #expect(book.takeLines() == ["move 2 0/1 1/0"])
      song.genre = "opera"
      context.processPendingChanges()
      #expect(book.takeLines() == ["section opera comes to 2", "move 2 1/0 2/0"])
      song.genre = "country"
      context.processPendingChanges()
      #expect(
        book.takeLines() == [
          "section opera goes from 2", "section country comes to 1", "move 2 2/0 1/0",
        ])
      // One that goes over takes a section along, and its only object is not told twice.
      controller.fetchedObjects?[0].genre = "country"
      context.processPendingChanges()
      #expect(book.takeLines() == ["section blues goes from 0", "move 1 0/0 0/0"])
      #expect(controller.sections?.map(\.name) == ["country", "jazz"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `35 – an object that changed and moved has moved only`(_ home: GotchaHome) throws {
    try Self.withController(home) { context, controller, book in
      let song = try controller.object(at: IndexPath(item: 0, section: 1))
      song.note = "louder"
      context.processPendingChanges()
      #expect(book.takeLines() == ["update 3 1/0 1/0"])
      #expect(book.snapshot?.updatedObjectIDs == [song.objectID])
      song.note = "softer"
      song.rank = 9
      context.processPendingChanges()
      #expect(book.takeLines() == ["move 9 1/0 1/2"])
      #expect(book.snapshot?.updatedObjectIDs == [song.objectID])
      // A sort key that leaves it where it was is an update.
      song.rank = 10
      context.processPendingChanges()
      #expect(book.takeLines() == ["update 10 1/2 1/2"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `35 – what a merge inserts though it is there already is an update`(_ home: GotchaHome)
    throws
  {
    try Self.withController(home) { context, controller, book in
      let other = GotchaHome.context(
        of: try #require(context.persistentStoreCoordinator))
      let notices = NoticeBook(other, .didSaveObjectIDs)
      let new = other.addSong("blues", 7)
      try other.save()
      // A change here leads to a fetch, which sees what was saved there.
      context.addSong("soul", 8)
      context.processPendingChanges()
      #expect(
        book.takeLines() == ["section soul comes to 2", "insert 7 - 0/2", "insert 8 - 2/0"])
      let notice = try #require(notices.take().first)
      #expect(notice.objectIDs.insertedObjectIDs == [new.objectID])
      context.mergeChanges(fromContextDidSave: notice.objectIDs)
      #expect(book.takeLines() == ["update 7 0/2 0/2"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `35 – an object that was never saved leaves when it is deleted`(_ home: GotchaHome) throws {
    try Self.withController(home) { context, controller, book in
      let song = context.addSong("jazz", 0)
      context.processPendingChanges()
      #expect(book.takeLines() == ["insert 0 - 1/0"])
      context.delete(song)
      context.processPendingChanges()
      #expect(book.takeLines() == ["delete 0 1/0 -"])
      // One that comes and goes within an event was never there.
      context.delete(context.addSong("soul", 6))
      context.processPendingChanges()
      #expect(book.takeLines() == [])
    }
  }

  @Test(arguments: GotchaHome.allCases, [nil, "genre"])
  func `35 – an empty result is one`(_ home: GotchaHome, _ path: String?) throws {
    try home.withContext(Jukebox.model, classes: [Jukebox.Song.self]) { context in
      let controller = FetchedResultsController(
        fetchRequest: Jukebox.songs("genre"), managedObjectContext: context,
        sectionNameKeyPath: path)
      try controller.performFetch()
      #expect(controller.fetchedObjects == [])
      #expect(controller.sections?.map(\.name) == (path == nil ? [""] : []))
      let book = ResultsBook(controller)
      let song = context.addSong("jazz", 1)
      context.processPendingChanges()
      #expect(
        book.takeLines() == (path == nil ? [] : ["section jazz comes to 0"]) + ["insert 1 - 0/0"])
      context.delete(song)
      context.processPendingChanges()
      #expect(
        book.takeLines() == (path == nil ? [] : ["section jazz goes from 0"]) + ["delete 1 0/0 -"])
      #expect(controller.fetchedObjects == [] && book.failures == [])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `35 – without a delegate nothing is followed`(_ home: GotchaHome) throws {
    try Self.withController(home) { context, controller, book in
      controller.delegate = nil
      let song = context.addSong("soul", 0)
      try context.save()
      #expect(controller.fetchedObjects?.count == 5 && book.takeLines() == [])
      #expect(controller.indexPath(forObject: song) == nil)
      // What the controller has is where the next delegate begins.
      controller.delegate = book
      context.addSong("soul", 1)
      context.processPendingChanges()
      #expect(
        book.takeLines() == ["section soul comes to 2", "insert 0 - 2/0", "insert 1 - 2/1"])
    }
  }
}
