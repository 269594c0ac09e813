import QuireModel

/// A request with an order, a limit and an offset, beside the query by which SQL finds the same
/// keys of the original in the same order.
///
/// Objects that are equal in all sort keys come in the order of entities and keys, and so does each
/// query.
struct RealOrder: Sendable {
  var store: String
  var entity: String
  var predicate: String?
  var sorts: [FetchSortDescriptor]
  var limit = 0
  var offset = 0
  var includesSubentities = true
  /// All of the query but the columns.
  var query: String

  static let all = folio + others

  private static let folio: [RealOrder] = [
    artworks(nil, [.by("title")], "ORDER BY t.ZTITLE, t.Z_PK"),
    artworks(nil, [.by("title", ascending: false)], "ORDER BY t.ZTITLE DESC, t.Z_PK"),
    artworks(
      nil, [.by("category", absentValues: .last), .by("title")], limit: 9, offset: 2,
      "ORDER BY t.ZCATEGORY NULLS LAST, t.ZTITLE, t.Z_PK LIMIT 9 OFFSET 2"),
    artworks(
      nil, [.by("medium", options: .caseInsensitive), .by("slug", ascending: false)],
      "ORDER BY t.ZMEDIUM COLLATE NOCASE, t.ZSLUG DESC"),
    // What is not a number is behind absent values and before all numbers.
    artworks(
      nil, [.by("height"), .by("width", ascending: false)], offset: 10,
      """
      ORDER BY t.ZHEIGHT IS NOT NULL, typeof(t.ZHEIGHT) <> 'text', t.ZHEIGHT, \
      t.ZWIDTH IS NULL, typeof(t.ZWIDTH) = 'text', t.ZWIDTH DESC, t.Z_PK LIMIT -1 OFFSET 10
      """),
    artworks(
      nil, [.by("artist.lastName"), .by("title", ascending: false)], limit: 20,
      "ORDER BY a.ZLASTNAME, t.ZTITLE DESC, t.Z_PK LIMIT 20"),
    artworks(
      nil, [.by("artist.lastName", ascending: false, absentValues: .first)], limit: 8,
      "ORDER BY a.ZLASTNAME DESC NULLS FIRST, t.Z_PK LIMIT 8"),
    artworks(
      "availability == 'for sale'", [.by("mainImage.aspectRatio", ascending: false)], limit: 12,
      offset: 3,
      """
      WHERE t.ZAVAILABILITY = 'for sale' ORDER BY i.ZASPECTRATIO DESC, t.Z_PK LIMIT 12 OFFSET 3
      """),
    artworks(
      "ANY shows.name == 'All Artworks Show'", [.by("displayPrice"), .by("title")], limit: 10,
      """
      WHERE t.Z_PK IN (SELECT j.Z_3ARTWORKS1 FROM Z_3SHOWS j WHERE j.Z_14SHOWS = 6) \
      ORDER BY t.ZDISPLAYPRICE, t.ZTITLE, t.Z_PK LIMIT 10
      """),
    artworks(
      nil, [.by("category", ascending: false)], limit: 12, offset: 4,
      "ORDER BY t.ZCATEGORY DESC, t.Z_PK LIMIT 12 OFFSET 4"),
    artworks(
      "title > 'D'", [.by("title", ascending: false, absentValues: .first)], limit: 6,
      "WHERE t.ZTITLE > 'D' ORDER BY t.ZTITLE DESC, t.Z_PK LIMIT 6"),
    artworks(
      nil, [.by("isPriceHidden", ascending: false), .by("isAvailableForSale")],
      "ORDER BY t.ZISPRICEHIDDEN DESC, t.ZISAVAILABLEFORSALE, t.Z_PK"),
    RealOrder(
      store: "oss_stubbed_data", entity: "Image", sorts: [.by("position", ascending: false)],
      limit: 20, query: "FROM ZIMAGE t ORDER BY t.ZPOSITION DESC, t.Z_ENT, t.Z_PK LIMIT 20"),
    RealOrder(
      store: "oss_stubbed_data", entity: "Image", sorts: [.by("originalWidth"), .by("position")],
      includesSubentities: false,
      query: "FROM ZIMAGE t WHERE t.Z_ENT = 7 ORDER BY t.ZORIGINALWIDTH, t.ZPOSITION, t.Z_PK"),
    RealOrder(
      store: "oss_stubbed_data", entity: "Image", predicate: "artwork != nil",
      sorts: [.by("artwork.title"), .by("position")], limit: 15, offset: 5,
      query: """
        FROM ZIMAGE t JOIN ZARTWORK w ON w.Z_PK = t.ZARTWORK \
        ORDER BY w.ZTITLE, t.ZPOSITION, t.Z_ENT, t.Z_PK LIMIT 15 OFFSET 5
        """),
    RealOrder(
      store: "oss_stubbed_data", entity: "Show", sorts: [.by("startsAt", ascending: false)],
      limit: 5, query: "FROM ZSHOW t ORDER BY t.ZSTARTSAT DESC LIMIT 5"),
  ]

