import Foundation
import QuireCoreData
import Testing

@Suite struct ObjectTests {
  private let context = Library.context()

  @Test func `key-value coding does not throw, and has Foundation's classes`() throws {
    let shelf = Shelf(context: context)
    shelf.setValue("Top", forKey: "name")
    let book = Library.book("Moby Dick", pages: 635, on: shelf, in: context)
    #expect(shelf.value(forKey: "name") as? String == "Top")
    #expect(book.value(forKey: "pages") as? Int == 635)
    #expect(book.value(forKey: "pages") as? Int32 == 635)
    #expect((book.value(forKey: "pages") as? NSNumber)?.doubleValue == 635)
    #expect((shelf.value(forKey: "books") as? NSSet)?.contains(book) == true)
    #expect(shelf.value(forKey: "books") as? Set<Book> == [book])
    #expect(shelf.value(forKeyPath: "books.@sum.pages") as? Int == 635)
    // Ordered relationships lead to ordered sets, as in Core Data; results of operators are arrays.
    shelf.readers = ["Ann", "Bob", "Ann"].map { name in
      let reader = Reader(context: context)
      reader.name = name
      return reader
    }
    let names = try #require(shelf.value(forKeyPath: "readers.name") as? NSOrderedSet)
    #expect(names.array as? [String] == ["Ann", "Bob"])
    #expect(
      book.value(forKeyPath: "shelf.readers") as? NSOrderedSet == NSOrderedSet(array: shelf.readers)
    )
    #expect((shelf.value(forKeyPath: "readers.@unionOfObjects.name") as? [String])?.count == 3)
    #expect(book.value(forKeyPath: "shelf.name") as? String == "Top")
    shelf.setValue(NSSet(), forKey: "books")
    #expect(book.shelf == nil)
    shelf.setValue(NSSet(object: book), forKey: "books")
    #expect(book.shelf === shelf)
    book.setValue(NSNumber(value: 12), forKey: "pages")
    #expect(book.pages == 12)
    #expect(shelf.dictionaryWithValues(forKeys: ["name"])["name"] as? String == "Top")
    book.setValuesForKeys(["title": "Typee", "pages": 7])
    #expect(book.title == "Typee" && book.pages == 7)
    book.setValue(NSNull(), forKey: "shelf")
    #expect(book.shelf == nil && book.dictionaryWithValues(forKeys: ["shelf"])["shelf"] is NSNull)
  }

  @Test func `an ordered relationship is an NSOrderedSet and changes in place`() {
    let shelf = Shelf(context: context)
    let readers = ["Ada", "Ben", "Cleo"].map { name in
      let reader = Reader(context: context)
      reader.name = name
      return reader
    }
    let members = shelf.mutableOrderedSetValue(forKey: "readers")
    members.addObjects(from: readers)
    members.moveObjects(at: IndexSet(integer: 2), to: 0)
    #expect(shelf.readers.map(\.name) == ["Cleo", "Ada", "Ben"])
    let set = shelf.value(forKey: "readers") as? NSOrderedSet
    #expect(set?.array as? [Reader] == shelf.readers && set?.index(of: readers[0]) == 1)
    #expect(members.index(of: readers[1]) == 2 && members.index(of: "none") == NSNotFound)
    members.exchangeObject(at: 0, withObjectAt: 2)
    members.removeObject(at: 1)
    members.replaceObject(at: 0, with: readers[0])
    #expect(shelf.readers.map(\.name) == ["Ada", "Cleo"])
    #expect(members.firstObject as? Reader === readers[0] && members.count == 2)
    #expect(members.map(\.objectID) == shelf.readers.map(\.objectID))
    shelf.setValue(NSOrderedSet(array: [readers[1]]), forKey: "readers")
    #expect(shelf.readers == [readers[1]])
    members.removeAllObjects()
    #expect(shelf.readers.isEmpty)
  }

  @Test func `an unordered relationship changes in place, with the methods of NSMutableSet`() {
    let shelf = Shelf(context: context)
    let books = ["a", "b", "c"].map { Library.book($0, in: context) }
    let members = shelf.mutableSetValue(forKey: "books")
    members.union(Set(books))
    members.minus([books[0]])
    #expect(shelf.books == [books[1], books[2]] && members.contains(books[1]))
    members.intersect([books[1]])
    #expect(members.allObjects as? [Book] == [books[1]])
    #expect(members.anyObject() as? Book === books[1])
    members.setSet([books[0], books[2]])
    members.filter(using: NSPredicate(format: "title == 'c'"))
    #expect(shelf.books == [books[2]])
    members.remove(books[2])
    #expect(members.count == 0)
  }

  @Test func `a class answers for names that its entity does not have`() {
    let reader = Reader(context: context)
    #expect(reader.value(forKey: "shoeSize") as? String == "no shoeSize")
  }

  @Test func `changed and committed values have NSNull for none`() throws {
    let book = Library.book("Emma", pages: 3, in: context)
    try context.save()
    book.shelf = nil
    book.pages = 4
    book.rating = 5
    #expect(book.changedValues()["pages"] as? Int == 4)
    book.rating = nil
    book.pages = 3
    book.price = NSDecimalNumber(string: "9.95")
    #expect(Array(book.changedValues().keys) == ["price"])
    #expect(book.committedValues(forKeys: ["price", "pages"])["price"] is NSNull)
    #expect(book.committedValues(forKeys: nil)["pages"] as? Int == 3)
    try context.save()
    book.price = nil
    #expect(book.changedValues()["price"] is NSNull)
  }

  @Test func `properties of NSNumber and NSDecimalNumber show and set numbers`() throws {
    let book = Library.book("Emma", in: context)
    #expect(book.rating == nil && book.price == nil)
    book.rating = 4
    book.price = NSDecimalNumber(string: "9.95")
    try context.save()
    context.refreshAllObjects()
    #expect(book.rating == 4 && book.price == NSDecimalNumber(string: "9.95"))
    book.rating = nil
    #expect(book.value(forKey: "rating") == nil)
  }

  @Test func `entities without a class have NSManagedObject`() throws {
    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
    #expect(type(of: note) == NSManagedObject.self)
    note.setValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "day")
    note.setValue(true, forKey: "isRead")
    note.setValue(1.5, forKey: "weight")
    try context.save()
    #expect(note.value(forKey: "day") as? Date == Date(timeIntervalSinceReferenceDate: 1))
    #expect(note.value(forKey: "isRead") as? Bool == true)
    #expect(note.value(forKey: "weight") as? Double == 1.5)
    #expect(note.value(forKey: "text") == nil)
  }

  @Test func `an object knows its entity, its context and its ID`() throws {
    func make<T: NSManagedObject>(_ type: T.Type) -> T { T(context: context) }
    let book = make(Book.self)
    book.title = "Emma"
    #expect(book.managedObjectContext === context)
    #expect(book.entity.name == "Book" && book.entity.attributesByName["pages"] != nil)
    #expect(Book.entity().name == "Book" && Book.fetchRequest().entityName == "Book")
    #expect(book.objectID.isTemporaryID)
    try context.obtainPermanentIDs(for: [book])
    #expect(!book.objectID.isTemporaryID)
    let other = Book(entity: book.entity, insertInto: context)
    #expect(other.managedObjectContext === context && other.pages == 0)
    let loose = Book(entity: book.entity, insertInto: nil)
    loose.title = "Loose"
    #expect(loose.managedObjectContext == nil)
    context.insert(loose)
    #expect(loose.managedObjectContext === context)
    #expect(book.objectIDs(forRelationshipNamed: "shelf") == [])
    #expect(!book.hasFault(forRelationshipNamed: "shelf"))
  }

  @Test func `an object that was never saved has no committed values`() throws {
    let book = Library.book("Emma", in: context)
    #expect(book.committedValues(forKeys: nil).isEmpty)
    #expect(book.committedValues(forKeys: ["title"]).isEmpty)
    try context.obtainPermanentIDs(for: [book])
    #expect(book.committedValues(forKeys: nil).isEmpty)
    try context.save()
    book.title = "Dune"
    #expect(book.committedValues(forKeys: ["title"])["title"] as? String == "Emma")
    #expect(book.committedValues(forKeys: ["price"])["price"] is NSNull)
  }
}
