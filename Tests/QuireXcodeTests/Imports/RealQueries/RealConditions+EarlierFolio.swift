extension RealConditions {
  /// Earlier versions of Folio, with decimals that have fractions, and texts with accents.
  static let earlierFolio: [RealConditions] = [
    RealConditions(
      store: "ArtsyPartner_1.4", entity: "Artwork",
      tables: "ZARTWORK t LEFT JOIN ZARTIST a ON a.Z_PK = t.ZARTIST",
      pairs: [
        ("depth == 3.1", "t.ZDEPTH = 3.1"),
        ("depth > 3", "typeof(t.ZDEPTH) <> 'text' AND t.ZDEPTH > 3"),
        (
          "height * 3 == width",
          "t.ZHEIGHT * 3 IS t.ZWIDTH OR t.ZHEIGHT = 'NaN' AND t.ZWIDTH = 'NaN'"
        ),
        ("height + depth == 14.3", "t.ZHEIGHT = 11.2 AND t.ZDEPTH = 3.1"),
        ("width BETWEEN {33, 33.2}", "t.ZWIDTH BETWEEN 33 AND 33.2"),
        ("depth != nil AND diameter == nil", "t.ZDEPTH IS NOT NULL AND t.ZDIAMETER IS NULL"),
        ("artist.lastName ==[d] 'Selavy'", "a.ZLASTNAME = 'Sélavy'"),
        (
          "artist.lastName ==[cd] 'SELAVY' OR artist.hometown == 'Bologna'",
          "a.ZLASTNAME = 'Sélavy' OR a.ZHOMETOWN = 'Bologna'"
        ),
        (
          "artist.hometown == nil AND isPriceHidden == YES",
          "a.ZHOMETOWN IS NULL AND t.ZISPRICEHIDDEN = 1"
        ),
        (
          "artist.slug == 'alan-smithee' AND mainImage.maxTiledWidth > 2000",
          """
          a.ZSLUG = 'alan-smithee' AND (SELECT ZMAXTILEDWIDTH FROM ZIMAGE i WHERE i.Z_PK = \
          t.ZMAINIMAGE) > 2000
          """
        ),
        ("title CONTAINS[c] 'KITTEN'", "t.ZTITLE LIKE '%kitten%'"),
        ("title LIKE '*.jp*g'", "t.ZTITLE GLOB '*.jp*g'"),
        ("title LIKE 'KOONS \\\\*' OR title LIKE '*(D?ts)*'", "t.ZTITLE GLOB '*(D?ts)*'"),
        ("title MATCHES[c] '(kate|hey) .*'", "t.ZTITLE LIKE 'kate %' OR t.ZTITLE LIKE 'hey %'"),
        (
          "ANY shows.location.city == 'Halifax'",
          """
          EXISTS (SELECT 1 FROM Z_3SHOWS j JOIN ZSHOW s ON s.Z_PK = j.Z_11SHOWS JOIN ZLOCATION l \
          ON l.Z_PK = s.ZLOCATION WHERE j.Z_3ARTWORKS1 = t.Z_PK AND l.ZCITY = 'Halifax')
          """
        ),
        (
          "collections.@count == 2",
          "(SELECT count(*) FROM Z_1ARTWORKS j WHERE j.Z_3ARTWORKS = t.Z_PK) = 2"
        ),
        (
          "SUBQUERY(collections, $c, $c.name BEGINSWITH 'New').@count > 0",
          """
          EXISTS (SELECT 1 FROM Z_1ARTWORKS j JOIN ZALBUM b ON b.Z_PK = j.Z_1COLLECTIONS WHERE \
          j.Z_3ARTWORKS = t.Z_PK AND b.ZNAME GLOB 'New*')
          """
        ),
      ]),
    RealConditions(
      store: "ArtsyPartner_1.4", entity: "Show",
      tables: "ZSHOW t LEFT JOIN ZLOCATION l ON l.Z_PK = t.ZLOCATION",
      pairs: [
        ("location == nil", "t.ZLOCATION IS NULL"),
        ("location.name CONTAINS 'Orta'", "l.ZNAME GLOB '*Orta*'"),
        ("location.city != 'Halifax'", "l.ZCITY IS NOT 'Halifax'"),
        ("name BEGINSWITH[c] \"orta's\"", "t.ZNAME LIKE 'orta''s%'"),
        (
          "endsAt - startsAt > 30 * 86400 OR status == 'upcoming'",
          "t.ZENDSAT - t.ZSTARTSAT > 30 * 86400 OR t.ZSTATUS = 'upcoming'"
        ),
        (
          "ANY documents.size > 1000000",
          "EXISTS (SELECT 1 FROM ZDOCUMENT d WHERE d.ZSHOW = t.Z_PK AND d.ZSIZE > 1000000)"
        ),
        (
          "documents.@sum.size BETWEEN {1, 100000}",
          "(SELECT sum(d.ZSIZE) FROM ZDOCUMENT d WHERE d.ZSHOW = t.Z_PK) BETWEEN 1 AND 100000"
        ),
      ]),
    RealConditions(
      store: "ArtsyPartner_1.4", entity: "Document",
      tables: "ZDOCUMENT t LEFT JOIN ZARTIST a ON a.Z_PK = t.ZARTIST",
      pairs: [
        ("entity == 'ShowDocument' OR size > 1000000", "t.Z_ENT = 6 OR t.ZSIZE > 1000000"),
        (
          "artist.documents.@count > 4",
          "(SELECT count(*) FROM ZDOCUMENT d WHERE d.ZARTIST = t.ZARTIST) > 4"
        ),
        ("filename LIKE '*.p?f'", "t.ZFILENAME GLOB '*.p?f'"),
        (
          "size == SUBQUERY(artist.documents, $d, $d.filename != nil).@max.size",
          "t.ZSIZE = (SELECT max(d.ZSIZE) FROM ZDOCUMENT d WHERE d.ZARTIST = t.ZARTIST)"
        ),
      ]),
    RealConditions(
      store: "ArtsyPartner_1.4", entity: "User", tables: "ZUSER t",
      pairs: [
        ("name != nil", "t.ZNAME IS NOT NULL"),
        ("role != 'partner'", "t.ZROLE IS NOT 'partner'"),
        ("email BEGINSWITH name", "substr(t.ZEMAIL, 1, length(t.ZNAME)) = t.ZNAME"),
      ]),
    RealConditions(
      store: "ArtsyPartner_1.3.5", entity: "Artwork",
      tables: "ZARTWORK t LEFT JOIN ZARTIST a ON a.Z_PK = t.ZARTIST",
      pairs: [
        ("isForSale == YES AND artist.hometown == nil", "t.ZISFORSALE = 1 AND a.ZHOMETOWN IS NULL"),
        (
          "collections.@count == 1",
          "(SELECT count(*) FROM Z_2COLLECTIONS j WHERE j.Z_2ARTWORKS = t.Z_PK) = 1"
        ),
        (
          "NONE collections.name != nil",
          """
          NOT EXISTS (SELECT 1 FROM Z_2COLLECTIONS j JOIN ZCOLLECTION c ON c.Z_PK = \
          j.Z_3COLLECTIONS WHERE j.Z_2ARTWORKS = t.Z_PK AND c.ZNAME IS NOT NULL)
          """
        ),
        (
          "images.@count > 1 OR artist == nil",
          "(SELECT count(*) FROM ZIMAGE i WHERE i.ZARTWORK = t.Z_PK) > 1"
        ),
      ]),
  ]
}
