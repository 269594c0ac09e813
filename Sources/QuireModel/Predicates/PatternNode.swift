/// The structure of a regular expression: what Swift's `Regex` would backtrack over.
///
/// Single characters and classes are kept as text. What they match is left to `Regex`.
indirect enum PatternNode {
  /// An expression that matches one character: its position among the texts of a ``PatternReader``.
  case atom(Int)
  case start
  case end
  case sequence([PatternNode])
  case choice([PatternNode])
  /// Without a maximum: any number.
  case repetition(PatternNode, minimum: Int, maximum: Int?)
  /// A lookaround or an atomic group: `Regex` does not come back into it once it has matched.
  case closed(PatternNode)
  /// An expression that matches no text of its own, or that is not analysed here: a word boundary,
  /// a backreference.
  case other

  /// Whether the expression has a part that matches a position rather than a character.
  var hasAnchor: Bool {
    switch self {
    case .atom: false
    case .start, .end, .closed, .other: true
    case .sequence(let parts), .choice(let parts): parts.contains(where: \.hasAnchor)
    case .repetition(let part, _, _): part.hasAnchor
    }
  }

  /// An upper bound of how `Regex` goes through a text.
  struct Effort {
    /// The number of ways in which the node may match from one position.
    var ways = 1.0
    /// The number of steps that trying them all takes.
    var steps = 1.0
  }

  func effort(characterCount: Double) -> Effort {
    switch self {
    case .atom, .start, .end, .other: return Effort()
    case .sequence(let parts):
      var sum = Effort(ways: 1, steps: 0)
      for part in parts {
        let next = part.effort(characterCount: characterCount)
        sum.steps += sum.ways * next.steps
        sum.ways *= next.ways
      }
      return sum
    case .choice(let parts):
      var sum = Effort(ways: 0, steps: 0)
      for part in parts {
        let next = part.effort(characterCount: characterCount)
        sum.steps += next.steps
        sum.ways += next.ways
      }
      return sum
    case .closed(let part):
      return Effort(ways: 1, steps: part.effort(characterCount: characterCount).steps)
    case .repetition(let part, let minimum, let maximum):
      let one = part.effort(characterCount: characterCount)
      let most = max(Double(minimum), min(Double(maximum ?? .max), characterCount))
      let counts = most - Double(minimum) + 1
      if one.ways <= 1 { return Effort(ways: counts, steps: max(1, most) * one.steps) }
      let ways = Self.power(one.ways, most) * counts
      return Effort(ways: ways, steps: ways * one.steps)
    }
  }

  private static func power(_ base: Double, _ exponent: Double) -> Double {
    var result = 1.0
    var left = exponent
    while left >= 1, result < 1e100 {
      result *= base
      left -= 1
    }
    return result
  }
}
