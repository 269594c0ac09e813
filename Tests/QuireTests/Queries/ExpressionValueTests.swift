import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct ExpressionValueTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  let context: ManagedObjectContext
  let ana: Artist
  let bo: Artist

  init() throws {
    context = try SmallGallery.context()
    ana = Artist(context: context)
    ana.name = "Ana"
    ana.born = 1900
    bo = Artist(context: context)
    bo.name = "Bo"
    for (title, price) in [("A", 10), (nil, 20), ("C", 30)] as [(String?, Double)] {
      let artwork = Artwork(context: context)
      artwork.title = title
      artwork.price = price
      artwork.artist = ana
    }
    try context.save()
  }

  private func value(
    _ format: String, _ bindings: [String: Any?] = [:], of object: Any? = nil
  ) throws -> Any? {
    try FetchExpression(format: format)
      .expressionValue(with: object ?? ana, context: bindings)
  }

  @Test(
    arguments: [
      ("1 + 2 * 3", 7), ("7 / 2", 3), ("7 / 2.0", 3.5), ("-born + 1", -1899), ("'a'", "a"),
      ("YES", true), ("name", "Ana"), ("SELF.name", "Ana"), ("$source.name", "Bo"),
      ("$source.name.length", 2), ("uppercase:(name)", "ANA"), ("artworks.@count", 3),
      ("sum(artworks.price)", 60.0), ("max(artworks.price, 40)", 40), ("count:(artworks)", 3),
      ("length(name) ** 2", 9), ("{1, 2, 3}.@sum", 6), ("({1, 2} UNION {2, 3}).@count", 3),
      ("TERNARY(born < 1950, 'old', 'new')", "old"),
      ("TERNARY(ANY artworks.title == nil, 1, 2)", 1),
      ("TERNARY($source.artworks.@count == 0, 1, 2)", 1),
      ("SUBQUERY(artworks, $x, $x.price > 15 AND $x.artist == SELF).@count", 2),
      ("SUBQUERY(artworks, $x, $x.title == nil).@max.price", 20.0),
      ("SUBQUERY($nothing.artworks, $x, $x.title == nil).@count", 0),
      ("FUNCTION(SELF, 'valueForKeyPath:', 'artworks.@sum.price')", 60.0),
      ("FUNCTION($source, 'valueForKey:', 'name')", "Bo"), ("FUNCTION($source, 'name')", "Bo"),
      ("CAST('12', 'NSNumber') + 1", 13), ("objectFrom:withIndex:({'a', 'b'}, 1)", "b"),
      ("noindex:(name)", "Ana"), ("TERNARY('x' IN {name, 'x'}, 1, 2)", 1),
      ("TERNARY(name LIKE[c] 'a*' AND born BETWEEN {1, 1900}, 1, 2)", 1),
      ("$set.@count", 2), ("($set INTERSECT {1}).@sum", 1), ("$dictionary.a.@sum", 3),
    ] as [(String, any Hashable & Sendable)])
  func `every kind of expression has its value`(
    format: String, expected: any Hashable & Sendable
  ) throws {
    let bindings: [String: Any?] = [
      "source": bo, "nothing": nil, "set": Set([1, 2]), "dictionary": ["a": [1, 2]],
    ]
    let value = try value(format, bindings)
    #expect(value as? AnyHashable == AnyHashable(expected), "\(format)")
    if let value { #expect(type(of: value) == type(of: expected as Any), "\(format)") }
  }

  @Test func `absent values stay absent`() throws {
    for format in [
      "nil", "$nothing", "$nothing.a.b", "$nothing.@count",
      "$source.born",
      "$source.born + 1", "uppercase:($nothing)", "FUNCTION($nothing, 'foo:', 1)",
      "TERNARY(TRUEPREDICATE, nil, 1)", "{nil}.@max",
    ] {
      #expect(try value(format, ["source": bo, "nothing": nil]) == nil, "\(format)")
    }
  }

  @Test func `collections are arrays and sets`() throws {
    #expect(try value("{1, 'a', nil}") as? [AnyHashable] == [1, "a"])
    #expect(try value("artworks") as? Set<Artwork> == ana.artworks)
    #expect(try value("artworks UNION artworks") as? Set<Artwork> == ana.artworks)
    #expect((try value("artworks MINUS artworks") as? Set<AnyHashable>)?.isEmpty == true)
    #expect(
      (try value("SUBQUERY(artworks, $x, $x.price > 15)") as? Set<Artwork>)?.count == 2)
    let both = try value("{$a, $b}", ["a": ana, "b": bo])
    #expect(both as? [Artist] == [ana, bo])
    let date = try #require(try value("now()") as? Date)
    #expect(abs(date.timeIntervalSinceNow) < 60)
  }

  // What a migration's manager answers, as Core Data's default mapping expressions ask it.
  private final class Manager: KeyValueCoding, FunctionReceiver {
    let context: ManagedObjectContext
    var asked: [String] = []

    init(_ context: ManagedObjectContext) { self.context = context }

    func value(forKey key: String) throws -> Any? { key == "sourceContext" ? context : nil }

    func call(_ selector: String, _ arguments: [Any?]) throws -> Any? {
      asked.append(selector)
      switch selector {
      case "destinationInstancesForEntityMappingNamed:sourceInstances:":
        #expect(arguments[0] as? String == "ArtworkToArtwork")
        return arguments[1]
      case "fetchRequestForSourceEntityNamed:predicateString:":
        let name = try #require(arguments[0] as? String)
        var request = FetchRequest<ManagedObject>(entityName: name)
        request.predicate = try FetchPredicate(format: try #require(arguments[1] as? String))
        return request
      default: throw PersistenceError.unrecognizedSelector(selector, of: self)
      }
    }
  }

  @Test func `Core Data's own expressions of mapping models`() throws {
    let show = SmallGallery.Show(context: context)
    show.artists = [bo, ana]
    let manager = Manager(context)
    let instances = try value(
      """
      FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", \
      "ArtworkToArtwork", $source.artists.@distinctUnionOfSets.artworks)
      """, ["manager": manager, "source": show])
    #expect(instances as? Set<Artwork> == ana.artworks)
    let fetch = """
      FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Artist", \
      "name == 'Bo'"), $manager.sourceContext, %@)
      """
    #expect(
      try FetchExpression(format: fetch, false)
        .expressionValue(with: nil, context: ["manager": manager]) as? [Artist] == [bo])
    #expect(
      try FetchExpression(format: fetch, true)
        .expressionValue(with: nil, context: ["manager": manager]) as? Int == 1)
    #expect(manager.asked.count == 3)
  }

  @Test(arguments: [
    ("$foo", PersistenceError.Code.invalidExpression), ("foo", .undefinedKey),
    ("1 / 0", .invalidExpression), ("9223372036854775807 + 1", .invalidExpression),
    ("name + 1", .invalidExpression), ("FUNCTION(SELF, 'foo:', 1)", .unrecognizedSelector),
    ("FUNCTION(SELF, 'foo')", .undefinedKey), ("FUNCTION(name, 'foo:')", .invalidExpression),
    ("FUNCTION($manager, 'foo:', 1)", .unrecognizedSelector),
    ("FUNCTION(name, 'foo')", .unrecognizedSelector),
    ("FUNCTION({1}, 'objectAtIndex:', 1)", .invalidExpression),
    ("SUBQUERY(name, $x, $x == 1)", .invalidExpression),
    ("TERNARY('a' MATCHES '(', 1, 2)", .invalidExpression),
    ("FETCH(1, name, NO)", .invalidExpression), ("FETCH(nil, nil, NO)", .invalidExpression),
    ("FETCH(1, $manager.sourceContext, NO)", .invalidExpression),
    ("name UNION {1}", .invalidExpression),
    ("objectFrom:withIndex:({1}, 'a')", .invalidExpression),
    ("objectFrom:withIndex:(artworks, 0)", .invalidExpression),
  ])
  func `an expression that has no value is an error`(
    format: String, expected: PersistenceError.Code
  ) {
    do {
      let value = try value(format, ["manager": Manager(context)])
      Issue.record("\(format) is \(String(describing: value))")
    } catch {
      #expect(code(of: error) == expected, "\(format): \(error)")
    }
  }

  @Test func `too deep an expression is an error`() throws {
    var expression = FetchExpression.keyPath(["born"])
    for _ in 0..<100 { expression = .function(.negate, [expression]) }
    #expect(try expression.expressionValue(with: ana) as? Int == 1900)
    expression = .function(.negate, [expression])
    #expect(throws: PersistenceError.self) { try expression.expressionValue(with: ana) }
    var predicate = FetchPredicate.constant(true)
    for _ in 0..<40 {
      predicate = .comparison(.conditional(predicate, nil, nil), .equal, nil)
    }
    #expect(try predicate.evaluate(with: ana))
    predicate = .not(.not(predicate))
    for _ in 0..<40 {
      predicate = .comparison(.conditional(predicate, nil, nil), .equal, nil)
    }
    #expect(throws: PersistenceError.self) { try predicate.evaluate(with: ana) }
  }

  // The same question, asked of rows and of objects.
  @Test func `a predicate means the same in a fetch and in memory`() throws {
    let show = SmallGallery.Show(context: context)
    show.artists = [bo, ana]
    SmallGallery.Show(context: context).artists = [ana]
    let alone = Artist(context: context)
    try context.save()
    for format in [
      "ANY artworks.title == nil", "ALL artworks.price > 5", "artworks.@count > 2",
      "born + 1 == 1901", "TERNARY(born == nil, 1, 2) == 1", "ANY artworks.title != nil",
      "length(name) == 2", "ANY spouse.artworks.title == nil", "name IN {'Bo', uppercase(name)}",
      "sum(artworks.price) / 2 == 30", "NOT ANY artworks.price > 25", "spouse.name == nil",
      "born * 1.5 > 100 OR name ENDSWITH 'o'", "ANY shows.artists.@count > 1",
      "ALL shows.artists.@count == 0", "shows.@count == 0", "spouse.shows.@count == nil",
    ] {
      var request = FetchRequest<Artist>()
      let predicate = try FetchPredicate(format: format)
      request.predicate = predicate
      let found = Set(try context.fetch(request))
      let artists = [ana, bo, alone]
      let expected = try artists.filter { try predicate.evaluate(with: $0) }
      #expect(found == Set(expected), "\(format)")
    }
    #expect(throws: PersistenceError.self) {
      var request = FetchRequest<Artist>()
      request.predicate = try FetchPredicate(format: "1 / (born - 1900) == 1")
      _ = try context.fetch(request)
    }
  }

  @Test func `predicates take variables and plain values`() throws {
    let predicate = try FetchPredicate(format: "a.b > $limit AND SELF.c CONTAINS 'x'")
    let values: [String: Any] = ["a": ["b": 5], "c": ["x"]]
    #expect(try predicate.evaluate(with: values, substitutionVariables: ["limit": 4]))
    #expect(try !predicate.evaluate(with: values, substitutionVariables: ["limit": 5]))
    #expect(
      try [values, values].filtered(using: predicate, substitutionVariables: ["limit": 4]).count
        == 2)
    #expect(try [1, 2, 3].filtered(using: FetchPredicate(format: "SELF > 1")) == [2, 3])
    #expect(throws: PersistenceError.self) { try [1].filtered(using: Key("name") == "a") }
    #expect(try FetchPredicate(format: "SELF > 1").evaluate(with: 2))
    #expect(try FetchPredicate(format: "SELF == %@", bo).evaluate(with: bo))
    #expect(throws: PersistenceError.self) { try predicate.evaluate(with: values) }
  }
}

