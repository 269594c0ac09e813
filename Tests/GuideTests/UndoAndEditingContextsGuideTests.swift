import Quire
import QuireTesting
import Testing

@Suite struct UndoAndEditingContextsGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Book: ManagedObject {
    @Managed var title: String = "Untitled"
    @Managed var author: Author?
  }
  final class Author: ManagedObject {
    @Managed var name: String = ""
    @Managed(inverse: \Book.author, deleteRule: .cascade) var books: Set<Book>
  }

  private func makeContext() throws -> ManagedObjectContext {
    try ManagedObjectContext.stubbed(for: Author.self)
  }

  @Test func `steps are undone and redone`() throws {
    let context = try makeContext()
    let book = Book(context: context)
    try context.save()
    context.undoManager = UndoManager()
    book.title = "Kindered"
    context.processPendingChanges()
    book.title = "Kindred"
    context.processPendingChanges()

    context.undo()
    print(book.title)
    context.undo()
    print(book.title)
    context.redo()
    print(book.title)
    #expect(
      printed.take() == """
        Kindered
        Untitled
        Kindered
        """)
    book.title = "Kindred"
    context.undoManager?.setActionName("Change Title")
    context.processPendingChanges()
    if let undoManager = context.undoManager, undoManager.canUndo {
      print("Undo", undoManager.undoActionName)
    }
    #expect(
      printed.take() == """
        Undo Change Title
        """)
  }

  @Test func `a saved deletion can be undone`() throws {
    let context = try makeContext()
    let author = Author(context: context)
    author.name = "Octavia E. Butler"
    Book(context: context).author = author
    try context.save()
    context.undoManager = UndoManager()
    context.delete(author)
    try context.save()
    print(try context.count(Author.self), try context.count(Book.self))

    context.undo()
    try context.save()
    print(try context.count(Author.self), try context.count(Book.self), author.name)
    #expect(
      printed.take() == """
        0 0
        1 1 Octavia E. Butler
        """)
  }

  @Test func `a group is one step`() throws {
    let context = try makeContext()
    let undoManager = UndoManager()
    context.undoManager = undoManager
    undoManager.groupsByEvent = false
    undoManager.beginUndoGrouping()
    for number in 1...3 {
      Book(context: context).title = "Volume \(number)"
      context.processPendingChanges()
    }
    try undoManager.endUndoGrouping()
    print(try context.count(Book.self))
    context.undo()
    print(try context.count(Book.self))
    #expect(
      printed.take() == """
        3
        0
        """)
  }

  @Test func `an editing context keeps its changes until it is saved`() throws {
    let context = try makeContext()
    let book = Book(context: context)
    book.title = "Kindered"
    try context.save()
    let editor = ManagedObjectContext(parent: context)
    let draft = try editor.existingObject(with: book.typedID)
    draft.title = "Kindred"
    print(book.title, context.hasChanges)

    try editor.save()
    print(book.title, context.hasChanges)
    try context.save()
    #expect(
      printed.take() == """
        Kindered false
        Kindred true
        """)
    draft.title = "?"
    editor.rollback()
    print(draft.title, editor.hasChanges, book.title)
    #expect(
      printed.take() == """
        Kindred false Kindred
        """)
  }
}
