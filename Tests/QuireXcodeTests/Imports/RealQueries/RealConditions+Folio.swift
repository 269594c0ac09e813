extension RealConditions {
  /// The other entities of Folio's sample data: subentities, dates, numbers, nested relationships.
  static let folio: [RealConditions] = [
    RealConditions(
      store: "oss_stubbed_data", entity: "Image",
      tables: """
        ZIMAGE t LEFT JOIN ZARTWORK w ON w.Z_PK = t.ZARTWORK \
        LEFT JOIN ZARTIST a ON a.Z_PK = w.ZARTIST
        """,
      pairs: [
        ("entity == 'Image'", "t.Z_ENT = 7"),
        ("self isKindOfClass: 'InstallShotImage'", "t.Z_ENT = 8"),
        ("NOT self isMemberOfClass: 'Image'", "t.Z_ENT <> 7"),
        (
          "entity IN {'LocalImage', 'InstallShotImage'} AND position > 2",
          "t.Z_ENT IN (8, 9) AND t.ZPOSITION > 2"
        ),
        ("artwork == nil", "t.ZARTWORK IS NULL"),
        ("artwork.title == nil", "w.ZTITLE IS NULL"),
        ("artwork.artist.lastName == 'Dog'", "a.ZLASTNAME = 'Dog'"),
        ("artwork.artist.lastName != 'Dog'", "a.ZLASTNAME IS NOT 'Dog'"),
        ("artwork.mainImage == SELF", "w.ZMAINIMAGE = t.Z_PK"),
        (
          "mainImageForArtwork != nil AND coverForShow == nil",
          "t.ZMAINIMAGEFORARTWORK IS NOT NULL AND t.ZCOVERFORSHOW IS NULL"
        ),
        ("position BETWEEN {2, 4}", "t.ZPOSITION BETWEEN 2 AND 4"),
        ("position + 1 == 3", "t.ZPOSITION + 1 = 3"),
        ("position * position > position + 5", "t.ZPOSITION * t.ZPOSITION > t.ZPOSITION + 5"),
        ("modulus:by:(position, 2) == 0", "t.ZPOSITION % 2 = 0"),
        ("bitwiseAnd:with:(position, 2) != 0", "t.ZPOSITION & 2 <> 0"),
        ("leftshift:by:(position, 1) >= 6", "t.ZPOSITION << 1 >= 6"),
        // Integers are divided to integers.
        ("maxTiledWidth / 1000 == 4", "t.ZMAXTILEDWIDTH / 1000 = 4"),
        ("maxTiledHeight > maxTiledWidth", "t.ZMAXTILEDHEIGHT > t.ZMAXTILEDWIDTH"),
        ("originalWidth / 512 > 6.5", "t.ZORIGINALWIDTH / 512 > 6.5"),
        (
          "originalHeight * 3 == originalWidth * 2", "t.ZORIGINALHEIGHT * 3 IS t.ZORIGINALWIDTH * 2"
        ),
        ("aspectRatio == 0.75 OR aspectRatio == 1.5", "t.ZASPECTRATIO IN (0.75, 1.5)"),
        ("NOT aspectRatio > 1", "(t.ZASPECTRATIO > 1) IS NOT TRUE"),
        ("originalWidth == maxTiledWidth", "t.ZORIGINALWIDTH IS t.ZMAXTILEDWIDTH"),
        ("trunc:(aspectRatio * 10) == 13", "CAST(t.ZASPECTRATIO * 10 AS INTEGER) = 13"),
      ]),
    RealConditions(
      store: "oss_stubbed_data", entity: "InstallShotImage",
      tables: "ZIMAGE t LEFT JOIN ZSHOW s ON s.Z_PK = t.ZSHOWWITHIMAGEININSTALLATION",
      scope: "t.Z_ENT = 8",
      pairs: [
        ("caption != nil", "t.ZCAPTION IS NOT NULL"),
        ("caption > '1'", "t.ZCAPTION > '1'"),
        ("caption == CAST(position, 'NSString')", "t.ZCAPTION = CAST(t.ZPOSITION AS TEXT)"),
        (
          "showWithImageInInstallation.name == 'All Artworks Show'", "s.ZNAME = 'All Artworks Show'"
        ),
        (
          "showWithImageInInstallation.installationImages.@count > 3",
          "(SELECT count(*) FROM ZIMAGE x WHERE x.ZSHOWWITHIMAGEININSTALLATION = s.Z_PK) > 3"
        ),
      ]),
    shows, artists,
    RealConditions(
      store: "oss_stubbed_data", entity: "Document",
      tables: "ZDOCUMENT t LEFT JOIN ZARTIST a ON a.Z_PK = t.ZARTIST",
      pairs: [
        ("entity == 'ShowDocument'", "t.Z_ENT = 6"),
        (
          "self isKindOfClass: 'ArtistDocument' AND size < 80000", "t.Z_ENT = 5 AND t.ZSIZE < 80000"
        ),
        ("artist.lastName != 'Dog'", "a.ZLASTNAME IS NOT 'Dog'"),
        ("filename BEGINSWITH title", "substr(t.ZFILENAME, 1, length(t.ZTITLE)) = t.ZTITLE"),
        ("size / 1000 == 89", "t.ZSIZE / 1000 = 89"),
        (
          "filename ENDSWITH[c] '.pdf' AND url CONTAINS 'artist'",
          "t.ZFILENAME LIKE '%.pdf' AND t.ZURL GLOB '*artist*'"
        ),
      ]),
  ]

  private static let shows: RealConditions = {
    let artworks = """
      FROM Z_3SHOWS j JOIN ZARTWORK w ON w.Z_PK = j.Z_3ARTWORKS1 \
      LEFT JOIN ZARTIST a ON a.Z_PK = w.ZARTIST WHERE j.Z_14SHOWS = t.Z_PK
      """
    let artists = """
      FROM Z_2SHOWSFEATURINGARTIST k JOIN ZARTIST a ON a.Z_PK = k.Z_2ARTISTS1 \
      WHERE k.Z_14SHOWSFEATURINGARTIST = t.Z_PK
      """
    let images = "FROM ZIMAGE m WHERE m.ZSHOWWITHIMAGEININSTALLATION = t.Z_PK"
    return RealConditions(
      store: "oss_stubbed_data", entity: "Show", tables: "ZSHOW t",
      pairs: [
        ("startsAt == endsAt", "t.ZSTARTSAT = t.ZENDSAT"),
        ("startsAt < CAST(390000000, 'NSDate')", "t.ZSTARTSAT < 390000000"),
        ("startsAt >= CAST(390697200, 'NSDate')", "t.ZSTARTSAT >= 390697200"),
        (
          "startsAt BETWEEN {CAST(389142000, 'NSDate'), CAST(398750400, 'NSDate')}",
          "t.ZSTARTSAT BETWEEN 389142000 AND 398750400"
        ),
        ("startsAt.timeIntervalSinceReferenceDate > 390697200", "t.ZSTARTSAT > 390697200"),
        ("endsAt - startsAt > 7 * 86400", "t.ZENDSAT - t.ZSTARTSAT > 7 * 86400"),
        ("startsAt + 86400 >= endsAt", "t.ZSTARTSAT + 86400 >= t.ZENDSAT"),
        ("CAST(endsAt, 'NSNumber') < 391000000", "t.ZENDSAT < 391000000"),
        ("cover == nil", "t.ZCOVER IS NULL"),
        ("ANY artists.firstName == nil", "EXISTS (SELECT 1 \(artists) AND a.ZFIRSTNAME IS NULL)"),
        (
          "ALL artists.lastName == 'Dog'",
          "NOT EXISTS (SELECT 1 \(artists) AND a.ZLASTNAME IS NOT 'Dog')"
        ),
        (
          "artists.@count < installationImages.@count",
          "(SELECT count(*) \(artists)) < (SELECT count(*) \(images))"
        ),
        (
          "ANY artworks.height > 50",
          "EXISTS (SELECT 1 \(artworks) AND typeof(w.ZHEIGHT) <> 'text' AND w.ZHEIGHT > 50)"
        ),
        (
          "ALL artworks.availability == 'for sale'",
          "NOT EXISTS (SELECT 1 \(artworks) AND w.ZAVAILABILITY IS NOT 'for sale')"
        ),
        (
          "ANY artworks.artist.lastName == 'Theroxicious'",
          "EXISTS (SELECT 1 \(artworks) AND a.ZLASTNAME = 'Theroxicious')"
        ),
        (
          "SUBQUERY(artworks, $w, $w.artist.lastName == 'Dog' AND $w.category != nil).@count > 1",
          "(SELECT count(*) \(artworks) AND a.ZLASTNAME = 'Dog' AND w.ZCATEGORY IS NOT NULL) > 1"
        ),
        (
          "SUBQUERY(artworks, $w, $w.images.@count > 1).@count > 2",
          """
          (SELECT count(*) \(artworks) AND (SELECT count(*) FROM ZIMAGE m WHERE m.ZARTWORK = \
          w.Z_PK) > 1) > 2
          """
        ),
        (
          "ANY artworks.images.@count > 4",
          """
          EXISTS (SELECT 1 \(artworks) AND (SELECT count(*) FROM ZIMAGE m WHERE m.ZARTWORK = \
          w.Z_PK) > 4)
          """
        ),
        (
          "installationImages.@sum.originalWidth > 5000",
          "(SELECT sum(m.ZORIGINALWIDTH) \(images)) > 5000"
        ),
        (
          "ANY installationImages.caption == '2'",
          "EXISTS (SELECT 1 \(images) AND m.ZCAPTION = '2')"
        ),
        (
          "documents.@max.size > 200000",
          "(SELECT max(d.ZSIZE) FROM ZDOCUMENT d WHERE d.ZSHOW = t.Z_PK) > 200000"
        ),
      ])
  }()

  private static let artists: RealConditions = {
    let artworks = "FROM ZARTWORK w WHERE w.ZARTIST = t.Z_PK"
    let documents = "FROM ZDOCUMENT d WHERE d.ZARTIST = t.Z_PK"
    let artworkShows = """
      FROM ZARTWORK w JOIN Z_3SHOWS j ON j.Z_3ARTWORKS1 = w.Z_PK \
      JOIN ZSHOW s ON s.Z_PK = j.Z_14SHOWS WHERE w.ZARTIST = t.Z_PK
      """
    return RealConditions(
      store: "oss_stubbed_data", entity: "Artist", tables: "ZARTIST t",
      pairs: [
        ("artworks.@count > 7", "(SELECT count(*) \(artworks)) > 7"),
        (
          "ANY artworks.category == 'Sound'",
          "EXISTS (SELECT 1 \(artworks) AND w.ZCATEGORY = 'Sound')"
        ),
        (
          "ALL artworks.availability != 'sold'",
          "NOT EXISTS (SELECT 1 \(artworks) AND w.ZAVAILABILITY = 'sold')"
        ),
        ("documents.@count == 0", "NOT EXISTS (SELECT 1 \(documents))"),
        // Of nothing the sum is 0.
        ("documents.@sum.size < 200000", "(SELECT total(d.ZSIZE) \(documents)) < 200000"),
        ("documents.@avg.size > 1000000", "(SELECT avg(d.ZSIZE) \(documents)) > 1000000"),
        (
          "ANY documents.title CONTAINS 'Guide'",
          "EXISTS (SELECT 1 \(documents) AND d.ZTITLE GLOB '*Guide*')"
        ),
        ("name ENDSWITH lastName", "substr(t.ZNAME, -length(t.ZLASTNAME)) = t.ZLASTNAME"),
        (
          "ANY artworks.shows.name == 'Long time show'",
          "EXISTS (SELECT 1 \(artworkShows) AND s.ZNAME = 'Long time show')"
        ),
        (
          "SUBQUERY(artworks, $w, ANY $w.shows.name == 'New Show').@count > 1",
          "(SELECT count(*) \(artworkShows) AND s.ZNAME = 'New Show') > 1"
        ),
        (
          "SUBQUERY(artworks, $w, SUBQUERY($w.images, $i, $i.position > 2).@count > 0).@count > 1",
          """
          (SELECT count(*) \(artworks) AND EXISTS (SELECT 1 FROM ZIMAGE i WHERE i.ZARTWORK = \
          w.Z_PK AND i.ZPOSITION > 2)) > 1
          """
        ),
        (
          "ANY albumsFeaturingArtist.name == 'OSS album'",
          "t.Z_PK IN (SELECT Z_2ARTISTS FROM Z_1ARTISTS)"
        ),
      ])
  }()
}