@Suite struct BuiltInSelectorTests {
  @Test(
    arguments: [
      ("'aé'", "uppercaseString", "AÉ"), ("'AB'", "lowercaseString", "ab"),
      ("'a b'", "capitalizedString", "A B"), ("' -12x'", "intValue", -12),
      ("'99999999999'", "intValue", Int(Int32.max)),
      ("'99999999999'", "integerValue", 99_999_999_999),
      ("'x'", "integerValue", 0), ("'1.5e1z'", "doubleValue", 15.0), ("'.5'", "doubleValue", 0.5),
      ("'yes'", "boolValue", true), ("'-007'", "boolValue", true), ("'no'", "boolValue", false),
      ("5", "stringValue", "5"), ("5.0", "stringValue", "5"), ("YES", "stringValue", "1"),
      ("-2.9", "intValue", -2), ("2", "doubleValue", 2.0), ("0.0", "boolValue", false),
      ("{1, 2}", "count", 2), ("{1, 2}", "firstObject", 1), ("{1, 2}", "lastObject", 2),
      ("{5}", "description", "[5]"), ("'a'", "description", "a"), ("'né'", "length", 2),
    ] as [(String, String, any Hashable & Sendable)])
  func `functions without arguments`(
    receiver: String, selector: String, expected: any Hashable & Sendable
  ) throws {
    let value = try FetchExpression(format: "FUNCTION(\(receiver), '\(selector)')")
      .expressionValue(with: nil)
    #expect(value as? AnyHashable == AnyHashable(expected))
  }

