import Foundation
import QuireModel
import QuireSimulation
import QuireXcode
import Testing

/// A store of a real application, with what is known about it (the README beside the data says
/// how).
struct RealStore: Sendable, CustomTestStringConvertible {
  var project: String
  var name: String
  var model: String
  var version: String
  var uuid: String
  /// Objects per concrete entity.
  var objectCounts: [String: Int]
  /// Rows of the join tables, by the relationship of either side.
  var linkCounts: [String: Int] = [:]

  var testDescription: String { name }

  func url() throws -> URL { try RealData.url("\(project)/stores/\(name).sqlite") }

  func modelURL() throws -> URL { try RealData.url("\(project)/\(model).xcdatamodeld") }

  func history() throws -> VersionedModel {
    try #require(Self.histories["\(project)/\(model)"])
  }

  /// Each model is loaded once for all tests.
  private static let histories: [String: VersionedModel] = {
    var result: [String: VersionedModel] = [:]
    for store in all {
      let path = "\(store.project)/\(store.model)"
      guard result[path] == nil, let url = try? RealData.url(path + ".xcdatamodeld") else {
        continue
      }
      result[path] = try? VersionedModel(contentsOf: url)
    }
    return result
  }()

  /// Copies the store and its log: whoever opens them with SQLite changes them.
  func copy(to folder: TemporaryFolder) throws -> URL {
    for suffix in ["", "-wal"] {
      let source = URL(fileURLWithPath: try url().path + suffix)
      guard FileManager.default.fileExists(atPath: source.path) else { continue }
      try folder.write(Array(try Data(contentsOf: source)), to: "\(name).sqlite\(suffix)")
    }
    return folder.file("\(name).sqlite")
  }

  static let all: [RealStore] = folio + bookmarks + posts

  /// In debug without those that have thousands of objects, which take most of the time.
  static let sampled = Amount.of(
    debug: all.filter { $0.objectCounts.values.reduce(0, +) < 3_000 }, release: all)

  static let folio: [RealStore] = [
    folio(
      "ArtsyPartner_1.3", "ArtsyPartner 5", "65AB3A91-989E-4D53-B53A-D244B4AE6BC1",
      ["Artwork": 1, "Partner": 1, "User": 1], ["Artwork.collections": 0]),
    folio(
      "ArtsyPartner_1.3.5", "ArtsyPartner 5", "E3ACE64F-2276-423A-B48F-4EA38A4A6413",
      [
        "Artist": 4, "Artwork": 63, "Collection": 13, "Document": 15, "Image": 72, "Partner": 1,
        "User": 1,
      ], ["Artwork.collections": 33]),
    folio(
      "ArtsyPartner_1.4", "ArtsyFolio v1.4", "E3ACE64F-2276-423A-B48F-4EA38A4A6413",
      [
        "Album": 10, "Artist": 4, "ArtistDocument": 12, "ShowDocument": 6, "Artwork": 68,
        "Image": 76, "Location": 2, "Partner": 1, "Show": 11, "User": 108,
      ],
      [
        "Artwork.shows": 30, "Album.artists": 5, "Album.artworks": 78,
        "Artist.showsFeaturingArtist": 13,
      ]),
    folio("ArtsyPartner_1.6", "ArtsyFolio v1.5", "6A5CB3DD-49BF-48B8-B704-960324A6D1E1", [:]),
    folio(
      "ArtsyPartner_2.0", "ArtsyFolio v2.0", "3D359CDD-CFF4-4B56-8100-8DAB48A03386",
      ["Artwork": 1]),
    folio(
      "oss_stubbed_data", "ArtsyFolio v2.3", "734405CE-9EC8-4F64-8AC3-238B70608189",
      [
        "Album": 3, "Artist": 4, "Artwork": 27, "ArtistDocument": 3, "ShowDocument": 1, "Image": 49,
        "InstallShotImage": 8, "Location": 2, "Partner": 1, "PartnerOption": 2, "Show": 7,
        "User": 1,
      ],
      [
        "Album.artworks": 53, "Album.artists": 1, "Artist.showsFeaturingArtist": 14,
        "Artwork.shows": 41, "Location.artworks": 0,
      ]),
  ]

  static let bookmarks: [RealStore] =
    [
      ("BookmarksModel", "8E430534-5F59-49DB-9479-C3290AE2713E"),
      ("BookmarksModel 2", "596ECDCA-987E-454C-A269-04E0817C5E33"),
      ("BookmarksModel 3", "68EFC1D5-E5CE-4B04-BC3C-9C3FD734558A"),
      ("BookmarksModel 4", "E688ECA9-D9C7-40C5-94B4-A1F8C6E6A428"),
      ("BookmarksModel 5", "729EA06D-F512-407C-A56C-326316BFB40E"),
    ].enumerated().map { index, pair in
      RealStore(
        project: "duckduckgo-bookmarks", name: "Bookmarks_V\(index + 1)", model: "BookmarksModel",
        version: pair.0, uuid: pair.1, objectCounts: ["BookmarkEntity": 10],
        linkCounts: index < 3 ? [:] : ["BookmarkEntity.favorites": 5])
    } + [
      RealStore(
        project: "duckduckgo-bookmarks", name: "SyncMetadata_V3", model: "SyncMetadata",
        version: "SyncMetadata 3", uuid: "5723F9B2-DDD6-404B-AD62-4BC3B3A09A3C",
        objectCounts: ["SyncFeatureEntity": 2, "SyncableSettingsMetadata": 2])
    ]

  static let posts: [RealStore] = [
    post("1", "", "292CEC8D-C7B1-4073-9B55-56A1A663FA59", ["Post": 1001]),
    post("2", " 2", "D5151864-19A8-4014-AEC0-0DD1501E4140", ["Post": 5979]),
    post("3", " 3", "D5151864-19A8-4014-AEC0-0DD1501E4140", ["Post": 7995, "Color": 7995]),
    post("WAL", " 4", "95E4B0A1-CBFB-4257-B10B-EE64F7558656", ["Post": 84, "Color": 84]),
  ]

  private static func folio(
    _ name: String, _ version: String, _ uuid: String, _ counts: [String: Int],
    _ links: [String: Int] = [:]
  ) -> RealStore {
    RealStore(
      project: "artsy-folio", name: name, model: "ArtsyPartner", version: version, uuid: uuid,
      objectCounts: counts, linkCounts: links)
  }

  private static func post(
    _ name: String, _ version: String, _ uuid: String, _ counts: [String: Int]
  ) -> RealStore {
    RealStore(
      project: "wibosco-migration", name: "CoreDataMigration_Example_\(name)",
      model: "CoreDataMigration_Example", version: "CoreDataMigration_Example" + version,
      uuid: uuid, objectCounts: counts)
  }
}
