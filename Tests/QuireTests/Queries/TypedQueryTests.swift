import Foundation
import Quire
import QuireModel
import QuireSimulation
import QuireTesting
import Testing

private enum Manner: String, CaseIterable, ManagedAttribute { case painting, print }

private final class Artist: ManagedObject {
  @Managed var name: String = "Nobody"
  @Managed var born: Int16?
  @Managed var limit: Double = 500
  @Managed(inverse: \Artwork.artist, deleteRule: .cascade) var artworks: Set<Artwork>
  @Managed(inverse: "pupils") var teacher: Artist?
  @Managed var pupils: Set<Artist>
}

private final class Artwork: ManagedObject {
  @Managed var title: String = ""
  @Managed var price: Double = 0
  @Managed var cost: Double?
  @Managed var isSold: Bool = false
  @Managed var manner: Manner = .painting
  @Managed var page: URL?
  @Managed var words: [String]?
  @Managed var artist: Artist?

  var shout: String { title.uppercased() }
}

/// Properties with names that paths have as well.
private final class Setting: ManagedObject {
  @Managed var key: String?
  @Managed var count: Int = 0
  @Managed var length: Double = 0
  @Managed var isEmpty: Bool = false
  @Managed var any: Int = 0
  @Managed(inverse: "parent") var children: Set<Setting>
  @Managed var parent: Setting?
}

@Suite struct TypedQueryTests {
  private static func formats() -> [(FetchPredicate, String)] {
    func works(_ predicate: (QueryPath<Artwork>) -> FetchPredicate) -> FetchPredicate {
      FetchPredicate(Artwork.self, predicate)
    }
    func artists(_ predicate: (QueryPath<Artist>) -> FetchPredicate) -> FetchPredicate {
      FetchPredicate(Artist.self, predicate)
    }
    return [
      (works { $0.price < 1_000 }, "price < 1000.0"),
      (works { $0.artist.name == "Hokusai" }, "artist.name == 'Hokusai'"),
      (works { $0.artist.teacher.born == nil }, "artist.teacher.born == nil"),
      (works { $0.manner == .print }, "manner == 'print'"),
      (works { $0.manner.in([.print, .painting]) }, "manner IN {'print', 'painting'}"),
      (works { $0.price.in(1...2) }, "price BETWEEN {1.0, 2.0}"),
      (works { $0.price.in(1..<2) }, "price >= 1.0 AND price < 2.0"),
      (works { $0.isSold && $0.price > 3 }, "isSold == TRUE AND price > 3.0"),
      (works { !$0.isSold || !$0.isSold }, "NOT isSold == TRUE OR NOT isSold == TRUE"),
      (works { $0.cost < $0.price }, "cost < price"),
      (works { $0.price * 2 + 1 > 7 }, "price * 2.0 + 1.0 > 7.0"),
      (works { $0.title.beginsWith("a", .caseInsensitive) }, "title BEGINSWITH[c] 'a'"),
      (works { $0.title.isEmpty || $0.artist.name.isEmpty }, "title == '' OR artist.name == ''"),
      (works { $0.title.length > 3 }, "length:(title) > 3"),
      (works { $0.words == nil }, "words == nil"),
      (works { $0.words != nil && $0.isSold }, "words != nil AND isSold == TRUE"),
      (works { $0.artist.artworks.count >= 2 }, "artist.artworks.@count >= 2"),
      (artists { $0.artworks.isEmpty }, "artworks.@count == 0"),
      (artists { $0.artworks.price.sum > 10 }, "artworks.price.@sum > 10.0"),
      (artists { $0.artworks.price.any > 10 }, "ANY artworks.price > 10.0"),
      (artists { $0.artworks.title.all != "" }, "ALL artworks.title != ''"),
      (
        artists { $0.artworks.any { $0.price > 10 && $0.isSold } },
        "SUBQUERY(artworks, $x1, $x1.price > 10.0 AND $x1.isSold == TRUE).@count > 0"
      ),
      (
        artists { artist in artist.artworks.any { $0.price > artist.limit } },
        "SUBQUERY(artworks, $x1, $x1.price > limit).@count > 0"
      ),
      (
        artists { $0.pupils.all { pupil in pupil.artworks.none { $0.price > pupil.limit } } },
        "SUBQUERY(pupils, $x1, NOT SUBQUERY($x1.artworks, $x2, $x2.price > $x1.limit).@count == 0)"
          + ".@count == 0"
      ),
    ]
  }

