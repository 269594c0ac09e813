import Quire
import QuireModel
import Testing

/// From where candidates come, when there are several ways to find them.
@Suite struct CandidateTests {
  private static func model(_ indexes: FetchIndex...) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Attribute("born", .integer16)
        Relationship("works", toMany: "Work", inverse: "artist")
        FetchIndex("byName", on: "name")
        FetchIndex("byBorn", on: "born")
      }
      Entity("Label") {
        Attribute("text", .string)
        Relationship("work", toOne: "Work", inverse: "label")
        FetchIndex("byText", on: "text")
      }
      Entity("Tag") {
        Attribute("word", .string)
        Relationship("works", toMany: "Work", inverse: "tags")
        FetchIndex("byWord", on: "word")
      }
      Entity("Work") {
        Attribute("title", .string)
        Attribute("price", .double)
        Attribute("year", .integer16)
        Relationship("artist", toOne: "Artist", inverse: "works")
        Relationship("label", toOne: "Label", inverse: "work")
        Relationship("tags", toMany: "Tag", inverse: "works")
        for index in indexes { index }
      }
      Entity("Print", parent: "Work") { Attribute("number", .integer32) }
    }
  }

  private func fill(_ context: ManagedObjectContext, _ count: Int = 800) throws {
    let artists = try (0..<40).map {
      try context.add("Artist", ["name": "artist \($0)", "born": Int16(1800 + $0)])
    }
    let tags = try (0..<50).map { try context.add("Tag", ["word": "word \($0)"]) }
    for number in 0..<count {
      let work = try context.add(
        number % 3 == 0 ? "Print" : "Work",
        [
          "title": "title \(number % 100)", "price": Double(number % 50),
          "year": Int16(1900 + number % 7),
          "tags": Set([tags[number % 50], tags[number * 7 % 50]]),
        ])
      // Some lead to nobody.
      if number % 9 > 0 { try work.setValue(artists[number % 40], forKey: "artist") }
      if number % 4 == 0 {
        try work.setValue(try context.add("Label", ["text": "label \(number)"]), forKey: "label")
      }
    }
    try context.save()
  }

  /// The same without indexes, which do not look behind two negations.
  private func scanned(
    _ context: ManagedObjectContext, _ predicate: FetchPredicate, _ entity: String = "Work"
  ) throws -> [ManagedObject] {
    let found = try context.found(entity, .not(.not(predicate)))
    #expect(found.plan == "all rows of \(entity)")
    return found.objects
  }

  private func expect(
    _ context: ManagedObjectContext, _ predicate: FetchPredicate, _ plan: String,
    _ entity: String = "Work"
  ) throws {
    let found = try context.found(entity, predicate)
    #expect(found.plan == plan, "\(predicate)")
    #expect(try found.objects == scanned(context, predicate, entity), "\(predicate)")
  }

  // MARK: Disjunctions

  @Test func `a disjunction is found by the indexes of its parts`() throws {
    let context = try IndexScene().open(
      try Self.model(FetchIndex("byTitle", on: "title"), FetchIndex("byPrice", on: "price")))
    try fill(context)
    // Works that both parts find come once.
    let either = Key("title") == "title 7" || Key("price") == 7.0
    try expect(context, either, "union of (index Work.byTitle, index Work.byPrice), 16 candidates")
    try expect(
      context, Key("title") == "title 7" || (Key("price") < 2 && Key("year") == 1903),
      "union of (index Work.byTitle, index Work.byPrice), 40 candidates")
    try expect(
      context, either, "union of (index Work.byTitle, index Work.byPrice), 5 candidates",
      "Print")
    // What one part says of another property needs all rows.
    try expect(context, either || Key("year") == 1903, "all rows of Work")
    try expect(context, Key("title") == "title 7" || Key("price") > 20, "all rows of Work")
    try expect(context, .or([]), "union of (), 0 candidates")
    #expect(try context.count(for: request(either)) == 16)
  }

  private func request(_ predicate: FetchPredicate) -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: "Work")
    request.predicate = predicate
    return request
  }

  @Test func `order, limit and offset of a disjunction are those of the whole`() throws {
    let context = try IndexScene().open(
      try Self.model(FetchIndex("byTitle", on: "title"), FetchIndex("byPrice", on: "price")))
    try fill(context)
    let either = Key("title") == "title 7" || Key("price").between(7, and: 9)
    let sorts: [[FetchSortDescriptor]] = [
      [], [.init(key: "year"), .init(key: "price", ascending: false)], [.init(key: "title")],
    ]
    for sort in sorts {
      for (limit, offset) in [(0, 0), (5, 0), (5, 3), (0, 40), (100, 1), (3, 200)] {
        var request = request(.not(.not(either)))
        request.sortDescriptors = sort
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        let expected = try context.fetch(request)
        request.predicate = either
        #expect(try context.plans(for: request)[0].description.hasPrefix("union of "))
        #expect(try context.fetch(request) == expected)
        #expect(try context.count(for: request) == expected.count)
      }
    }
  }

  @Test func `unsaved changes count in a disjunction`() throws {
    let context = try IndexScene().open(
      try Self.model(FetchIndex("byTitle", on: "title"), FetchIndex("byPrice", on: "price")))
    try fill(context)
    let either = Key("title") == "title 7" || Key("price") == 7.0
    let found = try context.fetch(request(either))
    try found[0].setValue("other", forKey: "title")
    try found[0].setValue(8.0, forKey: "price")
    context.delete(found[1])
    let new = try context.add("Work", ["title": "title 7"])
    try expect(context, either, "union of (index Work.byTitle, index Work.byPrice), 16 candidates")
    #expect(try context.fetch(request(either)) == Array(found.dropFirst(2)) + [new])
  }

  @Test func `a property that equals this or that is one of a list`() throws {
    let context = try IndexScene().open(
      try Self.model(
        FetchIndex("byTitle", on: "title"), FetchIndex("byYearAndPrice", on: "year", "price")))
    try fill(context)
    let either = Key("title") == "title 7" || Key("title").in(["title 8", "title 7"])
    try expect(context, either, "index Work.byTitle, 16 candidates")
    #expect(try context.count(for: request(either)) == 16)
    // One list for each of two elements.
    try expect(
      context,
      (Key("price") == 3.0 || Key("price") == 4.0) && (Key("year") == 1903 || Key("year") == 1904),
      "index Work.byYearAndPrice, 11 candidates")
    // What must be true besides helps each part.
    try expect(
      context, Key("year") == 1903 && (Key("price") == 3.0 || Key("price") > 47),
      "union of (index Work.byYearAndPrice, index Work.byYearAndPrice), 7 candidates")
  }

  // MARK: Several indexes

  @Test func `of several indexes the narrowest is taken`() throws {
    let context = try IndexScene().open(
      try Self.model(FetchIndex("byYear", on: "year"), FetchIndex("byPrice", on: "price")))
    try fill(context)
    try expect(
      context, Key("year") == 1903 && Key("price") < 1, "index Work.byPrice, 16 candidates")
    try expect(
      context, Key("price") < 1 && Key("year") == 1903, "index Work.byPrice, 16 candidates")
    try expect(
      context, Key("price") < 40 && Key("year") == 1903, "index Work.byYear, 114 candidates")
  }

  @Test func `two indexes find what both have where rows are many`() throws {
    let context = try IndexScene().open(
      try Self.model(FetchIndex("byYear", on: "year"), FetchIndex("byPrice", on: "price")))
    try fill(context, 3_000)
    let both = Key("year") == 1903 && Key("price") < 10
    try expect(
      context, both, "intersection of (index Work.byYear, index Work.byPrice), 87 candidates")
    #expect(try context.fetch(request(both)).count == 87)
  }

  // MARK: Orders

  @Test func `the order of an index is walked where that ends before candidates are read`() throws {
    let context = try IndexScene().open(
      try Self.model(
        FetchIndex("byPrice", on: "price"), FetchIndex("byYear", on: "year"),
        FetchIndex("byYearAndPrice", on: "year", "price")))
    try fill(context, 3_000)
    let walk = "index Work.byYearAndPrice in order"
    let cases: [(FetchPredicate, String)] = [
      (Key("year") == 1903, walk),
      (Key("year") == 1903 && Key("price") >= 30, walk),
      (Key("year") == 1903 && Key("title") == "title 3", walk),
      // No row has both.
      (Key("year") == 1903 && Key("title") == "title 300", walk),
      (Key("year") == 1903 && Key("price") > 48, "index Work.byYearAndPrice, 9 candidates"),
      (Key("price") >= 30, "index Work.byPrice in order"),
    ]
    for (predicate, plan) in cases {
      var request = request(predicate)
      request.sortDescriptors = [.init(key: "price"), .init(key: "title", ascending: false)]
      for (limit, offset) in [(1, 0), (5, 0), (4, 7)] {
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        request.predicate = .not(.not(predicate))
        let expected = try context.fetch(request)
        request.predicate = predicate
        #expect(try context.plans(for: request)[0].description == plan, "\(predicate)")
        #expect(try context.fetch(request) == expected, "\(predicate)")
        #expect(try request.explain(in: context).objectCount == expected.count)
      }
    }
  }

  @Test func `an order that was walked in vain is given up for candidates`() throws {
    let context = try IndexScene().open(
      try Self.model(FetchIndex("byYear", on: "year"), FetchIndex("byPrice", on: "price")))
    // What is asked for comes last in the order.
    for number in 0..<2_000 {
      try context.add("Work", ["price": Double(number), "year": number < 1_800 ? 1900 : 1903])
    }
    try context.save()
    var request = request(Key("year") == 1903)
    request.sortDescriptors = [.init(key: "price")]
    request.fetchLimit = 2
    let search = try request.explain(in: context).searches[0]
    #expect(search.source.kind == .indexOrder(name: "Work.byPrice", isReversed: false))
    let abandoned = search.abandonedRowCount
    #expect((100...400).contains(abandoned) && search.rowCount == abandoned + 200)
    #expect(search.order == .sort(kept: 2))
    let prices = try context.fetch(request).map { try $0.value(forKey: "price") as? Double }
    #expect(prices == [1_800, 1_801])
  }

  // MARK: Relationships

  @Test func `a condition on a destination's value is answered by an index and links`() throws {
    let context = try IndexScene().open(try Self.model())
    try fill(context)
    try expect(
      context, Key("artist.name") == "artist 3",
      "links of artist from index Artist.byName, 18 candidates")
    try expect(
      context, Key("artist.born").between(1803, and: 1804),
      "links of artist from index Artist.byBorn, 36 candidates")
    // Both bounds are about one artist, and so is a third condition.
    try expect(
      context, Key("artist.born") >= 1803 && Key("artist.born") < 1805,
      "links of artist from index Artist.byBorn, 36 candidates")
    try expect(
      context,
      Key("artist.born") >= 1803 && Key("price") > 0 && Key("artist.name") == "artist 3",
      "links of artist from index Artist.byName, 18 candidates")
    try expect(
      context, Key("artist.name").in(["artist 3", nil]) && Key("artist.born") < 1900,
      "all rows of Work")
    try expect(
      context, Key("artist.name").in(["artist 3", nil]) && Key("artist.born") < 1802,
      "links of artist from index Artist.byBorn, 35 candidates")
    try expect(
      context, Key("label.text") == "label 8",
      "links of label from index Label.byText, 1 candidates")
    try expect(
      context, Key("tags.word").any == "word 14",
      "links of tags from index Tag.byWord, 32 candidates")
    // From an artist to works, from these to tags.
    try expect(
      context, Key("works.tags.word").any == "word 14",
      "links of works from links of tags from index Tag.byWord, 8 candidates", "Artist")
    // Rows that lead to nobody have no name as well.
    try expect(context, Key("artist.name") == nil, "all rows of Work")
    try expect(context, Key("artist.name").in(["artist 3", nil]), "all rows of Work")
    try expect(context, Key("artist.name") != "artist 3", "all rows of Work")
  }

  @Test func `members of a relationship are found by the links of the member`() throws {
    let context = try IndexScene().open(try Self.model())
    try fill(context)
    let tag = try context.found("Tag").objects[14]
    let plan = "links of tags, 32 candidates"
    try expect(context, Key("tags").any == tag, plan)
    try expect(context, Key("tags").contains(tag), plan)
    try expect(context, .comparison(FetchExpression(tag), .in, .keyPath(["tags"])), plan)
    let label = try context.found("Label").objects[2]
    try expect(context, Key("label") == label, "links of label, 1 candidates")
  }

  @Test func `a path is not followed backwards where an unsaved change may be on it`() throws {
    let context = try IndexScene().open(try Self.model())
    try fill(context)
    let predicate = Key("artist.name") == "artist 3"
    let artist = try context.found("Artist", Key("name") == "artist 4").objects[0]
    try artist.setValue("artist 3", forKey: "name")
    try expect(context, predicate, "all rows of Work")
    #expect(try context.fetch(request(predicate)).count == 36)
  }
}
