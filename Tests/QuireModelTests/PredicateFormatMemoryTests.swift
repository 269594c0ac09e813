import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A format that was read before is not read again: the predicate is the same.
struct PredicateFormatMemoryTests {
  private static let formats = [
    "x == %@", "x==%@", "  x  !=  %@", "x <= %@", "x > %@", "a.b == %@", "#'a b' == %@",
    "x == -%@", "-x == %@", "x == (%@)", "x == %@ ", "x =[c] %@", "ANY x == %@", "NOT x == %@",
    "x BEGINSWITH %@", "%@ == x", "x == %d", "x == '%@' OR x == %@", "x == 1 OR y == %@",
    "x == 1 + %@", "self.x == %@", "SELF == %@", "x[1] == %@", "%@ == %@", "x[%@] == 1",
    "x == %@ AND y == %@", "%K == %@", "x == %f OR NOT (y IN %@ OR z > %@)", "x IN {%@, %@, 3}",
    "%@.year == %@", "x BETWEEN %@", "x IN %@", "FUNCTION(x, %@) == 1", "CAST(%@, %@) == x",
    "SUBQUERY(%K, $x, $x.a == %@).@count > %d", "TERNARY(x == %@, %@, 1) == y",
    "x == $y OR x == %@",
    #"x == $"\#u{1}0" OR x == %@"#, "TRUEPREDICATE", "x == 'a'", "sum:(x, %@) > 1", "x.%K == 1",
  ]

  private static var values: [(any PredicateConvertible)?] {
    [
      "a", "a.b", "", 0, -5, -0.0, Double.nan, true, 1.5, nil, "%@", "uppercase:", "NSNumber",
      Decimal(string: "1e20"), Decimal(3), Date(timeIntervalSinceReferenceDate: 7),
      PredicateValue.collection([]), PredicateValue.collection([.value(.integer(1)), nil]),
      UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
    ]
  }

  /// A format that is read for the first time: spaces at the beginning say nothing.
  private static func read(
    _ format: String, _ arguments: [(any PredicateConvertible)?], _ spaces: inout Int
  ) -> Result<FetchPredicate, any Error> {
    spaces += 1
    let space =
      String(repeating: " ", count: spaces % 900)
      + String(repeating: "\n", count: spaces / 900)
    return Result { try FetchPredicate(format: space + format, argumentArray: arguments) }
  }

  @Test func `a format that is used again means what it would mean the first time`() {
    var random = SeededGenerator(seed: 1)
    var spaces = 0
    var found = 0
    for format in Self.formats {
      let wanted = format.split(separator: "%").count - (format.hasPrefix("%") ? 0 : 1)
      for _ in 0..<120 {
        // Mostly as many arguments as there are signs.
        let count = random.below(8) == 0 ? random.below(4) : wanted
        let arguments = (0..<count).map { _ in Self.values[random.below(Self.values.count)] }
        let again = Result { try FetchPredicate(format: format, argumentArray: arguments) }
        switch (again, Self.read(format, arguments, &spaces)) {
        case (.success(let again), .success(let first)):
          // Printed, as a number that is none is not equal to itself.
          #expect("\(again)" == "\(first)", "\(format), \(arguments)")
          found += 1
        case (.failure, .failure): break
        case (let again, let first):
          Issue.record("\(format), \(arguments): \(first), and then \(again)")
        }
      }
    }
    #expect(found > 1_000)
  }

  @Test(arguments: [
    ("kept == %@", ["a"]), ("kept == %@ AND x > %@", ["a", "b"]), ("%K BEGINSWITH %@", ["a", "b"]),
    ("kept == 1", []),
  ])
  func `a format is remembered when it is read for the second time`(
    format: String, arguments: [String]
  ) throws {
    // Other tests of this process displace formats, each time with luck of their own.
    var isKept = false
    for number in 1...50 where !isKept {
      let format = format + String(repeating: " ", count: number)
      func isRemembered(_ arguments: [String]) -> Bool {
        PredicateFormatMemory.predicate(format, arguments.map { .value(.string($0)) }) != nil
      }
      for _ in 1...2 {
        #expect(!isRemembered(arguments))
        _ = try FetchPredicate(format: format, argumentArray: arguments)
      }
      // Another value, and the same key path.
      isKept =
        isRemembered(arguments)
        && isRemembered(arguments.dropLast() + arguments.suffix(1).map { $0 + "z" })
    }
    #expect(isKept)
  }
}
