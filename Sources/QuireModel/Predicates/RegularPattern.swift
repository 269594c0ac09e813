/// A regular expression for whole texts, as `MATCHES` has it, that no text makes run for long.
///
/// `Regex` goes back and tries again, which with `(a+)+b` takes twice as long for each further
/// character. Where it might, an automaton answers in its stead; an expression that has none, since
/// it looks around or back, is refused for a text that it might take too long for.
package final class RegularPattern {
  private let pattern: String
  private let options: FetchComparisonOptions
  private let regex: Regex<AnyRegexOutput>
  private let node: PatternNode
  private let reader: PatternReader
  /// The longest text, in bytes, that `Regex` certainly answers for in good time.
  private let maximumByteCount: Int
  package private(set) lazy var automaton = PatternAutomaton(
    node, reader, ignoringCase: options.contains(.caseInsensitive))

  /// The limit of the steps that `Regex` may take: some tens of milliseconds.
  private static let maximumStepCount = 1e6
  /// An expression that is too slow for texts shorter than this is refused altogether.
  private static let shortByteCount = 16

  /// - Throws: ``FetchPredicateError`` when the pattern is none, is too large, or needs too long.
  package init(_ pattern: String, _ options: FetchComparisonOptions) throws(FetchPredicateError) {
    self.pattern = pattern
    self.options = options
    // The compiler of patterns calls itself for every group, and would use up the stack.
    let groupCount = pattern.utf8.reduce(0) { $0 + ($1 == 0x28 || $1 == 0x5B ? 1 : 0) }
    if groupCount > 200 || pattern.utf8.count > 10_000 {
      throw FetchPredicateError(.pattern(pattern, message: "it is too long or has too many groups"))
    }
    let folded = CanonicalText.folded(pattern, options.intersection(.diacriticInsensitive))
    do {
      regex = try Regex(folded).ignoresCase(options.contains(.caseInsensitive))
    } catch {
      throw FetchPredicateError(.pattern(pattern, message: String(describing: error)))
    }
    var reader = PatternReader(folded)
    node = reader.read()
    self.reader = reader
    maximumByteCount = Self.maximumByteCount(node)
    if maximumByteCount < Self.shortByteCount, automaton == nil { throw tooSlow() }
  }

  /// - Throws: ``FetchPredicateError`` when the answer might take too long.
  package func matches(_ text: String) throws(FetchPredicateError) -> Bool {
    let folded = CanonicalText.folded(text, options.intersection(.diacriticInsensitive))
    if folded.utf8.count > maximumByteCount {
      guard let automaton else { throw tooSlow() }
      return automaton.matches(folded)
    }
    // Matching throws only where a regular expression calls code, and a pattern in a string cannot.
    return ((try? regex.wholeMatch(in: folded)) ?? nil) != nil
  }

  private func tooSlow() -> FetchPredicateError {
    let texts =
      maximumByteCount < Self.shortByteCount
      ? "most texts" : "a text of more than \(maximumByteCount) bytes"
    return FetchPredicateError(
      .pattern(
        pattern,
        message: "its repetitions might take too long for \(texts); write it without repetitions "
          + "inside or next to each other, or without what looks around or back, such as (?=…), \\b, "
          + "\\1 and possessive quantifiers"))
  }

  private static func maximumByteCount(_ node: PatternNode) -> Int {
    func isFast(_ count: Int) -> Bool {
      // A pattern that takes time proportional to the text is fast for texts of any length.
      let most = max(maximumStepCount, Double(count) * 100)
      return node.effort(characterCount: Double(count)).steps <= most
    }
    var (low, high) = (0, 1)
    while isFast(high), high < 1 << 40 { (low, high) = (high, high * 2) }
    if isFast(high) { return .max }
    while high - low > 1 {
      let middle = (low + high) / 2
      if isFast(middle) { low = middle } else { high = middle }
    }
    return low
  }
}
