import Quire
import QuireModel
import QuireSimulation
import Testing

/// Numbers that the keys of an index tell are those that the rows have.
@Suite struct CoveredCountTests {
  private static let model = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string)
      Relationship("works", toMany: "Work", inverse: "artist")
    }
    Entity("Work") {
      Attribute("title", .string)
      Attribute("year", .integer32)
      Attribute("height", .integer16)
      Attribute("views", .integer64)
      Attribute("price", .double)
      Attribute("sold", .boolean)
      Relationship("artist", toOne: "Artist", inverse: "works")
      // Nobody is told when it is deleted.
      Relationship("copyOf", toOne: "Work")
      FetchIndex("byArtist", on: "artist")
      FetchIndex("byCopy", on: "copyOf")
      FetchIndex("byYear", on: "year", "title")
      FetchIndex("byHeight", on: "height")
      FetchIndex("byViews", on: "views")
      FetchIndex("byPrice", on: "price")
      FetchIndex("bySold", on: "sold", .descending("title"))
      FetchIndex("byTitle", on: "title")
      FetchIndex("twice", on: "artist", "artist")
    }
    Entity("Print", parent: "Work") { Attribute("edition", .integer16) }
  }

  private struct Scene {
    let context: ManagedObjectContext
    var generator: SeededGenerator
    var artists: [ManagedObject] = []
    var works: [ManagedObject] = []

    static let long = String(repeating: "long ", count: 80)

    mutating func fill(_ count: Int) throws {
      artists = try (0..<4).map { try context.insert("Artist", ["name": "artist \($0)"]) }
      for number in 0..<count {
        let work = try context.insert(generator.below(3) == 0 ? "Print" : "Work", [:])
        func set(_ name: String, _ value: Any) throws {
          if generator.below(4) > 0 { try work.setValue(value, forKey: name) }
        }
        try set("title", ["a", "b", "", Self.long + "a", Self.long + "b"][generator.below(5)])
        try set("year", generator.below(5) - 2)
        try set("height", generator.below(3) - 1)
        try set("views", [Int.min, -1, 0, Int.max][generator.below(4)])
        try set("price", Double(generator.below(4)) / 2)
        try set("sold", generator.below(2) == 0)
        try set("artist", artists[generator.below(4)])
        if number > 0 { try set("copyOf", works[generator.below(works.count)]) }
        works.append(work)
      }
      try context.save()
      // Some lead to what is gone, by rows and by keys.
      for number in stride(from: 3, to: count, by: 7) { context.delete(works[number]) }
      try context.save()
      works = works.filter { !$0.isDeleted && $0.managedObjectContext != nil }
    }

    mutating func predicate() -> FetchPredicate {
      func one(_ values: [(any PredicateConvertible)?]) -> FetchExpression {
        values[generator.below(values.count)].map { FetchExpression($0) } ?? nil
      }
      func one(_ operators: () -> [FetchPredicate.Operator]) -> FetchPredicate.Operator {
        operators()[generator.below(operators().count)]
      }
      func part() -> FetchPredicate {
        switch generator.below(14) {
        case 0: .comparison(.keyPath(["artist"]), .equal, one(artists + [nil]))
        case 1: .comparison(.keyPath(["copyOf"]), .equal, one(works + [nil]))
        case 2: .comparison(.keyPath(["year"]), .equal, one([1, 0, -2, 1.5, 1.0, 70_000, nil]))
        case 3: .comparison(.keyPath(["height"]), .equal, one([1, -1, true, 70_000, nil]))
        case 4: .comparison(.keyPath(["views"]), .equal, one([0, Int.max, Int.min, 0x1p63, nil]))
        case 5: .comparison(.keyPath(["price"]), .equal, one([0.5, 1, Float(0.5), nil]))
        case 6: .comparison(.keyPath(["sold"]), .equal, one([true, 0, 2, nil]))
        case 7:
          .comparison(.keyPath(["title"]), .equal, one(["a", "", Self.long + "a", nil, "q"]))
        case 8:
          .comparison(
            .keyPath(["artist"]), .in,
            .aggregate(
              artists.prefix(generator.below(4)).map {
                FetchExpression($0)
              }))
        case 9:
          .comparison(
            .keyPath(["year"]), .between, .aggregate([one([1, 0, -2.5]), one([0, 1, 1.5])]))
        case 10:
          .comparison(
            .keyPath(["price"]), one { [.lessThan, .greaterThanOrEqual] },
            one([0.5, 1, Float(0.5), 0.1, Double.nan, nil]))
        case 11:
          .comparison(
            .keyPath(["title"]), one { [.lessThan, .lessThanOrEqual, .greaterThan] },
            one(["a", "b", Self.long + "a", Self.long, ""]))
        case 12:
          .or([
            .comparison(.keyPath(["height"]), .equal, one([1, 0])),
            .comparison(.keyPath(["height"]), .in, .aggregate([one([1, -1]), one([0, nil])])),
          ])
        default:
          .comparison(.keyPath(["year"]), .in, .aggregate([one([1, 0, nil]), one([0, -1, 2.5])]))
        }
      }
      return generator.below(2) == 0 ? part() : .and([part(), part()])
    }
  }

  @Test(arguments: GotchaHome.own)
  func `counts are those of the rows`(_ home: GotchaHome) throws {
    var coveredCount = 0
    let seeds = 0..<Amount.of(debug: 1, release: 3, exhaustive: 60)
    for seed in seeds {
      try home.withContext(Self.model, classes: []) { context in
        var scene = Scene(context: context, generator: SeededGenerator(seed: UInt64(seed)))
        try scene.fill(150)
        context.reset()
        scene.artists = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artist"))
        scene.works = try context.fetch(FetchRequest<ManagedObject>(entityName: "Work"))
        for number in 0..<120 {
          let entity = number % 3 == 0 ? "Print" : "Work"
          var request = FetchRequest<ManagedObject>(entityName: entity)
          request.includesSubentities = number % 4 > 0
          let all = try context.fetch(request)
          let predicate = scene.predicate()
          request.predicate = predicate
          let expected = try all.filtered(using: predicate).count
          #expect(try context.count(for: request) == expected, "seed \(seed): \(request)")
          if try request.explain(in: context).searches[0].isCountedByKeys { coveredCount += 1 }
          if number % 40 == 39 {
            // An unsaved change, which no index knows.
            try scene.works[number].setValue(1, forKey: "year")
          }
        }
      }
    }
    #expect(coveredCount >= 7 * seeds.count)
  }

  private final class Artist: ManagedObject {
    @Managed var name: String?
  }

  private final class Work: ManagedObject {
    @Managed var year: Int?
    @Managed var height: Int16?
    @Managed var views: Int?
    @Managed var sold: Bool?
    @Managed var artist: Artist?
    @Managed var copyOf: Work?
  }

  private func expectGroups<Group: GroupValue & Hashable>(
    _ context: ManagedObjectContext, _ property: KeyPath<Work, Group>
  ) throws {
    let works = try context.all(Work.self)
    let groups = Dictionary(grouping: works) { $0[keyPath: property] }.mapValues(\.count)
    let rows = try context.aggregate(Work.self, .count, groupedBy: property)
    let counts = Dictionary(uniqueKeysWithValues: rows.map { ($0.group, $0.values) })
    #expect(counts == groups, "\(property)")
  }

  @Test(arguments: GotchaHome.own)
  func `groups are those of the rows`(_ home: GotchaHome) throws {
    try home.withContext(Self.model, classes: [Work.self, Artist.self]) { context in
      var scene = Scene(context: context, generator: SeededGenerator(seed: 5))
      try scene.fill(150)
      for state in 0..<3 {
        if state == 1 { context.reset() }
        if state == 2 { try context.all(Work.self)[4].year = 77 }
        try expectGroups(context, \.year)
        try expectGroups(context, \.height)
        try expectGroups(context, \.views)
        try expectGroups(context, \.sold)
        try expectGroups(context, \.artist)
        try expectGroups(context, \.copyOf)
      }
    }
  }
}
