extension RealConditions {
  /// A one-to-one relationship over thousands of rows, of which some are in the log.
  static let posts: [RealConditions] = [
    RealConditions(
      store: "CoreDataMigration_Example_3", entity: "Post",
      tables: "ZPOST t LEFT JOIN ZCOLOR c ON c.Z_PK = t.ZCOLOR",
      pairs: [
        ("color.hex BEGINSWITH 'A'", "c.ZHEX GLOB 'A*'"),
        ("color.hex CONTAINS 'FF'", "c.ZHEX GLOB '*FF*'"),
        ("color.hex LIKE[c] '?ab???'", "c.ZHEX LIKE '_ab___'"),
        ("color.hex BETWEEN {'40', '41'}", "c.ZHEX BETWEEN '40' AND '41'"),
        ("color.hex IN {'FA31AC', '8D1E55', 'BBE465'}", "c.ZHEX IN ('FA31AC', '8D1E55', 'BBE465')"),
        ("color.colorID < postID", "c.ZCOLORID < t.ZPOSTID"),
        ("date < CAST(526913700.5, 'NSDate')", "t.ZDATE < 526913700.5"),
        (
          "date BETWEEN {CAST(526913850, 'NSDate'), CAST(526913950, 'NSDate')}",
          "t.ZDATE BETWEEN 526913850 AND 526913950"
        ),
        ("date == CAST(526913713.695477, 'NSDate')", "t.ZDATE = 526913713.695477"),
        (
          "postID BEGINSWITH[c] 'ab' OR color.hex ENDSWITH '00'",
          "t.ZPOSTID GLOB 'AB*' OR c.ZHEX GLOB '*00'"
        ),
        (
          "postID MATCHES '[0-9]{8}-.*'",
          "t.ZPOSTID GLOB '[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]-*'"
        ),
        ("NOT (postID < 'F' OR color.hex > '1')", "t.ZPOSTID >= 'F' AND c.ZHEX <= '1'"),
        (
          "postID < '02' AND date > CAST(526914000, 'NSDate')",
          "t.ZPOSTID < '02' AND t.ZDATE > 526914000"
        ),
      ]),
    RealConditions(
      store: "CoreDataMigration_Example_3", entity: "Color",
      tables: "ZCOLOR t LEFT JOIN ZPOST p ON p.Z_PK = t.ZPOST",
      pairs: [
        ("post.date < CAST(526913700, 'NSDate')", "p.ZDATE < 526913700"),
        ("hex == '000000' OR hex >= 'FFF'", "t.ZHEX = '000000' OR t.ZHEX >= 'FFF'"),
        (
          "hex MATCHES '[0-9]{6}' AND post.postID CONTAINS 'A1'",
          "t.ZHEX GLOB '[0-9][0-9][0-9][0-9][0-9][0-9]' AND p.ZPOSTID GLOB '*A1*'"
        ),
      ]),
    RealConditions(
      store: "CoreDataMigration_Example_WAL", entity: "Post",
      tables: "ZPOST t LEFT JOIN ZCOLOR c ON c.Z_PK = t.ZCOLOR",
      pairs: [
        ("color.hex < '80' AND hide == NO", "c.ZHEX < '80' AND t.ZHIDE = 0"),
        ("date > CAST(526927595, 'NSDate')", "t.ZDATE > 526927595"),
      ]),
  ]

