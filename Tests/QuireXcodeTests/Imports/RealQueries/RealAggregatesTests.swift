import Foundation
import Quire
import QuireModel
import QuireSimulation
import Testing

// Counts, sums, averages and extremes of real stores, of all objects and in groups, beside GROUP BY
// of SQLite on the original.
@Suite(
  .enabled(if: RealData.isPresent, Comment(rawValue: RealData.absence)),
  .enabled(if: SQLiteCommand.isPresent, Comment(rawValue: SQLiteCommand.absence)))
struct RealAggregatesTests {
  final class Artwork: ManagedObject {
    @Managed var title: String?
    @Managed var availability: String?
    @Managed var category: String?
    @Managed var depth: Decimal?
    @Managed var height: Decimal?
    @Managed var isAvailableForSale: Bool
    @Managed var artist: Artist?
  }

  final class Artist: ManagedObject {
    @Managed var lastName: String?
    @Managed var artworks: Set<Artwork>
  }

  final class Image: ManagedObject {
    @Managed var position: Int16?
    @Managed var maxTiledWidth: Int16?
    @Managed var originalWidth: Float?
    @Managed var artwork: Artwork?
  }

  final class Show: ManagedObject {
    @Managed var startsAt: Date?
    @Managed var artworks: Set<Artwork>
  }

  final class Post: ManagedObject {
    @Managed var date: Date?
    @Managed var postID: String?
  }

  private static let folio: [ManagedObject.Type] = [
    Artwork.self, Artist.self, Image.self, Show.self,
  ]

  /// A row as SQLite prints it; what is absent is empty.
  private func row(_ values: Any?...) -> String {
    values.map { value in
      switch value {
      case nil: ""
      case let flag as Bool: flag ? "1" : "0"
      case let number as Double: String(format: "%.6f", number)
      case let date as Date: String(format: "%.6f", date.timeIntervalSinceReferenceDate)
      case let value?: "\(value)"
      }
    }.joined(separator: "|")
  }

