extension RealConditions {
  /// Paths through to-one relationships.
  static let artworkPaths = artworks([
    ("artist.name == 'Fennster Dog'", "a.ZNAME = 'Fennster Dog'"),
    ("artist.firstName != 'Orta'", "a.ZFIRSTNAME IS NOT 'Orta'"),
    ("artist.lastName == nil", "a.ZLASTNAME IS NULL"),
    ("NOT artist.lastName BEGINSWITH 'D'", "(a.ZLASTNAME GLOB 'D*') IS NOT TRUE"),
    (
      "artist.name BEGINSWITH 'D' OR category == 'Painting'",
      "a.ZNAME GLOB 'D*' OR t.ZCATEGORY = 'Painting'"
    ),
    (
      "artist.lastName IN {'Dog', 'McShaner'} AND displayPrice != nil",
      "a.ZLASTNAME IN ('Dog', 'McShaner') AND t.ZDISPLAYPRICE IS NOT NULL"
    ),
    ("mainImage.aspectRatio > 1.4", "i.ZASPECTRATIO > 1.4"),
    // A float is compared with the float nearest to the number.
    ("mainImage.aspectRatio == 1.33", "abs(i.ZASPECTRATIO - 1.33) < 1e-6"),
    ("mainImage.originalWidth < mainImage.originalHeight", "i.ZORIGINALWIDTH < i.ZORIGINALHEIGHT"),
    (
      "mainImage.position == 1 AND mainImage.maxTiledHeight < 3000",
      "i.ZPOSITION = 1 AND i.ZMAXTILEDHEIGHT < 3000"
    ),
    ("mainImage.artwork.artist.name ENDSWITH 'Star'", "a.ZNAME GLOB '*Star'"),
    ("artist.documents.@count > 0", "EXISTS (SELECT 1 FROM ZDOCUMENT d WHERE d.ZARTIST = a.Z_PK)"),
  ])

