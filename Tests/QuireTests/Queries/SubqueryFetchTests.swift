import Quire
import QuireModel
import Testing

/// `SUBQUERY` in the predicate of a fetch finds what it finds in memory.
@Suite struct SubqueryFetchTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  private static let formats = [
    "SUBQUERY(artworks, $x, $x.price > 15).@count > 0",
    "SUBQUERY(artworks, $x, $x.price > 15).@count == 0",
    "SUBQUERY(artworks, $x, $x.price > 5 AND $x.title BEGINSWITH 'b').@count >= 1",
    "SUBQUERY(artworks, $x, $x.title == nil).@count == artworks.@count",
    "SUBQUERY(artworks, $x, TRUEPREDICATE).@count == 2",
    "SUBQUERY(artworks, $x, $x.artist == SELF).@count == 3",
    "SUBQUERY(artworks, $x, $x.artist.spouse != SELF AND $x.price > born).@count > 1",
    "SUBQUERY(artworks, $x, $x.title == name).@count > 0",
    "SUBQUERY(artworks, $x, ANY $x.tags.word == 'red').@count > 0",
    "SUBQUERY(artworks, $x, $x.tags.@count > 0).@count > 0",
    "SUBQUERY(artworks, $x, SUBQUERY($x.tags, $t, $t.word == 'red' AND $x.price > 0).@count > 0)"
      + ".@count > 0",
    "SUBQUERY(artworks, $x, SUBQUERY(shows, $s, $s.name == $x.title).@count > 0).@count > 0",
    "SUBQUERY(spouse.artworks, $x, $x.price > 1).@count > 0",
    "SUBQUERY(shows, $x, $x.name != nil AND SELF IN $x.artists).@count > 0",
    "NOT SUBQUERY(artworks, $x, $x.price > 15).@count > 0 AND born > 1",
    "SUBQUERY(artworks, $x, $x.price > 15).@count + 1 == 2",
    "TERNARY(born > 1, SUBQUERY(artworks, $x, $x.price > 1).@count, 0) > 1",
    "SUBQUERY(artworks, $x, $x.price > 15) == {}",
    "lookalike IN SUBQUERY(artist.artworks, $x, $x.price > 5)",
    "SUBQUERY(artworks, $x, $x.price > 1).@max.price > 10",
    "SUBQUERY(artworks, $x, $x.price > 1).@sum.price == 18",
    "ANY SUBQUERY(artworks, $x, $x.price > 1).tags.word == 'red'",
    "SUBQUERY(artworks, $x, $x.tags.@count > 0).tags.@distinctUnionOfObjects.word CONTAINS 'red'",
    "SUBQUERY(artworks.tags, $x, $x.word == 'red').@count > 0",
    "SUBQUERY(spouse.shows.artists, $x, $x.born > 1).@count > 0",
    "SUBQUERY(artworks UNION spouse.artworks, $x, $x.price > 1).@count > 1",
    "SUBQUERY(SUBQUERY(artworks, $x, $x.price > 1), $y, $y.price < 10).@count > 0",
    "SUBQUERY({1, 2, 3}, $x, $x < born).@count == 2",
  ]

  private func fill(_ context: ManagedObjectContext) throws {
    let tags = try ["red", "blue"].map { try context.insert("Tag", ["word": $0]) }
    var artists: [ManagedObject] = []
    for number in 0..<8 {
      let artist = try context.insert("Artist", ["name": "artist \(number)", "born": number])
      artists.append(artist)
      for place in 0..<number % 4 {
        let artwork = try context.insert("Artwork", ["price": Double(number * place * 3)])
        if place != 1 {
          try artwork.setValue(place == 2 ? "artist \(number)" : "b\(place)", forKey: "title")
        }
        try artwork.setValue(artist, forKey: "artist")
        if number % 2 == 0 { try artwork.setValue(Set([tags[place % 2]]), forKey: "tags") }
        try artwork.setValue(artwork, forKey: "lookalike")
      }
    }
    for number in stride(from: 0, to: 6, by: 3) {
      try artists[number].setValue(artists[number + 1], forKey: "spouse")
      let show = try context.insert("Show", ["name": number == 3 ? "b0" : "artist 3"])
      try show.setValue([artists[number], artists[number + 3]], forKey: "artists")
    }
  }

  /// - Returns: how many formats have found some, but not all.
  private func expectAgreement(_ context: ManagedObjectContext) throws -> Int {
    var count = 0
    for format in Self.formats {
      let predicate = try FetchPredicate(format: format)
      var request = FetchRequest<ManagedObject>(
        entityName: format.contains("lookalike") ? "Artwork" : "Artist")
      let all = try context.fetch(request)
      let passed = try all.filter { try predicate.evaluate(with: $0) }
      request.predicate = predicate
      let found = try context.fetch(request)
      #expect(Set(found) == Set(passed) && found.count == passed.count, "\(format)")
      #expect(try context.count(for: request) == passed.count, "\(format)")
      if !found.isEmpty, found.count < all.count { count += 1 }
    }
    return count
  }

  @Test(arguments: GotchaHome.allCases)
  func `a fetch finds what the same predicate finds in memory`(_ home: GotchaHome) throws {
    try home.withContext { context in
      try fill(context)
      let unsaved = try expectAgreement(context)
      try context.save()
      let saved = try expectAgreement(context)
      context.reset()
      #expect(try expectAgreement(context) == saved && unsaved == saved && saved >= 14)
      // Unsaved changes of members count, wherever the object itself is.
      let artworks = try context.all(Artwork.self)
      for (index, artwork) in artworks.enumerated() {
        switch index % 4 {
        case 0: artwork.price = 20 - artwork.price
        case 1: context.delete(artwork)
        case 2: artwork.artist = try context.named("artist \(index % 8)")
        default: artwork.title = "b"
        }
      }
      _ = try expectAgreement(context)
      let child = context.newChildContext()
      _ = try expectAgreement(child)
      try child.insert("Artwork", ["price": 100.0]).setValue(
        child.named("artist 0"), forKey: "artist")
      _ = try expectAgreement(child)
    }
  }

  @Test func `a changed member is found by a fetch that looks at rows`() throws {
    let context = try SmallGallery.context()
    try fill(context)
    try context.save()
    var request = FetchRequest<Artist>()
    request.predicate = try FetchPredicate(
      format: "SUBQUERY(artworks, $x, $x.price > 500).@count > 0")
    #expect(try context.fetch(request).isEmpty)
    let artwork = try #require(try context.all(Artwork.self).first)
    artwork.price = 501
    #expect(try context.fetch(request) == [#require(artwork.artist)])
  }

  @Test(arguments: [
    ("SUBQUERY(artworks, $x, $x.prise > 1).@count > 0", PersistenceError.Code.undefinedKey),
    ("SUBQUERY(artwork, $x, $x.price > 1).@count > 0", .undefinedKey),
    ("SUBQUERY(artworks, $x, prise > 1).@count > 0", .undefinedKey),
    (
      "SUBQUERY(artworks, $x, SUBQUERY($x.tag, $t, $t.word == '').@count > 0).@count > 0",
      .undefinedKey
    ),
    ("SUBQUERY(artworks, $x, $x.seen > 1).@count > 0", .persistentStoreUnsupportedRequestType),
    ("SUBQUERY(spouse, $x, $x.born > 1).@count > 0", .invalidExpression),
    ("SUBQUERY(name, $x, $x.born > 1).@count > 0", .invalidExpression),
    ("SUBQUERY(artworks.tags, $x, $x.word > 1).@count > 0", .invalidExpression),
    ("SUBQUERY(artworks, $x, $y.price > 1).@count > 0", .persistentStoreUnsupportedRequestType),
    ("SUBQUERY(artworks, $x, $x.price > 1).@max.title > 0", .invalidExpression),
    ("SUBQUERY({1}, $x, $x == 'a').@count > 0", .invalidExpression),
    ("$x.price > 1", .persistentStoreUnsupportedRequestType),
  ])
  func `an invalid subquery or a free variable is refused by an empty store as well`(
    _ format: String, _ code: PersistenceError.Code
  ) throws {
    let context = try SmallGallery.context()
    var request = FetchRequest<Artist>()
    request.predicate = try FetchPredicate(format: format)
    let error = #expect(throws: PersistenceError.self) { try context.fetch(request) }
    #expect(error?.code == code, "\(String(describing: error))")
  }
}
