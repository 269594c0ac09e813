import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The gallery as an application declares it.
enum Gallery {
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string, optional: false, default: "")
        Relationship("artworks", toMany: "Artwork", inverse: "artist", deleteRule: .cascade)
      }
      Entity("Artwork") {
        Attribute("title", .string, optional: false, default: "")
        Attribute("slug", .string, optional: false, default: "")
        Attribute("price", .double, optional: false, default: 0.0)
        Attribute("createdAt", .date)
        Attribute("isPublished", .boolean, optional: false, default: false)
        Relationship("artist", toOne: "Artist", inverse: "artworks")
        FetchIndexDescription("bySlug", on: "slug")
        FetchIndexDescription("byArtist", on: "artist")
      }
    }
  }

  static let classes: [ManagedObject.Type] = [Artist.self, Artwork.self]

  final class Artist: ManagedObject {
    @Managed var name: String
    @Managed var artworks: Set<Artwork>
  }

  final class Artwork: ManagedObject {
    @Managed var title: String
    @Managed var slug: String
    @Managed var price: Double
    @Managed var createdAt: Date?
    @Managed var isPublished: Bool
    @Managed var artist: Artist?
  }
}