  /// Ordered relationships, and an entity that leads to itself.
  static let bookmarks: [RealConditions] = {
    let children = "FROM ZBOOKMARKENTITY c WHERE c.ZPARENT = t.Z_PK"
    let favorites = """
      FROM Z_1FAVORITES j JOIN ZBOOKMARKENTITY f ON f.Z_PK = j.Z_1FAVORITES \
      WHERE j.Z_1FAVORITEFOLDERS = t.Z_PK
      """
    return [
      RealConditions(
        store: "Bookmarks_V5", entity: "BookmarkEntity",
        tables: "ZBOOKMARKENTITY t LEFT JOIN ZBOOKMARKENTITY p ON p.Z_PK = t.ZPARENT",
        pairs: [
          ("parent == nil", "t.ZPARENT IS NULL"),
          ("parent.title == '3'", "p.ZTITLE = '3'"),
          ("parent.parent == nil", "p.ZPARENT IS NULL"),
          ("parent.parent.uuid == 'bookmarks_root'", "p.ZPARENT = 8"),
          (
            "isFolder == YES AND title MATCHES '[0-9]+'",
            "t.ZISFOLDER = 1 AND t.ZTITLE NOT GLOB '*[^0-9]*'"
          ),
          ("url == title", "t.ZURL IS t.ZTITLE"),
          (
            "uuid IN {'1', '2', '32'} OR url == nil",
            "t.ZUUID IN ('1', '2', '32') OR t.ZURL IS NULL"
          ),
          ("uuid.length == 2", "length(t.ZUUID) = 2"),
          ("uuid < '32'", "t.ZUUID < '32'"),
          ("modifiedAt >= CAST(731947175.40502, 'NSDate')", "t.ZMODIFIEDAT >= 731947175.40502"),
          ("modifiedAt > parent.modifiedAt", "t.ZMODIFIEDAT > p.ZMODIFIEDAT"),
          (
            "modifiedAt != nil AND parent.modifiedAt == nil",
            "t.ZMODIFIEDAT IS NOT NULL AND p.ZMODIFIEDAT IS NULL"
          ),
          (
            "children[FIRST].title == '1'",
            "(SELECT c.ZTITLE \(children) ORDER BY c.Z_FOK_PARENT LIMIT 1) = '1'"
          ),
          (
            "children[LAST].isFolder == NO",
            "(SELECT c.ZISFOLDER \(children) ORDER BY c.Z_FOK_PARENT DESC LIMIT 1) = 0"
          ),
          (
            "children[1].uuid != '2'",
            "(SELECT c.ZUUID \(children) ORDER BY c.Z_FOK_PARENT LIMIT 1 OFFSET 1) IS NOT '2'"
          ),
          ("children[SIZE] > 2", "(SELECT count(*) \(children)) > 2"),
          (
            "SELF == parent.children[FIRST]",
            """
            t.Z_PK = (SELECT c.Z_PK FROM ZBOOKMARKENTITY c WHERE c.ZPARENT = t.ZPARENT ORDER BY \
            c.Z_FOK_PARENT LIMIT 1)
            """
          ),
          (
            "favorites[1].uuid == '4'",
            "(SELECT f.ZUUID \(favorites) ORDER BY j.Z_FOK_1FAVORITES LIMIT 1 OFFSET 1) = '4'"
          ),
          (
            "ANY favoriteFolders.uuid == 'favorites_root'",
            "t.Z_PK IN (SELECT Z_1FAVORITES FROM Z_1FAVORITES WHERE Z_1FAVORITEFOLDERS = 6)"
          ),
          (
            "favoriteFolders.@count == 0 AND isFolder == NO",
            "t.Z_PK NOT IN (SELECT Z_1FAVORITES FROM Z_1FAVORITES) AND t.ZISFOLDER = 0"
          ),
          (
            "parent.children.@count > 3",
            "(SELECT count(*) FROM ZBOOKMARKENTITY c WHERE c.ZPARENT = p.Z_PK) > 3"
          ),
          ("ANY children.isFolder == YES", "EXISTS (SELECT 1 \(children) AND c.ZISFOLDER = 1)"),
          (
            "ALL children.url != nil AND isFolder == YES",
            "NOT EXISTS (SELECT 1 \(children) AND c.ZURL IS NULL) AND t.ZISFOLDER = 1"
          ),
          (
            """
            SUBQUERY(children, $c, $c.isFolder == NO AND $c.favoriteFolders.@count > 0).@count \
            == 3
            """,
            """
            (SELECT count(*) \(children) AND c.ZISFOLDER = 0 AND c.Z_PK IN (SELECT Z_1FAVORITES \
            FROM Z_1FAVORITES)) = 3
            """
          ),
          (
            "SUBQUERY(parent.children, $c, $c.modifiedAt > SELF.modifiedAt).@count == 1",
            """
            (SELECT count(*) FROM ZBOOKMARKENTITY c WHERE c.ZPARENT = p.Z_PK AND c.ZMODIFIEDAT > \
            t.ZMODIFIEDAT) = 1
            """
          ),
        ])
    ]
  }()
}
