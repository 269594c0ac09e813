import Foundation
import Quire
import Testing

@Suite struct ExpressionDepthTests {
  /// What was found out on a thread of its own.
  private final class Findings: @unchecked Sendable {
    // Written by the thread before it signals, read after the wait.
    var depths: [String: Int] = [:]
    let isDone = DispatchSemaphore(value: 0)
  }

  // Threads that are not the main one have half a megabyte of stack on Darwin, and so are those of
  // the concurrency runtime.
  @Test func `the deepest expressions are read, printed and evaluated on half a megabyte of stack`()
  {
    let shapes: [(name: String, open: String, close: String)] = [
      ("parentheses", "(", ")"), ("minus", "-", ""), ("abs", "abs(", ")"),
      ("sum", "1 + (", ")"), ("list", "count({", "})"),
      ("ternary", "TERNARY((NOT (1 == ", ")), 1, 2)"),
      ("ternaries", "TERNARY(1 == 1, ", ", 2)"),
      ("subquery", "SUBQUERY({1}, $x, $x == ", ").@count"),
      ("call", "FUNCTION(", ", 'stringValue')"),
    ]
    let findings = Findings()
    let thread = Thread {
      for shape in shapes {
        for depth in 1...150 {
          let format =
            String(repeating: shape.open, count: depth) + "a"
            + String(repeating: shape.close, count: depth)
          guard let expression = try? FetchExpression(format: format) else { break }
          guard expression.description.utf8.count > 0,
            (try? expression.expressionValue(with: ["a": 1])) != nil,
            expression == (try? FetchExpression(format: expression.description))
          else { continue }
          findings.depths[shape.name] = depth
        }
      }
      findings.isDone.signal()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    findings.isDone.wait()
    for shape in shapes {
      let depth = findings.depths[shape.name] ?? 0
      #expect((15...100).contains(depth), "\(shape.name): \(depth)")
    }
  }
}
