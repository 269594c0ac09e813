import Foundation
import QuireCoreData

/// Artists and their artworks: the model of the tests of incremental stores.
class Artist: NSManagedObject {
  @Managed var name: String?
  @Managed var born: Date?
  @Managed var works: Set<Artwork>
  @Managed var favorites: [Artwork]
}

class Artwork: NSManagedObject {
  @Managed var title: String?
  @Managed var year: Int32
  @Managed var price: NSDecimalNumber?
  @Managed var isSold: Bool
  @Managed var artist: Artist?
  @Managed var subjects: Set<Subject>
}

class Painting: Artwork {
  @Managed var technique: String?
}

class Subject: NSManagedObject {
  @Managed var word: String?
  @Managed var works: Set<Artwork>
}

enum Gallery {
  static func model() -> NSManagedObjectModel {
    let (artist, artwork) = (entity("Artist"), entity("Artwork"))
    let (painting, subject) = (entity("Painting"), entity("Subject"))
    artist.properties = [
      attribute("name", .stringAttributeType), attribute("born", .dateAttributeType),
    ]
    artwork.properties = [
      attribute("title", .stringAttributeType), attribute("year", .integer32AttributeType, 0),
      attribute("price", .decimalAttributeType), attribute("isSold", .booleanAttributeType, false),
    ]
    painting.properties = [attribute("technique", .stringAttributeType)]
    subject.properties = [attribute("word", .stringAttributeType)]
    artwork.subentities = [painting]
    connect(artist, "works", to: artwork, "artist", rule: .cascadeDeleteRule)
    connect(artwork, "subjects", to: subject, "works", isToMany: true)
    let favorites = relationship("favorites", to: artwork, isToMany: true)
    favorites.isOrdered = true
    artist.properties.append(favorites)
    let model = NSManagedObjectModel()
    let note = entity("Note")
    note.managedObjectClassName = "NSManagedObject"
    note.properties = [attribute("text", .stringAttributeType)]
    model.entities = [artist, artwork, painting, subject, note]
    return model
  }

  private static func entity(_ name: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = name
    return entity
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeType, _ value: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.defaultValue = value
    return attribute
  }

  private static func relationship(
    _ name: String, to destination: NSEntityDescription, isToMany: Bool
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = isToMany ? 0 : 1
    return relationship
  }

  private static func connect(
    _ source: NSEntityDescription, _ name: String, to destination: NSEntityDescription,
    _ inverseName: String, isToMany: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule
  ) {
    let forth = relationship(name, to: destination, isToMany: true)
    let back = relationship(inverseName, to: source, isToMany: isToMany)
    forth.deleteRule = rule
    forth.inverseRelationship = back
    back.inverseRelationship = forth
    source.properties.append(forth)
    destination.properties.append(back)
  }

  /// A coordinator with a store of a class.
  static func coordinator(
    _ storeClass: NSIncrementalStore.Type, _ type: String, at url: URL? = nil,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: options)
    return coordinator
  }

  static func context(of coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @discardableResult
  static func artwork(
    _ title: String, _ year: Int32, by artist: Artist? = nil, in context: NSManagedObjectContext
  ) -> Artwork {
    let artwork = Artwork(context: context)
    artwork.title = title
    artwork.year = year
    artwork.artist = artist
    return artwork
  }

  /// A request for artworks, the newest first.
  static func works(_ format: String? = nil, _ argument: Any? = nil) -> NSFetchRequest<Artwork> {
    let request = NSFetchRequest<Artwork>(entityName: "Artwork")
    request.predicate = format.map { NSPredicate(format: $0, argument) }
    request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: false)]
    return request
  }
}
