import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct PredicateFormatTests {
  @Test func `comparisons are read in all their spellings`() throws {
    let x = Key("x")
    for (format, predicate) in [
      ("x = 1", x == 1), ("x == 1", x == 1), ("x==1", x == 1), ("x != 1", x != 1),
      ("x <> 1", x != 1), ("x < 1", x < 1), ("x <= 1", x <= 1), ("x =< 1", x <= 1),
      ("x > 1", x > 1), ("x >= 1", x >= 1), ("x => 1", x >= 1), ("x == -1", x == -1),
      ("x == 1.5", x == 1.5), ("x == 1e3", x == 1000.0), ("x == -2.5E-1", x == -0.25),
      ("x == 'a'", x == "a"), ("x == \"a\"", x == "a"), ("x == nil", x == nil),
      ("x == NULL", x == nil), ("x == Yes", x == true), ("x == FALSE", x == false),
      ("x IN {1, 2}", x.in([1, 2])), ("x in {}", x.in([Int]())),
      ("x BETWEEN {1, 9}", x.between(1, and: 9)), ("x CONTAINS 'a'", x.contains("a")),
      ("x beginswith 'a'", x.beginsWith("a")),
      ("x ENDSWITH[c] 'a'", x.endsWith("a", .caseInsensitive)),
      ("x LIKE [cd] 'a*'", x.like("a*", [.caseInsensitive, .diacriticInsensitive])),
      ("x MATCHES[n]'a+'", x.matches("a+", .normalized)), ("x == y", x == Key("y")),
      ("SELF == x", Key.object == x), ("self.x == 1", x == 1), ("a.b.c == 1", Key("a.b.c") == 1),
      ("xs.@count > 0", Key("xs").count > 0), ("#in.in == 1", Key("in.in") == 1),
      ("#'a b'.c == 1", Key(names: ["a b", "c"]) == 1), ("größe == 1", Key("größe") == 1),
      (
        "9223372036854775808 == x",
        FetchPredicate.comparison(
          FetchExpression(Decimal(UInt64.max / 2) + 1), .equal, x.expression)
      ),
    ] {
      #expect(try FetchPredicate(format: format) == predicate, "\(format)")
    }
  }

  @Test func `AND binds closer than OR, and NOT closest`() throws {
    let (a, b, c) = (Key("a") == 1, Key("b") == 1, Key("c") == 1)
    for (format, predicate) in [
      ("a = 1 OR b = 1 AND c = 1", a || .and([b, c])), ("a = 1 AND b = 1 OR c = 1", (a && b) || c),
      ("(a = 1 OR b = 1) AND c = 1", (a || b) && c), ("NOT a = 1 AND b = 1", !a && b),
      ("!(a = 1 && b = 1)", !(a && b)), ("a = 1 && b = 1 && c = 1", .and([a, b, c])),
      ("a = 1 || (b = 1 || c = 1)", .or([a, .or([b, c])])), ("NOT NOT a = 1", .not(.not(a))),
      ("TRUEPREDICATE or FALSEPREDICATE", .or([.constant(true), .constant(false)])),
    ] {
      #expect(try FetchPredicate(format: format) == predicate, "\(format)")
    }
  }

  @Test func `members of relationships are asked with ANY, SOME, ALL and NONE`() throws {
    let names = Key("artists.name")
    #expect(try FetchPredicate(format: "ANY artists.name == 'a'") == (names.any == "a"))
    #expect(try FetchPredicate(format: "some artists.name == 'a'") == (names.any == "a"))
    #expect(try FetchPredicate(format: "ALL artists.name == 'a'") == (names.all == "a"))
    #expect(try FetchPredicate(format: "NONE artists.name == 'a'") == !(names.any == "a"))
  }

  @Test func `arguments take their places`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1)
    #expect(
      try FetchPredicate(format: "%K == %@ AND date > %@", "a.b", "x", date)
        == (Key("a.b") == "x" && Key("date") > date))
    #expect(try FetchPredicate(format: "x == %@", nil) == (Key("x") == nil))
    #expect(try FetchPredicate(format: "x IN %@", ["a", "b"]) == Key("x").in(["a", "b"]))
    #expect(try FetchPredicate(format: "x IN {%@, %d}", "a", 1) != Key("x").in(["a", "b"]))
    #expect(try FetchPredicate(format: "x == %d", 5) == (Key("x") == 5))
    #expect(
      try FetchPredicate(format: "x == %ld AND y == %f", Int64(5), 1.5)
        == (Key("x") == 5 && Key("y") == 1.5))
    #expect(try FetchPredicate(format: "%K.@count > 0", "xs") == (Key("xs").count > 0))
    #expect(try FetchPredicate(format: "x.%K == 1", "y.z") == (Key("x.y.z") == 1))
    #expect(
      try FetchPredicate(format: "SELF IN %@", [OpaqueIdentity(1)])
        == Key.object.in([OpaqueIdentity(1)]))
    #expect(try FetchPredicate(format: "x == '%@'") == (Key("x") == "%@"))
    #expect(
      try FetchPredicate(format: "x == %@", argumentArray: [UInt64.max])
        == (Key("x") == Decimal(UInt64.max)))
    #expect(try FetchPredicate(format: "x == %@", Optional("a")) == (Key("x") == "a"))
  }

  @Test func `arrays have members, and objects are of entities`() throws {
    let x = FetchExpression.keyPath(["x"])
    for (format, expression) in [
      ("x[FIRST]", .function(.first, [x])), ("x[last]", .function(.last, [x])),
      ("x[2]", .function(.element, [x, FetchExpression(2)])),
      ("x [ 2 ] . y", .path(.function(.element, [x, FetchExpression(2)]), ["y"])),
      ("x[SIZE]", .keyPath(["x", "@count"])), ("x['a']", .keyPath(["x", "a"])),
      ("x['a b'].c['d']", .keyPath(["x", "a b", "c", "d"])),
      ("SELF['a']", .keyPath(["a"])), ("$v['a']", .path(.variable("v"), ["a"])),
      ("$v.b['a'].c", .path(.variable("v"), ["b", "a", "c"])),
      ("x[FIRST][LAST]", .function(.last, [.function(.first, [x])])),
      ("x[#first]", .function(.element, [x, .keyPath(["first"])])),
      (
        "x[y + 1]",
        .function(.element, [x, .function(.add, [.keyPath(["y"]), FetchExpression(1)])])
      ),
      ("objectFrom:withIndex:(x, 0)", .function(.element, [x, FetchExpression(0)])),
      ("-x[0]", .function(.negate, [.function(.element, [x, FetchExpression(0)])])),
      ("first", .keyPath(["first"])), ("size.last", .keyPath(["size", "last"])),
    ] as [(String, FetchExpression)] {
      #expect(try FetchExpression(format: format) == expression, "\(format)")
      #expect(try FetchExpression(format: expression.description) == expression, "\(expression)")
    }
    #expect(try FetchExpression(format: "x[FIRST].y").description == "x[FIRST].y")
    #expect(
      try FetchPredicate(format: "SELF isKindOfClass: %@", "Artist")
        == Key.object.isKind(of: "Artist"))
    #expect(
      try FetchPredicate(format: "a.b isKindOfClass: 'Artist' AND x = 1")
        == (Key("a.b").isKind(of: "Artist") && Key("x") == 1))
    #expect(try FetchPredicate(format: "entity == 'Artist'") == (Key.entity == "Artist"))
    #expect(
      try FetchPredicate(format: "x ==[cl] 'a'")
        == Key("x").equals("a", [.caseInsensitive, .natural]))
  }

  @Test(arguments: [
    ("x[", "a value or a key path"), ("x[]", "a value or a key path"), ("x[FIRST", "] after FIRST"),
    ("x[FIRST LAST]", "] after FIRST"), ("x[1", "] after FIRST"),
    ("x isKindOfClass 'A'", "a comparison"),
    ("ANY x isKindOfClass: 'A'", "a comparison"), ("x isKindOfClass:", "a value or a key path"),
    ("x CONTAINS[] 'a'", "the options c, d, l or n"),
  ])
  func `an error of brackets and kinds says what was expected`(format: String, expected: String) {
    do {
      let predicate = try FetchPredicate(format: format)
      Issue.record("\(format) was read as \(predicate)")
    } catch {
      #expect(error.expected.hasPrefix(expected), "\(error)")
    }
  }

  @Test func `keys say in Swift what formats say`() throws {
    let expensive = Key("works").filtered(by: Key("price") > 100 && Key.object != Key("best"))
    for (format, predicate) in [
      ("NONE x.y == 'a'", Key("x.y").none == "a"), ("x.@sum > 1", Key("x").sum > 1),
      ("x.y.@avg > 1", Key("x.y").average > 1), ("x.@min == nil", Key("x").minimum == nil),
      ("x.@max >= 1", Key("x").maximum >= 1), ("length:(x) == 1", Key("x").length == 1),
      ("x[FIRST].y == 1", Key("x").first.key("y") == 1), ("x[LAST] == nil", Key("x").last == nil),
      ("x[3] == nil", Key("x")[3] == nil),
      ("SUBQUERY(works, $x, $x.price > 100 AND $x != $x.best).@count > 1", expensive.count > 1),
      (
        "SUBQUERY(works, $x, $x.price > 100 AND $x != $x.best).price.@sum > 1",
        expensive.key("price").sum > 1
      ),
      (
        "SUBQUERY(a, $x2, SUBQUERY($x2.b, $x, $x.c == 1).@count == $x2.d).@count == 0",
        Key("a").filtered(by: Key("b").filtered(by: Key("c") == 1).count == Key("d")).count == 0
      ),
      ("uppercase:(x) == 'A'", Key(.function(.uppercase, [.keyPath(["x"])])) == "A"),
    ] {
      #expect(try FetchPredicate(format: format) == predicate, "\(predicate)")
    }
  }

  @Test func `escapes in texts`() throws {
    #expect(
      try FetchPredicate(format: #"x == "a\"\\\n\t\r\u00e9\'""#) == (Key("x") == "a\"\\\n\t\ré'"))
    #expect(try FetchPredicate(format: #"x == 'say "hi"'"#) == (Key("x") == #"say "hi""#))
  }

  @Test(arguments: [
    ("", 0, "the end"), ("x", 1, "the end"), ("x ==", 4, "the end"), ("x == 1 y", 7, "\"y\""),
    ("x == 1 AND", 10, "the end"), ("(x == 1", 7, "the end"), ("x == 1)", 6, "\")\""),
    ("x ~ 1", 2, "\"~\""), ("x == in", 5, "\"in\""), ("x == {1, 2", 10, "the end"),
    ("x == {1 2}", 8, "\"2\""), ("x CONTAINS[cx] 'a'", 11, "\"cx\""),
    ("x CONTAINS[c 'a'", 13, "\"'a'\""),
    ("é == 'a", 7, "the end"), ("x. == 1", 3, "\"==\""), ("x.@some.y == 1", 2, "\"@some\""),
    ("x == $", 5, "\"$\""), ("SUBQUERY(x, y, y.z == 1).@count > 0", 12, "\"y\""),
    ("x + == 2", 4, "\"==\""), ("x + 1", 5, "the end"), ("(x == 1) + 1 == 2", 9, "\"+\""),
    ("x == foo:(1)", 5, "foo:()"), ("x == abs(1, 2)", 5, "2"), ("x == now(1)", 5, "1"),
    ("TERNARY(x, 1, 2) == 1", 9, "\",\""), ("FUNCTION($x, y) == 1", 13, "\"y\""),
    ("FETCH($x, $y, 2) == 1", 14, "\"2\""), ("x.abs(1) == 1", 2, "\"abs\""),
    ("x == 12ab", 5, "\"12ab\""), ("x == 1.", 5, "\"1.\""),
    ("x == 1e999", 5, "\"1e999\""), ("x == %@", 5, "that no arguments are given"),
    ("x == %y", 5, "\"%y\""), ("x == %%", 5, "\"%%\""), ("x == CAST('a', 'Date')", 10, "\"'a'\""),
    ("x == CAST('a', 'Foo')", 15, "\"'Foo'\""), ("x == '\\u12'", 6, "\"\\\\u\""),
    ("# == 1", 0, "\"#\""),
  ])
  func `an error says where and what`(format: String, offset: Int, found: String) {
    do {
      let predicate = try FetchPredicate(format: format)
      Issue.record("\(format) was read as \(predicate)")
    } catch {
      #expect(error.offset == offset, "\(error)")
      #expect(error.found == found, "\(error)")
    }
  }

  @Test func `an argument of the wrong kind, or one too many, is an error`() {
    for (format, arguments) in [
      ("x == %d", ["a"]), ("%K == 1", [1]), ("x == %d", [1.5]), ("x == %f", [nil]), ("x == 1", [1]),
      ("x == %@", []), ("x == %@", [1, 2]), ("x == %d", [Decimal(1.5)]),
    ] as [(String, [(any PredicateConvertible)?])] {
      #expect(throws: PredicateFormatError.self, "\(format) \(arguments)") {
        try FetchPredicate(format: format, argumentArray: arguments)
      }
    }
  }

  @Test func `a predicate that can be read can be printed and read again at any depth`() throws {
    // Indexes are written one behind the other, and printed inside each other.
    for index in ["[l]", "[FIRST]", "[2].b"] {
      var depth = 0
      while let predicate = try? FetchPredicate(
        format: "a" + String(repeating: index, count: depth + 1) + " MINUS b < c")
      {
        depth += 1
        let printed = predicate.description
        #expect(try FetchPredicate(format: printed) == predicate, "\(printed)")
      }
      #expect((30..<50).contains(depth), "\(index)")
    }
  }

  @Test func `deep nesting is an error, and length is not`() throws {
    for part in [
      "(", "NOT ", "!", "{", "x == {", "(NOT ", "x == (", "-", "x == abs(", "TERNARY(", "x + (",
      "SUBQUERY(x, $x, ", "FUNCTION(", "x + 1 + ", "2 ** ", "x.y.(",
    ] {
      #expect(throws: PredicateFormatError.self) {
        try FetchPredicate(
          format: String(repeating: part, count: Amount.of(debug: 20_000, release: 100_000)))
      }
    }
    let long = Array(repeating: "x == 1", count: 5000).joined(separator: " AND ")
    let predicate = try FetchPredicate(format: long)
    #expect(try evaluate(predicate, ["x": 1]))
  }

  // MARK: Printing

  @Test func `a predicate prints as its format`() {
    let predicate =
      (Key("price") > 100
        || Key("artist.name").beginsWith("A", [.caseInsensitive, .diacriticInsensitive]))
      && !(Key("in").any == nil) && Key("x").between(1.0, and: 2) && Key("y") != true
    #expect(
      predicate.description == """
        (price > 100 OR artist.name BEGINSWITH[cd] "A") AND NOT ANY #in == nil \
        AND x BETWEEN {1.0, 2} AND y != YES
        """)
    #expect((Key("x") == OpaqueIdentity(7)).description == "x == <7>")
    #expect(FetchPredicate.and([]).description == "TRUEPREDICATE")
    #expect(FetchPredicate.or([.and([Key("x") == 1])]).description == "x == 1")
  }

  @Test func `a predicate's description parses back to an equal predicate`() throws {
    var generator = PredicateGenerator(seed: 1)
    for _ in 0..<Amount.of(debug: 1_000, release: 3_000) {
      let predicate = generator.predicate(depth: 4)
      let description = predicate.description
      do {
        #expect(try FetchPredicate(format: description) == predicate, "\(description)")
      } catch {
        Issue.record("\(error)")
      }
    }
  }

  @Test func `an encoded predicate is decoded as an equal predicate`() throws {
    var generator = PredicateGenerator(seed: 5)
    for _ in 0..<300 {
      let predicate = generator.predicate(depth: 3)
      let data = try JSONEncoder().encode(predicate)
      #expect(
        try JSONDecoder().decode(FetchPredicate.self, from: data) == predicate, "\(predicate)")
      let expression = generator.expression(depth: 2)
      let encoded = try JSONEncoder().encode([expression])
      #expect(try JSONDecoder().decode([FetchExpression].self, from: encoded) == [expression])
    }
    let text = String(decoding: try JSONEncoder().encode(Key("x") > 1), as: UTF8.self)
    #expect(text == #"{"format":"x > 1"}"#)
  }

  @Test func `JSON that is no predicate is a decoding error`() {
    for text in [
      "{}", "1", #"{"format":"x >"}"#, #"{"format":1}"#, #"{"format":"x == 1","objects":[1]}"#,
      #"{"format":"\#(String(repeating: "(", count: 500))"}"#,
    ] {
      #expect(throws: DecodingError.self, "\(text)") {
        try JSONDecoder().decode(FetchPredicate.self, from: Data(text.utf8))
      }
    }
    #expect(throws: EncodingError.self) {
      try JSONEncoder().encode(Key("x") == OpaqueIdentity(SomethingOpaque()))
    }
  }

  private struct SomethingOpaque: Hashable, Sendable {}

  @Test func `garbage is an error or a predicate`() throws {
    var random = SeededGenerator(seed: 99)
    let parts = [
      "x", "==", " ", "(", ")", "{", "}", "AND", " or ", "NOT ", "ANY ", "'a", "'", "\"", "\\", "#",
      "@count", "@", ".", "%@", "%K", "%", "%d", "1", "-", "e5", "[cd]", "[", "]", "IN ", "SELF",
      "nil", "é", "\u{301}", "\0", "CAST(", "'Date'", ",", "$", "<", ">", "=", "!", "&&", "|",
      "\r\n", "$x", "+", "**", "-1", "TERNARY(", "FUNCTION(", "SUBQUERY(", "FETCH(", "abs:(", "max",
      " UNION ", "now()", "@sum", "SELF.", "x == 1", ", 1)", "FIRST", "x[", "0]",
      " isKindOfClass: ",
    ]
    var predicateCount = 0
    var expressionCount = 0
    for _ in 0..<Amount.of(debug: 5_000, release: 20_000) {
      let format = (0..<Int.random(in: 1...9, using: &random))
        .map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      if let predicate = try? FetchPredicate(format: format) {
        predicateCount += 1
        #expect(try FetchPredicate(format: predicate.description) == predicate, "\(format)")
      }
      if let expression = try? FetchExpression(format: format) {
        expressionCount += 1
        #expect(try FetchExpression(format: expression.description) == expression, "\(format)")
      }
    }
    #expect(predicateCount > 0)
    #expect(expressionCount > 0)
    var generator = PredicateGenerator(seed: 3)
    for _ in 0..<Amount.of(debug: 500, release: 2_000) {
      var bytes = Array(generator.predicate(depth: 3).description.utf8)
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      _ = try? FetchPredicate(format: String(decoding: bytes, as: UTF8.self))
    }
  }

  // Every evaluation of a predicate and of its negation on the same subject must differ.
  @Test func `NOT is the exact complement of any predicate`() throws {
    var generator = PredicateGenerator(seed: 8)
    for _ in 0..<Amount.of(debug: 500, release: 2_000) {
      let predicate = generator.predicate(depth: 3)
      guard let evaluator = try? PredicateEvaluator(predicate) else { continue }
      let values = Dictionary(
        evaluator.paths.compactMap { path in
          generator.value().predicateValue.map { (path.joined(separator: "."), $0) }
        }, uniquingKeysWith: { first, _ in first })
      let subject = DictionarySubject(values: values, paths: evaluator.paths)
      guard let isTrue = try? evaluator.evaluate(subject) else { continue }
      #expect(try PredicateEvaluator(!predicate).evaluate(subject) == !isTrue)
      let reparsed = try FetchPredicate(format: predicate.description)
      #expect(try PredicateEvaluator(reparsed).evaluate(subject) == isTrue)
    }
  }
}

