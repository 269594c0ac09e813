// Operators by how close they bind, then operands, then what is written with parentheses.
extension PredicateFormatParser {
  /// - Parameter precedence: operators that bind less close end the expression.
  mutating func expression(
    from precedence: Int = 0
  ) throws(PredicateFormatError) -> FetchExpression {
    try enter()
    defer { leave() }
    return try operators(after: try operand(), from: precedence)
  }

  /// What becomes of an operand with the operators that follow it.
  mutating func operators(
    after first: FetchExpression, from minimum: Int
  ) throws(PredicateFormatError) -> FetchExpression {
    var left = first
    while let function = nextInfix, let precedence = function.infix?.precedence,
      precedence >= minimum
    {
      try lexer.advance()
      let leftHeight = height
      let right = try expression(from: precedence + 1)
      try raise(above: max(leftHeight, height))
      left = .function(function, [left, right])
    }
    return left
  }

  private var nextInfix: FetchExpression.Function? {
    switch lexer.next {
    case .sign: lexer.sign?.infix
    case .word: lexer.word?.infix
    default: nil
    }
  }

  private mutating func operand() throws(PredicateFormatError) -> FetchExpression {
    if try skip(.minus) {
      if lexer.next == .number { return try number("-" + lexer.text) }
      try enter()
      defer { leave() }
      let operand = try operand()
      try raise(above: height)
      return .function(.negate, [operand])
    }
    return try names(after: try start())
  }

  /// What the names after an operand lead to, if names follow.
  mutating func names(
    after operand: FetchExpression
  ) throws(PredicateFormatError) -> FetchExpression {
    guard try skip(.point) else { return operand }
    if operand == .evaluatedObject { return try keyPath() }
    let operandHeight = height
    let names = try names()
    try raise(above: operandHeight)
    return .path(operand, names)
  }

  private mutating func start() throws(PredicateFormatError) -> FetchExpression {
    beginHeight()
    if try skip(.openBrace) { return try aggregate() }
    if try skip(.openParenthesis) { return try parenthesised() }
    guard let function = try functionName() else { return try leaf() }
    return try self.function(function)
  }

  private mutating func aggregate() throws(PredicateFormatError) -> FetchExpression {
    try enter()
    defer { leave() }
    let (members, highest) = try list(until: .closeBrace)
    if !members.isEmpty { try raise(above: highest) }
    return .aggregate(members)
  }

  private mutating func parenthesised() throws(PredicateFormatError) -> FetchExpression {
    let inner = try expression()
    if try !skip(.closeParenthesis) { throw lexer.error(expected: "an operator or )") }
    return inner
  }

  /// An operand without parts.
  private mutating func leaf() throws(PredicateFormatError) -> FetchExpression {
    switch lexer.next {
    case .string:
      let text = lexer.content
      try lexer.advance()
      return FetchExpression(text)
    case .number:
      return try number(lexer.text)
    case .argument:
      return isAtKeyPathArgument ? try keyPath() : try argument()
    case .variable:
      let name = lexer.content
      try lexer.advance()
      return .variable(name)
    case .word:
      if let constant = try constant() { return constant }
      return try keyPath()
    case .name:
      return try keyPath()
    case .sign where lexer.sign == .at:
      return try keyPath()
    default:
      throw lexer.error(expected: "a value or a key path")
    }
  }

  private var isAtKeyPathArgument: Bool { lexer.isArgument(UInt8(ascii: "K")) }

  /// The constant that a word of the language stands for.
  private mutating func constant() throws(PredicateFormatError) -> FetchExpression? {
    guard let word = lexer.word, word.isReserved else { return nil }
    let constant: FetchExpression
    switch word {
    case .itself: constant = .evaluatedObject
    case .nil, .null: constant = nil
    case .yes, .true: constant = FetchExpression(true)
    case .no, .false: constant = FetchExpression(false)
    default:
      throw lexer.error(
        expected: "a value or a key path (a property of that name is #\(lexer.text))")
    }
    try lexer.advance()
    return constant
  }

  // MARK: Key paths

  private mutating func keyPath() throws(PredicateFormatError) -> FetchExpression {
    .keyPath(try names())
  }

  private mutating func names() throws(PredicateFormatError) -> [String] {
    var names: [String] = []
    repeat {
      switch lexer.next {
      case .argument where isAtKeyPathArgument:
        names += try keyPathArgument()
        continue
      case .word:
        if lexer.byteAfterNext == UInt8(ascii: "(") {
          throw lexer.error(
            expected: "a name; a function such as \(lexer.text) begins an expression")
        }
        names.append(lexer.text)
      case .name:
        names.append(lexer.content)
      case .sign where lexer.sign == .at:
        guard let name = CollectionOperator(rawValue: lexer.text)?.rawValue else { fallthrough }
        names.append(name)
      default:
        throw lexer.error(expected: "a name, or an operator such as @count")
      }
      try lexer.advance()
    } while try skip(.point)
    return names
  }

  // MARK: Lists

  /// The members up to the closing sign, and how high the highest is.
  mutating func list(
    until end: FormatSign
  ) throws(PredicateFormatError) -> (members: [FetchExpression], highest: Int) {
    var members: [FetchExpression] = []
    var highest = 0
    if try skip(end) { return ([], 0) }
    repeat {
      members.append(try expression())
      highest = max(highest, height)
    } while try skip(.comma)
    if try !skip(end) {
      throw lexer.error(expected: ", or \(end == .closeBrace ? "}" : ")") in a list")
    }
    return (members, highest)
  }
}
