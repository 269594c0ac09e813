import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An object as a dictionary from dotted paths to values.
struct DictionarySubject: PredicateSubject {
  var values: [String: PredicateValue]
  var paths: [[String]]
  var identity = OpaqueIdentity("this")

  func value(atPath index: Int) -> PredicateValue? { values[paths[index].joined(separator: ".")] }
}

func evaluate(
  _ predicate: FetchPredicate, _ values: [String: (any PredicateConvertible)?] = [:]
) throws -> Bool {
  let evaluator = try PredicateEvaluator(predicate)
  let values = values.compactMapValues { $0?.predicateValue }
  return try evaluator.evaluate(DictionarySubject(values: values, paths: evaluator.paths))
}

@Suite struct PredicateEvaluatorTests {
  @Test func `a chain is flat, from whichever end it is put together`() {
    let parts = (0..<5_000).map { Key("age") == $0 }
    let (first, last) = (parts[0], parts[parts.count - 1])
    let conjunction = FetchPredicate.and(parts)
    #expect(parts.dropFirst().reduce(first) { $0 && $1 } == conjunction)
    #expect(parts.dropLast().reversed().reduce(last) { $1 && $0 } == conjunction)
    let disjunction = FetchPredicate.or(parts)
    #expect(parts.dropFirst().reduce(first) { $0 || $1 } == disjunction)
    #expect(parts.dropLast().reversed().reduce(last) { $1 || $0 } == disjunction)
    // Of no parts, a conjunction is true and a disjunction false.
    let (always, never) = (FetchPredicate.and([]) && first, FetchPredicate.or([]) || first)
    #expect(always == .and([.and([]), first]))
    #expect(never == .or([.or([]), first]))
  }

  @Test func `a negation of a negation is what was negated, so that a chain stays flat`() {
    let plain = Key("age") == 1
    #expect(!(!plain) == plain)
    #expect((0..<100_001).reduce(plain) { negated, _ in !negated } == .not(plain))
    #expect(!(Key("ages").none == 1) == (Key("ages").any == 1))
  }

  @Test func `an absent value is a value`() throws {
    #expect(try evaluate(Key("x") == nil))
    #expect(try evaluate(Key("x") != "a"))
    #expect(try !evaluate(Key("x") == "a"))
    #expect(try !evaluate(Key("x") != nil))
    #expect(try evaluate(Key("x") == Optional<String>.none))
    #expect(try evaluate(Key("x") == Key("y")))
    #expect(try evaluate(Key("x") != nil, ["x": 1]))
  }

  @Test func `order with an absent value or another kind of value is false, and NOT is true`()
    throws
  {
    let wrong: [[String: (any PredicateConvertible)?]] = [
      [:], ["x": "5"], ["x": Date()], ["x": [5]], ["x": Double.nan], ["x": OpaqueIdentity(5)],
    ]
    for values in wrong {
      for predicate in [
        Key("x") < 5, Key("x") <= 5, Key("x") > 5, Key("x") >= 5, Key("x").between(0, and: 9),
        Key("x") == 5,
      ] {
        #expect(try !evaluate(predicate, values), "\(predicate) \(values)")
        #expect(try evaluate(!predicate, values), "\(predicate) \(values)")
        // Two-valued logic: twice negated is not negated, whatever is absent.
        #expect(try !evaluate(.not(.not(predicate)), values), "\(predicate) \(values)")
      }
      #expect(try evaluate(Key("x") != 5, values))
    }
  }

  @Test func `booleans are numbers`() throws {
    #expect(try evaluate(Key("x") == 1, ["x": true]))
    #expect(try evaluate(Key("x") == true, ["x": 1]))
    #expect(try evaluate(Key("x") < 0.5, ["x": false]))
    #expect(try evaluate(Key("x").in([true, false]), ["x": 1.0]))
  }

  @Test func `a stored float is found by the literal it was made from`() throws {
    #expect(try evaluate(Key("x") == 1.33, ["x": Float(1.33)]))
    #expect(try evaluate(Key("x") <= 1.33, ["x": Float(1.33)]))
    #expect(try !evaluate(Key("x") < 1.33, ["x": Float(1.33)]))
    #expect(try evaluate(Key("x").in([1.33]), ["x": Float(1.33)]))
    #expect(try evaluate(Key("x") == 1.33, ["x": Decimal(string: "1.33")]))
    #expect(try evaluate(Key("x") == Float(1.33), ["x": Decimal(string: "1.33")]))
  }