/// Random predicates without objects.
struct PredicateGenerator {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private mutating func choose<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  mutating func predicate(depth: Int) -> FetchPredicate {
    switch Int.random(in: 0..<(depth <= 0 ? 4 : 10), using: &random) {
    case 0: return .constant(.random(using: &random))
    case 1...5: return comparison(depth: min(depth, 2))
    case 6, 7: return .and(predicates(depth: depth - 1))
    case 8: return .or(predicates(depth: depth - 1))
    default: return .not(predicate(depth: depth - 1))
    }
  }

  private mutating func predicates(depth: Int) -> [FetchPredicate] {
    (0..<Int.random(in: 2...4, using: &random)).map { _ in predicate(depth: depth) }
  }

  private mutating func comparison(depth: Int) -> FetchPredicate {
    .comparison(
      expression(depth: depth), choose(FetchPredicate.Operator.allCases),
      expression(depth: depth),
      options: FetchComparisonOptions(rawValue: .random(in: 0...15, using: &random)),
      modifier: choose(FetchPredicate.Modifier.allCases))
  }

  mutating func expression(depth: Int) -> FetchExpression {
    switch Int.random(in: 0..<(depth <= 0 ? 7 : 18), using: &random) {
    case 0...2: return .constant(value().predicateValue)
    case 3, 4: return .keyPath(names())
    case 5: return .evaluatedObject
    case 6: return .variable(name())
    case 7, 8: return .aggregate(expressions(0...3, depth: depth - 1))
    case 9:
      let operand = expression(depth: depth - 1)
      return operand == .evaluatedObject ? .keyPath(names()) : .path(operand, names())
    case 10...13: return function(depth: depth - 1)
    case 14:
      return .call(
        expression(depth: depth - 1), selector: text(), expressions(0...2, depth: depth - 1))
    case 15:
      return .conditional(
        predicate(depth: depth - 1), expression(depth: depth - 1), expression(depth: depth - 1))
    case 16:
      return .subquery(
        expression(depth: depth - 1), variable: name(), predicate(depth: depth - 1))
    default:
      return .fetch(
        expression(depth: depth - 1), context: expression(depth: depth - 1),
        countOnly: .random(using: &random))
    }
  }

