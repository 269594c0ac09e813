import Quire
import Testing

/// How a controller follows its context.
@Suite struct FetchedResultsTrackingTests: JukeboxSuite {
  typealias Song = Jukebox.Song

  @Test func `the order of calls is that of Core Data`() throws {
    let context = try filled([("blues", 1), ("jazz", 2), ("jazz", 3), ("jazz", 4)])
    let controller = controller(context, "genre", "rank", section: "genre")
    try controller.performFetch()
    let book = ResultsBook(controller)
    let songs = try #require(controller.fetchedObjects)
    context.delete(songs[0])
    context.addSong("soul", 9)
    songs[1].rank = 5
    songs[2].note = "louder"
    context.processPendingChanges()
    #expect(
      book.takeLines() == [
        "section blues goes from 0", "section soul comes to 1", "delete 1 0/0 -",
        "insert 9 - 1/0", "move 5 1/0 0/2", "update 3 1/1 0/0",
      ])
    #expect(book.failures == [] && book.snapshot?.sectionNames == ["jazz", "soul"])
  }

  @Test func `a save gives new objects other IDs, and nothing else is told`() throws {
    let context = try filled([("jazz", 1)])
    let controller = controller(context, "rank")
    try controller.performFetch()
    let book = ResultsBook(controller)
    let song = context.addSong("jazz", 0)
    context.processPendingChanges()
    #expect(book.objectIDs.first?.isTemporaryID == true)
    _ = book.takeLines()
    try context.save()
    #expect(book.objectIDs == (controller.fetchedObjects ?? []).map(\.objectID))
    #expect(book.snapshot?.objectIDs.first == song.objectID && !song.objectID.isTemporaryID)
    #expect(book.takeLines() == [] && book.failures == [])
  }

  /// A delegate that counted the objects of a section that went, as code for Core Data does,
  /// counted objects that were told as deleted or moved one by one.
  @Test func `a section that goes has its name and no objects`() throws {
    let context = try filled([("blues", 1), ("jazz", 2)])
    let controller = controller(context, "genre", section: "genre")
    try controller.performFetch()
    let list = SectionList()
    controller.delegate = list
    try #require(controller.fetchedObjects?.first).genre = "jazz"
    context.addSong("soul", 3)
    context.processPendingChanges()
    #expect(list.told == ["delete blues b 0", "insert soul s 1"])
  }

  private final class SectionList: FetchedResultsControllerDelegate {
    typealias Result = Song
    var told: [String] = []

    func controller(
      _ controller: FetchedResultsController<Song>,
      didChange section: FetchedResultsSectionInfo<Song>, atSectionIndex sectionIndex: Int,
      for type: FetchedResultsChangeType
    ) {
      told.append(
        "\(type) \(section.name) \(section.indexTitle ?? "-") \(section.objects.count)")
      if section.numberOfObjects != section.objects.count { told.append("another number") }
    }

    func controller(
      _ controller: FetchedResultsController<Song>, sectionIndexTitleForSectionName name: String
    ) -> String? { String(name.prefix(1)) }
  }

  @Test func `paths to other objects are followed`() throws {
    let context = try Jukebox.context()
    let (one, two) = (try context.insert("Album", ["name": "A"]), try context.insert("Album"))
    try two.setValue("B", forKey: "name")
    for rank in 0..<4 { context.addSong(nil, rank).album = rank < 2 ? one : two }
    try context.save()
    let controller = controller(context, "album.name", "rank", section: "album.name")
    controller.fetchRequest.predicate = try FetchPredicate(format: "album.name != 'hidden'")
    try controller.performFetch()
    let book = ResultsBook(controller)
    try one.setValue("C", forKey: "name")
    context.processPendingChanges()
    #expect(controller.sections?.map(\.name) == ["B", "C"])
    #expect(controller.fetchedObjects?.map(\.rank) == [2, 3, 0, 1])
    try two.setValue("hidden", forKey: "name")
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.map(\.rank) == [0, 1] && book.failures == [])
    context.rollback()
    #expect(controller.fetchedObjects?.map(\.rank) == [0, 1, 2, 3] && book.failures == [])
  }

  @Test func `a limit lets the next one in when the first goes`() throws {
    let context = try filled((0..<6).map { ("jazz", $0) })
    let controller = controller(context, "rank")
    controller.fetchRequest.fetchLimit = 3
    controller.fetchRequest.fetchOffset = 1
    try controller.performFetch()
    let book = ResultsBook(controller)
    let first = try #require(try context.fetch(Jukebox.songs("rank")).first)
    context.delete(first)
    context.processPendingChanges()
    #expect(book.takeLines() == ["delete 1 0/0 -", "insert 4 - 0/2"])
    // Another request counts from the next fetch.
    controller.fetchRequest.fetchLimit = 1
    context.addSong("jazz", -1)
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.map(\.rank) == [1, 2, 3])
    try controller.performFetch()
    #expect(controller.fetchedObjects?.map(\.rank) == [1] && book.failures == [])
  }

  /// Either of two neighbours could be said to have moved over the other.
  @Test func `a move is reported of the object that changed, not of its neighbours`() throws {
    let context = try filled((0..<8).map { ("jazz", 10 * $0) })
    let controller = controller(context, "rank")
    try controller.performFetch()
    let book = ResultsBook(controller)
    let songs = try #require(controller.fetchedObjects)
    for (song, rank, line) in [
      (3, 45, "move 45 0/3 0/4"), (3, 35, "move 35 0/4 0/3"), (0, 15, "move 15 0/0 0/1"),
      (7, 55, "move 55 0/7 0/6"), (0, 99, "move 99 0/1 0/7"),
    ] {
      songs[song].rank = rank
      context.processPendingChanges()
      #expect(book.takeLines() == [line])
    }
    // Several at once, one of which stays where it was.
    for song in [1, 4, 5] { songs[song].rank += 30 }
    context.processPendingChanges()
    let lines = book.takeLines()
    #expect(lines.count == 3 && lines.allSatisfy { !$0.contains("20 ") && !$0.contains("55 ") })
    #expect(book.failures == [])
  }

  /// Somebody else deleted an object that nobody held here, before the offset of the request. The
  /// context's notice of changes did not name it, and the result did not move up.
  @Test func `a merged deletion of an object that the context does not know is followed`() throws {
    let context = try filled((0..<6).map { ("jazz", $0) })
    context.automaticallyMergesChangesFromParent = true
    let controller = controller(context, "rank")
    controller.fetchRequest.fetchOffset = 2
    controller.fetchRequest.fetchLimit = 2
    try controller.performFetch()
    let book = ResultsBook(controller)
    let other = SmallGallery.sibling(of: context)
    let first = try #require(try other.fetch(Jukebox.songs("rank")).first)
    #expect(context.registeredObject(for: first.objectID) == nil)
    other.delete(first)
    try other.save()
    context.processPendingChanges()
    #expect(book.takeLines() == ["delete 2 0/0 -", "insert 4 - 0/1"] && book.failures == [])
  }

  /// A property that no request asks for was set here, and a sort key by somebody else, in one
  /// event. The notice named the first one only, so the result was not asked for again.
  @Test func `a change merged into an object with unsaved changes is followed`() throws {
    let parent = try filled((0..<4).map { ("jazz", $0) })
    let context = parent.newChildContext()
    context.automaticallyMergesChangesFromParent = true
    let controller = controller(context, "rank")
    try controller.performFetch()
    let book = ResultsBook(controller)
    controller.fetchedObjects?[0].mood = "blue"
    try parent.fetch(Jukebox.songs("rank"))[0].rank = 9
    try parent.save()
    context.processPendingChanges()
    #expect(book.takeLines() == ["move 9 0/0 0/3"] && book.failures == [])
  }

  @Test func `a change that does not concern the result costs no fetch`() throws {
    let server = RowServer()
    let context = GotchaHome.context(
      of: try server.coordinator(.plain, Jukebox.model, classes: [Song.self]))
    for rank in 0..<3 { context.addSong("jazz", rank) }
    let album = try context.insert("Album")
    try context.save()
    let controller = controller(context, "rank", section: "genre")
    try controller.performFetch()
    let book = ResultsBook(controller)
    server.restartCounting()
    try album.setValue("other", forKey: "name")
    context.processPendingChanges()
    controller.fetchedObjects?[1].note = "louder"
    context.processPendingChanges()
    #expect(server.now.calls(.fetch) == 0)
    #expect(book.takeLines() == ["update 1 0/1 0/1"])
    controller.fetchedObjects?[1].rank = 7
    context.processPendingChanges()
    #expect(server.now.calls(.fetch) == 1)
    #expect(book.takeLines() == ["move 7 0/1 0/2"])
  }

  @Test func `changes that a delegate makes are reported after the present report`() throws {
    let context = try filled([("jazz", 1), ("jazz", 2)])
    let controller = controller(context, "rank")
    try controller.performFetch()
    let book = ResultsBook(controller)
    var count = 0
    book.onChange = {
      count += 1
      if count > 2 { return }
      context.addSong("soul", 10 + count)
      do { try context.save() } catch { Issue.record(error) }
    }
    context.addSong("blues", 0)
    context.processPendingChanges()
    context.processPendingChanges()
    #expect(book.takeLines() == ["insert 0 - 0/0", "insert 11 - 0/3", "insert 12 - 0/4"])
    #expect(book.failures == [] && book.objectIDs.allSatisfy { !$0.isTemporaryID })
  }

  @Test func `after a reset nothing is told until the next fetch`() throws {
    let context = try filled([("jazz", 1), ("jazz", 2)])
    let controller = controller(context, "rank")
    try controller.performFetch()
    let book = ResultsBook(controller)
    context.reset()
    context.addSong("jazz", 3)
    try context.save()
    #expect(book.takeLines() == [] && controller.fetchedObjects?.count == 2)
    #expect(controller.fetchedObjects?[0].managedObjectContext == nil)
    try controller.performFetch()
    book.take(controller)
    context.addSong("jazz", 4)
    context.processPendingChanges()
    #expect(book.takeLines() == ["insert 4 - 0/3"] && book.failures == [])
  }

  @Test func `a controller goes when nobody holds it, and its delegate before it`() throws {
    let context = try filled([("jazz", 1)])
    var controller: FetchedResultsController<Song>? = controller(context, "rank")
    try controller?.performFetch()
    weak let weakController = controller
    var book: ResultsBook? = controller.map(ResultsBook.init)
    weak let weakBook = book
    context.addSong("jazz", 2)
    context.processPendingChanges()
    #expect(book?.takeLines().count == 1)
    book = nil
    #expect(weakBook == nil)
    context.addSong("jazz", 3)
    context.processPendingChanges()
    #expect(controller?.fetchedObjects?.count == 2)
    controller = nil
    #expect(weakController == nil)
    context.addSong("jazz", 4)
    try context.save()
  }
}
