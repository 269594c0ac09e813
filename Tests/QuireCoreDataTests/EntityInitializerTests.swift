import Foundation
import QuireCoreData
import Testing

@Suite struct EntityInitializerTests {
  private let context = Library.context()

  private func make<Object: NSManagedObject>(
    _ type: Object.Type, _ entity: NSEntityDescription
  ) -> Object {
    Object(entity: entity, insertInto: context)
  }

  /// It was an object of the class that the initialiser is called on. A fetch of books then found
  /// one that is no `Book`.
  @Test func `an object that is made of an entity has the entity's class`() throws {
    let entity = try #require(NSEntityDescription.entity(forEntityName: "Book", in: context))
    let book = NSManagedObject(entity: entity, insertInto: context)
    #expect(type(of: book) == Book.self && book.managedObjectContext === context)
    book.setValue("Emma", forKey: "title")
    try context.save()
    #expect(try context.fetch(NSFetchRequest<Book>(entityName: "Book")).first === book)
    #expect(make(Book.self, entity).entity.name == "Book")
    #expect(type(of: make(NSManagedObject.self, entity)) == Book.self)
  }

  @Test func `an object without a context has the class that its model names`() {
    let model = Library.container().managedObjectModel
    let detached = NSManagedObject(entity: model.entitiesByName["Book"]!, insertInto: nil)
    #expect(type(of: detached) == Book.self && detached.managedObjectContext == nil)
    let note = NSManagedObject(entity: model.entitiesByName["Note"]!, insertInto: nil)
    #expect(type(of: note) == NSManagedObject.self)
  }

  /// Core Data has none of a new object: the defaults were never set.
  @Test func `changed values of a new object are those that differ from its defaults`() throws {
    let book = Book(context: context)
    #expect(book.changedValues().isEmpty)
    book.title = "Emma"
    book.pages = 3
    #expect(Set(book.changedValues().keys) == ["title", "pages"])
    #expect(book.value(forKey: "pages") as? Int == 3)
    try context.save()
    #expect(book.changedValues().isEmpty)
    #expect(book.committedValues(forKeys: ["title", "title"]).count == 1)
    #expect(book.dictionaryWithValues(forKeys: ["title", "title"]).count == 1)
    book.pages = 0
    #expect(book.changedValues()["pages"] as? Int == 0)
  }

  @Test func `NSManagedObjectID and NSConstraintConflict can be created without a store`() {
    #expect(NSManagedObjectID() != NSManagedObjectID() && NSManagedObjectID().isTemporaryID)
    let conflict = NSConstraintConflict()
    #expect(conflict.conflictingObjects.isEmpty && conflict.databaseObject == nil)
    #expect(conflict.constraint.isEmpty)
  }

  @Test func `a list of C's arguments is read as far as it has numbers`() async {
    let book = Library.book("Emma", pages: 300, in: context)
    let few = withVaList([300, Int32(-1), 0.1]) {
      NSPredicate(format: "pages == %ld AND '%d' != title AND %d < 0 AND %f < 0.2", arguments: $0)
    }
    #expect(few.evaluate(with: book))
    #expect(few.predicateFormat.contains("-1 < 0") && few.predicateFormat.contains("0.1 < 0.2"))
    let none = withVaList([]) { NSPredicate(format: "TRUEPREDICATE", arguments: $0) }
    #expect(none.evaluate(with: book))
    await #expect(processExitsWith: .failure) {
      _ = withVaList([1]) { NSPredicate(format: "title == %@", arguments: $0) }
    }
  }
}