  @Test func `large numbers are compared without rounding`() throws {
    let large = Int64(1) << 53
    #expect(try !evaluate(Key("x") == Double(large), ["x": large + 1]))
    #expect(try evaluate(Key("x") > Double(large), ["x": large + 1]))
    #expect(try evaluate(Key("x") < 0x1p63, ["x": Int64.max]))
    #expect(try evaluate(Key("x") == -0x1p63, ["x": Int64.min]))
    #expect(try evaluate(Key("x") > Int64.max, ["x": UInt64.max]))
    #expect(try evaluate(Key("x") < Double.infinity, ["x": Decimal.greatestFiniteMagnitude]))
    #expect(try evaluate(Key("x") > 1e-300, ["x": Decimal(string: "1e-100")]))
    #expect(try evaluate(Key("x") > -0.5, ["x": 0]))
    #expect(try evaluate(Key("x") < -0.5, ["x": -1]))
  }

  @Test func `NaN equals NaN and has no order`() throws {
    #expect(try evaluate(Key("x") == Double.nan, ["x": Decimal.nan]))
    #expect(try !evaluate(Key("x") != Double.nan, ["x": Double.nan]))
    #expect(try !evaluate(Key("x") <= Double.nan, ["x": Double.nan]))
    #expect(try !evaluate(Key("x") < 1, ["x": Decimal.nan]))
  }

