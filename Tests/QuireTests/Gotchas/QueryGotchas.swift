import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where object stores go wrong that are asked for objects. The numbers are those of
/// `docs/core-data.md`.
@Suite(.serialized) struct QueryGotchas {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  @Test(arguments: GotchaHome.allCases)
  func `2 – rows and objects are asked by one evaluator, and agree`(_ home: GotchaHome) throws {
    try home.withContext { context in
      for (title, price) in [("Wave", 1.5), ("wave", -0.0), ("ẞ", 0), ("", .nan)] {
        try context.insert("Artwork", ["title": title, "price": price])
      }
      try context.insert("Artwork")
      try context.save()
      let all = try context.all(Artwork.self)
      for format in [
        "title ==[c] 'WAVE'", "title BEGINSWITH ''", "NOT title IN {'Wave'}", "price == 0",
        "price <= 1.5", "title LIKE '?ave'", "title MATCHES '[Ww].*'", "artist.name == nil",
        "ANY tags.word == 'sea'", "ALL tags.word == 'sea'", "tags.@count == 0", "title ==[cd] 'SS'",
      ] {
        let predicate = try FetchPredicate(format: format)
        var request = FetchRequest<Artwork>()
        request.predicate = predicate
        let found = Set(try context.fetch(request))
        let passed = Set(try all.filter { try predicate.evaluate(with: $0) })
        #expect(found == passed, "\(format)")
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `3 – unsaved objects are sorted by what they are now, and ties stay`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      for number in 0..<40 {
        try context.insert("Artwork", ["title": "same", "price": Double(number)])
      }
      try context.save()
      let before = try context.values(of: "price", "Artwork", sortedBy: "title")
      #expect(try context.values(of: "price", "Artwork", sortedBy: "title") == before)
      let first = try #require(try context.all(Artwork.self).first)
      first.title = "zebra"
      try context.insert("Artwork", ["title": "aardvark", "price": -1.0])
      let after = try context.values(of: "price", "Artwork", sortedBy: "title")
      #expect(after.first == "-1.0" && after.last == "\(first.price)")
      #expect(Array(after.dropFirst().dropLast()) == before.filter { $0 != "\(first.price)" })
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `4 – nil is a value, and NOT is the complement`(_ home: GotchaHome) throws {
    try home.withContext { context in
      try context.insert("Artwork", ["title": "a"])
      try context.insert("Artwork", ["title": "b"])
      try context.insert("Artwork")
      for saves in [false, true] {
        if saves { try context.save() }
        func found(_ format: String) throws -> [String] {
          try context.values(of: "title", "Artwork", format).sorted()
        }
        #expect(try found("title != 'a'") == ["b", "nil"])
        #expect(try found("title == nil") == ["nil"])
        #expect(try found("title < 'b'") == ["a"])
        #expect(try found("title > 'a'") == ["b"])
        #expect(try found("title IN {}") == [])
        #expect(try found("NOT title == 'a'") == ["b", "nil"])
        #expect(try found("NOT title IN {'a', 'b'}") == ["nil"])
        #expect(try found("NOT title < 'b'") == ["b", "nil"])
        #expect(try found("artist == nil") == ["a", "b", "nil"])
        #expect(try found("artist.name == nil") == ["a", "b", "nil"])
        #expect(try found("ANY tags.word == nil") == [])
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `5 – ALL of nothing is true, ANY and NONE say so too`(_ home: GotchaHome) throws {
    try home.withContext { context in
      try context.insert("Artwork", ["title": "bare"])
      let sea = try context.insert("Tag", ["word": "sea"])
      try context.insert("Artwork", ["title": "tagged", "tags": Set([sea])])
      for saves in [false, true] {
        if saves { try context.save() }
        #expect(
          try context.values(of: "title", "Artwork", "ALL tags.word == 'x'") == ["bare"])
        #expect(try context.values(of: "title", "Artwork", "ANY tags.word == 'x'") == [])
        #expect(
          try context.values(of: "title", "Artwork", "NONE tags.word == 'sea'") == ["bare"])
        #expect(
          try context.values(of: "title", "Artwork", "ANY tags.word == 'sea'") == ["tagged"])
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `7 – booleans are numbers`(_ home: GotchaHome) throws {
    try home.withContext { context in
      try context.insert("Artwork", ["title": "yes", "isPublished": true])
      try context.insert("Artwork", ["title": "one", "isPublished": 1])
      try context.insert("Artwork", ["title": "no"])
      try context.save()
      for format in ["isPublished == YES", "isPublished == 1", "isPublished == TRUE"] {
        let found = try context.values(of: "title", "Artwork", format).sorted()
        #expect(found == ["one", "yes"], "\(format)")
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `10 – decimals are numbers when compared and sorted, and NaN has its place`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      for text in ["10", "9", "-1.5", "100.25"] {
        try context.insert(
          "Contract", ["title": text, "value": try #require(Decimal(string: text))])
      }
      try context.insert("Contract", ["title": "nan", "value": Decimal.nan])
      try context.insert("Contract", ["title": "none"])
      let unsaved = try context.values(of: "title", "Contract", sortedBy: "value")
      try context.save()
      let saved = try context.values(of: "title", "Contract", sortedBy: "value")
      #expect(saved == unsaved)
      #expect(saved == ["none", "nan", "-1.5", "9", "10", "100.25"])
      for (format, titles) in [
        ("value > 9", ["10", "100.25"]), ("value <= 9", ["-1.5", "9"]), ("value == 9.0", ["9"]),
        ("value != 9", ["none", "nan", "-1.5", "10", "100.25"]), ("value == nil", ["none"]),
        ("NOT value > 9", ["none", "nan", "-1.5", "9"]),
      ] {
        let found = try context.values(of: "title", "Contract", format, sortedBy: "value")
        #expect(found == titles, "\(format)")
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `30 – an object found through its parent is of its own entity, and counts agree`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      try context.insert("Contract", ["title": "c"])
      try context.insert("Letter", ["title": "l"])
      for saves in [false, true] {
        if saves { try context.save() }
        var request = FetchRequest<ManagedObject>(entityName: "Document")
        #expect(Set(try context.fetch(request).map(\.entity.name)) == ["Contract", "Letter"])
        #expect(try context.count(for: request) == 2)
        request.includesSubentities = false
        #expect(try context.fetch(request).isEmpty)
        #expect(try context.count(for: request) == 0)
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `32 – nothing in the middle of a path is no match and no crash, and a sort drops nobody`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let spouse = try context.insert("Artist", ["name": "Lee"])
      let artist = try context.insert("Artist", ["name": "Jackson", "spouse": spouse])
      try context.insert("Artwork", ["title": "No. 5", "artist": artist])
      try context.insert("Artwork", ["title": "orphan"])
      let single = try context.insert("Artist", ["name": "Agnes"])
      try context.insert("Artwork", ["title": "grid", "artist": single])
      for saves in [false, true] {
        if saves { try context.save() }
        #expect(
          try context.values(of: "title", "Artwork", "artist.spouse.name == 'Lee'") == ["No. 5"])
        #expect(
          try context.values(of: "title", "Artwork", "artist.spouse.name != 'Lee'").sorted()
            == ["grid", "orphan"])
        let sorted = try context.values(of: "title", "Artwork", sortedBy: "artist.spouse.name")
        #expect(sorted.count == 3 && sorted.last == "No. 5")
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `33 – an OR over two to-many relationships finds an object once`(_ home: GotchaHome) throws {
    try home.withContext { context in
      let artworks = try (1...3).map { try context.insert("Artwork", ["title": "w\($0)"]) }
      let shows = try (1...3).map { try context.insert("Show", ["name": "s\($0)"]) }
      try context.insert(
        "Artist", ["name": "busy", "artworks": Set(artworks), "shows": Set(shows)])
      let format = "ANY artworks.title BEGINSWITH 'w' OR ANY shows.name BEGINSWITH 's'"
      for saves in [false, true] {
        if saves { try context.save() }
        #expect(try context.values(of: "name", "Artist", format) == ["busy"])
        var request = FetchRequest<Artist>()
        request.predicate = try FetchPredicate(format: format)
        #expect(try context.count(for: request) == 1)
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `52 – a count honours the limit and the offset`(_ home: GotchaHome) throws {
    try home.withContext { context in
      for _ in 0..<5 { try context.insert("Artwork") }
      try context.save()
      for _ in 0..<5 { try context.insert("Artwork") }
      var request = FetchRequest<Artwork>()
      request.fetchLimit = 7
      #expect(try context.count(for: request) == 7)
      request.fetchOffset = 8
      #expect(try context.count(for: request) == 2)
      request.fetchLimit = 0
      #expect(try context.count(for: request) == 2)
    }
  }
}
