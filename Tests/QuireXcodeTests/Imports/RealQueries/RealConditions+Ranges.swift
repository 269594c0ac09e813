extension RealConditions {
  /// What an index answers by one range of its keys, by several, or together with another: bounds
  /// of other types than the property's, bounds that no value has, negations and absent values.
  static let ranges: [RealConditions] = [
    RealConditions(
      store: "oss_stubbed_data", entity: "Image", tables: "ZIMAGE t",
      pairs: [
        ("position > 1.5", "t.ZPOSITION > 1.5"),
        ("position BETWEEN {0.5, 2.5}", "t.ZPOSITION BETWEEN 0.5 AND 2.5"),
        ("position IN {4, 0, 4, 7}", "t.ZPOSITION IN (0, 4)"),
        ("position != 1 AND position < 100000", "t.ZPOSITION <> 1"),
        ("maxTiledWidth >= 3264.5 AND maxTiledWidth < 40000", "t.ZMAXTILEDWIDTH >= 3265"),
        ("NOT maxTiledWidth > 3000", "(t.ZMAXTILEDWIDTH > 3000) IS NOT TRUE"),
        ("maxTiledWidth == nil OR position == 0", "t.ZMAXTILEDWIDTH IS NULL OR t.ZPOSITION = 0"),
        ("position == 2 AND entity == 'InstallShotImage'", "t.ZPOSITION = 2 AND t.Z_ENT = 8"),
        ("aspectRatio < 1.33", "t.ZASPECTRATIO < 1.3299"),
        ("aspectRatio <= 1.33 AND aspectRatio > 0.75", "t.ZASPECTRATIO BETWEEN 0.751 AND 1.3301"),
        ("aspectRatio IN {1.33, 1.41}", "t.ZASPECTRATIO BETWEEN 1.3299 AND 1.4101"),
        ("originalWidth > 4607.5", "t.ZORIGINALWIDTH > 4607.5"),
        ("isMainImage == nil AND tileFormat != 'jpg'", "t.ZTILEFORMAT IS NOT 'jpg'"),
      ]),
    RealConditions(
      store: "oss_stubbed_data", entity: "InstallShotImage", tables: "ZIMAGE t",
      scope: "t.Z_ENT = 8",
      pairs: [
        ("position == 2", "t.ZPOSITION = 2"),
        ("position > 1 AND originalWidth == 4896", "t.ZPOSITION > 1 AND t.ZORIGINALWIDTH = 4896"),
        (
          "originalWidth == nil OR caption IN {'3', '4'}",
          "t.ZORIGINALWIDTH IS NULL OR t.ZCAPTION > '2'"
        ),
      ]),
    RealConditions(
      store: "oss_stubbed_data", entity: "Artwork",
      tables: "ZARTWORK t LEFT JOIN ZARTIST a ON a.Z_PK = t.ZARTIST",
      pairs: [
        ("height IN {3, 20.0, 33.5}", "t.ZHEIGHT IN (3, 20)"),
        (
          "height < 22.5 AND width > 3.5",
          "typeof(t.ZWIDTH) <> 'text' AND t.ZHEIGHT < 22.5 AND t.ZWIDTH > 3.5"
        ),
        (
          "height >= 444 OR height == 3",
          "typeof(t.ZHEIGHT) <> 'text' AND (t.ZHEIGHT >= 444 OR t.ZHEIGHT = 3)"
        ),
        (
          "height != nil AND NOT height < 50",
          "t.ZHEIGHT IS NOT NULL AND (t.ZHEIGHT < 50) IS NOT TRUE"
        ),
        ("title > 'T' AND title <= 'W'", "t.ZTITLE > 'T' AND t.ZTITLE <= 'W'"),
        (
          "title >= 'S' AND NOT title BEGINSWITH 'Su'",
          "t.ZTITLE >= 'S' AND t.ZTITLE NOT GLOB 'Su*'"
        ),
        (
          "title BEGINSWITH 'Colours' OR title == 'Cats'",
          "t.ZTITLE GLOB 'Colours*' OR t.ZTITLE = 'Cats'"
        ),
        (
          "title BEGINSWITH 'C' AND date BEGINSWITH 'ca'",
          "t.ZTITLE GLOB 'C*' AND t.ZDATE GLOB 'ca*'"
        ),
        ("title IN {'Cats', 'Dogs', 'Cats', 'Cat'}", "t.ZTITLE IN ('Cats', 'Dogs')"),
        (
          "artist.lastName == 'Dog' AND date == nil",
          "a.ZLASTNAME = 'Dog' AND t.ZDATE IS NULL"
        ),
        ("artist.firstName == nil AND date != nil", "a.ZFIRSTNAME IS NULL AND t.ZDATE IS NOT NULL"),
        (
          "artist.firstName == 'Danger' OR category == 'Print'",
          "a.ZFIRSTNAME = 'Danger' OR t.ZCATEGORY = 'Print'"
        ),
        (
          "NOT (artist.firstName == 'Orta' OR title > 'D')",
          "(a.ZFIRSTNAME = 'Orta' OR t.ZTITLE > 'D') IS NOT TRUE"
        ),
        (
          "isAvailableForSale < 1 OR isPriceHidden != NO",
          "t.ZISAVAILABLEFORSALE < 1 OR t.ZISPRICEHIDDEN IS NOT 0"
        ),
      ]),
    RealConditions(
      store: "CoreDataMigration_Example_3", entity: "Post",
      tables: "ZPOST t LEFT JOIN ZCOLOR c ON c.Z_PK = t.ZCOLOR",
      pairs: [
        (
          "postID BEGINSWITH 'F' AND date < CAST(526913750, 'NSDate')",
          "t.ZPOSTID GLOB 'F*' AND t.ZDATE < 526913750"
        ),
        (
          "postID BEGINSWITH 'FF' OR date < CAST(526913667, 'NSDate')",
          "t.ZPOSTID GLOB 'FF*' OR t.ZDATE < 526913667"
        ),
        ("postID > 'FFC' OR postID <= '001'", "t.ZPOSTID > 'FFC' OR t.ZPOSTID <= '001'"),
        ("color.hex < '008' OR color.hex BEGINSWITH 'FFF'", "c.ZHEX < '008' OR c.ZHEX GLOB 'FFF*'"),
        (
          "color.hex BEGINSWITH '0' AND postID BEGINSWITH '0'",
          "c.ZHEX GLOB '0*' AND t.ZPOSTID GLOB '0*'"
        ),
        (
          "postID BEGINSWITH 'A' AND (color.hex < '1' OR date > CAST(526924230, 'NSDate'))",
          "t.ZPOSTID GLOB 'A*' AND (c.ZHEX < '1' OR t.ZDATE > 526924230)"
        ),
        (
          "postID BEGINSWITH 'AB' AND NOT color.hex > '8'", "t.ZPOSTID GLOB 'AB*' AND c.ZHEX <= '8'"
        ),
        (
          "date >= CAST(526913713.695477, 'NSDate') AND date <= CAST(526913713.695477, 'NSDate')",
          "t.ZDATE = 526913713.695477"
        ),
        (
          "date > CAST(526913713.695477, 'NSDate') AND postID < '04'",
          "t.ZDATE > 526913713.695477 AND t.ZPOSTID < '04'"
        ),
      ]),
  ]
}
