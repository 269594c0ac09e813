import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Sums, averages and counts, of all and in groups.
@Suite struct AggregateTests {
  enum Style: String, CaseIterable, ManagedAttribute { case oil, ink }

  final class Artist: ManagedObject {
    @Managed var name: String
    @Managed var country: String?
    @Managed var artworks: Set<Artwork>
    @Managed var mentor: Artist?
  }

  final class Artwork: ManagedObject {
    @Managed var title: String?
    @Managed var year: Int
    @Managed var height: Int16?
    @Managed var price: Double
    @Managed var weight: Float?
    @Managed var cost: Decimal?
    @Managed var sold: Bool
    @Managed var made: Date?
    @Managed var token: UUID?
    @Managed var style: Style
    @Managed var artist: Artist?
    @Managed var copyOf: Artwork?
    var doubled: Double { price * 2 }
    var value: Double { price }
    var other: Style { style == .oil ? .ink : .oil }
    var area: Double { year > 0 ? price : 0 }
    @Managed var page: URL?
  }

  static let model = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string)
      Attribute("country", .string)
      Relationship("artworks", toMany: "Artwork", inverse: "artist")
      Relationship("mentor", toOne: "Artist")
    }
    Entity("Artwork") {
      Attribute("title", .string)
      Attribute("year", .integer64)
      Attribute("height", .integer16)
      Attribute("price", .double)
      Attribute("weight", .float)
      Attribute("cost", .decimal)
      Attribute("sold", .boolean)
      Attribute("made", .date)
      Attribute("token", .uuid)
      Attribute("page", .uri)
      Attribute("style", .string)
      Relationship("artist", toOne: "Artist", inverse: "artworks")
      // Nobody is told when it is deleted.
      Relationship("copyOf", toOne: "Artwork")
    }
  }

  private static let classes: [ManagedObject.Type] = [Artist.self, Artwork.self]

  private func fill(_ context: ManagedObjectContext) throws {
    let artists = ["Ana", "Bo", "Cy"].map { name -> Artist in
      let artist = Artist(context: context)
      artist.name = name
      artist.country = name == "Cy" ? nil : "Chile"
      return artist
    }
    artists[1].mentor = artists[0]
    for number in 0..<10 {
      let artwork = Artwork(context: context)
      artwork.title = number % 4 == 0 ? nil : "t\(number % 3)"
      artwork.year = 1900 + number % 2
      if number % 3 != 0 { artwork.height = Int16(number) }
      artwork.price = Double(number) / 2
      if number > 4 { artwork.weight = Float(number) }
      if number > 6 { artwork.cost = Decimal(number) / 10 }
      artwork.sold = number % 2 == 0
      if number < 5 { artwork.made = Date(timeIntervalSinceReferenceDate: Double(number)) }
      artwork.style = number < 7 ? .oil : .ink
      artwork.artist = number == 9 ? nil : artists[number % 2]
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `aggregates of all`(_ home: GotchaHome) throws {
    try home.withContext(Self.model, classes: Self.classes) { try expectAll($0) }
  }

  private func expectAll(_ context: ManagedObjectContext) throws {
    try fill(context)
    for isSaved in [false, true] {
      if isSaved {
        try context.save()
        context.reset()
      }
      #expect(try context.count(Artwork.self) == 10)
      #expect(try context.count(Artwork.self, where: Key("year") == 1901) == 5)
      #expect(try context.sum(\Artwork.price) == 22.5)
      #expect(try context.sum(\Artwork.year) == 19_005)
      #expect(try context.sum(\Artwork.height) == 27)
      #expect(try context.sum(\Artwork.weight) == 35)
      #expect(try context.sum(\Artwork.cost) == Decimal(24) / 10)
      #expect(try context.sum(\Artwork.cost, where: Key("year") == 3) == 0)
      #expect(try context.sum(\Artwork.value) == 22.5)
      // Those without a value are passed over.
      #expect(try context.average(\Artwork.height) == 27.0 / 6)
      #expect(try context.average(\Artwork.cost) == Decimal(8) / 10)
      #expect(try context.average(\Artwork.price, where: Key("year") == 3) == nil)
      #expect(try context.minimum(\Artwork.price) == 0)
      #expect(try context.maximum(\Artwork.year) == 1901)
      #expect(try context.minimum(\Artwork.title) == "t0")
      #expect(try context.maximum(\Artwork.cost) == Decimal(9) / 10)
      #expect(try context.minimum(\Artwork.weight) == 5)
      #expect(try context.maximum(\Artwork.made) == Date(timeIntervalSinceReferenceDate: 4))
      #expect(try context.maximum(\Artwork.sold) == true)
      #expect(try context.minimum(\Artwork.style) == .ink)
      #expect(try context.minimum(\Artwork.token) == nil)
      #expect(try context.maximum(\Artwork.artist?.name) == "Bo")
      let all = try context.aggregate(
        Artwork.self, .count, .valueCount(\.title), .distinctCount(\.title),
        .distinctCount(\.artist),
        .sum(Key("artist.artworks.price"), as: Double.self), .maximum(\Artwork.artist?.mentor?.name)
      )
      #expect(all.0 == 10 && all.1 == 7 && all.2 == 3 && all.3 == 2)
      #expect(all.4 == 82 && all.5 == "Ana")
      let sum = try context.aggregate(
        Artist.self, .sum(Key("artworks.price"), as: Double.self))
      #expect(sum == 18)
      let titles = try context.aggregate(Artist.self, .valueCount(Key("artworks.title")))
      #expect(titles == 6)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `aggregates in groups`(_ home: GotchaHome) throws {
    try home.withContext(Self.model, classes: Self.classes) { try expectGroups($0) }
  }

  private func expectGroups(_ context: ManagedObjectContext) throws {
    try fill(context)
    for isSaved in [false, true] {
      if isSaved {
        try context.save()
        context.reset()
      }
      let artists = try context.aggregate(
        Artwork.self, .count, .sum(\.price), .average(\.height), groupedBy: \.artist)
      #expect(artists.map { $0.group?.name } == [nil, "Ana", "Bo"])
      #expect(artists.map(\.values.0) == [1, 5, 4])
      #expect(artists.map(\.values.1) == [4.5, 10, 8])
      let heights: [Double?] = [nil, 14.0 / 3, 13.0 / 3]
      #expect(artists.map(\.values.2) == heights)
      let countries = try context.aggregate(
        Artwork.self, .count, groupedBy: \.artist?.country, where: Key("price") > 0)
      #expect(countries.map(\.group) == [nil, "Chile"] && countries.map(\.values) == [1, 8])
      let pairs = try context.aggregate(
        Artwork.self, .count, .minimum(\.price), groupedBy: \.sold, \.style)
      #expect(pairs.map(\.group.0) == [false, false, true, true])
      #expect(pairs.map(\.group.1) == [.ink, .oil, .ink, .oil])
      #expect(pairs.map(\.values.0) == [2, 3, 1, 4])
      #expect(pairs.map(\.values.1) == [3.5, 0.5, 4, 0])
      let titles = try context.aggregate(Artwork.self, .count, groupedBy: \.title)
      #expect(titles.map(\.group) == [nil, "t0", "t1", "t2"])
      #expect(titles.map(\.values) == [3, 3, 2, 2])
      let none = try context.aggregate(
        Artwork.self, .count, groupedBy: \.year, where: Key("price") > 100)
      #expect(none.isEmpty)
    }
  }

  // Every object whose value was not a number was a group of its own, because such a value does not
  // equal itself in Swift.
  @Test(arguments: GotchaHome.allCases)
  func `NaN values are one group, and count as one distinct value`(_ home: GotchaHome) throws {
    try home.withContext(Self.model, classes: Self.classes) { context in
      for number in 0..<6 {
        let artwork = Artwork(context: context)
        artwork.price = number < 4 ? .nan : 1
        artwork.weight = number < 3 ? .nan : nil
        artwork.cost = number < 2 ? .nan : 5
        artwork.made = number < 2 ? Date(timeIntervalSinceReferenceDate: .nan) : nil
      }
      for isSaved in [false, true] {
        if isSaved {
          try context.save()
          context.reset()
        }
        let prices = try context.aggregate(
          Artwork.self, .count, .distinctCount(\.weight), .distinctCount(\.cost),
          groupedBy: \.price)
        #expect(prices.map(\.values.0) == [4, 2] && prices.first?.group.isNaN == true)
        #expect(prices.map(\.values.1) == [1, 0] && prices.map(\.values.2) == [2, 1])
        let weights = try context.aggregate(
          Artwork.self, .count, .distinctCount(\.price), groupedBy: \.weight)
        #expect(weights.map(\.values.0) == [3, 3] && weights.last?.group?.isNaN == true)
        #expect(weights.map(\.values.1) == [2, 1])
        let dates = try context.aggregate(
          Artwork.self, .count, .distinctCount(\.made), groupedBy: \.made, \.cost)
        #expect(dates.map(\.values.0) == [4, 2] && dates.map(\.values.1) == [0, 1])
        // The smallest and the largest are numbers where there are any, whichever comes first.
        #expect(try context.minimum(\Artwork.price) == 1 && context.maximum(\Artwork.price) == 1)
        #expect(try context.minimum(\Artwork.cost) == 5 && context.maximum(\Artwork.cost) == 5)
        #expect(try context.maximum(\Artwork.weight)?.isNaN == true)
      }
    }
  }

  @Test(arguments: GotchaHome.own)
  func `unsaved changes count`(_ home: GotchaHome) throws {
    try home.withContext(Self.model, classes: Self.classes) { try expectUnsaved($0) }
  }

  private func expectUnsaved(_ context: ManagedObjectContext) throws {
    try fill(context)
    try context.save()
    let artworks = try context.all(Artwork.self)
    let ana = try #require(try context.all(Artist.self).first { $0.name == "Ana" })
    let new = Artist(context: context)
    new.name = "Dee"
    artworks[1].artist = new
    artworks[3].price = 100
    artworks[5].copyOf = artworks[0]
    context.delete(artworks[0])
    for context in [context, context.newChildContext()] {
      let rows = try context.aggregate(
        Artwork.self, .count, .sum(\.price), groupedBy: \.artist?.name)
      #expect(rows.map(\.group) == [nil, "Ana", "Bo", "Dee"])
      #expect(rows.map(\.values.0) == [1, 4, 3, 1])
      #expect(rows.map(\.values.1) == [4.5, 10, 106, 0.5])
      let copies = try context.aggregate(Artwork.self, .count, groupedBy: \.copyOf)
      #expect(copies.map(\.values) == [9])
      let artists = try context.aggregate(Artwork.self, .count, groupedBy: \.artist)
      #expect(artists.map(\.values) == [1, 4, 3, 1])
    }
    context.delete(ana)
    let rows = try context.aggregate(Artwork.self, .count, groupedBy: \.artist)
    #expect(rows.map(\.values) == [5, 3, 1])
  }

  @Test func `an aggregate that cannot be computed is an error that says why`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model, classes: Self.classes)
    try fill(context)
    func expect(
      _ code: PersistenceError.Code, _ word: String, _ body: () throws -> Void
    ) {
      let error = #expect(throws: PersistenceError.self) { try body() }
      #expect(error?.code == code, "\(String(describing: error))")
      #expect(error?.message.contains(word) ?? false, "\(String(describing: error))")
    }
    expect(.undefinedKey, "that Swift works out") { _ = try context.sum(\Artwork.doubled) }
    expect(.undefinedKey, "that Swift works out") { _ = try context.sum(\Artwork.price.magnitude) }
    expect(.undefinedKey, "that Swift works out") { _ = try context.sum(\Artist.artworks.count) }
    expect(.undefinedKey, "that Swift works out") { _ = try context.minimum(\Artwork.other) }
    expect(.undefinedKey, "that Swift works out") { _ = try context.sum(\Artwork.area) }
    expect(.undefinedKey, "that Swift works out") {
      _ = try context.aggregate(Artwork.self, .distinctCount(\Artwork.page?.scheme))
    }
    let pages = try context.aggregate(Artwork.self, .distinctCount(\.page))
    #expect(pages == 0)
    expect(.undefinedKey, "that Swift works out") { _ = try context.maximum(\Artist.name.count) }
    expect(.undefinedKey, "that Swift works out") {
      _ = try context.maximum(\Artist.name.localizedName)
    }
    expect(.undefinedKey, "is price meant?") {
      _ = try context.aggregate(Artwork.self, .sum(Key("prise"), as: Double.self))
    }
    expect(.invalidExpression, "only numbers") {
      _ = try context.aggregate(Artwork.self, .sum(Key("title"), as: Double.self))
    }
    expect(.invalidExpression, "no smallest") {
      _ = try context.aggregate(Artwork.self, .minimum(Key("artist"), as: String.self))
    }
    expect(.invalidExpression, "ANY or ALL") {
      _ = try context.aggregate(Artwork.self, .sum(Key("price").any, as: Double.self))
    }
    expect(.unacceptableValue, "no String") {
      _ = try context.aggregate(Artwork.self, .maximum(Key("price"), as: String.self))
    }
    let artwork = try #require(try context.all(Artwork.self).first)
    artwork.year = .max
    expect(.invalidExpression, "64 bits") { _ = try context.sum(\Artwork.year) }
    #expect(try context.sum(\Artwork.year, where: Key("year") < 1901) == 7600)
  }

  /// Rows and values are read in two ways; a loop over the objects is a third.
  @Test func `aggregates are those of a loop over the objects`() throws {
    for seed in 0..<Amount.of(debug: 5, release: 15, exhaustive: 200) {
      var generator = SeededGenerator(seed: UInt64(seed))
      let context = try ManagedObjectContext.stubbed(Self.model, classes: Self.classes)
      let artists = (0..<5).map { _ in Artist(context: context) }
      for _ in 0..<120 {
        let artwork = Artwork(context: context)
        artwork.year = generator.below(4)
        artwork.price = Double(generator.below(100)) / 4
        if generator.below(3) > 0 { artwork.height = Int16(generator.below(50)) }
        if generator.below(3) > 0 { artwork.weight = Float(generator.below(50)) }
        if generator.below(3) > 0 {
          artwork.title = ["a", "é", "e\u{301}", ""][generator.below(4)]
        }
        if generator.below(3) > 0 { artwork.artist = artists[generator.below(5)] }
      }
      try context.save()
      if seed % 2 == 0 { context.reset() }
      if seed % 3 == 0 {
        for artwork in try context.all(Artwork.self).prefix(20) {
          artwork.height = Int16(generator.below(9))
        }
      }
      let predicate: FetchPredicate? = seed % 4 == 0 ? nil : Key("price") < 20
      var request = FetchRequest<Artwork>()
      request.predicate = predicate
      let all = try context.fetch(request)
      let years = try context.aggregate(
        Artwork.self, .count, .sum(\.height), .average(\.price), .maximum(\.weight),
        .distinctCount(\.title), groupedBy: \.year, \.artist, where: predicate)
      struct Group: Hashable {
        let year: Int
        let artist: Artist?
      }
      let groups = Dictionary(grouping: all) { Group(year: $0.year, artist: $0.artist) }
      #expect(years.count == groups.count, "seed \(seed)")
      for row in years {
        let objects = groups[Group(year: row.group.0, artist: row.group.1)] ?? []
        let expected = (
          objects.count, objects.reduce(0) { $0 + Int($1.height ?? 0) },
          objects.reduce(0) { $0 + $1.price } / Double(objects.count),
          objects.compactMap(\.weight).max(), Set(objects.compactMap(\.title)).count
        )
        #expect(row.values.0 == expected.0 && row.values.1 == expected.1, "seed \(seed)")
        #expect(row.values.2 == expected.2 && row.values.3 == expected.3, "seed \(seed)")
        #expect(row.values.4 == expected.4, "seed \(seed)")
      }
    }
  }
}

extension String {
  fileprivate var localizedName: String { lowercased() }
}
