import Foundation
import QuireCoreData
import Testing

/// What Core Data raises as an exception ends the program. Its message named a file of this module,
/// `CoreDataErrors.swift`, and a program of ten thousand lines had no word about which of its own
/// lines was wrong.
@Suite struct CallerPlaceTests {
  private static let library = Library.context()

  /// The message of a program that ended, if it begins with a line of this file.
  private func message(_ result: ExitTest.Result?) -> String? {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let pattern = #/QuireCoreDataTests/CallerPlaceTests.swift:\d+: Fatal error: (?<message>.*)/#
    return text.firstMatch(of: pattern).map { String($0.message) }
  }

  @Test func `an unknown key is told with the line that has used it`() async {
    let read = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Library.book("Emma", in: Self.library).value(forKey: "titel") }
    #expect(message(read)?.contains("titel") == true)
    let written = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { Library.book("Emma", in: Self.library).setValue("x", forKey: "titel") }
    #expect(message(written)?.contains("titel") == true)
    let path = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Library.book("Emma", in: Self.library).value(forKeyPath: "title.titel") }
    #expect(message(path)?.contains("titel") == true)
  }

  @Test func `a value of another type is told with line, entity and key`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { Library.book("Emma", in: Self.library).setValue("many", forKey: "pages") }
    #expect(message(result)?.contains("Book.pages cannot be") == true)
  }

  @Test func `a malformed format is told with its line`() async {
    let predicate = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = NSPredicate(format: "title = = 'Emma'") }
    #expect(message(predicate) != nil)
    let expression = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = NSExpression(format: "1 +") }
    #expect(message(expression) != nil)
    let function = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = NSExpression(forFunction: "double:", arguments: [1]) }
    #expect(message(function)?.contains("double:") == true)
  }

  @Test func `an unknown entity, and an object of nothing here, are told with their lines`() async {
    let entity = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = NSEntityDescription.insertNewObject(forEntityName: "Bok", into: Self.library) }
    #expect(message(entity)?.contains("Bok") == true)
    let object = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Self.library.object(with: Library.book("Emma", in: Library.context()).objectID) }
    #expect(message(object)?.contains("Book/") == true)
    let member = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { Shelf(context: Self.library).mutableSetValue(forKey: "books").add("a book") }
    #expect(message(member)?.contains("String") == true)
  }

  /// A class overrides these functions, so that they do not know where they were called.
  @Test func `a failure in an overridable function names the function and its arguments`() async {
    let path = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let request = NSFetchRequest<Book>(entityName: "Book")
      request.sortDescriptors = []
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: Self.library, sectionNameKeyPath: nil,
        cacheName: nil)
      try controller.performFetch()
      _ = controller.object(at: IndexPath(indexes: [0, 7]))
    }
    let text = String(decoding: path?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("object(at: [0, 7])"))
  }

  @Test func `functions are passed on as values, and answer protocols, as they were`() throws {
    let context = Library.context()
    let book: any KeyValued = Library.book("Emma", pages: 3, in: context)
    #expect(book.value(forKey: "title") as? String == "Emma")
    let emma = Library.book("Persuasion", in: context)
    #expect(["title"].map(emma.value(forKey:)).first as? String == "Persuasion")
    let set: (Any?, String) -> Void = emma.setValue(_:forKey:)
    set(7, "pages")
    #expect(emma.pages == 7)
    #expect([emma.objectID].map(context.object(with:)) == [emma])
    let shelf = Shelf(context: context)
    [emma].forEach(shelf.mutableSetValue(forKey: "books").add)
    #expect(shelf.books == [emma])
  }
}

private protocol KeyValued {
  func value(forKey key: String) -> Any?
  func setValue(_ value: Any?, forKey key: String)
}

extension NSManagedObject: KeyValued {}
