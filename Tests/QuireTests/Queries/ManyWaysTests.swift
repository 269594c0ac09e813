import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// `ANY artists.artworks.artists.artworks.artists.name == "x"` over 115 objects took 0.12 s with
// three steps, 1.8 s with four and 29 s with five: each step followed every object as often as ways
// led to it.

/// Paths through several to-many relationships, along which the ways multiply.
@Suite struct `Paths with many ways` {
  private static let model = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string)
      Relationship("artworks", toMany: "Artwork", inverse: "artists")
    }
    Entity("Artwork") {
      Attribute("title", .string)
      Attribute("price", .integer64)
      Relationship("artists", toMany: "Artist", inverse: "artworks")
    }
  }

  /// Steps of which 3⁴⁰ ways go: nothing that follows each of them ends.
  private static let long = Array(repeating: "artists.artworks", count: 20).joined(separator: ".")

  /// Three artists, each of whom has made each of three works; and a work of nobody.
  private func fill(_ context: ManagedObjectContext) throws {
    let artists = try ["A", "B", "C"].map { name in
      let artist = try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
      try artist.setValue(name, forKey: "name")
      return artist
    }
    for number in 1...4 {
      let work = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
      try work.setValue("\(number)", forKey: "title")
      try work.setValue(number, forKey: "price")
      if number < 4 { try work.setValue(Set(artists), forKey: "artists") }
    }
  }

  private func titles(_ format: String, _ context: ManagedObjectContext) throws -> [String] {
    var request = FetchRequest<ManagedObject>(entityName: "Artwork")
    request.predicate = try FetchPredicate(format: format)
    request.sortDescriptors = [FetchSortDescriptor(key: "title")]
    return try context.fetch(request).map { try $0.value(forKey: "title") as? String ?? "" }
  }

  /// What each format finds: with each modifier and operator to which it makes no difference how
  /// often a value is there, as part of a larger predicate, and with the ways counted.
  private static var found: [(format: String, titles: [String])] {
    let artists = "\(long).artists"
    let some = ["1", "2", "3"]
    return [
      ("ANY \(artists).name == 'B'", some),
      ("ANY \(artists).name == 'D'", []),
      ("ANY \(long).title BEGINSWITH '3'", some),
      ("ALL \(artists).name IN {'A', 'B', 'C'}", some + ["4"]),
      ("ALL \(artists).name == 'A'", ["4"]),
      ("NONE \(artists).name == 'A'", ["4"]),
      ("\(artists).name CONTAINS 'C'", some),
      ("'C' IN \(artists).name", some),
      ("ANY \(artists).artworks.@count == 3", some),
      ("ANY \(artists).artworks.@count == 4", []),
      ("ANY \(artists).name == 'B' AND uppercase:(title) == '2'", ["2"]),
      ("TERNARY(ANY \(artists).name == 'B', 1, 0) == 0", ["4"]),
      ("SUBQUERY(\(artists), $a, $a.name == 'B').@count > 1000000", some),
      ("SUBQUERY(\(artists), $a, $a.name == 'D').@count == 0", some + ["4"]),
      (
        "SUBQUERY(artists, $a, ANY $a.artworks.\(artists).name == 'B').@count == 3", some
      ),
    ]
  }

  @Test(arguments: GotchaHome.allCases, [false, true])
  func `are answered by following each object once from each step`(
    home: GotchaHome, isSaved: Bool
  ) throws {
    try home.withContext(Self.model, classes: []) { context in
      try fill(context)
      if isSaved { try context.save() }
      for (format, titles) in Self.found {
        #expect(try self.titles(format, context) == titles, "\(format)")
      }
      // The same by objects.
      let works = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artwork"))
      for (format, titles) in Self.found {
        let predicate = try FetchPredicate(format: format)
        let names = try works.filtered(using: predicate).map {
          try $0.value(forKey: "title") as? String ?? ""
        }
        #expect(names.sorted() == titles, "\(format), by objects")
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `are answered in a child, and while some of the objects have changed`(
    home: GotchaHome
  ) throws {
    try home.withContext(Self.model, classes: []) { context in
      try fill(context)
      try context.save()
      let artist = try #require(
        context.fetch(FetchRequest<ManagedObject>(entityName: "Artist")).first)
      let former = try #require(artist.value(forKey: "name") as? String)
      try artist.setValue("D", forKey: "name")
      let child = context.newChildContext()
      for context in [context, child] {
        #expect(try titles("ANY \(Self.long).artists.name == 'D'", context) == ["1", "2", "3"])
        #expect(try titles("ANY \(Self.long).artists.name == '\(former)'", context) == [])
      }
    }
  }

  /// Where it makes a difference how often, it is as it was.
  @Test(arguments: GotchaHome.allCases)
  func `count each way where that is asked for`(home: GotchaHome) throws {
    try home.withContext(Self.model, classes: []) { context in
      try fill(context)
      try context.save()
      let works = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artwork"))
      let some = ["1", "2", "3"]
      for (format, titles) in [
        // Three artists, with three works each, of three artists each.
        ("SUBQUERY(artists.artworks.artists, $a, $a.name == 'B').@count == 9", some),
        ("SUBQUERY(artists.artworks.artists, $a, $a.name != 'B').@count == 18", some),
        ("artists.@sum.artworks.price == 18", some),
        ("artists.@avg.artworks.price == 2", some),
        ("artists.artworks.title == {'1','2','3','1','2','3','1','2','3'}", some),
        ("artists.artworks.title == {'1','2','3'}", []),
        ("ANY artists.artworks.title == '1' AND artists.artworks.title == {'1','2','3'}", []),
      ] {
        let predicate = try FetchPredicate(format: format)
        #expect(try self.titles(format, context) == titles, "\(format)")
        let names = try works.filtered(using: predicate).map {
          try $0.value(forKey: "title") as? String ?? ""
        }
        #expect(names.sorted() == titles, "\(format), by objects")
      }
    }
  }

  /// A plain object that counts how often it is asked.
  private final class Node: KeyValueCoding {
    var others: [Node] = []
    var count = 0

    func value(forKey key: String) throws -> Any? {
      count += 1
      return key == "others" ? others as Any : "node"
    }
  }

  @Test func `ask plain objects for a value once for each step`() throws {
    let nodes = (0..<5).map { _ in Node() }
    for node in nodes { node.others = nodes }
    defer { for node in nodes { node.others = [] } }
    let steps = 30
    let path = Array(repeating: "others", count: steps).joined(separator: ".")
    #expect(try !FetchPredicate(format: "ANY \(path).name == 'x'").evaluate(with: nodes[0]))
    #expect(nodes.allSatisfy { $0.count <= steps + 1 }, "\(nodes.map(\.count))")
    #expect(throws: PersistenceError.self) {
      try nodes.sorted(using: FetchSortDescriptor(key: "\(path).name"))
    }
  }
}
