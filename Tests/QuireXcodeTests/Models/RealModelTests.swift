import Foundation
import QuireModel
import QuireXcode
import Testing

@Suite(.enabled(if: RealData.isPresent, Comment(rawValue: RealData.absence)))
struct RealModelTests {
  /// Name of a version, its entities, its attributes and its relationships, oldest version first.
  typealias Counts = (name: String, entities: Int, attributes: Int, relationships: Int)

  static let models: [(path: String, current: String, versions: [Counts])] = [
    (
      "artsy-folio/ArtsyPartner.xcdatamodeld", "ArtsyFolio v2.7.0",
      [
        ("ArtsyPartner", 7, 65, 13), ("ArtsyPartner 2", 7, 68, 13), ("ArtsyPartner 3", 7, 74, 13),
        ("ArtsyPartner 4", 7, 74, 15), ("ArtsyPartner 5", 8, 79, 18),
        ("ArtsyFolio v1.4", 12, 103, 31), ("ArtsyFolio v1.5", 12, 110, 32),
        ("ArtsyFolio v1.7", 12, 114, 38), ("ArtsyFolio v2.0", 17, 141, 46),
        ("ArtsyFolio v2.1", 18, 142, 48), ("ArtsyFolio v2.2", 18, 143, 48),
        ("ArtsyFolio v2.3", 18, 144, 48), ("ArtsyFolio v2.4", 19, 162, 50),
        ("ArtsyFolio v2.5", 19, 162, 50), ("ArtsyFolio v2.5.1", 19, 162, 51),
        ("ArtsyFolio v2.5.3", 19, 163, 51), ("ArtsyFolio v2.6.0", 21, 168, 55),
        ("ArtsyFolio v2.6.1", 19, 164, 51), ("ArtsyFolio v2.7.0", 21, 169, 55),
      ]
    ),
    (
      "duckduckgo-bookmarks/BookmarksModel.xcdatamodeld", "BookmarksModel 6",
      [
        ("BookmarksModel", 1, 5, 4), ("BookmarksModel 2", 1, 5, 4), ("BookmarksModel 3", 1, 6, 4),
        ("BookmarksModel 4", 1, 6, 4), ("BookmarksModel 5", 1, 7, 4), ("BookmarksModel 6", 1, 8, 4),
      ]
    ),
    (
      "duckduckgo-bookmarks/SyncMetadata.xcdatamodeld", "SyncMetadata 4",
      [
        ("SyncMetadata", 1, 2, 0), ("SyncMetadata 2", 1, 3, 0), ("SyncMetadata 3", 2, 5, 0),
        ("SyncMetadata 4", 2, 6, 0),
      ]
    ),
    (
      "wibosco-migration/CoreDataMigration_Example.xcdatamodeld", "CoreDataMigration_Example 4",
      [
        ("CoreDataMigration_Example", 1, 3, 0), ("CoreDataMigration_Example 2", 1, 3, 0),
        ("CoreDataMigration_Example 3", 2, 4, 2), ("CoreDataMigration_Example 4", 2, 5, 2),
      ]
    ),
  ]

  @Test(arguments: models.indices)
  func `every version of every real model is loaded, in the order of its history`(
    index: Int
  ) throws {
    let expected = Self.models[index]
    let model = try VersionedModel(contentsOf: RealData.url(expected.path))
    #expect(model.currentVersion.name == expected.current)
    #expect(model.versions.map(\.name) == expected.versions.map(\.name))
    for (version, counts) in zip(model.versions, expected.versions) {
      let declarations = version.model.entities.map(\.declaration)
      #expect(declarations.count == counts.entities, "\(counts.name)")
      #expect(declarations.map(\.attributes.count).reduce(0, +) == counts.attributes)
      #expect(declarations.map(\.relationships.count).reduce(0, +) == counts.relationships)
    }
  }

  @Test(arguments: models.indices)
  func `nothing in a real model is unknown`(index: Int) throws {
    let history = try XcodeModelHistory(contentsOf: RealData.url(Self.models[index].path))
    for version in history.versions {
      let others = version.notes.filter { !$0.text.contains("kept without an inverse") }
      #expect(others.isEmpty, "\(version.name): \(others)")
    }
  }

  @Test func `the relationship of seven Folio versions whose inverse does not lead back is noted`()
    throws
  {
    let history = try XcodeModelHistory(contentsOf: RealData.url(Self.models[0].path))
    let noted = history.versions.filter { !$0.notes.isEmpty }
    #expect(noted.map(\.name) == history.versions.prefix(7).map(\.name))
    for version in noted {
      #expect(version.notes.map(\.text).allSatisfy { $0.hasPrefix("Image.artist has the inverse") })
      let image = try #require(version.model.entity(named: "Image"))
      #expect(image.relationship(named: "artist")?.inverse == nil)
      #expect(image.relationship(named: "thumbnail")?.inverse == "thumbnail")
    }
  }

  @Test func `renaming, ordering, indexes and constraints of real models are kept`() throws {
    let folio = try VersionedModel(contentsOf: RealData.url(Self.models[0].path))
    let album = try #require(folio.current.entity(named: "Album"))
    #expect(album.renamingIdentifier == "Collection")
    #expect(folio.current.entity(named: "ArtistDocument")?.parent?.name == "Document")
    let artwork = try #require(folio.versions[0].model.entity(named: "Artwork"))
    #expect(artwork.attribute(named: "title")?.isIndexed == true)

    let bookmarks = try VersionedModel(contentsOf: RealData.url(Self.models[1].path)).current
    let bookmark = try #require(bookmarks.entity(named: "BookmarkEntity"))
    #expect(bookmark.relationship(named: "children")?.isOrdered == true)
    #expect(bookmark.relationship(named: "children")?.deleteRule == .cascade)
    #expect(bookmark.relationship(named: "favoriteFolders")?.renamingIdentifier == "favoriteFolder")
    #expect(bookmark.attribute(named: "uuid")?.versionHashModifier == "3")
    #expect(bookmark.attribute(named: "isPendingDeletion")?.defaultValue == false)
    #expect(
      bookmark.declaration.indexes.map(\.name) == ["byUUID", "byURL", "byIsPendingDeletion"])
    #expect(
      bookmark.declaration.indexes[0].elements.map(\.property) == ["uuid", "isPendingDeletion"])

    let sync = try VersionedModel(contentsOf: RealData.url(Self.models[2].path)).current
    #expect(sync.entity(named: "SyncFeatureEntity")?.uniquenessConstraints == [["name"]])
  }
}
