import Quire
import QuireTesting

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A small model with every shape of relationship, and classes for some of its entities.
enum SmallGallery {
  static let model = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string, optional: false, default: "unknown")
      Attribute("born", .integer16)
      Relationship("artworks", toMany: "Artwork", inverse: "artist", deleteRule: .cascade)
      Relationship("spouse", toOne: "Artist", inverse: "spouse")
      Relationship("shows", toMany: "Show", inverse: "artists")
    }
    Entity("Artwork") {
      Attribute("title", .string)
      Attribute("price", .double)
      Attribute("isPublished", .boolean, default: false)
      Attribute("seen", .integer32, transient: true)
      Relationship("artist", toOne: "Artist", inverse: "artworks")
      Relationship("frame", toOne: "Frame", inverse: "artwork")
      Relationship("tags", toMany: "Tag", inverse: "artworks")
      Relationship("lookalike", toOne: "Artwork")
    }
    Entity("Frame") {
      Attribute("wood", .string)
      Relationship("artwork", toOne: "Artwork", inverse: "frame", deleteRule: .deny)
    }
    Entity("Tag") {
      Attribute("word", .string, optional: false)
      Relationship("artworks", toMany: "Artwork", inverse: "tags")
    }
    Entity("Show") {
      Attribute("name", .string)
      Relationship("artists", toMany: "Artist", inverse: "shows", ordered: true, count: 0...4)
      Relationship("rooms", toMany: "Room", inverse: "show", ordered: true, deleteRule: .cascade)
    }
    Entity("Room") {
      Attribute("number", .integer32)
      Relationship("show", toOne: "Show", inverse: "rooms", optional: false)
    }
    Entity("Document", abstract: true) { Attribute("title", .string) }
    Entity("Contract", parent: "Document") { Attribute("value", .decimal) }
    Entity("Letter", parent: "Document") { Attribute("body", .string) }
  }

  static let classes: [ManagedObject.Type] = [Artist.self, Artwork.self, Show.self, Room.self]

  final class Artist: ManagedObject {
    @Managed var name: String
    @Managed var born: Int16?
    @Managed var artworks: Set<Artwork>
    @Managed var spouse: Artist?
    @Managed var shows: Set<Show>
  }

  final class Artwork: ManagedObject {
    @Managed var title: String?
    @Managed var price: Double
    @Managed var isPublished: Bool
    @Managed var seen: Int
    @Managed var artist: Artist?
    @Managed var lookalike: Artwork?
  }

  final class Show: ManagedObject {
    @Managed var name: String?
    @Managed var artists: [Artist]
    @Managed var rooms: [Room]
  }

  final class Room: ManagedObject {
    @Managed var number: Int
    @Managed var show: Show?
  }

  static func context() throws -> ManagedObjectContext {
    try ManagedObjectContext.stubbed(model, classes: classes)
  }

  /// Another context of the same store.
  static func sibling(of context: ManagedObjectContext) -> ManagedObjectContext {
    let sibling = ManagedObjectContext()
    sibling.persistentStoreCoordinator = context.persistentStoreCoordinator
    return sibling
  }
}

extension ManagedObjectContext {
  func all<Object: ManagedObject>(_ type: Object.Type = Object.self) throws -> [Object] {
    try fetch(FetchRequest<Object>())
  }

  func named(_ name: String) throws -> SmallGallery.Artist? {
    var request = FetchRequest<SmallGallery.Artist>()
    request.predicate = Key("name") == name
    return try fetch(request).first
  }
}

func code(of error: any Error) -> PersistenceError.Code? { (error as? PersistenceError)?.code }