  @Test(arguments: [false, true])
  func `aggregates of all objects are those of sqlite3`(isIndexed: Bool) throws {
    let store = try ImportedStore(
      "oss_stubbed_data", isIndexed: isIndexed, classes: Self.folio)
    let context = store.context
    let artworks = try context.aggregate(
      Artwork.self, .count, .valueCount(\.category), .distinctCount(\.category),
      .distinctCount(\.artist), .minimum(\.title), .maximum(\Artwork.artist?.lastName))
    #expect(
      try store.rows(
        """
        SELECT count(*), count(ZCATEGORY), count(DISTINCT ZCATEGORY), count(DISTINCT ZARTIST), \
        min(ZTITLE), max(a.ZLASTNAME) FROM ZARTWORK t JOIN ZARTIST a ON a.Z_PK = t.ZARTIST
        """)
        == [
          row(
            artworks.0, artworks.1, artworks.2, artworks.3, artworks.4, artworks.5)
        ])
    let images = try context.aggregate(
      Image.self, .sum(\.position), .average(\.position), .sum(\.originalWidth),
      .average(\.maxTiledWidth), .minimum(\.maxTiledWidth), where: Key("position") > 1)
    #expect(
      try store.rows(
        """
        SELECT sum(ZPOSITION), printf('%.6f', avg(ZPOSITION)), \
        printf('%.6f', sum(ZORIGINALWIDTH)), printf('%.6f', avg(ZMAXTILEDWIDTH)), \
        min(ZMAXTILEDWIDTH) FROM ZIMAGE WHERE ZPOSITION > 1
        """) == [row(images.0, images.1, images.2, images.3, images.4)])
    let shows = try context.aggregate(
      Show.self, .minimum(\.startsAt), .maximum(\.startsAt),
      .valueCount(Key("artworks.category")), .distinctCount(Key("artworks.category")))
    #expect(
      try store.rows(
        """
        SELECT printf('%.6f', min(ZSTARTSAT)), printf('%.6f', max(ZSTARTSAT)), \
        (SELECT count(w.ZCATEGORY) FROM Z_3SHOWS j JOIN ZARTWORK w ON w.Z_PK = j.Z_3ARTWORKS1), \
        (SELECT count(DISTINCT w.ZCATEGORY) FROM Z_3SHOWS j \
        JOIN ZARTWORK w ON w.Z_PK = j.Z_3ARTWORKS1) FROM ZSHOW
        """) == [row(shows.0, shows.1, shows.2, shows.3)])
    // Without what is not a number.
    let heights = try context.aggregate(
      Artwork.self, .count, .sum(\.height), .maximum(\.height), .minimum(\.height),
      where: Key("height") > 0)
    #expect(
      try store.rows(
        """
        SELECT count(*), sum(ZHEIGHT), max(ZHEIGHT), min(ZHEIGHT) FROM ZARTWORK \
        WHERE ZHEIGHT > 0 AND typeof(ZHEIGHT) <> 'text'
        """) == [row(heights.0, heights.1, heights.2, heights.3)])
  }

  @Test(arguments: [false, true])
  func `groups and their aggregates are those of GROUP BY`(isIndexed: Bool) throws {
    let store = try ImportedStore(
      "oss_stubbed_data", isIndexed: isIndexed, classes: Self.folio)
    let context = store.context
    let categories = try context.aggregate(
      Artwork.self, .count, .minimum(\.title), .distinctCount(\.artist), groupedBy: \.category)
    #expect(
      try store.rows(
        """
        SELECT ZCATEGORY, count(*), min(ZTITLE), count(DISTINCT ZARTIST) FROM ZARTWORK \
        GROUP BY 1 ORDER BY 1
        """)
        == categories.map { row($0.group, $0.values.0, $0.values.1, $0.values.2) })
    let sales = try context.aggregate(
      Artwork.self, .count, .valueCount(\.height), groupedBy: \.artist?.lastName,
      \.isAvailableForSale)
    #expect(
      try store.rows(
        """
        SELECT a.ZLASTNAME, t.ZISAVAILABLEFORSALE, count(*), count(ZHEIGHT) FROM ZARTWORK t \
        JOIN ZARTIST a ON a.Z_PK = t.ZARTIST GROUP BY 1, 2 ORDER BY 1, 2
        """)
        == sales.map { row($0.group.0, $0.group.1, $0.values.0, $0.values.1) })
    let artworks = try context.aggregate(
      Image.self, .count, .sum(\.position), .average(\.originalWidth), groupedBy: \.artwork)
    #expect(
      try store.rows(
        """
        SELECT ZARTWORK, count(*), sum(ZPOSITION), CASE WHEN count(ZORIGINALWIDTH) > 0 \
        THEN printf('%.6f', avg(ZORIGINALWIDTH)) END FROM ZIMAGE GROUP BY 1 ORDER BY 1
        """)
        == artworks.map {
          row(
            ImportedStore.keys([$0.group?.objectID].compactMap(\.self)).first, $0.values.0,
            $0.values.1, $0.values.2)
        })
    let positions = try context.aggregate(
      Image.self, .count, .maximum(\.maxTiledWidth), groupedBy: \.position,
      where: Key("artwork.artist.lastName") == "Dog")
    #expect(
      try store.rows(
        """
        SELECT ZPOSITION, count(*), max(ZMAXTILEDWIDTH) FROM ZIMAGE WHERE ZARTWORK IN \
        (SELECT w.Z_PK FROM ZARTWORK w WHERE w.ZARTIST = 2) GROUP BY 1 ORDER BY 1
        """) == positions.map { row($0.group, $0.values.0, $0.values.1) })
  }

  @Test func `decimals that are not a number are one group, before all numbers`() throws {
    let store = try ImportedStore("ArtsyPartner_1.4", classes: [Artwork14.self])
    let depths = try store.context.aggregate(
      Artwork14.self, .count, .distinctCount(\.height), groupedBy: \.depth)
    #expect(
      try store.rows(
        """
        SELECT ZDEPTH, count(*), count(DISTINCT ZHEIGHT) FROM ZARTWORK GROUP BY 1 \
        ORDER BY ZDEPTH IS NOT NULL, typeof(ZDEPTH) <> 'text', ZDEPTH
        """) == depths.map { row($0.group, $0.values.0, $0.values.1) })
  }

  /// The artworks of an earlier version.
  final class Artwork14: ManagedObject {
    @Managed var depth: Decimal?
    @Managed var height: Decimal?
    override class var modelEntityName: String { "Artwork" }
  }

  @Test(arguments: Amount.of(debug: [true], release: [false, true]))
  func `thousands of dates are counted and averaged as sqlite3 does`(isIndexed: Bool) throws {
    let store = try ImportedStore(
      "CoreDataMigration_Example_3", isIndexed: isIndexed, classes: [Post.self])
    let posts = try store.context.aggregate(
      Post.self, .count, .distinctCount(\.date), .minimum(\.date), .maximum(\.date),
      .minimum(\.postID), .distinctCount(Key("color.hex")), where: Key("postID") < "8")
    #expect(
      try store.rows(
        """
        SELECT count(*), count(DISTINCT ZDATE), printf('%.6f', min(ZDATE)), \
        printf('%.6f', max(ZDATE)), min(ZPOSTID), count(DISTINCT c.ZHEX) FROM ZPOST t \
        JOIN ZCOLOR c ON c.Z_PK = t.ZCOLOR WHERE ZPOSTID < '8'
        """) == [row(posts.0, posts.1, posts.2, posts.3, posts.4, posts.5)])
  }
}
