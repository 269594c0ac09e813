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
    case .sign(let sign): FetchExpression.Function.infixes[sign]
    case .word(let word): FetchExpression.Function.infixes[word.uppercased()]
    default: nil
    }
  }

  private mutating func operand() throws(PredicateFormatError) -> FetchExpression {
    if try skip(sign: "-") {
      if case .number(let digits) = lexer.next { return try number("-" + digits) }
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
    guard try skip(sign: ".") else { return operand }
    if operand == .evaluatedObject { return try keyPath() }
    let operandHeight = height
    let names = try names()
    try raise(above: operandHeight)
    return .path(operand, names)
  }

  private mutating func start() throws(PredicateFormatError) -> FetchExpression {
    beginHeight()
    if try skip(sign: "{") { return try aggregate() }
    if try skip(sign: "(") { return try parenthesised() }
    guard let function = try functionName() else { return try leaf() }
    return try self.function(function)
  }

  private mutating func aggregate() throws(PredicateFormatError) -> FetchExpression {
    try enter()
    defer { leave() }
    let (members, highest) = try list(until: "}")
    if !members.isEmpty { try raise(above: highest) }
    return .aggregate(members)
  }

  private mutating func parenthesised() throws(PredicateFormatError) -> FetchExpression {
    let inner = try expression()
    if try !skip(sign: ")") { throw lexer.error(expected: "an operator or )") }
    return inner
  }

  /// An operand without parts.
  private mutating func leaf() throws(PredicateFormatError) -> FetchExpression {
    switch lexer.next {
    case .string(let text):
      try lexer.advance()
      return FetchExpression(text)
    case .number(let digits):
      return try number(digits)
    case .argument(let conversion) where conversion != "K":
      return try argument(conversion)
    case .variable(let name):
      try lexer.advance()
      return .variable(name)
    case .word(let word):
      if let constant = try constant(word) { return constant }
      return try keyPath()
    case .name, .argument:
      return try keyPath()
    case .sign(let sign) where sign.hasPrefix("@"):
      return try keyPath()
    default:
      throw lexer.error(expected: "a value or a key path")
    }
  }

  private mutating func constant(
    _ word: String
  ) throws(PredicateFormatError) -> FetchExpression? {
    let constant: FetchExpression
    switch word.uppercased() {
    case "SELF": constant = .evaluatedObject
    case "NIL", "NULL": constant = nil
    case "YES", "TRUE": constant = FetchExpression(true)
    case "NO", "FALSE": constant = FetchExpression(false)
    default:
      if FormatLanguage.isReserved(word) {
        throw lexer.error(expected: "a value or a key path (a property of that name is #\(word))")
      }
      return nil
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
      case .argument("K"):
        names += try keyPathArgument()
        continue
      case .word(let name):
        let place = lexer
        try lexer.advance()
        if lexer.next == .sign("(") {
          throw place.error(expected: "a name; a function such as \(name) begins an expression")
        }
        names.append(name)
      case .name(let name):
        try lexer.advance()
        names.append(name)
      case .sign(let sign) where CollectionOperator(rawValue: sign) != nil:
        try lexer.advance()
        names.append(sign)
      default:
        throw lexer.error(expected: "a name, or an operator such as @count")
      }
    } while try skip(sign: ".")
    return names
  }

  // MARK: Lists

  /// The members up to the closing sign, and how high the highest is.
  mutating func list(
    until end: String
  ) throws(PredicateFormatError) -> (members: [FetchExpression], highest: Int) {
    var members: [FetchExpression] = []
    var highest = 0
    if try skip(sign: end) { return ([], 0) }
    repeat {
      members.append(try expression())
      highest = max(highest, height)
    } while try skip(sign: ",")
    if try !skip(sign: end) { throw lexer.error(expected: ", or \(end) in a list") }
    return (members, highest)
  }
}
