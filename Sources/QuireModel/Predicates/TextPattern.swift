import Synchronization

/// A regular expression for whole texts, as `MATCHES` has it, that several threads may use.
///
/// It is compiled for the first text: a model has patterns that a program never comes to.
package final class TextPattern: Sendable {
  package let pattern: String
  private let compiled = Mutex<RegularPattern?>(nil)

  package init(_ pattern: String) { self.pattern = pattern }

  /// - Throws: ``FetchPredicateError`` when the pattern is none; a model refuses such a one. And
  ///   when the answer might take too long for the text.
  package func matches(_ text: String) throws -> Bool {
    try compiled.withLock { compiled in
      let pattern = try compiled ?? RegularPattern(pattern, [])
      compiled = pattern
      return try pattern.matches(text)
    }
  }
}
