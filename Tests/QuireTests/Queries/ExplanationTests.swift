import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is said of a fetch is what it does.
@Suite struct ExplanationTests {
  private func context(_ count: Int = 400) throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Relationship("works", toMany: "Work", inverse: "artist")
        FetchIndex("byName", on: "name")
      }
      Entity("Work") {
        Attribute("title", .string)
        Attribute("price", .double)
        Attribute("year", .integer16)
        Attribute("sold", .date)
        Relationship("artist", toOne: "Artist", inverse: "works")
        FetchIndex("byTitle", on: "title")
        FetchIndex("byPrice", on: "price")
      }
      Entity("Print", parent: "Work") { Attribute("number", .integer32) }
    }
    let context = try IndexScene().open(model)
    let artists = try (0..<20).map { try context.add("Artist", ["name": "artist \($0)"]) }
    for number in 0..<count {
      try context.add(
        number % 4 == 0 ? "Print" : "Work",
        [
          "title": "title \(number % 100)", "price": Double(number % 50),
          "year": Int16(1900 + number % 7), "artist": artists[number % 20],
        ])
    }
    try context.save()
    return context
  }

  private func request(
    _ predicate: FetchPredicate?, by keys: [String] = [], limit: Int = 0, offset: Int = 0
  ) -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: "Work")
    request.predicate = predicate
    request.sortDescriptors = keys.map { FetchSortDescriptor(key: $0) }
    (request.fetchLimit, request.fetchOffset) = (limit, offset)
    return request
  }

  private func explain(
    _ request: FetchRequest<ManagedObject>, in context: ManagedObjectContext
  ) throws -> (whole: FetchExplanation, search: FetchExplanation.Search) {
    let explanation = try request.explain(in: context)
    #expect(explanation.objectCount == (try context.fetch(request).count))
    return (explanation, try #require(explanation.searches.first))
  }

  @Test func `dates are told by the calendar, and can be read back`() throws {
    let context = try context(10)
    let date = Date(timeIntervalSinceReferenceDate: 728_352_000.5)
    let predicate = Key("sold") >= date && Key("title") != #"CAST("1.0", "Date")"#
    let text = try request(predicate).explain(in: context).description
    let told =
      #"sold >= CAST("2024-01-31T00:00:00.5Z", "Date") AND title != "CAST(\"1.0\", \"Date\")""#
    #expect(text.hasPrefix("Work where \(told)\n"), "\(text)")
    #expect(try FetchPredicate(format: told) == predicate)
  }

  @Test func `an explanation reads as a text`() throws {
    let context = try context()
    let either = Key("title") == "title 7" || (Key("price") < 2 && Key("year") == 1903)
    let text = try request(either, by: ["title"], limit: 5).explain(in: context).description
    #expect(
      text == """
        Work where title == "title 7" OR (price < 2 AND year == 1903), by title ascending, at most 5
          union: 20 rows, about 20 expected
            index Work.byTitle where title == "title 7": 4 rows, about 4 expected
            index Work.byPrice where price < 2: 16 rows, about 16 expected
          filter on rows: title == "title 7" OR (price < 2 AND year == 1903)
          sort: title ascending, keeping the first 5
          20 rows read, about 20 expected; 6 match, about 20 expected
        5 objects
        """)
    let path = request(Key("artist.name") == "artist 3", offset: 1)
    #expect(
      try path.explain(in: context).description == """
        Work where artist.name == "artist 3", without the first 1
          links of artist: 20 rows, about 20 expected
            index Artist.byName where name == "artist 3": 1 row, about 1 expected
          filter on rows: artist.name == "artist 3"
          20 rows read, about 20 expected; 20 match, about 20 expected
        19 objects
        """)
  }

  @Test func `all rows are read where no index tells`() throws {
    let context = try context()
    let (_, search) = try explain(request(Key("year") == 1903), in: context)
    #expect(search.source.kind == .allRows(entityNames: ["Print", "Work"]))
    #expect(search.rowCount == 400 && search.expectedRowCount == 400)
    #expect(search.matchCount == 57 && search.order == .none && !search.endedEarly)
    #expect(search.filter == (Key("year") == 1903) && !search.isCountedByKeys)
    let all = try explain(request(nil, by: ["year"]), in: context).search
    #expect(all.filter == nil && all.order == .sort(kept: nil) && all.matchCount == 400)
  }

  @Test func `a limit without an order ends the search`() throws {
    let context = try context()
    let (_, search) = try explain(request(Key("year") == 1903, limit: 4), in: context)
    #expect(search.endedEarly && search.matchCount == 4)
    #expect(search.rowCount < 60)
    let (_, few) = try explain(request(Key("price") < 4, limit: 3, offset: 2), in: context)
    #expect(few.source.kind == .index(name: "Work.byPrice") && few.source.rowCount == 32)
    #expect(few.source.conditions == [Key("price") < 4])
    #expect(few.endedEarly && few.rowCount == 5)
  }

  @Test func `the order of an index ends with the last that is wanted, or is given up`() throws {
    let context = try context()
    let (_, search) = try explain(request(nil, by: ["price"], limit: 8), in: context)
    #expect(search.source.kind == .indexOrder(name: "Work.byPrice", isReversed: false))
    #expect(search.source.rowCount == 400 && search.source.expectedRowCount == 400)
    #expect(search.order == .source && search.rowCount == 8 && search.expectedRowCount == 8)
    #expect(search.endedEarly)
    let (_, hopeless) = try explain(
      request(Key("year") == 2000, by: ["price"], limit: 8), in: context)
    #expect(hopeless.abandonedRowCount == 100 && hopeless.rowCount == 500)
    #expect(hopeless.order == .sort(kept: 8) && hopeless.matchCount == 0)
    #expect(!hopeless.endedEarly)
  }

  @Test func `numbers of an index tell a count`() throws {
    let context = try context()
    #expect(try explain(request(Key("title") == "title 7"), in: context).search.isCountedByKeys)
    #expect(try explain(request(Key("price") < 3), in: context).search.isCountedByKeys)
    let both = Key("price") < 3 && Key("title") == "title 1"
    #expect(try !explain(request(both), in: context).search.isCountedByKeys)
    let start = Key("title").beginsWith("title 1")
    #expect(try !explain(request(start), in: context).search.isCountedByKeys)
    let text = try request(Key("title") == "title 7").explain(in: context).description
    #expect(text.contains("\n  a count reads keys alone\n"))
  }

  @Test func `objects with unsaved changes are asked instead of their rows`() throws {
    let context = try context()
    let works = try context.fetch(request(Key("price") == 7.0))
    try works[0].setValue(8.0, forKey: "price")
    try works[1].setValue("other", forKey: "title")
    context.delete(works[2])
    try context.add("Work", ["price": 7.0])
    let (explanation, search) = try explain(request(Key("price") == 7.0), in: context)
    // Two of the changed objects and the deleted one are passed over.
    #expect(search.unsavedObjectCount == 3 && search.rowCount == 5)
    #expect(search.source.rowCount == 8 && search.matchCount == 7)
    #expect(explanation.description.contains("; 3 unsaved objects asked; 7 match"))
  }

  @Test func `each store is explained, until one has enough`() throws {
    let model = try ManagedObjectModel {
      Entity("Work") { Attribute("year", .integer16) }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let stores = try (0..<2).map { _ in try coordinator.addPersistentStore(type: .inMemory, at: nil)
    }
    let context = GotchaHome.context(of: coordinator)
    for number in 0..<20 {
      let work = try context.add("Work", ["year": number])
      context.assign(work, to: stores[number % 2])
    }
    try context.save()
    let whole = try explain(request(Key("year") > 9), in: context).whole
    #expect(whole.searches.map(\.storeIdentifier) == stores.map(\.identifier))
    #expect(whole.searches.map(\.matchCount) == [5, 5] && whole.objectCount == 10)
    #expect(whole.description.contains("\nstore \(stores[1].identifier)\n"))
    let first = try explain(request(Key("year") > 9, limit: 3), in: context).whole
    #expect(first.searches.count == 1 && first.objectCount == 3)
  }

  @Test func `a request that makes no sense is refused as by a fetch`() throws {
    let context = try context(10)
    #expect(throws: PersistenceError.self) {
      _ = try request(Key("colour") == "red").explain(in: context)
    }
    #expect(throws: PersistenceError.self) {
      _ = try request(nil, limit: -1).explain(in: context)
    }
  }
}
