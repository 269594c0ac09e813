import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values in the place of objects: dictionaries by name, and tuples of Swift's types.
@Suite struct ValueFetchTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  private static func fill(_ context: ManagedObjectContext) throws {
    let artists = (0..<3).map { number in
      let artist = Artist(context: context)
      artist.name = ["Ana", "Ben", "Cleo"][number]
      artist.born = number == 1 ? nil : Int16(1900 + number)
      return artist
    }
    for number in 0..<10 {
      let work = Artwork(context: context)
      work.title = number == 4 ? nil : "work \(number % 5)"
      work.price = Double(number)
      work.artist = number == 9 ? nil : artists[number % 3]
    }
  }

  private static func lines(_ rows: [[String: Any]]) -> [String] {
    rows.map { row in
      row.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
  }

  private static func request(
    _ columns: [ExpressionDescription], by groups: [ExpressionDescription] = []
  ) -> FetchRequest<Artwork> {
    var request = FetchRequest<Artwork>()
    request.propertiesToFetch = columns
    request.propertiesToGroupBy = groups
    return request
  }

  /// In each state of the objects, and in each kind of store.
  private func everywhere(
    _ home: GotchaHome, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    try home.withContext { context in
      try Self.fill(context)
      try body(context)
      try context.save()
      context.reset()
      try body(context)
      // Changed in the context alone, and then back as it was.
      let works = try context.fetch(FetchRequest<Artwork>())
      for work in works { work.price += 1 }
      try body(context.newChildContext())
      for work in works { work.price -= 1 }
      context.processPendingChanges()
      try body(context)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `dictionaries have what is named, in the order and window of the request`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      try Self.fill(context)
      for _ in 0..<2 {
        var request = Self.request([
          "title", "artist.name", .init("net", try! FetchExpression(format: "price * 2")),
        ])
        request.predicate = Key("price") >= 4
        request.sortDescriptors = [FetchSortDescriptor(key: "price", ascending: false)]
        #expect(
          try Self.lines(context.dictionaries(for: request)) == [
            "net=18.0 title=work 4", "artist.name=Cleo net=16.0 title=work 3",
            "artist.name=Ben net=14.0 title=work 2", "artist.name=Ana net=12.0 title=work 1",
            "artist.name=Cleo net=10.0 title=work 0", "artist.name=Ben net=8.0",
          ])
        (request.fetchOffset, request.fetchLimit) = (1, 2)
        #expect(
          try Self.lines(context.dictionaries(for: request)) == [
            "artist.name=Cleo net=16.0 title=work 3", "artist.name=Ben net=14.0 title=work 2",
          ])
        var names = Self.request(["title"])
        names.returnsDistinctResults = true
        names.sortDescriptors = [FetchSortDescriptor(key: "title", absentValues: .last)]
        #expect(
          try Self.lines(context.dictionaries(for: names))
            == (0..<5).map { "title=work \($0)" } + [""])
        (names.fetchOffset, names.fetchLimit) = (1, 2)
        #expect(
          try Self.lines(context.dictionaries(for: names)) == ["title=work 1", "title=work 2"])
        try context.save()
        context.reset()
      }
      // What is not a number is one value.
      for work in try context.fetch(FetchRequest<Artwork>()).prefix(3) { work.price = .nan }
      #expect(try context.values(Artwork.self, \.price, isDistinct: true).count == 8)
      context.rollback()
      // Everything that an object has, and no object made for it.
      var all = FetchRequest<Artwork>()
      all.predicate = Key("price") == 3
      let row = try #require(try context.dictionaries(for: all).first)
      #expect(row.keys.sorted() == ["artist", "isPublished", "price", "title"])
      #expect(row["artist"] is ManagedObjectID)
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `groups have aggregates, and a predicate of their own`(_ home: GotchaHome) throws {
    try everywhere(home) { context in
      let isChild = context.parent != nil
      var request = Self.request(
        [
          "artist.name", try .init("total", format: "sum:(price)"),
          try .init("works", format: "count:(SELF)"), try .init("first", format: "min:(price) + 0"),
        ], by: ["artist.name"])
      let sums = isChild ? [10.0, 12, 15, 18] : [9.0, 9, 12, 15]
      #expect(
        try Self.lines(context.dictionaries(for: request)) == [
          "first=\(isChild ? 10.0 : 9.0) total=\(sums[0]) works=1",
          "artist.name=Ana first=\(isChild ? 1.0 : 0.0) total=\(sums[1]) works=3",
          "artist.name=Ben first=\(isChild ? 2.0 : 1.0) total=\(sums[2]) works=3",
          "artist.name=Cleo first=\(isChild ? 3.0 : 2.0) total=\(sums[3]) works=3",
        ])
      request.sortDescriptors = [FetchSortDescriptor(key: "total", ascending: false)]
      request.propertiesToFetch = ["artist.name", try .init("total", format: "sum:(price)")]
      for having in ["works > 1 AND total > 9.5", "count:(SELF) > 1 AND artist.name != 'Ana'"] {
        if having.hasPrefix("works") {
          request.havingPredicate = try FetchPredicate(format: "count:(SELF) > 1 AND total > 13.5")
          let names = try context.dictionaries(for: request).map { $0["artist.name"] as? String }
          #expect(names == (isChild ? ["Cleo", "Ben"] : ["Cleo"]))
        } else {
          request.havingPredicate = try FetchPredicate(format: having)
          let names = try context.dictionaries(for: request).map { $0["artist.name"] as? String }
          #expect(names == ["Cleo", "Ben"])
        }
      }
      request.havingPredicate = nil
      request.fetchOffset = 1
      request.fetchLimit = 1
      #expect(try context.dictionaries(for: request).count == 1)
      // One row of all, and of none.
      var whole = Self.request([
        try .init("mean", format: "average:(artist.born)"),
        try .init("born", format: "count:(artist.born)"),
        try .init("range", format: "max:(price) - min:(price)"),
      ])
      #expect(
        try Self.lines(context.dictionaries(for: whole)) == ["born=6 mean=1901.0 range=9.0"])
      whole.predicate = Key("price") < -1
      #expect(try Self.lines(context.dictionaries(for: whole)) == ["born=0"])
    }
  }

  @Test func `a column that has no single value per object or group is an error`() throws {
    let context = try ManagedObjectContext.stubbed(
      SmallGallery.model, classes: SmallGallery.classes)
    func expectError(
      _ request: FetchRequest<Artwork>, _ part: String,
      _ location: SourceLocation = #_sourceLocation
    ) {
      do {
        let rows = try context.dictionaries(for: request)
        Issue.record("\(rows)", sourceLocation: location)
      } catch {
        let text = (error as? PersistenceError)?.message ?? ""
        #expect(text.contains(part), "\(text)", sourceLocation: location)
      }
    }
    expectError(Self.request(["titel"]), "is title meant?")
    expectError(Self.request(["tags.word"]), "a collection of texts")
    expectError(Self.request(["title", "title"]), "two values that are called title")
    expectError(Self.request(["price"], by: ["title"]), "price, which differs within a group")
    expectError(Self.request(["title"], by: ["tags"]), "which differs")
    expectError(Self.request(["seen"]), "transient")
    var having = Self.request(["title"])
    having.havingPredicate = Key("title") == "x"
    expectError(having, "the request has none")
    having.propertiesToGroupBy = ["title"]
    having.havingPredicate = Key("total") == 1
    expectError(having, "total, a key of havingPredicate")
    having.havingPredicate = nil
    having.sortDescriptors = [FetchSortDescriptor(key: "price")]
    expectError(having, "price, the sort key")
  }

  @Test(arguments: GotchaHome.allCases)
  func `values come in the types of the properties`(_ home: GotchaHome) throws {
    try everywhere(home) { context in
      let isChild = context.parent != nil
      let rows = try context.values(
        Artwork.self, \.title, \.price, \Artwork.artist?.born, where: Key("price") > 6.5,
        sortedBy: [FetchSortDescriptor(key: "price")])
      #expect(rows.count == (isChild ? 4 : 3))
      let last = try #require(rows.last)
      #expect(last == ("work 4", isChild ? 10 : 9, nil))
      #expect(rows.first?.2 == (isChild ? 1900 : nil))
      let artists = try context.values(
        Artwork.self, \.artist, where: Key("artist") != nil, isDistinct: true)
      #expect(Set(artists.map { $0?.name }) == ["Ana", "Ben", "Cleo"])
      #expect(try context.values(Artist.self, \.name, limit: 2).count == 2)
    }
  }

  // The rows of unchanged objects led to rows: values on their way had no unsaved changes.
  @Test(arguments: GotchaHome.allCases)
  func `values at the end of a path have the unsaved changes of other objects`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      try Self.fill(context)
      try context.save()
      let works = try context.fetch(Artwork.sorted(by: \.price))
      try works[9].setValue(works[8], forKey: "lookalike")
      try context.save()
      context.reset()

      let ana = try #require(try context.fetch(Artist.where { $0.name == "Ana" }).first)
      ana.name = "Anna"
      for work in try context.fetch(Artwork.where { $0.artist.name == "Ben" }) { work.price += 10 }
      context.delete(try #require(try context.fetch(Artwork.where { $0.price == 8 }).first))
      for context in [context, context.newChildContext()] {
        let names = try context.values(Artwork.self, \.artist?.name, where: Key("price") < 9)
        #expect(names.compactMap { $0 } == ["Anna", "Cleo", "Anna", "Cleo", "Anna"])
        var request = Self.request([
          .init("name", try FetchExpression(format: "uppercase:(artist.name)")), "lookalike",
        ])
        request.predicate = Key("price").in([0, 9])
        #expect(try Self.lines(context.dictionaries(for: request)) == ["name=ANNA", ""])
        var totals = FetchRequest<Artist>()
        totals.propertiesToFetch = [
          "artworks.@count", .init("sum", try FetchExpression(format: "artworks.@sum.price")),
        ]
        totals.sortDescriptors = [FetchSortDescriptor(key: "name")]
        #expect(
          try Self.lines(context.dictionaries(for: totals)) == [
            "artworks.@count=3 sum=9.0", "artworks.@count=3 sum=42.0", "artworks.@count=2 sum=7.0",
          ])
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a request is executed for what its result type says`(_ home: GotchaHome) throws {
    try home.withContext { context in
      try Self.fill(context)
      try context.save()
      var request = Self.request(["price"])
      request.predicate = Key("price") > 7
      let ids = try context.objectIDs(for: request)
      for type in FetchRequestResultType.allCases {
        request.resultType = type
        switch try context.execute(request) {
        case .managedObjects(let objects):
          #expect(type == .managedObjects && objects.map(\.objectID) == ids)
        case .managedObjectIDs(let found): #expect(type == .managedObjectIDs && found == ids)
        case .dictionaries(let rows):
          #expect(type == .dictionaries && rows.map { $0["price"] as? Double } == [8, 9])
        case .count(let count): #expect(type == .count && count == 2)
        }
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `objects come read, as faults, or without their rows`(_ home: GotchaHome) throws {
    try home.withContext { context in
      try Self.fill(context)
      try context.save()
      context.reset()
      var request = FetchRequest<Artwork>()
      request.returnsObjectsAsFaults = false
      let read = try context.fetch(request)
      #expect(read.allSatisfy { !$0.isFault })
      context.reset()
      request.returnsObjectsAsFaults = true
      request.includesPropertyValues = false
      let bare = try context.fetch(request)
      #expect(bare.allSatisfy { $0.isFault })
      #expect(bare.map(\.price) == (0..<10).map(Double.init))
      context.reset()
      request.includesPropertyValues = true
      request.relationshipKeyPathsForPrefetching = ["artist.artworks", "tags"]
      #expect(try context.fetch(request).compactMap { $0.artist?.name }.count == 9)
      request.relationshipKeyPathsForPrefetching = ["artist.artwork"]
      let error = #expect(throws: PersistenceError.self) { try context.fetch(request) }
      #expect(error?.message.contains("is artworks meant?") ?? false)
    }
  }
}
