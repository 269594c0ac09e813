import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct ExpressionFormatTests {
  private let a = FetchExpression.keyPath(["a"])
  private let b = FetchExpression.keyPath(["b"])
  private let c = FetchExpression.keyPath(["c"])

  @Test func `operators bind as in Core Data, from left to right`() throws {
    for (format, expression) in [
      ("a + b * c", .function(.add, [a, .function(.multiply, [b, c])])),
      ("a + b / c", .function(.add, [a, .function(.divide, [b, c])])),
      ("a / b * c", .function(.multiply, [.function(.divide, [a, b]), c])),
      ("(a + b) * c", .function(.multiply, [.function(.add, [a, b]), c])),
      ("a - b - c", .function(.subtract, [.function(.subtract, [a, b]), c])),
      ("a * b ** c", .function(.multiply, [a, .function(.power, [b, c])])),
      ("a ** b ** c", .function(.power, [.function(.power, [a, b]), c])),
      ("-a ** b", .function(.power, [.function(.negate, [a]), b])),
      ("a-1", .function(.subtract, [a, FetchExpression(1)])),
      ("a - -1", .function(.subtract, [a, FetchExpression(-1)])), ("- 1", FetchExpression(-1)),
      ("-9223372036854775808", FetchExpression(Int64.min)),
      ("-(1)", .function(.negate, [FetchExpression(1)])),
      ("a UNION b + c", .function(.union, [a, .function(.add, [b, c])])),
      ("a union b MINUS c", .function(.difference, [.function(.union, [a, b]), c])),
      (
        "union INTERSECT minus",
        .function(.intersection, [.keyPath(["union"]), .keyPath(["minus"])])
      ),
    ] as [(String, FetchExpression)] {
      #expect(try FetchExpression(format: format) == expression, "\(format)")
    }
  }

  @Test func `functions are read with and without their colons`() throws {
    for (format, expression) in [
      ("uppercase:(a)", .function(.uppercase, [a])), ("UPPERCASE(a)", .function(.uppercase, [a])),
      ("canonical:(a)", .function(.canonical, [a])), ("now()", .function(.now, [])),
      ("sum({1, a})", .function(.sum, [.aggregate([FetchExpression(1), a])])),
      ("max(a, b)", .function(.maximum, [a, b])),
      ("modulus:by:(a, b)", .function(.modulus, [a, b])),
      ("add:to:(a, b)", .function(.add, [a, b])), ("random()", .function(.random, [])),
      ("random(6)", .function(.randomBelow, [FetchExpression(6)])),
      ("CAST(a, 'NSDate')", .function(.cast, [a, FetchExpression("NSDate")])),
      ("CAST(-0.5, 'NSDate')", FetchExpression(Date(timeIntervalSinceReferenceDate: -0.5))),
      (
        "CAST(12345678901234567890.5, 'Decimal')",
        FetchExpression(try #require(Decimal(string: "12345678901234567890.5")))
      ),
      (
        "TERNARY(a == 1 OR b > 2, 'x', nil)",
        .conditional(Key("a") == 1 || Key("b") > 2, FetchExpression("x"), nil)
      ),
      (
        "SUBQUERY(a.b, $x, $x.c > 1)",
        .subquery(
          .keyPath(["a", "b"]), variable: "x",
          .comparison(.path(.variable("x"), ["c"]), .greaterThan, FetchExpression(1)))
      ),
      (
        "$source.country.@distinctUnionOfSets.moods",
        .path(.variable("source"), ["country", "@distinctUnionOfSets", "moods"])
      ),
      (
        "FUNCTION(a, 'b:', 1).c",
        .path(.call(a, selector: "b:", [FetchExpression(1)]), ["c"])
      ),
      ("(a UNION b).@count", .path(.function(.union, [a, b]), ["@count"])),
      ("$\"any text\"", .variable("any text")), ("SELF.a", a),
      ("FETCH($r, $c, YES)", .fetch(.variable("r"), context: .variable("c"), countOnly: true)),
    ] as [(String, FetchExpression)] {
      #expect(try FetchExpression(format: format) == expression, "\(format)")
    }
  }

  @Test func `Core Data's own expressions of mapping models`() throws {
    let relationship = """
      FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", \
      "MoodToMood", $source.countries.@distinctUnionOfSets.moods)
      """
    let expression = try FetchExpression(format: relationship)
    #expect(
      expression
        == .call(
          .variable("manager"),
          selector: "destinationInstancesForEntityMappingNamed:sourceInstances:",
          [
            FetchExpression("MoodToMood"),
            .path(.variable("source"), ["countries", "@distinctUnionOfSets", "moods"]),
          ]))
    #expect(expression.description == relationship)
    let source = """
      FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Person", \
      "TRUEPREDICATE"), $manager.sourceContext, NO)
      """
    #expect(try FetchExpression(format: source).description == source)
  }

  @Test func `arguments take their places in expressions`() throws {
    #expect(
      try FetchExpression(format: "%K + %d - $source.%K", "a.b", 1, "c.d")
        == .function(
          .subtract,
          [
            .function(.add, [.keyPath(["a", "b"]), FetchExpression(1)]),
            .path(.variable("source"), ["c", "d"]),
          ]))
    #expect(
      try FetchExpression(format: "FUNCTION(%@, %@)", 1, "stringValue")
        == .call(FetchExpression(1), selector: "stringValue", []))
    #expect(throws: PredicateFormatError.self) { try FetchExpression(format: "%@") }
    #expect(throws: PredicateFormatError.self) { try FetchExpression(format: "a", 1) }
  }

  @Test func `parentheses are told apart by what is in them`() throws {
    let sum = FetchExpression.function(.add, [a, b])
    #expect(
      try FetchPredicate(format: "(a + b) > 1")
        == .comparison(sum, .greaterThan, FetchExpression(1)))
    #expect(
      try FetchPredicate(format: "((a + b) * c > 1 AND (a == 1))")
        == .and([
          .comparison(.function(.multiply, [sum, c]), .greaterThan, FetchExpression(1)),
          Key("a") == 1,
        ]))
    #expect(try FetchPredicate(format: "((a)) == 1") == (Key("a") == 1))
    #expect(
      try FetchPredicate(format: "SUBQUERY(a, $x, $x == 1).@count > 0")
        == .comparison(
          .path(
            .subquery(a, variable: "x", .comparison(.variable("x"), .equal, FetchExpression(1))),
            ["@count"]), .greaterThan, FetchExpression(0)))
  }

  @Test(arguments: [
    "", "a b", "a == 1", "a +", "(a", "a)", "{a", "$", "a.", "a.@foo", "foo(a)", "abs()",
    "abs:by:(a)",
    "FUNCTION(a)", "FUNCTION(a, b)", "TERNARY(a, 1, 2)", "TERNARY(a == 1, 2)",
    "SUBQUERY(a, b, c == 1)",
    "SUBQUERY(a, $x, $x)", "FETCH(a, b)", "FETCH(a, b, c)", "CAST(a)", "CAST(a, 'Foo')",
    "CAST('x', 'Date')", "a ** ** b", "a % b", "ANY a", "UNION", "a UNION", "TRUEPREDICATE",
  ])
  func `a format that is no expression is an error`(format: String) {
    // `UNION` alone is the property of that name.
    if format == "UNION" {
      #expect((try? FetchExpression(format: format)) == .keyPath(["UNION"]))
    } else {
      #expect(throws: PredicateFormatError.self) { try FetchExpression(format: format) }
    }
  }

  @Test func `an expression's description parses back to an equal expression`() throws {
    var generator = PredicateGenerator(seed: 5)
    for _ in 0..<Amount.of(debug: 1_200, release: 4_000) {
      let expression = generator.expression(depth: 4)
      do {
        #expect(
          try FetchExpression(format: expression.description) == expression, "\(expression)")
      } catch {
        Issue.record("\(expression): \(error)")
      }
    }
  }

  @Test func `a chain of operators nests, and too long a one is an error`() throws {
    func chain(_ count: Int) -> String {
      Array(repeating: "a", count: count).joined(separator: " + ")
    }
    let expression = try FetchExpression(format: chain(100))
    try expression.checkDepth()
    #expect(throws: PredicateFormatError.self) { try FetchExpression(format: chain(102)) }
    // Each parenthesis closed makes a new chain possible; the depths add up.
    var nested = "a"
    for _ in 0..<50 { nested = "(\(nested)) + 1 + 1 + 1" }
    #expect(throws: PredicateFormatError.self) { try FetchExpression(format: nested) }
    var deep = FetchExpression.keyPath(["a"])
    for _ in 0..<101 { deep = .function(.negate, [deep]) }
    #expect(throws: FetchPredicateError(.depth(maximum: 100))) { try deep.checkDepth() }
  }
}
