import Quire

/// The art gallery's model, version 2.7, as one writes it in Swift.
enum GalleryModel {
  static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifiers: ["2.7"]) {
      Entity("Album", renamedFrom: "Collection") {
        Attributes(.string, "name", "slug", "summary", "type")
        Attributes(.date, "createdAt", "updatedAt")
        Attribute("editable", .boolean, default: true)
        Attribute("isPrivate", .boolean, optional: false, default: false)
        Attribute("sortKey", .integer32)
        Relationship("artists", toMany: "Artist", inverse: "albumsFeaturingArtist")
        Relationship("artworks", toMany: "Artwork", inverse: "collections", ordered: true)
        Relationship("cover", toOne: "Image")
        Relationship("documents", toMany: "Document")
      }
      Entity("Artist") {
        Attribute("name", .string, optional: false)
        Attribute("slug", .string, optional: false, indexed: true)
        Attributes(.string, "biography", "nationality")
        Attributes(.date, "createdAt", "deathDate", "updatedAt")
        Attribute("birthYear", .integer16)
        Attribute("uuid", .uuid)
        Relationship("albumsFeaturingArtist", toMany: "Album")
        Relationship("artworks", toMany: "Artwork", inverse: "artists")
        Relationship("cover", toOne: "Image")
        Relationship(
          "documents", toMany: "ArtistDocument", inverse: "artist", deleteRule: .cascade)
        Relationship("showsFeaturingArtist", toMany: "Show", inverse: "artists")
      }
      Entity("Artwork") {
        Attributes(.string, "confidentialNotes", "editions", "inventoryID", "medium")
        Attributes(.string, "category", "title", indexed: true)
        Attribute("slug", .string, optional: false, default: "unknown-artwork", indexed: true)
        Attribute("dateText", .string, renamedFrom: "date")
        Attributes(.date, "createdAt", "updatedAt")
        Attributes(.decimal, "depth", "height", "width", default: 0)
        Attribute("price", .decimal)
        Attribute("isPublished", .boolean, default: false)
        Attribute("rating", .integer16, optional: false, default: 3)
        Relationship("artists", toMany: "Artist", renamedFrom: "artist")
        Relationship("collections", toMany: "Album")
        Relationship(
          "editionsForSale", toMany: "Edition", inverse: "artwork", ordered: true,
          deleteRule: .cascade)
        Relationship("images", toMany: "Image", inverse: "artwork", deleteRule: .cascade)
        Relationship("mainImage", toOne: "Image", inverse: "mainImageForArtwork")
        Relationship("notes", toMany: "Note", inverse: "artwork", deleteRule: .cascade)
        Relationship("partner", toOne: "Partner", inverse: "artworks")
        Relationship("shows", toMany: "Show", inverse: "artworks")
        FetchIndex("bySlug", on: "slug")
        FetchIndex("byRatingAndPrice", on: "rating", "price")
      }
      Entity("Document", abstract: true) {
        Attributes(.string, "filename", "slug", "title")
        Attribute("size", .integer64)
        Attribute("version", .integer16, default: 1)
      }
      Entity("ArtistDocument", parent: "Document") { Relationship("artist", toOne: "Artist") }
      Entity("ShowDocument", parent: "Document") { Relationship("show", toOne: "Show") }
      Entity("Edition") {
        Attribute("number", .integer32, optional: false, default: 1)
        Attribute("price", .decimal)
        Attribute("soldAt", .date)
        Relationship("artwork", toOne: "Artwork", optional: false, minCount: 1)
      }
      Entity("Image") {
        Attribute("slug", .string, optional: false)
        Attribute("tileFormat", .string)
        Attribute("aspectRatio", .float)
        Attribute("baseURL", .uri)
        Attribute("isMainImage", .boolean, default: false)
        Attributes(.integer32, "maxTiledHeight", "maxTiledWidth", default: 0)
        Attribute("position", .integer16)
        Attribute("thumbnail", .binaryData, storedExternally: true)
        Relationship("artwork", toOne: "Artwork")
        Relationship("coverOfShow", toOne: "Show", inverse: "cover")
        Relationship("mainImageForArtwork", toOne: "Artwork")
      }
      Entity("InstallShotImage", parent: "Image") {
        Attribute("caption", .string)
        Relationship("showInstalledIn", toOne: "Show", inverse: "installationImages")
      }
      Entity("Location") {
        Attributes(.string, "address", "city", "name", "phone", "postalCode")
        Attributes(.double, "latitude", "longitude")
        Relationship("shows", toMany: "Show", inverse: "location", deleteRule: .deny)
      }
      Entity("Note") {
        Attribute("body", .string, optional: false)
        Attributes(.date, "createdAt", "updatedAt")
        Relationship("artwork", toOne: "Artwork")
      }
      Entity("Partner") {
        Attribute("name", .string, optional: false)
        Attributes(.string, "email", "slug")
        Attribute("artworksCount", .integer32, default: 0)
        Attribute("createdAt", .date)
        Attribute("website", .uri)
        Relationship("artworks", toMany: "Artwork", deleteRule: .cascade)
        Relationship(
          "options", toMany: "PartnerOption", inverse: "partner", deleteRule: .cascade)
      }
      Entity("PartnerOption") {
        Attribute("key", .string, optional: false)
        Attribute("value", .string)
        Relationship("partner", toOne: "Partner")
      }
      Entity("Show") {
        Attribute("slug", .string, optional: false)
        Attributes(.string, "createdAt", "name", "status")
        Attributes(.date, "endsAt", "startsAt")
        Attribute("sortKey", .integer32)
        Relationship("artists", toMany: "Artist")
        Relationship("artworks", toMany: "Artwork")
        Relationship("cover", toOne: "Image")
        Relationship("documents", toMany: "ShowDocument", inverse: "show", deleteRule: .cascade)
        Relationship("installationImages", toMany: "InstallShotImage")
        Relationship("location", toOne: "Location")
      }
      Entity("User") {
        Attribute("email", .string, optional: false)
        Attributes(.string, "name", "slug")
        Attribute("userRole", .string, renamedFrom: "role")
        Attribute("adminID", .integer64)
      }
    }
  }
}