  @Test func `dates are compared to the last bit`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7)
    let next = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7.nextUp)
    #expect(try evaluate(Key("x") == date, ["x": date]))
    #expect(try evaluate(Key("x") < next, ["x": date]))
    #expect(try evaluate(Key("x") != next, ["x": date]))
  }

  @Test func `membership in lists, relationships and strings`() throws {
    #expect(try !evaluate(Key("x").in([String]()), ["x": "a"]))
    #expect(try !evaluate(Key("x").in([String]())))
    #expect(try evaluate(Key("x").in(["b", "a"]), ["x": "a"]))
    #expect(try evaluate(Key("x").in([nil, "a"])))
    #expect(try !evaluate(Key("x").in(["b", "a"])))
    #expect(
      try evaluate(Key("artists").contains(OpaqueIdentity(7)), ["artists": [OpaqueIdentity(7)]]))
    #expect(
      try !evaluate(Key("artists").contains(OpaqueIdentity(8)), ["artists": [OpaqueIdentity(7)]]))
    #expect(try evaluate(Key.object.in([OpaqueIdentity("this"), OpaqueIdentity("that")])))
    #expect(try evaluate(Key("x").compare(.in, .keyPath(["xs"])), ["x": 1, "xs": [1, 2]]))
    #expect(try evaluate(Key("x").compare(.in, FetchExpression("cabin")), ["x": "abi"]))
  }

  @Test func `a long list answers like a short one`() throws {
    let numbers = Array(0..<100)
    #expect(try evaluate(Key("x").in(numbers), ["x": 57]))
    #expect(try evaluate(Key("x").in(numbers), ["x": 57.0]))
    #expect(try evaluate(Key("x").in(numbers), ["x": true]))
    #expect(try !evaluate(Key("x").in(numbers), ["x": 57.5]))
    #expect(try !evaluate(Key("x").in(numbers), ["x": "57"]))
    #expect(try !evaluate(Key("x").in(numbers)))
    let names = numbers.map { "Name \($0)" }
    #expect(try evaluate(Key("x").in(names, .caseInsensitive), ["x": "NAME 57"]))
    #expect(try !evaluate(Key("x").in(names), ["x": "NAME 57"]))
    #expect(try !evaluate(Key("x").in(names), ["x": 57]))
    let objects = numbers.map { OpaqueIdentity($0) }
    #expect(try evaluate(Key("x").in(objects), ["x": OpaqueIdentity(57)]))
    #expect(try !evaluate(Key("x").in(objects), ["x": OpaqueIdentity("57")]))
  }

  @Test func `any of nothing is false and all of nothing is true`() throws {
    let empty = ["names": [String]()]
    #expect(try !evaluate(Key("names").any == "a", empty))
    #expect(try evaluate(Key("names").all == "a", empty))
    let some = ["names": ["a", nil]]
    #expect(try evaluate(Key("names").any == "a", some))
    #expect(try evaluate(Key("names").any == nil, some))
    #expect(try evaluate(Key("names").any != "a", some))
    #expect(try !evaluate(Key("names").all == "a", some))
    #expect(try evaluate(Key("names").all.in(["a", nil]), some))
    #expect(try evaluate(Key("name").any == nil), "a value that is no collection is one of one")
    #expect(try evaluate(Key("artworks").count > 0, ["artworks.@count": 3]))
  }

  @Test func `collections are equal when they have the same members`() throws {
    #expect(try evaluate(Key("xs") == [2, 1], ["xs": [1, 2]]))
    #expect(try !evaluate(Key("xs") == [2, 1], ["xs": [1, 1]]))
    #expect(try evaluate(Key("xs") != 1, ["xs": [1]]))
  }

  @Test func `strings are compared by canonical equivalence, never by locale`() throws {
    #expect(try evaluate(Key("x") == "caf\u{E9}", ["x": "cafe\u{301}"]))
    #expect(try !evaluate(Key("x") == "CAFÉ", ["x": "café"]))
    #expect(try evaluate(Key("x").equals("CAFÉ", .caseInsensitive), ["x": "café"]))
    #expect(try !evaluate(Key("x").equals("CAFE", .caseInsensitive), ["x": "café"]))
    #expect(
      try evaluate(
        Key("x").equals("CAFE", [.caseInsensitive, .diacriticInsensitive]), ["x": "café"]))
    #expect(try evaluate(Key("x") < "a", ["x": "Z"]))
    #expect(
      try evaluate(
        Key("x").compare(.greaterThan, FetchExpression("a"), .caseInsensitive), ["x": "Z"]))
  }

  @Test func `text is found at the beginning, at the end and inside`() throws {
    for text in ["abcde", "äbcdé", "a\r\nb"] {
      let first = String(text.prefix(2))
      let last = String(text.suffix(2))
      #expect(try evaluate(Key("x").beginsWith(first), ["x": text]))
      #expect(try evaluate(Key("x").endsWith(last), ["x": text]))
      #expect(try evaluate(Key("x").contains(String(text.dropFirst().prefix(1))), ["x": text]))
      #expect(try !evaluate(Key("x").beginsWith(last), ["x": text]))
      #expect(try !evaluate(Key("x").endsWith(first), ["x": text]))
      for predicate in [
        Key("x").beginsWith(""), Key("x").endsWith(""), Key("x").contains(""),
        Key("x").beginsWith(text), Key("x").endsWith(text), Key("x").contains(text),
      ] {
        #expect(try evaluate(predicate, ["x": text]))
        #expect(try !evaluate(predicate), "an absent value has no text")
      }
      #expect(try !evaluate(Key("x").contains(text + "x"), ["x": text]))
    }
    #expect(try !evaluate(Key("x").beginsWith("e"), ["x": "e\u{301}"]), "half a character")
    #expect(try evaluate(Key("x").contains("ß", .caseInsensitive), ["x": "STRASSE"]))
  }

  @Test(arguments: [
    ("abc", "abc", true), ("abc", "ab", false), ("abc", "a*", true), ("abc", "*c", true),
    ("abc", "*b*", true), ("abc", "a?c", true), ("abc", "a?", false), ("", "*", true),
    ("", "", true), ("", "?", false), ("a*c", #"a\*c"#, true), ("abc", #"a\*c"#, false),
    (#"a\"#, #"a\"#, true), (#"a\"#, #"a\\"#, true), ("aXbXc", "a*b*c", true),
    ("mississippi", "m*iss*ip*i", true), ("mississippi", "m*iss*ipp", false), ("é", "?", true),
    ("e\u{301}!", "?!", true), ("日本語", "日*", true), ("a\r\nb", "a?b", true),
  ])
  func `LIKE is anchored and knows star, mark and backslash`(
    text: String, pattern: String, isLike: Bool
  ) throws {
    #expect(try evaluate(Key("x").like(pattern), ["x": text]) == isLike)
    #expect(
      try evaluate(Key("x").like(pattern.uppercased(), .caseInsensitive), ["x": text]) == isLike)
  }

  @Test func `MATCHES matches the whole string`() throws {
    #expect(try evaluate(Key("x").matches("[a-c]+"), ["x": "abc"]))
    #expect(try !evaluate(Key("x").matches("[a-c]+"), ["x": "abcd"]))
    #expect(try evaluate(Key("x").matches("[a-c]+", .caseInsensitive), ["x": "ABC"]))
    #expect(try evaluate(Key("x").matches("cafe", .diacriticInsensitive), ["x": "café"]))
    #expect(try !evaluate(Key("x").matches(".*"), ["x": 5]))
    #expect(try evaluate(Key("x").compare(.matches, .keyPath(["p"])), ["x": "aa", "p": "a+"]))
  }

  @Test func `a bad pattern is an error before the first object is looked at`() {
    for pattern in ["(", "[z-a]", #"\"#, "*", String(repeating: "(", count: 100_000)] {
      #expect(throws: FetchPredicateError.self) {
        try PredicateEvaluator(Key("x").matches(pattern))
      }
    }
    #expect(throws: FetchPredicateError.self) {
      try evaluate(Key("x").compare(.matches, .keyPath(["p"])), ["p": "("])
    }
    #expect(throws: FetchPredicateError(.bounds(count: 3))) {
      try PredicateEvaluator(Key("x").compare(.between, .aggregate([nil, nil, nil])))
    }
  }

  @Test func `any pattern is an error or matches or does not`() throws {
    let parts = [
      "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "^", "$", ".", "\\", "-", "(?", "(?i)", "a",
      "1", "9999", ",", "\\p{", "\\u", "\\1", "(?<n>", "(?=", "[:", ":]", "é", "\u{301}", "&&",
      "\\X",
    ]
    var random = SeededGenerator(seed: 4)
    var compiledCount = 0
    for _ in 0..<Amount.of(debug: 700, release: 2000) {
      let pattern = (0..<Int.random(in: 1...6, using: &random))
        .map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      guard let evaluator = try? PredicateEvaluator(Key("x").matches(pattern)) else { continue }
      compiledCount += 1
      let subject = DictionarySubject(values: ["x": .value("ab1é")], paths: evaluator.paths)
      _ = try evaluator.evaluate(subject)
    }
    #expect(compiledCount > 0)
  }

  @Test func `a predicate that is nested too deep is an error`() {
    var predicate = FetchPredicate.constant(true)
    for _ in 0..<PredicateEvaluator.maximumDepth { predicate = .not(predicate) }
    #expect(throws: Never.self) { try PredicateEvaluator(predicate) }
    #expect(throws: FetchPredicateError(.depth(maximum: PredicateEvaluator.maximumDepth))) {
      try PredicateEvaluator(.not(predicate))
    }
  }

  @Test func `each key path has one number, in the order of appearance`() throws {
    let evaluator = try PredicateEvaluator(
      Key("b.c") == 1 || (Key("a") == Key("b.c") && Key("b").contains(Key("a").expression)))
    #expect(evaluator.paths == [["b", "c"], ["a"], ["b"]])
  }

  @Test func `parts that cannot change the answer are not looked at`() throws {
    struct Untouchable: PredicateSubject, Error {
      var identity: OpaqueIdentity { OpaqueIdentity(0) }
      func value(atPath index: Int) throws -> PredicateValue? { throw self }
    }
    let never = FetchPredicate.constant(false)
    #expect(try !PredicateEvaluator(never && Key("x") == 1).evaluate(Untouchable()))
    #expect(try PredicateEvaluator(!never || Key("x") == 1).evaluate(Untouchable()))
    #expect(throws: Untouchable.self) {
      try PredicateEvaluator(Key("x") == 1).evaluate(Untouchable())
    }
  }

  @Test func `empty conjunctions are true and empty disjunctions false`() throws {
    #expect(try evaluate(.and([])))
    #expect(try !evaluate(.or([])))
  }
}

extension Key {
  fileprivate func contains(_ right: FetchExpression) -> FetchPredicate {
    compare(.contains, right)
  }
}
