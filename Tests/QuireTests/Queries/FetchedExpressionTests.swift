import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What was once evaluated in memory alone, a fetch finds too.
@Suite struct FetchedExpressionTests {
  private final class Artist: ManagedObject, FunctionReceiver {
    @Managed var name: String
    @Managed var born: Int16?

    func call(_ selector: String, _ arguments: [Any?]) throws -> Any? {
      switch selector {
      case "ageIn:": (arguments[0] as? Int).flatMap { year in born.map { year - Int($0) } }
      case "isNamedLike:": (arguments[0] as? Artist)?.name == name
      default: throw PersistenceError.unrecognizedSelector(selector, of: self)
      }
    }
  }

  private static let formats = [
    "artworks.@sum.price == 30", "artworks.price.@sum > 10", "artworks.@avg.price > 9",
    "artworks.@min.price < 5", "artworks.@max.title BEGINSWITH 'b'", "artworks.@max.price == nil",
    "artworks.@sum.price > spouse.artworks.@sum.price", "spouse.artworks.@avg.price >= 0",
    "artworks.tags.@max.word == 'red'", "artworks.@max.tags.word == 'red'",
    "'red' IN artworks.@distinctUnionOfObjects.tags.word",
    "count:(artworks.@distinctUnionOfObjects.title) > 1",
    "artworks.@unionOfObjects.title CONTAINS 'b0'", "artworks.@sum.tags.@count > 1",
    "count:(artworks.@distinctUnionOfSets.tags) == 1", "artworks.@distinctUnionOfSets.tags == {}",
    "name.length == 8", "name.uppercaseString == 'ARTIST 3'", "spouse.name.length > 0",
    "ANY artworks.title.length > 2", "born.stringValue == '5'", "artworks.@max.title.length > 2",
    "FUNCTION(name, 'substringFromIndex:', 7) == '4'",
    "FUNCTION(name, 'stringByAppendingString:', born.stringValue) ENDSWITH '33'",
    "FUNCTION(SELF, 'ageIn:', 10) > 5", "FUNCTION(spouse, 'ageIn:', 10) != nil",
    "FUNCTION(SELF, 'isNamedLike:', spouse) == YES OR FUNCTION(SELF, 'isNamedLike:', SELF) == NO",
    "SUBQUERY(shows.artists, $x, FUNCTION($x, 'ageIn:', 5) > 3).@count > 0",
    "FUNCTION(artworks, 'count') == 2", "FUNCTION(shows, 'valueForKeyPath:', '@count') == 1",
    "SELF.name.length == 8", "objectID == spouse.spouse", "self.spouse.self != nil",
    "ANY shows.artists.objectID == SELF", "objectFrom:withIndex:({1, 2, 3, 4, 5, 6}, born) == 3",
  ]

  private func fill(_ context: ManagedObjectContext) throws {
    let tags = try ["red", "blue"].map { try context.insert("Tag", ["word": $0]) }
    var artists: [ManagedObject] = []
    for number in 0..<8 {
      let born = number % 3
      let artist = try context.insert("Artist", ["name": "artist \(number)", "born": born])
      artists.append(artist)
      for place in 0..<number % 4 {
        let artwork = try context.insert("Artwork", ["price": Double(number * place * 2 + 3)])
        if place != 1 { try artwork.setValue("b\(place * 10)", forKey: "title") }
        try artwork.setValue(artist, forKey: "artist")
        if number % 2 == 0 { try artwork.setValue(Set([tags[place % 2]]), forKey: "tags") }
      }
    }
    try artists[5].setValue(5, forKey: "born")
    try artists[3].setValue(3, forKey: "born")
    for number in stride(from: 0, to: 6, by: 3) {
      try artists[number].setValue(artists[number + 1], forKey: "spouse")
      let show = try context.insert("Show", [:])
      try show.setValue([artists[number], artists[number + 2]], forKey: "artists")
    }
  }

  /// - Returns: how many formats have found some, but not all.
  private func expectAgreement(_ context: ManagedObjectContext) throws -> Int {
    let all = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artist"))
    return try Self.formats.filter { format in
      var request = FetchRequest<ManagedObject>(entityName: "Artist")
      let predicate = try FetchPredicate(format: format)
      request.predicate = predicate
      let passed = try all.filtered(using: predicate)
      let found = try context.fetch(request)
      #expect(Set(found) == Set(passed) && found.count == passed.count, "\(format)")
      #expect(try context.count(for: request) == passed.count, "\(format)")
      return !found.isEmpty && found.count < all.count
    }.count
  }

  @Test(arguments: GotchaHome.allCases)
  func `a fetch finds what an expression says of its objects`(_ home: GotchaHome) throws {
    try home.withContext(classes: [Artist.self]) { context in
      try fill(context)
      let unsaved = try expectAgreement(context)
      try context.save()
      context.reset()
      let saved = try expectAgreement(context)
      #expect(unsaved == saved && saved >= Self.formats.count - 6, "\(saved)")
      let artworks = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artwork"))
      for (place, artwork) in artworks.enumerated() {
        if place % 2 == 0 {
          try artwork.setValue(Double(place), forKey: "price")
        } else {
          try artwork.setValue("b100", forKey: "title")
        }
      }
      _ = try expectAgreement(context)
      _ = try expectAgreement(context.newChildContext())
    }
  }

  /// A value that a transformer makes is compared as it is in memory.
  @Test(arguments: GotchaHome.own)
  func `a fetch compares transformed values as objects show them`(_ home: GotchaHome) throws {
    let model = try ManagedObjectModel {
      Entity("Work") { Attribute("words", .transformable, transformer: "Words") }
    }
    try withTemporaryFolder { folder in
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: model, classes: [],
        transformers: ["Words": CodableTransformer<[String]>()])
      try coordinator.addPersistentStore(
        type: home == .file ? .quire : .inMemory,
        at: home == .file ? folder.appending(path: "works.quire") : nil)
      let context = GotchaHome.context(of: coordinator)
      for words in [["a", "b"], ["c"], []] { try context.insert("Work", ["words": words]) }
      try context.insert("Work", [:])
      try context.save()
      context.reset()
      for (format, count) in [
        ("ANY words == 'a'", 1), ("words.@count == 0", 1), ("words == nil", 1),
        ("SUBQUERY(words, $w, $w > 'a').@count > 0", 2), ("words CONTAINS 'c'", 1),
      ] {
        var request = FetchRequest<ManagedObject>(entityName: "Work")
        let predicate = try FetchPredicate(format: format)
        let all = try context.fetch(request)
        request.predicate = predicate
        #expect(try context.count(for: request) == count, "\(format)")
        #expect(try all.filtered(using: predicate).count == count, "\(format)")
      }
      // What cannot be read is told of the property, as by an object.
      try context.insert("Work", [:]).setValue(
        AttributeValue.transformed(Data([1])), forKey: "words")
      try context.save()
      var request = FetchRequest<ManagedObject>(entityName: "Work")
      request.predicate = try FetchPredicate(format: "ANY words == 'a'")
      context.reset()
      let error = #expect(throws: PersistenceError.self) { try context.fetch(request) }
      #expect(error?.key == "words" && error?.code == .coreData)
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }
}
