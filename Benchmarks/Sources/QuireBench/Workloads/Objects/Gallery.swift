import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The gallery as an application declares it.
enum Gallery {
  /// The default of the attribute that the second version adds.
  static let defaultRating = 3

  static func versions() throws -> VersionedModel {
    let versions = try [1, 2].map {
      VersionedModel.Version("Gallery \($0)", try model(version: $0))
    }
    guard let model = VersionedModel(name: "Gallery", versions: versions) else {
      throw BenchmarkError("two versions of one name")
    }
    return model
  }

  /// - Parameter version: the second one has a rating for every artwork.
  static func model(version: Int = 1) throws -> ManagedObjectModel {
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
        if version == 2 {
          Attribute("rating", .integer16, optional: false, default: .integer(Int64(defaultRating)))
        }
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
