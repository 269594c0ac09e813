import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct KeyValueCodingTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show

  let context: ManagedObjectContext
  let ana: Artist
  let bo: Artist
  let show: Show

  /// Ana has works for 10 and 30 and one without a title for 20; Bo has none. The show has both.
  init() throws {
    context = try SmallGallery.context()
    ana = Artist(context: context)
    ana.name = "Ana"
    ana.born = 1900
    bo = Artist(context: context)
    bo.name = "Bo"
    ana.spouse = bo
    for (title, price) in [("A", 10), (nil, 20), ("A", 30)] as [(String?, Double)] {
      let artwork = Artwork(context: context)
      artwork.title = title
      artwork.price = price
      artwork.artist = ana
    }
    show = Show(context: context)
    show.name = "Both"
    show.artists = [bo, ana]
    try context.save()
  }

  @Test func `a path leads through objects to values`() throws {
    #expect(try ana.value(forKeyPath: "spouse.name") as? String == "Bo")
    #expect(try ana.value(forKeyPath: "spouse.spouse.self.born") as? Int == 1900)
    #expect(try ana.value(forKeyPath: "name.length") as? Int == 3)
    #expect(try bo.value(forKeyPath: "born") == nil)
    let artwork = Artwork(context: context)
    #expect(try artwork.value(forKeyPath: "artist.spouse.name") == nil)
  }

  @Test func `a property is found by its name, in whatever form that is spelled`() throws {
    let names =
      (1...60).map { "property\($0)" } + ["caf\u{E9}", "é1", "a property with a long name"]
    let model = try ManagedObjectModel {
      Entity("Caf\u{E9}") {
        for name in names { Attribute(name, .string) }
      }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let context = GotchaHome.context(of: coordinator)
    let object = try EntityDescription.insertNewObject(
      forEntityName: "Cafe\u{301}", into: context)
    for name in names { try object.setValue(name + "!", forKey: name) }
    for name in names { #expect(try object.value(forKey: name) as? String == name + "!") }
    #expect(try object.value(forKey: "cafe\u{301}") as? String == "café!")
    #expect(throws: PersistenceError.self) { try object.value(forKey: "property61") }
    #expect(throws: PersistenceError.self) { try object.value(forKey: "") }
  }

  @Test func `a key on a collection is asked of its members`() throws {
    #expect(try show.value(forKeyPath: "artists.name") as? [String] == ["Bo", "Ana"])
    #expect(try show.value(forKeyPath: "artists.born") as? [Int] == [1900])
    #expect(try ana.value(forKeyPath: "artworks.title") as? Set<String> == ["A"])
    #expect(try ana.value(forKeyPath: "artworks.artist") as? Set<Artist> == [ana])
    let works = try #require(try show.value(forKeyPath: "artists.artworks") as? [Any])
    #expect(works.map { ($0 as? Set<Artwork>)?.count } == [0, 3])
    let nested = try ana.value(forKeyPath: "shows.artists.name")
    #expect(nested as? Set<[String]> == [["Bo", "Ana"]])
  }

  @Test func `operators ask the collection`() throws {
    for (path, value) in [
      ("artworks.@count", 3), ("artworks.@sum.price", 60.0), ("artworks.price.@sum", 60.0),
      ("artworks.@avg.price", 20.0), ("artworks.@min.price", 10.0), ("artworks.@max.title", "A"),
      ("spouse.artworks.@sum.price", 0), ("spouse.artworks.@avg.price", 0.0),
      ("shows.@avg.artists.born", 950.0), ("shows.@sum.artists.@count", 2),
    ] as [(String, AnyHashable)] {
      #expect(try ana.value(forKeyPath: path) as? AnyHashable == value, "\(path)")
    }
    #expect(try bo.value(forKeyPath: "artworks.@max.price") == nil)
    #expect(
      try ana.value(forKeyPath: "artworks.@distinctUnionOfObjects.title") as? [String] == ["A"])
    #expect(
      try ana.value(forKeyPath: "artworks.@unionOfObjects.title") as? [String] == ["A", "A"])
    #expect(
      try show.value(forKeyPath: "artists.@distinctUnionOfSets.artworks") as? Set<Artwork>
        == ana.artworks)
    #expect(
      (try show.value(forKeyPath: "artists.@unionOfSets.artworks") as? [Artwork])?.count == 3)
    #expect(
      try ana.value(forKeyPath: "shows.@distinctUnionOfArrays.artists") as? [Artist] == [bo, ana])
    #expect(
      try ana.value(forKeyPath: "shows.@unionOfArrays.artists.name") as? [String] == ["Bo", "Ana"])
  }

  @Test(arguments: [
    ("foo", PersistenceError.Code.undefinedKey), ("spouse.foo", .undefinedKey),
    ("artworks.foo", .undefinedKey), ("name.foo", .undefinedKey), ("", .undefinedKey),
    ("name.hasPrefix:", .undefinedKey),
    ("spouse..name", .undefinedKey), ("artworks.@count.price", .undefinedKey),
    ("name.@count", .invalidExpression), ("artworks.@sum.title", .invalidExpression),
    ("artworks.@max.artist", .invalidExpression),
    ("artworks.@distinctUnionOfSets.price", .invalidExpression),
  ])
  func `a path that leads nowhere is an error`(path: String, expected: PersistenceError.Code) {
    do {
      let value = try ana.value(forKeyPath: path)
      Issue.record("\(path) is \(String(describing: value))")
    } catch {
      #expect(code(of: error) == expected, "\(error)")
    }
  }

  @Test func `a path can be set`() throws {
    try ana.setValue("Bob", forKeyPath: "spouse.name")
    #expect(bo.name == "Bob")
    try ana.setValue(5, forKeyPath: "artworks.price")
    #expect(ana.artworks.allSatisfy { $0.price == 5 })
    try show.setValue(1950, forKeyPath: "artists.born")
    #expect(bo.born == 1950)
    let artwork = Artwork(context: context)
    try artwork.setValue("nobody", forKeyPath: "artist.name")
    for path in ["foo", "spouse.foo", "name.foo", "artworks.foo", "artworks.@count", ""] {
      #expect(throws: PersistenceError.self, "\(path)") { try ana.setValue(1, forKeyPath: path) }
    }
    #expect(throws: PersistenceError.self) { try ana.setValue("x", forKeyPath: "artworks.price") }
  }

  @Test func `elements of composite attributes are at the end of paths`() throws {
    let context = try ManagedObjectContext.stubbed(AttributeTypesFixture.model)
    let entity = try #require(AttributeTypesFixture.model.entities.first)
    let object = ManagedObject(entity: entity, insertInto: context)
    try object.setValue(["city": "Oslo", "zip": 1], forKey: "home")
    try object.setValue("Rome", forKeyPath: "home.city")
    #expect(try object.value(forKeyPath: "home.city") as? String == "Rome")
    #expect(try object.value(forKeyPath: "home.zip") as? Int == 1)
    #expect(throws: PersistenceError.self) { try object.setValue(1, forKeyPath: "home.town") }
    #expect(throws: PersistenceError.self) { try object.setValue(1, forKeyPath: "home.city.x") }
  }

  @Test func `several values at once`() throws {
    let values = try bo.dictionaryWithValues(forKeys: ["name", "born", "spouse"])
    #expect(values.count == 3)
    #expect(values["born"].map { $0 == nil } == true)
    let other = Artist(context: context)
    other.born = 1
    try other.setValuesForKeys(["name": "Cy", "born": nil])
    #expect(other.name == "Cy" && other.born == nil)
    #expect(throws: PersistenceError.self) { try other.setValuesForKeys(["foo": 1]) }
  }

  @Test func `any class can be asked by name`() throws {
    final class Manager: KeyValueCoding {
      func value(forKey key: String) throws -> Any? {
        key == "numbers" ? ["a": [1, 2, nil] as [Int?]] : nil
      }
    }
    #expect(try Manager().value(forKeyPath: "numbers.a.@sum") as? Int == 3)
    #expect(try Manager().value(forKeyPath: "numbers.a") as? [Int?] == [1, 2, nil])
    #expect(try Manager().value(forKeyPath: "numbers.a.stringValue") as? [String] == ["1", "2"])
    #expect(try Manager().value(forKeyPath: "numbers.@count") as? Int == 1)
    #expect(try Manager().value(forKeyPath: "numbers.b.c") == nil)
    #expect(throws: PersistenceError.self) { try Manager().setValue(1, forKey: "numbers") }
  }
}
