import Foundation
import QuireCoreData
import Testing

@Suite struct ControllerTests {
  /// Records the calls of a controller.
  final class Listener: NSFetchedResultsControllerDelegate {
    var calls: [String] = []
    var controllers: [NSFetchedResultsController<NSFetchRequestResult>] = []

    func controllerWillChangeContent(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>
    ) {
      calls.append("will")
      controllers.append(controller)
    }

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>,
      didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
      for type: NSFetchedResultsChangeType
    ) {
      calls.append("section \(sectionInfo.name) at \(sectionIndex) \(type)")
    }

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      let title = (anObject as? Book)?.title ?? ""
      calls.append("\(title) \(type) \(newIndexPath.map { "\(Array($0))" } ?? "")")
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)
    {
      calls.append("did \(controller.fetchedObjects?.count ?? 0)")
    }
  }

  @Test func `a controller has sections, and notifies its delegate of changes`() throws {
    let context = Library.context()
    Library.book("Emma", pages: 1, in: context)
    Library.book("Typee", pages: 2, in: context)
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.sortDescriptors = [
      NSSortDescriptor(key: "pages", ascending: true),
      NSSortDescriptor(key: "title", ascending: true),
    ]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "pages",
      cacheName: "none")
    #expect(controller.fetchedObjects == nil)
    let listener = Listener()
    controller.delegate = listener
    try controller.performFetch()
    #expect(controller.sections?.map(\.name) == ["1", "2"])
    #expect(controller.sections?.map(\.numberOfObjects) == [1, 1])
    #expect((controller.sections?.first?.objects as? [Book])?.first?.title == "Emma")
    #expect(controller.object(at: IndexPath(indexes: [1, 0])).title == "Typee")
    Library.book("Omoo", pages: 2, in: context)
    Library.book("Zola", pages: 3, in: context)
    context.processPendingChanges()
    #expect(
      listener.calls == [
        "will", "section 3 at 2 insert", "Omoo insert [1, 0]", "Zola insert [2, 0]", "did 4",
      ])
    #expect(listener.controllers.first == controller && listener.controllers.first !== controller)
    let typee = try #require(controller.fetchedObjects?.first { $0.title == "Typee" })
    #expect(controller.indexPath(forObject: typee) == IndexPath(indexes: [1, 1]))
    controller.fetchRequest.predicate = NSPredicate(format: "pages > 2")
    try controller.performFetch()
    #expect(controller.fetchedObjects?.map(\.title) == ["Zola"])
    controller.fetchRequest.sortDescriptors = nil
    let error = #expect(throws: NSError.self) { try controller.performFetch() }
    #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
  }

  @Test func `a controller of a request with an empty order has all objects, in sections too`()
    throws
  {
    let context = Library.context()
    for (title, pages) in [("Emma", 2), ("Typee", 1), ("Dune", 2)] {
      Library.book(title, pages: Int32(pages), in: context)
    }
    try context.save()
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.sortDescriptors = []
    func controller(_ path: String?) -> NSFetchedResultsController<Book> {
      NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: path,
        cacheName: nil)
    }
    let (plain, sectioned) = (controller(nil), controller("pages"))
    let listener = Listener()
    plain.delegate = listener
    for controller in [plain, sectioned] { try controller.performFetch() }
    #expect(plain.fetchedObjects?.count == 3)
    #expect(sectioned.sections?.map(\.name) == ["1", "2"])
    Library.book("Omoo", in: context)
    context.processPendingChanges()
    #expect(plain.fetchedObjects?.count == 4 && listener.calls.last == "did 4")
  }

  /// There is no Objective-C runtime that would call a getter by its name.
  @Test func `names of sections come from a key path, a function, or the class's own answer`()
    throws
  {
    let context = Library.context()
    for title in ["Emma", "Evelina", "Typee"] { Library.book(title, pages: 1, in: context) }
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    let byPath = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionName: \.title)
    try byPath.performFetch()
    #expect(byPath.sections?.map(\.name) == ["Emma", "Evelina", "Typee"])
    let byFunction = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context,
      sectionName: { String($0.title?.prefix(1) ?? "") })
    let listener = Listener()
    byFunction.delegate = listener
    try byFunction.performFetch()
    #expect(byFunction.sections?.map(\.name) == ["E", "T"])
    Library.book("Walden", pages: 1, in: context)
    context.processPendingChanges()
    #expect(byFunction.sections?.map(\.name) == ["E", "T", "W"])
    #expect(listener.calls.contains("section W at 2 insert"), "\(listener.calls)")
    // The class of a reader answers for every name; that of a book for none.
    _ = Reader(context: context)
    let readers = NSFetchRequest<Reader>(entityName: "Reader")
    readers.sortDescriptors = []
    let byAnswer = NSFetchedResultsController(
      fetchRequest: readers, managedObjectContext: context, sectionNameKeyPath: "mood",
      cacheName: nil)
    try byAnswer.performFetch()
    #expect(byAnswer.sections?.map(\.name) == ["no mood"])
    let unanswered = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "mood",
      cacheName: nil)
    do {
      try unanswered.performFetch()
      Issue.record("a book has no mood")
    } catch let error as NSError {
      #expect(error.localizedDescription.contains(#"sectionName: \Book.mood"#), "\(error)")
    }
  }
}