  @Test(
    arguments: [
      ("'a', 'stringByAppendingString:', 'b'", "ab"), ("'abc', 'substringFromIndex:', 1", "bc"),
      ("'abc', 'substringToIndex:', 1", "a"), ("'abc', 'hasPrefix:', 'ab'", true),
      ("'a-b', 'stringByReplacingOccurrencesOfString:withString:', '-', '+'", "a+b"),
      ("FUNCTION('a,b', 'componentsSeparatedByString:', ','), 'lastObject'", "b"),
      ("{'a', 1}, 'componentsJoinedByString:', '-'", "a-1"), ("{1, 2}, 'objectAtIndex:', 1", 2),
      ("{1, 2}, 'containsObject:', 2", true), ("1, 'isEqual:', 1.0", true),
      ("$dictionary, 'objectForKey:', 'a'", 1),
      ("FUNCTION($date, 'dateByAddingTimeInterval:', 5), 'timeIntervalSinceDate:', $date", 5.0),
      ("FUNCTION($set, 'allObjects'), 'firstObject'", 7),
    ] as [(String, any Hashable & Sendable)])
  func `functions with arguments`(
    arguments: String, expected: any Hashable & Sendable
  ) throws {
    let value = try FetchExpression(format: "FUNCTION(\(arguments))").expressionValue(
      with: nil,
      context: [
        "dictionary": ["a": 1], "date": Date(timeIntervalSinceReferenceDate: 1), "set": Set([7]),
      ])
    #expect(value as? AnyHashable == AnyHashable(expected))
  }

  @Test(arguments: [
    "'abc', 'substringFromIndex:', 4", "'abc', 'stringByAppendingString:', 1",
    "'abc', 'substringToIndex:', -1", "1e300, 'intValue'", "{1}, 'objectAtIndex:', -1",
    "1, 'isEqual:', {1}, 2", "1, 'foo'", "1, ''",
  ])
  func `a function without an answer is an error`(arguments: String) {
    #expect(throws: PersistenceError.self) {
      try FetchExpression(format: "FUNCTION(\(arguments))").expressionValue(with: nil)
    }
  }
}
