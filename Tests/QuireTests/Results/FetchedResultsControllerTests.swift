import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct FetchedResultsControllerTests: JukeboxSuite {
  typealias Song = Jukebox.Song

  // MARK: The result

  @Test func `objects come in sections, and are found in them`() throws {
    let context = try filled([("jazz", 3), (nil, 5), ("blues", 1), ("jazz", 2)])
    let controller = controller(context, "genre", "rank", section: "genre")
    #expect(controller.sections == nil && controller.fetchedObjects == nil)
    #expect(throws: PersistenceError.self) { try controller.object(at: [0, 0]) }
    try controller.performFetch()
    let sections = try #require(controller.sections)
    #expect(sections.map(\.name) == ["", "blues", "jazz"])
    #expect(sections.map { $0.objects.map(\.rank) } == [[5], [1], [2, 3]])
    #expect(sections.map(\.numberOfObjects) == [1, 1, 2])
    let path = IndexPath(item: 1, section: 2)
    let song = try controller.object(at: path)
    #expect(song.rank == 3 && controller.indexPath(forObject: song) == path)
    for wrong in [[3, 0], [2, 2], [0, -1], [0], [], [0, 0, 0]] as [IndexPath] {
      let error = #expect(throws: PersistenceError.self) { try controller.object(at: wrong) }
      #expect(error?.code == .undefinedKey)
    }
    let stranger = try Jukebox.context().addSong("jazz", 3)
    #expect(controller.indexPath(forObject: stranger) == nil)
    FetchedResultsController<Song>.deleteCache(withName: controller.cacheName)
    #expect(controller.fetchedObjects?.count == 4)
  }

  @Test func `an index has the titles of sections, each once`() throws {
    let context = try filled([("jazz", 1), ("java", 2), ("über", 3), (nil, 4), ("blues", 5)])
    let controller = controller(context, "genre", section: "genre")
    try controller.performFetch()
    #expect(controller.sectionIndexTitles == ["B", "J", "Ü"])
    #expect(controller.sections?.map(\.indexTitle) == [nil, "B", "J", "J", "Ü"])
    #expect(try controller.section(forSectionIndexTitle: "J", at: 1) == 2)
    #expect(try controller.section(forSectionIndexTitle: "Ü", at: 2) == 4)
    for (title, index) in [("J", 0), ("X", 1), ("J", 3), ("J", -1)] {
      #expect(throws: PersistenceError.self) {
        try controller.section(forSectionIndexTitle: title, at: index)
      }
    }
    let delegate = Titles()
    controller.delegate = delegate
    #expect(controller.sectionIndexTitles == ["0", "5", "4"])
  }

  @Test func `numbers, dates and transient values name sections`() throws {
    let context = try filled([("a", 2), ("b", 1), ("c", 2)])
    for song in try context.fetch(Jukebox.songs("rank")) { song.mood = "mood \(song.rank)" }
    let ranks = controller(context, "rank", section: "rank")
    try ranks.performFetch()
    #expect(ranks.sections?.map(\.name) == ["1", "2"])
    let moods = controller(context, "rank", section: "mood")
    try moods.performFetch()
    #expect(moods.sections?.map(\.name) == ["mood 1", "mood 2"])
    let functions = FetchedResultsController(
      fetchRequest: Jukebox.songs("rank"), managedObjectContext: context,
      sectionName: { $0.rank.isMultiple(of: 2) ? "even" : "odd" })
    try functions.performFetch()
    #expect(functions.sections?.map(\.name) == ["odd", "even"])
    #expect(functions.sections?.map(\.numberOfObjects) == [1, 2])
  }

  // MARK: Errors

  @Test func `a section in two parts is an error that names it`() throws {
    let context = try filled([("jazz", 1), ("blues", 2), ("jazz", 3)])
    let controller = controller(context, "rank", section: "genre")
    let error = try #require(throws: PersistenceError.self) { try controller.performFetch() }
    #expect(error.code == .persistentStoreUnsupportedRequestType)
    #expect(error.message.contains("jazz") && error.message.contains("number 2"))
    #expect(controller.fetchedObjects == nil)
    // While it is followed, the former result stays and the next fetch throws.
    let request = controller.fetchRequest
    for song in try context.fetch(request) { song.genre = "jazz" }
    try controller.performFetch()
    let book = ResultsBook(controller)
    controller.fetchedObjects?[1].genre = "blues"
    context.processPendingChanges()
    #expect(book.takeLines() == [] && controller.sections?.count == 1)
    let told = try #require(throws: PersistenceError.self) { try context.fetch(request) }
    #expect(told.code == .persistentStoreUnsupportedRequestType)
    controller.fetchedObjects?[2].genre = "soul"
    context.processPendingChanges()
    #expect(controller.sections?.map(\.name) == ["jazz", "blues", "soul"])
    #expect(book.failures == [])
  }

  @Test func `a request without an order has all objects`() throws {
    let context = try filled([("jazz", 1), ("blues", 2), ("jazz", 3)])
    let plain = controller(context)
    try plain.performFetch()
    #expect(plain.fetchedObjects?.count == 3 && plain.sections?.count == 1)
    let book = ResultsBook(plain)
    context.delete(try #require(plain.fetchedObjects?.first))
    context.processPendingChanges()
    #expect(plain.fetchedObjects?.count == 2 && !book.takeLines().isEmpty)
    try context.save()
    #expect(plain.fetchedObjects?.count == 2 && book.failures == [])
  }

  @Test func `a request that makes no result is refused`() throws {
    let context = try filled([("jazz", 1)])
    func code(_ controller: FetchedResultsController<Song>) throws -> PersistenceError.Code? {
      #expect(throws: PersistenceError.self) { try controller.performFetch() }?.code
    }
    #expect(try code(controller(context, "rank", section: "gener")) == .undefinedKey)
    #expect(try code(controller(context, "rank", section: "")) == .undefinedKey)
    #expect(
      try code(controller(context, "rank", section: "album.songs"))
        == .persistentStoreUnsupportedRequestType)
    try context.fetch(Jukebox.songs("rank"))[0].album = context.insert("Album")
    #expect(
      try code(controller(context, "rank", section: "album"))
        == .persistentStoreUnsupportedRequestType)
    let failing = FetchedResultsController(
      fetchRequest: Jukebox.songs("rank"), managedObjectContext: context,
      sectionName: { _ in throw CancellationError() })
    #expect(throws: CancellationError.self) { try failing.performFetch() }
  }

  @Test @MainActor func `a delegate may be of the main actor`() async throws {
    let context = try filled([("jazz", 1)])
    let controller = FetchedResultsController(
      fetchRequest: Jukebox.songs("rank"), managedObjectContext: context)
    let list = MainList()
    controller.delegate = list
    try controller.performFetch()
    context.addSong("jazz", 2)
    context.processPendingChanges()
    #expect(list.changeCount == 1)
  }
}

private final class Titles: FetchedResultsControllerDelegate {
  typealias Result = Jukebox.Song

  func controller(
    _ controller: FetchedResultsController<Result>, sectionIndexTitleForSectionName name: String
  ) -> String? { "\(name.utf8.count)" }
}

@MainActor private final class MainList: @MainActor FetchedResultsControllerDelegate {
  var changeCount = 0

  func controllerDidChangeContent(_ controller: FetchedResultsController<Jukebox.Song>) {
    changeCount += 1
  }
}