  @Test func `queries are the predicates of formats`() throws {
    for (predicate, format) in Self.formats() {
      let expected = try FetchPredicate(format: format)
      #expect("\(predicate)" == "\(expected)")
    }
  }

  // `$0.key == nil` asked whether the object itself was absent, and found nothing.
  @Test func `properties may be called like what paths have`() throws {
    let queries: [(FetchRequest<Setting>, String)] = [
      (Setting.where { $0.key == nil }, "key == nil"),
      (Setting.where { $0.parent.key == "a" }, "parent.key == 'a'"),
      (Setting.where { $0.children.key.any == "a" }, "ANY children.key == 'a'"),
      (Setting.where { $0.count > 3 && $0.parent.count > 3 }, "count > 3 AND parent.count > 3"),
      (Setting.where { $0.length > 3 }, "length > 3.0"),
      (Setting.where { $0.isEmpty == true }, "isEmpty == TRUE"),
      (Setting.where { $0.any > 3 }, "#any > 3"),
    ]
    let context = try ManagedObjectContext.stubbed(for: Setting.self)
    for name in ["a", "b", nil] {
      let setting = Setting(context: context)
      (setting.key, setting.count) = (name, 4)
    }
    for (request, format) in queries {
      let expected = try FetchPredicate(format: format)
      #expect("\(try #require(request.predicate))" == "\(expected)")
      #expect(throws: Never.self) { try context.fetch(request) }
    }
    #expect(try context.fetch(Setting.where { $0.key == nil }).map(\.key) == [nil])
    #expect("\(Key(\Setting.key) == "a")" == #"key == "a""#)
  }