  private static let others: [RealOrder] = [
    RealOrder(
      store: "ArtsyPartner_1.4", entity: "Artwork", predicate: "depth != nil",
      sorts: [.by("depth", ascending: false), .by("title")],
      query: """
        FROM ZARTWORK t WHERE t.ZDEPTH IS NOT NULL \
        ORDER BY typeof(t.ZDEPTH) = 'text', t.ZDEPTH DESC, t.ZTITLE, t.Z_PK
        """),
    RealOrder(
      store: "ArtsyPartner_1.4", entity: "Document", sorts: [.by("size"), .by("slug")], limit: 9,
      offset: 3, query: "FROM ZDOCUMENT t ORDER BY t.ZSIZE, t.ZSLUG LIMIT 9 OFFSET 3"),
    RealOrder(
      store: "CoreDataMigration_Example_3", entity: "Post",
      sorts: [.by("date", ascending: false)], limit: 300, offset: 50,
      query: "FROM ZPOST t ORDER BY t.ZDATE DESC, t.Z_PK LIMIT 300 OFFSET 50"),
    RealOrder(
      store: "CoreDataMigration_Example_3", entity: "Post", sorts: [.by("color.hex")], limit: 500,
      query: """
        FROM ZPOST t LEFT JOIN ZCOLOR c ON c.Z_PK = t.ZCOLOR ORDER BY c.ZHEX, t.Z_PK LIMIT 500
        """),
    RealOrder(
      store: "CoreDataMigration_Example_3", entity: "Post", predicate: "postID CONTAINS 'F'",
      sorts: [.by("postID", ascending: false)], limit: 25, offset: 5,
      query: """
        FROM ZPOST t WHERE instr(t.ZPOSTID, 'F') > 0 ORDER BY t.ZPOSTID DESC LIMIT 25 OFFSET 5
        """),
    RealOrder(
      store: "CoreDataMigration_Example_3", entity: "Color", predicate: "hex BEGINSWITH 'A'",
      sorts: [.by("post.date")], limit: 40, offset: 10,
      query: """
        FROM ZCOLOR t JOIN ZPOST p ON p.Z_PK = t.ZPOST WHERE t.ZHEX GLOB 'A*' \
        ORDER BY p.ZDATE, t.Z_PK LIMIT 40 OFFSET 10
        """),
    RealOrder(
      store: "Bookmarks_V5", entity: "BookmarkEntity",
      sorts: [.by("parent.uuid", absentValues: .last), .by("modifiedAt", ascending: false)],
      query: """
        FROM ZBOOKMARKENTITY t LEFT JOIN ZBOOKMARKENTITY p ON p.Z_PK = t.ZPARENT \
        ORDER BY p.ZUUID NULLS LAST, t.ZMODIFIEDAT DESC, t.Z_PK
        """),
    RealOrder(
      store: "Bookmarks_V5", entity: "BookmarkEntity", predicate: "isFolder == NO",
      sorts: [.by("uuid", options: .natural)], limit: 5,
      query: """
        FROM ZBOOKMARKENTITY t WHERE t.ZISFOLDER = 0 ORDER BY CAST(t.ZUUID AS INTEGER) LIMIT 5
        """),
  ]

  private static func artworks(
    _ predicate: String?, _ sorts: [FetchSortDescriptor], limit: Int = 0, offset: Int = 0,
    _ rest: String
  ) -> RealOrder {
    RealOrder(
      store: "oss_stubbed_data", entity: "Artwork", predicate: predicate, sorts: sorts,
      limit: limit, offset: offset,
      query: """
        FROM ZARTWORK t LEFT JOIN ZARTIST a ON a.Z_PK = t.ZARTIST \
        LEFT JOIN ZIMAGE i ON i.Z_PK = t.ZMAINIMAGE \(rest)
        """)
  }
}

extension FetchSortDescriptor {
  fileprivate static func by(
    _ key: String, ascending: Bool = true, options: FetchComparisonOptions = [],
    absentValues: AbsentValues = .smallest
  ) -> FetchSortDescriptor {
    FetchSortDescriptor(
      key: key, ascending: ascending, options: options, absentValues: absentValues)
  }
}
