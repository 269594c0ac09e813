import QuireModel
import Testing

/// A format that was read before is not read again: the predicate is the same.
struct PredicateFormatMemoryTests {
  private static let formats = [
    "x == %@", "x==%@", "  x  !=  %@", "x <= %@", "x > %@", "a.b == %@", "#'a b' == %@",
    "x == -%@", "-x == %@", "x == (%@)", "x == %@ ", "x =[c] %@", "ANY x == %@", "NOT x == %@",
    "x BEGINSWITH %@", "%@ == x", "x == %d", "x == '%@' OR x == %@", "x == 1 OR y == %@",
    "x == 1 + %@", "self.x == %@", "SELF == %@", "x[1] == %@", "%@ == %@",
  ]

  @Test func `each argument gives what it would give the first time`() {
    let values: [[(any PredicateConvertible)?]] = [
      ["a"], [0], [-0.0], [true], [1.5], [nil], ["%@"], [PredicateValue.collection([])],
      ["a", "b"],
      [], [0], ["a"],
    ]
    var spaces = 0
    for format in Self.formats {
      for arguments in values {
        let first = Result { try FetchPredicate(format: format, argumentArray: arguments) }
        // A space at the beginning says nothing, and is another format.
        spaces += 1
        let space = String(repeating: " ", count: spaces)
        let other = Result { try FetchPredicate(format: space + format, argumentArray: arguments) }
        switch (first, other) {
        case (.success(let first), .success(let other)): #expect(first == other, "\(format)")
        case (.failure, .failure): break
        default: Issue.record("\(format), \(arguments): \(first), and \(other)")
        }
      }
    }
  }
}
