/// Reads a format by recursive descent: disjunction, conjunction, negation, comparison, expression.
///
/// Whether a predicate or an expression follows an opening parenthesis is not known at once, as in
/// `(a + b) * c > 0`. So the inside is read as either of the two, and a caller that needs a
/// predicate throws if there is none. Nothing is read twice.
struct PredicateFormatParser {
  var lexer: FormatLexer
  let arguments: [PredicateValue?]
  var argumentCount = 0
  /// Whether arguments that the format does not ask for are ignored.
  var ignoresSurplus = false
  /// Whether a number with more digits than a double has is a decimal.
  var keepsDigits = false
  /// Whether there is a mark in place of each argument.
  var marksArguments = false
  /// The arguments that are key paths, by their positions.
  var keyPathArguments: [Int] = []
  /// The number of nested calls that the parser is in.
  private var depth = 0
  /// The number of nested levels in the part that was read last. A chain of operators nests without
  /// a call.
  private(set) var height = 0

  private enum Parsed {
    case predicate(FetchPredicate)
    case expression(FetchExpression)
  }

  init(_ format: String, _ arguments: [PredicateValue?]) throws(PredicateFormatError) {
    lexer = try FormatLexer(format)
    self.arguments = arguments
  }

  mutating func parse() throws(PredicateFormatError) -> FetchPredicate {
    let predicate = try predicate()
    try finish(expected: "AND, OR or the end")
    return predicate
  }

  mutating func parseExpression() throws(PredicateFormatError) -> FetchExpression {
    let expression = try expression()
    try finish(expected: "an operator or the end")
    return expression
  }

  private func finish(expected: String) throws(PredicateFormatError) {
    if lexer.next != .end { throw lexer.error(expected: expected) }
    if argumentCount < arguments.count, !ignoresSurplus {
      throw lexer.error(
        expected: "a format for \(argumentCount) arguments", found: "\(arguments.count) of them")
    }
  }

  // MARK: Predicates

  mutating func predicate() throws(PredicateFormatError) -> FetchPredicate {
    let parsed = try disjunction()
    return try predicate(in: parsed)
  }

  private func predicate(in parsed: Parsed) throws(PredicateFormatError) -> FetchPredicate {
    guard case .predicate(let predicate) = parsed else {
      throw lexer.error(expected: "a comparison such as == or CONTAINS")
    }
    return predicate
  }

  // The functions that call each other for every parenthesis are short: what they need room for
  // besides is in functions of its own, because a thread may have half a megabyte of stack.

  private mutating func disjunction() throws(PredicateFormatError) -> Parsed {
    let first = try conjunction()
    return isNext(.or, .or) ? try disjunction(from: first) : first
  }

  private mutating func disjunction(
    from first: Parsed
  ) throws(PredicateFormatError) -> Parsed {
    var parts = [try predicate(in: first)]
    var highest = height
    while try skip(.or, .or) {
      let next = try conjunction()
      parts.append(try predicate(in: next))
      highest = max(highest, height)
    }
    try raise(above: highest)
    return .predicate(.or(parts))
  }

  private mutating func conjunction() throws(PredicateFormatError) -> Parsed {
    let first = try negation()
    return isNext(.and, .and) ? try conjunction(from: first) : first
  }

  private mutating func conjunction(
    from first: Parsed
  ) throws(PredicateFormatError) -> Parsed {
    var parts = [try predicate(in: first)]
    var highest = height
    while try skip(.and, .and) {
      let next = try negation()
      parts.append(try predicate(in: next))
      highest = max(highest, height)
    }
    try raise(above: highest)
    return .predicate(.and(parts))
  }

  private mutating func negation() throws(PredicateFormatError) -> Parsed {
    try enter()
    defer { leave() }
    if try skip(.not, .not) { return try negated(try negation()) }
    if try skip(.openParenthesis) { return try parenthesised(try disjunction()) }
    return try comparison()
  }

  private mutating func negated(_ parsed: Parsed) throws(PredicateFormatError) -> Parsed {
    let part = try predicate(in: parsed)
    try raise(above: height)
    return .predicate(.not(part))
  }

  /// The result of parentheses together with the operators or the comparison after them.
  private mutating func parenthesised(_ inner: Parsed) throws(PredicateFormatError) -> Parsed {
    if try !skip(.closeParenthesis) { throw lexer.error(expected: "AND, OR or )") }
    guard case .expression(let first) = inner else { return inner }
    let left = try operators(after: try names(after: first), from: 0)
    return isAtComparison ? .predicate(try comparison(left, .direct)) : .expression(left)
  }