  private mutating func function(depth: Int) -> FetchExpression {
    let function = choose(FetchExpression.Function.allCases)
    if function == .cast {
      return .function(
        .cast, [expression(depth: depth), FetchExpression(choose(["Date", "NSNumber"]))])
    }
    let count = function.argumentCount ?? Int.random(in: 1...3, using: &random)
    return .function(function, expressions(count...count, depth: depth))
  }

  private mutating func expressions(
    _ counts: ClosedRange<Int>, depth: Int
  ) -> [FetchExpression] {
    (0..<Int.random(in: counts, using: &random)).map { _ in expression(depth: depth) }
  }

  private mutating func names() -> [String] {
    let names = (0..<Int.random(in: 1...3, using: &random)).map { _ in name() }
    return names
      + (Bool.random(using: &random) ? [choose(CollectionOperator.allCases).rawValue] : [])
  }

  private mutating func name() -> String {
    choose([
      "x", "y2", "_z", "größe", "in", "Any", "SELF", "nil", "CAST", "a b", "a.b", "", "1a", "@sum",
      "日本", "\"q\"", "it's", "#", "true", "NOT", "e\u{301}", "\u{301}",
    ])
  }

  private mutating func text() -> String {
    choose([
      "", "a", "A*", "é", "e\u{301}", "say \"hi\"", "it's", "back\\slash", "\n\r\n\t\0\u{7F}",
      "%@ %%",
      "👩‍👩‍👧", "\u{301}", "[a-z]+",
    ])
  }

  mutating func value() -> AttributeValue? {
    switch Int.random(in: 0..<15, using: &random) {
    case 0: nil
    case 1: .boolean(.random(using: &random))
    case 2: .integer(choose([0, 1, -1, .max, .min]))
    case 3: .integer(.random(in: -1000...1000, using: &random))
    case 4: .double(choose([0.1, 1, -2.5, 1e300, 1e-300, .infinity, -.infinity]))
    case 5: .float(choose([1.33, 1e30, -0.1, .infinity]))
    case 6: .decimal(choose([1.5, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -7]))
    case 7, 8: .string(text())
    case 9: .date(Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random)))
    case 10: .binary(Data(choose([[], [0], [1, 2, 255]])))
    case 11: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
    case 12: .uri(URL(string: "https://a.example/b?c=%20d#e") ?? URL(filePath: "/"))
    case 13: .transformed(Data([9]))
    default: .composite(["a": 1, "b": .composite(["c": "d"])])
    }
  }
}
