import Quire
import QuireSimulation
import QuireTesting
import Testing

@Suite struct FetchTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  /// Four artists and eight artworks, saved; the last artwork belongs to nobody and has no title.
  private func gallery() throws -> ManagedObjectContext {
    let context = try SmallGallery.context()
    let names = ["Ana", "Björk", "ana", "Zoë"]
    let artists = names.enumerated().map { index, name in
      let artist = Artist(context: context)
      artist.name = name
      artist.born = index == 3 ? nil : Int16(1900 + index * 10)
      return artist
    }
    for number in 0..<8 {
      let artwork = Artwork(context: context)
      artwork.price = Double((number * 5) % 8)
      artwork.isPublished = number.isMultiple(of: 2)
      if number < 7 {
        artwork.title = "Work \(number)"
        artwork.artist = artists[number % 4]
      }
    }
    try context.save()
    return context
  }

  private func titles(
    _ context: ManagedObjectContext, _ predicate: FetchPredicate?,
    _ sort: [FetchSortDescriptor] = []
  ) throws -> [String?] {
    var request = FetchRequest<Artwork>()
    request.predicate = predicate
    request.sortDescriptors = sort
    #expect(try context.count(for: request) == context.fetch(request).count)
    return try context.fetch(request).map(\.title)
  }

  @Test func `comparisons, connectives and text operators find what they say`() throws {
    let context = try gallery()
    let cases: [(FetchPredicate, (Artwork) -> Bool)] = [
      (Key("price") > 5, { $0.price > 5 }),
      (Key("price") >= 5, { $0.price >= 5 }),
      (Key("price").between(2, and: 4), { (2...4).contains($0.price) }),
      (Key("title") == "Work 3", { $0.title == "Work 3" }),
      (Key("title") != "Work 3", { $0.title != "Work 3" }),
      (Key("title") == nil, { $0.title == nil }),
      (
        Key("isPublished") == true && Key("price") < 3,
        { $0.isPublished && $0.price < 3 }
      ),
      (
        Key("title") == "Work 1" || Key("title") == "Work 2",
        { ["Work 1", "Work 2"].contains($0.title) }
      ),
      (!(Key("price") > 1), { $0.price <= 1 }),
      (Key("title").in(["Work 1", "Work 9"]), { $0.title == "Work 1" }),
      (!Key("title").in(["Work 1"]), { $0.title != "Work 1" }),
      (Key("title").beginsWith("Work"), { $0.title?.hasPrefix("Work") ?? false }),
      (Key("title").contains("k 4"), { $0.title == "Work 4" }),
      (Key("title").endsWith("5"), { $0.title == "Work 5" }),
      (Key("title").like("W?rk*6"), { $0.title == "Work 6" }),
      (Key("title").beginsWith("wORK 5", .caseInsensitive), { $0.title == "Work 5" }),
      (Key("artist.name") == "Björk", { $0.artist?.name == "Björk" }),
      (
        Key("artist.name").beginsWith("bjork", [.caseInsensitive, .diacriticInsensitive]),
        { $0.artist?.name == "Björk" }
      ),
      (Key("artist") == nil, { $0.artist == nil }),
      (Key("artist.born") > 1900, { ($0.artist?.born ?? 0) > 1900 }),
      (Key("artist.born") == nil, { $0.artist?.born == nil }),
      (Key("artist.artworks").count > 1, { ($0.artist?.artworks.count ?? 0) > 1 }),
    ]
    let all = try context.all(Artwork.self)
    for (predicate, isExpected) in cases {
      let expected = all.filter(isExpected).map(\.title)
      #expect(!expected.isEmpty && expected.count < all.count, "\(predicate) decides nothing")
      #expect(try titles(context, predicate) == expected, "\(predicate)")
    }
  }

  @Test func `a format string finds what the same predicate in Swift finds`() throws {
    let context = try gallery()
    let artist = try #require(try context.named("Ana"))
    let pairs: [(FetchPredicate, FetchPredicate)] = [
      (
        try FetchPredicate(format: "price > %d AND title != nil", 3),
        Key("price") > 3 && Key("title") != nil
      ),
      (try FetchPredicate(format: "artist == %@", artist), Key("artist") == artist),
      (
        try FetchPredicate(format: "%K BEGINSWITH[c] %@", "artist.name", "ana"),
        Key("artist.name").beginsWith("ana", .caseInsensitive)
      ),
      (
        try FetchPredicate(format: "title IN {'Work 1', 'Work 2'}"),
        Key("title").in(["Work 1", "Work 2"])
      ),
      (try FetchPredicate(format: "NOT (isPublished == YES)"), !(Key("isPublished") == true)),
    ]
    for (format, swift) in pairs {
      let found = try titles(context, format)
      #expect(try found == titles(context, swift), "\(format)")
      #expect(!found.isEmpty)
    }
  }

  @Test func `unsaved changes are part of every fetch`() throws {
    let context = try gallery()
    let byTitle = [FetchSortDescriptor(key: "title")]
    let works = try context.all(Artwork.self)
    works[0].price = 100
    works[4].price = 0
    context.delete(works[3])
    let new = Artwork(context: context)
    new.price = 200
    new.title = "New"
    #expect(try titles(context, Key("price") >= 7, byTitle) == ["New", "Work 0"])
    #expect(try titles(context, Key("price") == 0, byTitle) == ["Work 4"])
    var request = FetchRequest<Artwork>()
    request.includesPendingChanges = false
    request.predicate = Key("price") >= 7
    #expect(try context.count(for: request) == 1)
    request.predicate = nil
    request.includesPendingChanges = true
    #expect(try context.count(for: request) == 8)
    try context.save()
    #expect(try titles(context, Key("price") >= 7, byTitle) == ["New", "Work 0"])
  }

  @Test func `sorting puts nothing first, is stable, and merges unsaved objects in`() throws {
    let context = try gallery()
    let sort = [
      FetchSortDescriptor(key: "artist.name"), FetchSortDescriptor(key: "price", ascending: false),
    ]
    let sorted = try titles(context, nil, sort)
    #expect(sorted.first == .some(nil), "no artist comes before every artist")
    let new = Artwork(context: context)
    new.title = "New"
    new.price = 6.5
    new.artist = try context.named("Björk")
    var names = try titles(context, nil, sort)
    #expect(names.contains("New"))
    names.removeAll { $0 == "New" }
    #expect(names == sorted)
    #expect(
      try titles(context, Key("artist.name") == "Björk", sort) == ["New", "Work 1", "Work 5"])
  }

  // From some thousand matches on, those behind the first ones are let go of on the way.
  @Test func `the first ones of many are the first ones of all`() throws {
    let context = try SmallGallery.context()
    var generator = SeededGenerator(seed: 11)
    let count = Amount.of(debug: 1_500, release: 3_000)
    for number in 0..<count {
      let work = Artwork(context: context)
      work.title = "\(number % 3)"
      if number % 7 > 0 { work.price = Double(generator.below(40)) - 20 }
      work.isPublished = number % 2 == 0
      if number == count / 3 * 2 { try context.save() }
    }
    var request = FetchRequest<Artwork>()
    for keys in [["price"], ["title", "price"], ["isPublished", "title"], ["price", "title"]] {
      for ascending in Amount.of(debug: [keys.count > 1], release: [true, false]) {
        request.sortDescriptors = keys.map { FetchSortDescriptor(key: $0, ascending: ascending) }
        request.fetchLimit = 0
        request.fetchOffset = 0
        let all = try context.fetch(request)
        #expect(all.count == count)
        for (limit, offset) in [(1, 0), (5, 3), (100, 900), (4, count - 2), (1, Int.max - 4)] {
          request.fetchLimit = limit
          request.fetchOffset = offset
          let first = try context.fetch(request)
          #expect(first == Array(all.dropFirst(offset).prefix(limit)), "\(keys) \(limit) \(offset)")
        }
      }
    }
  }

  @Test func `limit and offset cut the merged result`() throws {
    let context = try gallery()
    let works = try context.all(Artwork.self)
    context.delete(works[1])
    works[2].title = "A"
    var request = FetchRequest<Artwork>()
    request.sortDescriptors = [FetchSortDescriptor(key: "title")]
    let all = try context.fetch(request).map(\.title)
    #expect(all == [nil, "A", "Work 0", "Work 3", "Work 4", "Work 5", "Work 6"])
    for offset in 0...8 {
      for limit in 0...8 {
        request.fetchOffset = offset
        request.fetchLimit = limit
        let rest = all.dropFirst(offset)
        let expected = Array(limit == 0 ? rest : rest.prefix(limit))
        #expect(try context.fetch(request).map(\.title) == expected)
        #expect(try context.count(for: request) == expected.count)
      }
    }
    request.fetchLimit = .max
    request.fetchOffset = .max
    request.sortDescriptors = []
    #expect(try context.fetch(request).isEmpty)
  }

  @Test func `a fetch of a parent finds its subentities, unless told not to`() throws {
    let context = try SmallGallery.context()
    for (entity, title) in [("Contract", "b"), ("Letter", "a"), ("Letter", "c")] {
      try EntityDescription.insertNewObject(forEntityName: entity, into: context)
        .setValue(title, forKey: "title")
    }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      var request = FetchRequest<ManagedObject>(entityName: "Document")
      request.sortDescriptors = [FetchSortDescriptor(key: "title")]
      #expect(try context.fetch(request).map(\.entity.name) == ["Letter", "Contract", "Letter"])
      request.includesSubentities = false
      #expect(try context.count(for: request) == 0)
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Letter")) == 2)
    }
  }

  @Test func `objects, ids and sets of them can be compared`() throws {
    let context = try gallery()
    let works = try context.all(Artwork.self)
    #expect(try titles(context, Key.object == works[2]) == ["Work 2"])
    #expect(try titles(context, Key.object.in([works[1].objectID, works[4].objectID])).count == 2)
    var request = FetchRequest<Artist>()
    request.predicate = Key("artworks").contains(works[5])
    #expect(try context.fetch(request).map(\.name) == ["Björk"])
    request.predicate = Key("artworks.title").any == "Work 6"
    #expect(try context.fetch(request).map(\.name) == ["ana"])
  }

  @Test func `a key that does not exist is an error that names it, before any row is read`() throws
  {
    let context = try SmallGallery.context()
    var request = FetchRequest<Artwork>()
    request.predicate = Key("artist.nmae") == "x"
    do {
      _ = try context.fetch(request)
      Issue.record("the fetch should have failed")
    } catch let error as PersistenceError {
      #expect(error.code == .undefinedKey && error.key == "nmae" && error.entityName == "Artist")
    }
    request.predicate = nil
    request.sortDescriptors = [FetchSortDescriptor(key: "nothing")]
    #expect(throws: PersistenceError.self) { try context.fetch(request) }
    request.sortDescriptors = [FetchSortDescriptor(keyPath: [])]
    #expect(throws: PersistenceError.self) { try context.fetch(request) }
    request.sortDescriptors = []
    request.predicate = Key("title").matches("(")
    #expect(throws: PersistenceError.self) { try context.fetch(request) }
    request.predicate = nil
    request.fetchLimit = -1
    #expect(throws: PersistenceError.self) { try context.fetch(request) }
  }

  @Test func `a class that is not the object's is an error, not a trap`() throws {
    let context = try gallery()
    #expect { try context.fetch(FetchRequest<Artwork>(entityName: "Artist")) } throws: {
      code(of: $0) == .unacceptableValue
    }
  }
}
