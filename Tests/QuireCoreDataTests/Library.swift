import Foundation
import QuireCoreData

/// Shelves with books: the model and the classes of the tests of single names.
class Shelf: NSManagedObject {
  @Managed var name: String?
  @Managed var books: Set<Book>
  @Managed var readers: [Reader]
}

class Book: NSManagedObject {
  @Managed var title: String?
  @Managed var pages: Int32
  @Managed var price: NSDecimalNumber?
  @Managed var rating: NSNumber?
  @Managed var shelf: Shelf?
}

class Reader: NSManagedObject {
  @Managed var name: String?
  @Managed var shelf: Shelf?

  override func value(forUndefinedKey key: String) -> Any? { "no \(key)" }
}

enum Library {
  static func model() -> NSManagedObjectModel {
    func entity(_ name: String, _ type: AnyClass?) -> NSEntityDescription {
      let entity = NSEntityDescription()
      entity.name = name
      if let type { entity.managedObjectClassName = NSStringFromClass(type) }
      return entity
    }
    func attribute(
      _ name: String, _ type: NSAttributeType, _ value: Any? = nil
    ) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.defaultValue = value
      return attribute
    }
    func connect(
      _ one: NSEntityDescription, _ name: String, _ many: NSEntityDescription, ordered: Bool
    ) {
      let (toMany, toOne) = (NSRelationshipDescription(), NSRelationshipDescription())
      toMany.name = name
      toMany.destinationEntity = many
      toMany.maxCount = 0
      toMany.isOrdered = ordered
      toMany.deleteRule = .cascadeDeleteRule
      toMany.inverseRelationship = toOne
      toOne.name = "shelf"
      toOne.destinationEntity = one
      toOne.inverseRelationship = toMany
      one.properties.append(toMany)
      many.properties.append(toOne)
    }
    let (shelf, book) = (entity("Shelf", Shelf.self), entity("Book", Book.self))
    let (reader, note) = (entity("Reader", Reader.self), entity("Note", nil))
    shelf.properties = [attribute("name", .stringAttributeType)]
    let title = attribute("title", .stringAttributeType)
    title.isOptional = false
    book.properties = [
      title, attribute("pages", .integer32AttributeType, 0),
      attribute("price", .decimalAttributeType), attribute("rating", .integer16AttributeType),
    ]
    book.uniquenessConstraints = [["title"]]
    reader.properties = [attribute("name", .stringAttributeType)]
    note.properties = [
      attribute("text", .stringAttributeType), attribute("day", .dateAttributeType),
      attribute("isRead", .booleanAttributeType, false), attribute("weight", .doubleAttributeType),
    ]
    connect(shelf, "books", book, ordered: false)
    connect(shelf, "readers", reader, ordered: true)
    let model = NSManagedObjectModel()
    model.entities = [shelf, book, reader, note]
    return model
  }

  static func container() -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Library", managedObjectModel: model())
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in
      if let error { fatalError("\(error)") }
    }
    return container
  }

  /// A context that belongs to the code that asks for it.
  static func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = container().persistentStoreCoordinator
    return context
  }

  @discardableResult
  static func book(
    _ title: String, pages: Int32 = 0, on shelf: Shelf? = nil, in context: NSManagedObjectContext
  ) -> Book {
    let book = Book(context: context)
    book.title = title
    book.pages = pages
    book.shelf = shelf
    return book
  }
}
