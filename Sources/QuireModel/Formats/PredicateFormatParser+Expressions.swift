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

  /// The expression that an operand forms with the operators after it.
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

  /// The operand followed by the names and indexes that come after it, if there are any.
  mutating func names(
    after operand: FetchExpression
  ) throws(PredicateFormatError) -> FetchExpression {
    var operand = operand
    // A name in brackets is one of the path before it, and so are those after it.
    var isPath = false
    while true {
      if try skip(.openBracket) {
        (operand, isPath) = try member(of: operand)
      } else if try skip(.point) {
        let operandHeight = height
        let names = try names()
        if isPath || operand == .evaluatedObject {
          operand = try appending(names, to: operand, operandHeight)
        } else {
          try raise(above: operandHeight)
          operand = .path(operand, names)
        }
      } else {
        return operand
      }
    }
  }

  private mutating func appending(
    _ names: [String], to operand: FetchExpression, _ operandHeight: Int
  ) throws(PredicateFormatError) -> FetchExpression {
    switch operand {
    case .evaluatedObject: return .keyPath(names)
    case .keyPath(let before): return .keyPath(before + names)
    case .path(let start, let before): return .path(start, before + names)
    default:
      try raise(above: operandHeight)
      return .path(operand, names)
    }
  }

  /// Reads the text between brackets after the opening one, such as `FIRST]`, `2]` or `'city']`,
  /// and tells whether it continues the path before it.
  private mutating func member(
    of operand: FetchExpression
  ) throws(PredicateFormatError) -> (FetchExpression, isPath: Bool) {
    let operandHeight = height
    let word = lexer.word
    switch word {
    case .first?, .last?, .size?: try lexer.advance()
    default: break
    }
    let member: FetchExpression
    var isPath = false
    switch word {
    case .first?, .last?:
      try raise(aboveOperandOfFunction: operandHeight)
      member = .function(word == .first ? .first : .last, [operand])
    case .size?:
      member = try appending([FetchExpression.countOperator], to: operand, operandHeight)
    default:
      let index = try expression()
      if case .constant(.value(.string(let name))?) = index {
        // A key of a dictionary; composite attributes are dictionaries.
        member = try appending([name], to: operand, operandHeight)
        isPath = true
      } else {
        try raise(aboveOperandOfFunction: max(operandHeight, height))
        member = .function(.element, [operand, index])
      }
    }
    if try !skip(.closeBracket) {
      throw lexer.error(expected: "] after FIRST, LAST, SIZE, an index or a name")
    }
    return (member, isPath)
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

  /// The constant that a word of the language denotes; `nil` for other words.
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
