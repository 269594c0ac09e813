import Quire
import Testing

/// The main actor's context processes what has changed when an event ends: a list stood still after
/// an insertion until somebody saved.
@Suite @MainActor struct EventEndTests {
  typealias Artist = SmallGallery.Artist

  private func container() throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try container.loadPersistentStore(at: nil)
    return container
  }

  /// Lets the main actor have turns until a condition holds, a thousand at most.
  private func holds(_ condition: () -> Bool) async -> Bool {
    for _ in 0..<1000 {
      if condition() { return true }
      await Task.yield()
    }
    return condition()
  }

  private final class List: FetchedResultsControllerDelegate {
    typealias Result = Artist
    var changeCount = 0
    func controllerDidChangeContent(_ controller: FetchedResultsController<Artist>) {
      changeCount += 1
    }
  }

  private func list(
    in context: ManagedObjectContext
  ) throws -> (FetchedResultsController<Artist>, List) {
    var request = FetchRequest<Artist>()
    request.sortDescriptors = [FetchSortDescriptor(key: "name")]
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: context)
    let list = List()
    controller.delegate = list
    try controller.performFetch()
    return (controller, list)
  }

  @Test func `a list moves after an insertion, a change and a deletion, without a save`()
    async throws
  {
    let container = try container()
    let context = container.viewContext
    let (controller, list) = try list(in: context)
    for name in ["B", "A"] { Artist(context: context).name = name }
    #expect(controller.fetchedObjects?.isEmpty == true)
    #expect(await holds { list.changeCount == 1 })
    #expect(controller.fetchedObjects?.map(\.name) == ["A", "B"])
    try #require(controller.fetchedObjects?.first).name = "C"
    #expect(await holds { list.changeCount == 2 })
    #expect(controller.fetchedObjects?.map(\.name) == ["B", "C"])
    context.delete(try #require(controller.fetchedObjects?.last))
    #expect(await holds { list.changeCount == 3 })
    #expect(controller.fetchedObjects?.map(\.name) == ["B"] && context.hasChanges)
  }

  @Test func `all changes of an event are told at once`() async throws {
    let container = try container()
    let context = container.viewContext
    let book = NoticeBook(context, .didChangeObjects)
    let artists = (0..<20).map { _ in Artist(context: context) }
    for artist in artists { artist.name = "Hilma" }
    #expect(await holds { !book.notices.isEmpty })
    for _ in 0..<20 { await Task.yield() }
    #expect(book.take().map(\.insertedObjects.count) == [20])
  }

  @Test func `delete rules are applied, and what comes later is undone by itself`() async throws {
    let container = try container()
    let context = container.viewContext
    let undoManager = UndoManager()
    context.undoManager = undoManager
    let artist = Artist(context: context)
    let artwork = SmallGallery.Artwork(context: context)
    artwork.artist = artist
    try context.save()
    context.delete(artist)
    #expect(await holds { artwork.isDeleted })
    try undoManager.undo()
    #expect(!artist.isDeleted && !artwork.isDeleted)
    artist.name = "one"
    #expect(await holds { undoManager.groupingLevel == 0 })
    artist.name = "two"
    #expect(await holds { undoManager.groupingLevel == 0 })
    try undoManager.undo()
    #expect(artist.name == "one")
  }

  @Test func `a child of the main actor's context ends its events with it`() async throws {
    let container = try container()
    let child = container.viewContext.newChildContext()
    let (controller, list) = try list(in: child)
    Artist(context: child).name = "A"
    #expect(await holds { list.changeCount == 1 })
    #expect(controller.fetchedObjects?.count == 1 && !container.viewContext.hasChanges)
  }

  @Test func `other contexts process when they are asked to`() async throws {
    let container = try container()
    let context = container.newBackgroundContext()
    let book = NoticeBook(context, .didChangeObjects)
    Artist(context: context).name = "A"
    for _ in 0..<50 { await Task.yield() }
    #expect(book.take().isEmpty)
    context.processPendingChanges()
    #expect(book.take().count == 1)
  }

  @Test func `a context that goes before the event ends takes nobody along`() async throws {
    weak var gone: PersistentContainer?
    do {
      let container = try container()
      gone = container
      let book = NoticeBook(container.viewContext, .didChangeObjects)
      Artist(context: container.viewContext).name = "A"
      book.close()
    }
    #expect(gone == nil)
    for _ in 0..<50 { await Task.yield() }
  }
}