  private func scene(_ seed: UInt64) throws -> ManagedObjectContext {
    let container = try PersistentContainer(name: "Typed", for: Artist.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    var generator = SeededGenerator(seed: seed)
    var artists: [Artist] = []
    for index in 0..<6 {
      let artist = Artist(context: context)
      artist.name = ["Hokusai", "Hiroshige", "Sharaku"].randomElement(using: &generator) ?? ""
      artist.born = index % 3 == 0 ? nil : Int16(1700 + index)
      artist.limit = Double(Int.random(in: 0...4, using: &generator))
      artist.teacher = artists.randomElement(using: &generator)
      artists.append(artist)
    }
    for index in 0..<20 {
      let artwork = Artwork(context: context)
      artwork.title = "work \(index % 7)"
      artwork.price = Double(Int.random(in: 0...6, using: &generator))
      artwork.cost =
        Bool.random(using: &generator) ? nil : Double(Int.random(in: 0...6, using: &generator))
      artwork.isSold = Bool.random(using: &generator)
      artwork.manner = Manner.allCases.randomElement(using: &generator) ?? .print
      artwork.artist = index % 5 == 0 ? nil : artists.randomElement(using: &generator)
    }
    try context.save()
    return context
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `queries find what a loop in Swift finds`(seed: UInt64) throws {
    let context = try scene(seed)
    let works = try context.fetch(Artwork.fetchRequest())
    let artists = try context.fetch(Artist.fetchRequest())
    func check(
      _ request: FetchRequest<Artwork>, _ isFound: (Artwork) -> Bool,
      _ location: SourceLocation = #_sourceLocation
    ) throws {
      let found = try context.fetch(request)
      #expect(Set(found) == Set(works.filter(isFound)), sourceLocation: location)
    }
    try check(Artwork.where { $0.price < 3 }) { $0.price < 3 }
    try check(Artwork.where { $0.isSold }) { $0.isSold }
    try check(Artwork.where { $0.artist.name == "Hokusai" && !$0.isSold }) {
      $0.artist?.name == "Hokusai" && !$0.isSold
    }
    try check(Artwork.where { $0.artist == nil }) { $0.artist == nil }
    try check(Artwork.where { $0.artist == artists[0] }) { $0.artist == artists[0] }
    try check(Artwork.where { $0.artist.teacher == artists[0].objectID }) {
      $0.artist?.teacher == artists[0]
    }
    try check(Artwork.where { $0.objectID == works[3].objectID }) { $0 == works[3] }
    try check(Artwork.where { $0.cost < $0.price }) { work in
      work.cost.map { $0 < work.price } ?? false
    }
    try check(Artwork.where { $0.price * 2 - 1 >= 5 }) { $0.price * 2 - 1 >= 5 }
    try check(Artwork.where { $0.artist.artworks.count > 3 }) {
      ($0.artist?.artworks.count ?? 0) > 3
    }
    func check(
      _ request: FetchRequest<Artist>, _ isFound: (Artist) -> Bool,
      _ location: SourceLocation = #_sourceLocation
    ) throws {
      let found = try context.fetch(request)
      #expect(Set(found) == Set(artists.filter(isFound)), sourceLocation: location)
    }
    let beyondLimit = Artist.where { artist in artist.artworks.any { $0.price > artist.limit } }
    try check(beyondLimit) { artist in artist.artworks.contains { $0.price > artist.limit } }
    try check(
      Artist.where { $0.pupils.all { pupil in pupil.artworks.none { $0.price > pupil.limit } } }
    ) { artist in
      artist.pupils.allSatisfy { pupil in !pupil.artworks.contains { $0.price > pupil.limit } }
    }
    try check(Artist.where { $0.artworks.price.sum > 8 }) {
      $0.artworks.reduce(0) { $0 + $1.price } > 8
    }
    try check(Artist.where { $0.artworks.contains(works[1]) }) { $0.artworks.contains(works[1]) }
    try check(Artist.where { $0.artworks.filter { $0.isSold == true }.count > 1 }) {
      $0.artworks.filter(\.isSold).count > 1
    }
  }

  @Test func `requests are put together`() throws {
    let context = try scene(7)
    let request = Artwork.where { $0.price > 1 }.where { $0.price < 6 }
      .sorted(by: \.artist?.name, ascending: false).sorted(by: \.title, .natural).limit(4).offset(1)
      .prefetching(\.artist)
    let works = try context.fetch(Artwork.where { $0.price > 1 && $0.price < 6 })
    let sorted = works.sorted {
      ($1.artist?.name ?? "", $0.title) < ($0.artist?.name ?? "", $1.title)
    }
    let found = try context.fetch(request)
    #expect(found.map(\.title) == sorted.dropFirst().prefix(4).map(\.title))
    #expect(request.relationshipKeyPathsForPrefetching == ["artist"])
    #expect(try context.count(for: Artwork.sorted(by: \.price)) == 20)
    #expect("\(Key(\Artwork.artist?.name) == "x")" == #"artist.name == "x""#)
    #expect(
      try context.sum(\Artwork.price, where: FetchPredicate(Artwork.self) { $0.isSold == true })
        == context.fetch(Artwork.where { $0.isSold }).reduce(0) { $0 + $1.price })
  }

  // `$0.words == nil` compiled, as a comparison with an object, and read memory that was none.
  @Test func `a list of values is there or not`() throws {
    let context = try scene(2)
    let works = try context.fetch(Artwork.sorted(by: \.title))
    for work in works.prefix(7) { work.words = ["new"] }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      let with = try context.fetch(Artwork.where { $0.words != nil })
      #expect(Set(with) == Set(works.prefix(7)))
      let without = try context.fetch(Artwork.where { $0.words == nil && $0.price >= 0 })
      #expect(Set(without) == Set(works.dropFirst(7)))
    }
  }

