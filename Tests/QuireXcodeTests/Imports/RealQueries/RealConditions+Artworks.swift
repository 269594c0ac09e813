extension RealConditions {
  /// The artworks of Folio's sample data: texts, decimals that may be `NaN`, and all kinds of
  /// relationships.
  static let artworks: [RealConditions] = [
    artworkValues, artworkTexts, artworkNumbers, artworkPaths, artworkCollections,
  ]

  static func artworks(_ pairs: [(String, String)]) -> RealConditions {
    RealConditions(
      store: "oss_stubbed_data", entity: "Artwork",
      tables: """
        ZARTWORK t LEFT JOIN ZARTIST a ON a.Z_PK = t.ZARTIST \
        LEFT JOIN ZIMAGE i ON i.Z_PK = t.ZMAINIMAGE
        """,
      pairs: pairs)
  }

  private static let artworkValues = artworks([
    ("title == 'Colours'", "t.ZTITLE = 'Colours'"),
    ("title != 'Colours'", "t.ZTITLE IS NOT 'Colours'"),
    ("category == nil", "t.ZCATEGORY IS NULL"),
    ("category != nil", "t.ZCATEGORY IS NOT NULL"),
    ("NOT category == 'Painting'", "t.ZCATEGORY IS NOT 'Painting'"),
    ("category < 'Performance'", "t.ZCATEGORY < 'Performance'"),
    ("NOT category < 'Performance'", "(t.ZCATEGORY < 'Performance') IS NOT TRUE"),
    (
      "category >= 'Painting' AND category <= 'Print'",
      "t.ZCATEGORY >= 'Painting' AND t.ZCATEGORY <= 'Print'"
    ),
    (
      "category BETWEEN {'Mixed Media', 'Performance Art'}",
      "t.ZCATEGORY BETWEEN 'Mixed Media' AND 'Performance Art'"
    ),
    ("NOT category BETWEEN {'M', 'Q'}", "(t.ZCATEGORY BETWEEN 'M' AND 'Q') IS NOT TRUE"),
    ("category IN {'Painting', 'Print', 'Sound'}", "t.ZCATEGORY IN ('Painting', 'Print', 'Sound')"),
    ("category IN {'Print', nil}", "t.ZCATEGORY = 'Print' OR t.ZCATEGORY IS NULL"),
    ("NOT category IN {'Painting', 'Print'}", "(t.ZCATEGORY IN ('Painting', 'Print')) IS NOT TRUE"),
    (
      "availability == 'for sale' AND (category == nil OR category BEGINSWITH 'P')",
      "t.ZAVAILABILITY = 'for sale' AND (t.ZCATEGORY IS NULL OR t.ZCATEGORY GLOB 'P*')"
    ),
    (
      "NOT (availability == 'for sale' AND category == nil)",
      "(t.ZAVAILABILITY = 'for sale' AND t.ZCATEGORY IS NULL) IS NOT TRUE"
    ),
    (
      "NOT (availability == 'sold' OR category > 'P')",
      "(t.ZAVAILABILITY = 'sold' OR t.ZCATEGORY > 'P') IS NOT TRUE"
    ),
    ("isAvailableForSale == YES", "t.ZISAVAILABLEFORSALE = 1"),
    ("isAvailableForSale > isPriceHidden", "t.ZISAVAILABLEFORSALE > t.ZISPRICEHIDDEN"),
    ("date == medium", "t.ZDATE IS t.ZMEDIUM"),
    ("medium != signature", "t.ZMEDIUM IS NOT t.ZSIGNATURE"),
    ("displayPrice == backendPrice AND displayPrice != nil", "t.ZDISPLAYPRICE = t.ZBACKENDPRICE"),
    ("title < date", "t.ZTITLE < t.ZDATE"),
    (
      "TERNARY(category == nil, availability, category) BEGINSWITH 'n'",
      "coalesce(t.ZCATEGORY, t.ZAVAILABILITY) GLOB 'n*'"
    ),
  ])

  private static let artworkTexts = artworks([
    ("title BEGINSWITH 'C'", "t.ZTITLE GLOB 'C*'"),
    (
      "title BEGINSWITH[c] 'c' OR title BEGINSWITH[c] 'WIN'",
      "t.ZTITLE LIKE 'c%' OR t.ZTITLE LIKE 'win%'"
    ),
    ("title CONTAINS 'o'", "t.ZTITLE GLOB '*o*'"),
    ("title CONTAINS[c] 'O'", "t.ZTITLE LIKE '%o%'"),
    ("NOT title CONTAINS[c] 'o'", "(t.ZTITLE LIKE '%o%') IS NOT TRUE"),
    ("title ENDSWITH 's'", "t.ZTITLE GLOB '*s'"),
    ("title ENDSWITH[c] 'NAME'", "t.ZTITLE LIKE '%name'"),
    ("title LIKE 'B*s'", "t.ZTITLE GLOB 'B*s'"),
    ("title LIKE '?a*'", "t.ZTITLE GLOB '?a*'"),
    ("title LIKE[c] '*BLUR*'", "t.ZTITLE LIKE '%blur%'"),
    ("backendPrice LIKE '$?,*'", "t.ZBACKENDPRICE GLOB '$?,*'"),
    ("title ==[c] 'motion IN Ruby'", "t.ZTITLE = 'Motion in ruby' COLLATE NOCASE"),
    (
      "title IN[c] {'CATS', 'dogs', 'bears'}",
      "t.ZTITLE COLLATE NOCASE IN ('CATS', 'dogs', 'bears')"
    ),
    ("title <[c] 'colours'", "t.ZTITLE < 'colours' COLLATE NOCASE"),
    ("title CONTAINS[d] 'kom'", "instr(replace(t.ZTITLE, 'ô', 'o'), 'kom') > 0"),
    ("title CONTAINS[cd] 'AGUA'", "instr(lower(replace(t.ZTITLE, 'á', 'a')), 'agua') > 0"),
    ("title CONTAINS 'дон'", "instr(t.ZTITLE, 'дон') > 0"),
    ("title CONTAINS[c] 'ДОН'", "instr(t.ZTITLE, 'дон') > 0"),
    (
      "title MATCHES '[A-Z][a-z]+'", "t.ZTITLE GLOB '[A-Z][a-z]*' AND t.ZTITLE NOT GLOB '?*[^a-z]*'"
    ),
    ("title MATCHES '.*[0-9]+.*'", "t.ZTITLE GLOB '*[0-9]*'"),
    (
      "date MATCHES '(ca[.] )?[0-9]{4}'",
      "t.ZDATE GLOB '[0-9][0-9][0-9][0-9]' OR t.ZDATE GLOB 'ca. [0-9][0-9][0-9][0-9]'"
    ),
    ("title IN 'Snow, Winds and Dogs'", "instr('Snow, Winds and Dogs', t.ZTITLE) > 0"),
    ("displayTitle CONTAINS date", "instr(t.ZDISPLAYTITLE, t.ZDATE) > 0"),
    ("displayTitle ENDSWITH title", "substr(t.ZDISPLAYTITLE, -length(t.ZTITLE)) = t.ZTITLE"),
    (
      "displayTitle == artist.name",
      "t.ZDISPLAYTITLE = a.ZNAME"
    ),
    ("title.length > 10", "length(t.ZTITLE) > 10"),
    ("length:(title) == category.length", "length(t.ZTITLE) IS length(t.ZCATEGORY)"),
    ("uppercase:(title) == 'DOGS'", "upper(t.ZTITLE) = 'DOGS'"),
    ("lowercase:(title) BEGINSWITH 'c'", "lower(t.ZTITLE) GLOB 'c*'"),
    ("canonical:(title) == canonical:('CATS')", "t.ZTITLE = 'Cats'"),
  ])

  /// A decimal that is not a number is the text `NaN`; it equals its like, and has no order.
  private static let artworkNumbers = artworks([
    ("height == nil", "t.ZHEIGHT IS NULL"),
    ("height > 22", "typeof(t.ZHEIGHT) <> 'text' AND t.ZHEIGHT > 22"),
    ("height <= 22", "t.ZHEIGHT <= 22"),
    ("NOT height > 22", "(typeof(t.ZHEIGHT) <> 'text' AND t.ZHEIGHT > 22) IS NOT TRUE"),
    ("height == 22.0", "t.ZHEIGHT = 22"),
    ("height != 22", "t.ZHEIGHT IS NOT 22"),
    ("height BETWEEN {16, 33}", "t.ZHEIGHT BETWEEN 16 AND 33"),
    ("height IN {3, 20, 444}", "t.ZHEIGHT IN (3, 20, 444)"),
    ("height == width", "t.ZHEIGHT IS t.ZWIDTH"),
    ("height != width", "t.ZHEIGHT IS NOT t.ZWIDTH"),
    ("depth == diameter", "t.ZDEPTH IS t.ZDIAMETER"),
    ("height * width > 500", "typeof(t.ZHEIGHT) <> 'text' AND t.ZHEIGHT * t.ZWIDTH > 500"),
    ("height + width == 44", "t.ZHEIGHT + t.ZWIDTH = 44"),
    ("width - height BETWEEN {1, 20}", "t.ZWIDTH - t.ZHEIGHT BETWEEN 1 AND 20"),
    ("width / height > 1.5", "typeof(t.ZHEIGHT) <> 'text' AND t.ZWIDTH * 1.0 / t.ZHEIGHT > 1.5"),
    ("height ** 2 > 1000", "typeof(t.ZHEIGHT) <> 'text' AND t.ZHEIGHT * t.ZHEIGHT > 1000"),
    ("abs:(height - width) > 9", "typeof(t.ZHEIGHT) <> 'text' AND abs(t.ZHEIGHT - t.ZWIDTH) > 9"),
    ("modulus:by:(height, 2) == 0", "typeof(t.ZHEIGHT) <> 'text' AND t.ZHEIGHT % 2 = 0"),
    ("floor:(height / 10) == 2", "typeof(t.ZHEIGHT) <> 'text' AND t.ZHEIGHT / 10 = 2"),
    ("sqrt:(height) > 5", "typeof(t.ZHEIGHT) <> 'text' AND t.ZHEIGHT > 25"),
    ("-height < -30", "typeof(t.ZHEIGHT) <> 'text' AND t.ZHEIGHT > 30"),
    ("TERNARY(height > 20, height, 0) > 0", "typeof(t.ZHEIGHT) <> 'text' AND t.ZHEIGHT > 20"),
  ])
}
