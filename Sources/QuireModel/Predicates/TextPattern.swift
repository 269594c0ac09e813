import Synchronization

/// A regular expression for whole texts, as `MATCHES` has it, that several threads may use.
///
/// It is compiled for the first text: a model has patterns that a program never comes to.
package final class TextPattern: Sendable {
  package let pattern: String
  private let regex = Mutex<Regex<AnyRegexOutput>?>(nil)

  package init(_ pattern: String) { self.pattern = pattern }

  /// - Throws: ``FetchPredicateError`` when the pattern is none; a model refuses such a one.
  package func matches(_ text: String) throws -> Bool {
    try regex.withLock { regex in
      let compiled = try regex ?? PredicateEvaluator.Comparison.regex(pattern, [])
      regex = compiled
      return PredicateEvaluator.Comparison.matches(text, compiled, [])
    }
  }
}