  @Test func `a relationship is compared with objects, and with IDs of either kind`() throws {
    let context = try scene(4)
    let artists = try context.fetch(Artist.sorted(by: \.limit)).prefix(2)
    let works = try context.fetch(Artwork.fetchRequest())
    let theirs = Set(works.filter { $0.artist.map(artists.contains) ?? false })
    #expect(try Set(context.fetch(Artwork.where { $0.artist.in(artists) })) == theirs)
    let ids = artists.map(\.objectID)
    #expect(try Set(context.fetch(Artwork.where { $0.artist.in(ids) })) == theirs)
    let first = try #require(artists.first)
    let id = first.typedID
    #expect(
      try Set(context.fetch(Artwork.where { $0.artist == id }))
        == Set(works.filter { $0.artist == first }))
    #expect(
      try Set(context.fetch(Artwork.where { $0.artist != id }))
        == Set(works.filter { $0.artist != first }))
  }

  @Test func `aggregates, lookups and batch updates take what queries take`() throws {
    let context = try scene(3)
    let works = try context.fetch(Artwork.fetchRequest())
    let sold = works.filter(\.isSold)
    #expect(try context.count(Artwork.self) { $0.isSold == true } == sold.count)
    #expect(
      try context.sum(\Artwork.price) { $0.isSold == true } == sold.reduce(0) { $0 + $1.price })
    #expect(try context.maximum(\Artwork.price) { $0.isSold == true } == sold.map(\.price).max())
    #expect(try context.minimum(\Artwork.price) { $0.price < 0 } == nil)
    #expect(
      try context.average(\Artwork.price) { $0.isSold == true }
        == sold.reduce(0) { $0 + $1.price } / Double(sold.count))
    let (count, dearest) = try context.aggregate(
      Artwork.self, .count, .maximum(\.price), where: { $0.isSold == true })
    #expect(count == sold.count && dearest == sold.map(\.price).max())
    let groups = try context.aggregate(
      Artwork.self, .count, groupedBy: \.isSold, where: { $0.price >= 0 })
    #expect(groups.reduce(0) { $0 + $1.values } == works.count)
    #expect(groups.last?.group == true && groups.last?.values == sold.count)
    let titles = try context.values(Artwork.self, \.title, where: { $0.isSold == true })
    #expect(titles.sorted() == sold.map(\.title).sorted())

    let work: Artwork = try context.existingObject(with: works[0].objectID)
    #expect(work === works[0])
    let error = #expect(throws: PersistenceError.self) {
      try context.existingObject(with: works[0].objectID, as: Artist.self)
    }
    #expect(error?.code == .unacceptableValue)
    let request = FetchRequest<Artwork>(
      predicate: Key(\Artwork.isSold) == true, sortDescriptors: [.init(\Artwork.price)],
      fetchLimit: 3)
    #expect(try context.fetch(request).map(\.price) == Array(sold.map(\.price).sorted().prefix(3)))

    let prices = Dictionary(uniqueKeysWithValues: works.map { ($0.objectID, $0.price) })
    let artist = try #require(try context.fetch(Artist.fetchRequest()).first)
    var update = BatchUpdateRequest(Artwork.self) { $0.price > 2 }
    update.set(\Artwork.price) { $0.price * 2 }
    update.set(\Artwork.isSold, to: true)
    update.set(\Artwork.cost, to: nil)
    update.set(\Artwork.artist, to: artist)
    try context.execute(update)
    context.refreshAllObjects()
    for work in works {
      let price = prices[work.objectID] ?? 0
      #expect(work.price == (price > 2 ? price * 2 : price))
      if price > 2 { #expect(work.isSold && work.cost == nil && work.artist == artist) }
    }
  }

  @Test func `a range or arithmetic on any or all members is refused with advice`() throws {
    let context = try scene(1)
    for request in [
      Artist.where { $0.artworks.price.any.in(1..<2) },
      Artist.where { $0.artworks.price.all * 2 > 3 },
    ] {
      let error = #expect(throws: (any Error).self) { try context.fetch(request) }
      #expect("\(error.map { "\($0)" } ?? "")".contains("is asked of members: write any { … }"))
    }
    let found = try context.fetch(Artist.where { $0.artworks.any { $0.price.in(1..<2) } })
    let artists = try context.fetch(Artist.fetchRequest())
    #expect(Set(found) == Set(artists.filter { $0.artworks.contains { (1..<2) ~= $0.price } }))
  }

  @Test func `a computed property in a typed request is an error of the fetch`() throws {
    let context = try scene(1)
    let error = #expect(throws: (any Error).self) {
      try context.fetch(Artwork.where { $0.shout == "A" })
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains("it reads title"))
  }
}