  private mutating func comparison() throws(PredicateFormatError) -> Parsed {
    switch lexer.word {
    case .truePredicate, .falsePredicate:
      let flag = lexer.word == .truePredicate
      try lexer.advance()
      height = 0
      return .predicate(.constant(flag))
    case .noneOf:
      try lexer.advance()
      let comparison = try comparison(try expression(), .any)
      try raise(above: height)
      return .predicate(.not(comparison))
    case .anyOf, .someOf:
      try lexer.advance()
      return .predicate(try comparison(try expression(), .any))
    case .allOf:
      try lexer.advance()
      return .predicate(try comparison(try expression(), .all))
    default: break
    }
    let left = try expression()
    return isAtComparison ? .predicate(try comparison(left, .direct)) : .expression(left)
  }

  private mutating func comparison(
    _ left: FetchExpression, _ modifier: FetchPredicate.Modifier
  ) throws(PredicateFormatError) -> FetchPredicate {
    let leftHeight = height
    guard let found = nextOperator else {
      if modifier == .direct, isAtSelector { return try question(of: left, leftHeight) }
      throw lexer.error(expected: "a comparison such as == or CONTAINS")
    }
    try lexer.advance()
    let options = try self.options()
    let right = try expression()
    try raise(above: max(leftHeight, height))
    return .comparison(left, found, right, options: options, modifier: modifier)
  }

  /// `isKindOfClass: b` after an operand, and the like: short for `FUNCTION(a, …) == YES`.
  private mutating func question(
    of left: FetchExpression, _ leftHeight: Int
  ) throws(PredicateFormatError) -> FetchPredicate {
    let selector = lexer.text + ":"
    try lexer.advance()
    _ = try skip(.colon)
    let right = try expression()
    try raise(above: max(leftHeight, height))
    try raise(above: height)
    return .comparison(
      .call(left, selector: selector, [right]), .equal, FetchExpression(true))
  }

  private var isAtSelector: Bool {
    lexer.next == .word && lexer.word?.isReserved != true
      && lexer.byteAfterNext == UInt8(ascii: ":")
  }

  private var isAtComparison: Bool { nextOperator != nil || isAtSelector }

  private var nextOperator: FetchPredicate.Operator? {
    switch lexer.next {
    case .sign: lexer.sign?.comparison
    case .word: lexer.word?.comparison
    default: nil
    }
  }

  private mutating func options() throws(PredicateFormatError) -> FetchComparisonOptions {
    guard try skip(.openBracket) else { return [] }
    guard lexer.next == .word else {
      throw lexer.error(expected: "the options c, d, l or n")
    }
    var options: FetchComparisonOptions = []
    for letter in lexer.text.lowercased() {
      guard let option = FetchComparisonOptions.letters.first(where: { $0.letter == letter })
      else { throw lexer.error(expected: "the options c, d, l or n") }
      options.insert(option.option)
    }
    try lexer.advance()
    if try !skip(.closeBracket) { throw lexer.error(expected: "] after the options") }
    return options
  }
}

// MARK: Tokens and depth

extension PredicateFormatParser {
  private func isNext(_ word: FormatWord, _ sign: FormatSign) -> Bool {
    lexer.word == word || lexer.sign == sign
  }

  private mutating func skip(
    _ word: FormatWord, _ sign: FormatSign
  ) throws(PredicateFormatError) -> Bool {
    guard isNext(word, sign) else { return false }
    try lexer.advance()
    return true
  }

  mutating func skip(_ sign: FormatSign) throws(PredicateFormatError) -> Bool {
    guard lexer.sign == sign else { return false }
    try lexer.advance()
    return true
  }

  /// Lists and functions enter twice, because they take twice as much of the stack.
  mutating func enter() throws(PredicateFormatError) {
    depth += 1
    if depth > PredicateEvaluator.maximumDepth { throw tooDeep() }
  }

  mutating func leave() { depth -= 1 }

  /// Sets the height of the part that was read last, from that of its highest part.
  mutating func raise(above highest: Int) throws(PredicateFormatError) {
    height = highest + 1
    if height > PredicateEvaluator.maximumDepth { throw tooDeep() }
  }

  /// Sets the height in the same way for a part that is written after an operand and printed as a
  /// function. Functions count twice, and the printed format has to be readable again.
  mutating func raise(aboveOperandOfFunction highest: Int) throws(PredicateFormatError) {
    try raise(above: highest)
    try raise(above: height)
  }

  /// Sets the height of a part that consists of no others.
  mutating func beginHeight() { height = 0 }

  private func tooDeep() -> PredicateFormatError {
    lexer.error(
      expected: "parts nested at most \(PredicateEvaluator.maximumDepth) deep")
  }
}