  /// To-many relationships: foreign keys of the members, and tables of pairs.
  static let artworkCollections: RealConditions = {
    let shows = """
      FROM Z_3SHOWS j JOIN ZSHOW s ON s.Z_PK = j.Z_14SHOWS WHERE j.Z_3ARTWORKS1 = t.Z_PK
      """
    let albums = """
      FROM Z_1ARTWORKS j JOIN ZALBUM b ON b.Z_PK = j.Z_1COLLECTIONS WHERE j.Z_3ARTWORKS = t.Z_PK
      """
    let images = "FROM ZIMAGE m WHERE m.ZARTWORK = t.Z_PK"
    let showArtists = """
      FROM Z_3SHOWS j JOIN Z_2SHOWSFEATURINGARTIST k \
      ON k.Z_14SHOWSFEATURINGARTIST = j.Z_14SHOWS JOIN ZARTIST x ON x.Z_PK = k.Z_2ARTISTS1 \
      WHERE j.Z_3ARTWORKS1 = t.Z_PK
      """
    return artworks([
      ("ANY shows.name == 'New Show'", "EXISTS (SELECT 1 \(shows) AND s.ZNAME = 'New Show')"),
      (
        "ANY shows.name != 'All Artworks Show'",
        "EXISTS (SELECT 1 \(shows) AND s.ZNAME <> 'All Artworks Show')"
      ),
      (
        "ALL shows.name == 'All Artworks Show'",
        "NOT EXISTS (SELECT 1 \(shows) AND s.ZNAME <> 'All Artworks Show')"
      ),
      (
        "NONE shows.name == 'All Artworks Show'",
        "NOT EXISTS (SELECT 1 \(shows) AND s.ZNAME = 'All Artworks Show')"
      ),
      (
        "NOT ALL shows.name CONTAINS 'Artworks'",
        "EXISTS (SELECT 1 \(shows) AND s.ZNAME NOT GLOB '*Artworks*')"
      ),
      (
        "ANY shows.startsAt < CAST(390000000, 'NSDate')",
        "EXISTS (SELECT 1 \(shows) AND s.ZSTARTSAT < 390000000)"
      ),
      (
        "ALL shows.startsAt > CAST(390000000, 'NSDate') AND shows.@count > 0",
        "NOT EXISTS (SELECT 1 \(shows) AND s.ZSTARTSAT <= 390000000) AND EXISTS (SELECT 1 \(shows))"
      ),
      ("shows.name CONTAINS 'Show 2202'", "EXISTS (SELECT 1 \(shows) AND s.ZNAME = 'Show 2202')"),
      (
        "'Long time show' IN shows.name",
        "EXISTS (SELECT 1 \(shows) AND s.ZNAME = 'Long time show')"
      ),
      ("shows.@count == 0", "NOT EXISTS (SELECT 1 \(shows))"),
      ("shows.@count > 1", "(SELECT count(*) \(shows)) > 1"),
      (
        "collections.@count == images.@count",
        "(SELECT count(*) \(albums)) = (SELECT count(*) \(images))"
      ),
      (
        "ANY collections.slug == 'for_sale_works'",
        "EXISTS (SELECT 1 \(albums) AND b.ZSLUG = 'for_sale_works')"
      ),
      (
        "NONE collections.name == 'OSS album'",
        "NOT EXISTS (SELECT 1 \(albums) AND b.ZNAME = 'OSS album')"
      ),
      (
        "ANY collections.updatedAt != nil OR ANY shows.name == 'Test Show'",
        """
        EXISTS (SELECT 1 \(albums) AND b.ZUPDATEDAT IS NOT NULL) OR EXISTS (SELECT 1 \(shows) \
        AND s.ZNAME = 'Test Show')
        """
      ),
      ("ANY images.position > 3", "EXISTS (SELECT 1 \(images) AND m.ZPOSITION > 3)"),
      ("NONE images.position == 1", "NOT EXISTS (SELECT 1 \(images) AND m.ZPOSITION = 1)"),
      ("images.@max.position > 3", "(SELECT max(m.ZPOSITION) \(images)) > 3"),
      ("images.@min.position == 0", "(SELECT min(m.ZPOSITION) \(images)) = 0"),
      ("images.@sum.position >= 6", "(SELECT sum(m.ZPOSITION) \(images)) >= 6"),
      ("images.@avg.position > 1.5", "(SELECT avg(m.ZPOSITION) \(images)) > 1.5"),
      // Absent members count as 0.
      (
        "images.@avg.maxTiledWidth < 3500",
        "(SELECT avg(coalesce(m.ZMAXTILEDWIDTH, 0)) \(images)) < 3500"
      ),
      (
        "images.@avg.aspectRatio > images.@max.position",
        "(SELECT avg(coalesce(m.ZASPECTRATIO, 0)) > max(m.ZPOSITION) \(images))"
      ),
      (
        "SUBQUERY(images, $i, $i.position > 0 AND $i.aspectRatio > 1).@count > 1",
        "(SELECT count(*) \(images) AND m.ZPOSITION > 0 AND m.ZASPECTRATIO > 1) > 1"
      ),
      (
        "SUBQUERY(images, $i, $i == mainImage AND $i.position == 0).@count == 1",
        "i.ZARTWORK = t.Z_PK AND i.ZPOSITION = 0"
      ),
      (
        "SUBQUERY(shows, $s, artist IN $s.artists).@count > 1",
        "(SELECT count(*) \(showArtists) AND x.Z_PK = t.ZARTIST) > 1"
      ),
      (
        "SUBQUERY(shows, $s, $s.startsAt < CAST(392000000, 'NSDate')).@count == 1",
        "(SELECT count(*) \(shows) AND s.ZSTARTSAT < 392000000) = 1"
      ),
      (
        "ANY shows.artists.lastName == 'Theroxicious'",
        "EXISTS (SELECT 1 \(showArtists) AND x.ZLASTNAME = 'Theroxicious')"
      ),
      (
        "NONE shows.artists.lastName == nil",
        "NOT EXISTS (SELECT 1 \(showArtists) AND x.ZLASTNAME IS NULL)"
      ),
      (
        "ANY shows.artists.@count == 1",
        "EXISTS (SELECT 1 \(showArtists) GROUP BY j.Z_14SHOWS HAVING count(*) = 1)"
      ),
    ])
  }()
}
