// Expressions that are written with a name and parentheses.
extension PredicateFormatParser {
  /// Reads the name of a function with its colons, skips the parenthesis after it, and returns the
  /// name with the lexer where it begins; `nil` where something else begins.
  mutating func functionName()
    throws(PredicateFormatError) -> (selector: String, start: FormatLexer)?
  {
    guard lexer.next == .word, !(lexer.word?.isReserved ?? false) else { return nil }
    guard let byte = lexer.byteAfterNext, byte == UInt8(ascii: "(") || byte == UInt8(ascii: ":")
    else { return nil }
    let start = lexer
    var selector = lexer.text
    try lexer.advance()
    while try skip(.colon) {
      selector += ":"
      if lexer.next == .word {
        selector += lexer.text
        try lexer.advance()
      }
    }
    if try !skip(.openParenthesis) {
      throw lexer.error(expected: "( after the function \(selector)")
    }
    return (selector, start)
  }

  /// Reads what is in the parentheses after the name of a function.
  mutating func function(
    _ name: (selector: String, start: FormatLexer)
  ) throws(PredicateFormatError) -> FetchExpression {
    try enter()
    defer { leave() }
    switch name.selector.uppercased() {
    case "CAST": return try cast()
    case "FUNCTION": return try call()
    case "TERNARY": return try conditional()
    case "SUBQUERY": return try subquery()
    case "FETCH": return try fetch()
    default: return try function(name, of: try list(until: .closeParenthesis))
    }
  }

  private mutating func function(
    _ name: (selector: String, start: FormatLexer),
    of list: (members: [FetchExpression], highest: Int)
  ) throws(PredicateFormatError) -> FetchExpression {
    let (selector, start) = name
    let count = list.members.count
    guard let function = Self.function(selector, count) else {
      throw start.error(expected: "a function of expressions", found: "\(selector)()")
    }
    guard function.takes(count) else {
      throw start.error(
        expected: "\(function.argumentCount.map(String.init) ?? "some") arguments of \(selector)",
        found: "\(count)")
    }
    try raise(above: list.highest)
    return .function(function, list.members)
  }

  private static func function(
    _ selector: String, _ count: Int
  ) -> FetchExpression.Function? {
    let function = FetchExpression.Function(selector: selector)
    return function == .random && count == 1 ? .randomBelow : function
  }

  /// `operand, "selector:", argument)` after `FUNCTION(`.
  private mutating func call() throws(PredicateFormatError) -> FetchExpression {
    let operand = try expression()
    var highest = height
    try skipComma(in: "FUNCTION")
    let start = lexer
    guard case .constant(.value(.string(let selector))) = try expression() else {
      throw start.error(expected: "a selector in quotation marks")
    }
    var arguments: [FetchExpression] = []
    while try skip(.comma) {
      arguments.append(try expression())
      highest = max(highest, height)
    }
    try close("FUNCTION")
    try raise(above: highest)
    return .call(operand, selector: selector, arguments)
  }

  private mutating func conditional() throws(PredicateFormatError) -> FetchExpression {
    let predicate = try predicate()
    var highest = height
    try skipComma(in: "TERNARY")
    let yes = try expression()
    highest = max(highest, height)
    try skipComma(in: "TERNARY")
    let no = try expression()
    try close("TERNARY")
    try raise(above: max(highest, height))
    return .conditional(predicate, yes, no)
  }

  private mutating func subquery() throws(PredicateFormatError) -> FetchExpression {
    let collection = try expression()
    let highest = height
    try skipComma(in: "SUBQUERY")
    guard lexer.next == .variable else {
      throw lexer.error(expected: "a variable such as $x")
    }
    let name = lexer.content
    try lexer.advance()
    try skipComma(in: "SUBQUERY")
    let predicate = try predicate()
    try close("SUBQUERY")
    try raise(above: max(highest, height))
    return .subquery(collection, variable: name, predicate)
  }

  private mutating func fetch() throws(PredicateFormatError) -> FetchExpression {
    let request = try expression()
    var highest = height
    try skipComma(in: "FETCH")
    let context = try expression()
    highest = max(highest, height)
    try skipComma(in: "FETCH")
    let start = lexer
    let countOnly: Bool
    switch try expression() {
    case .constant(.value(.boolean(let flag))): countOnly = flag
    case .constant(.value(.integer(0))): countOnly = false
    case .constant(.value(.integer(1))): countOnly = true
    default: throw start.error(expected: "YES or NO")
    }
    try close("FETCH")
    try raise(above: highest)
    return .fetch(request, context: context, countOnly: countOnly)
  }

  /// `value, "Type")` after `CAST(`. A literal becomes the value it makes.
  private mutating func cast() throws(PredicateFormatError) -> FetchExpression {
    let operandStart = lexer
    let operand = try castOperand()
    let operandHeight = height
    try skipComma(in: "CAST")
    let name = lexer.content
    guard lexer.next == .string, CastTarget(named: name) != nil else {
      let names = CastType.allCases.map { FormatLanguage.quoted($0.rawValue) }
      throw lexer.error(expected: "one of the types \(names.joined(separator: ", "))")
    }
    try lexer.advance()
    try close("CAST")
    guard case .constant(let value) = operand else {
      try raise(above: operandHeight)
      return .function(.cast, [operand, FetchExpression(name)])
    }
    beginHeight()
    do {
      return .constant(try CastTarget.cast(value, to: name))
    } catch {
      throw operandStart.error(expected: "a value that can be cast to \(name)")
    }
  }

  /// A number that is all there is to cast keeps all its digits.
  private mutating func castOperand() throws(PredicateFormatError) -> FetchExpression {
    let start = lexer
    let sign = try skip(.minus) ? "-" : ""
    if lexer.next == .number {
      let digits = lexer.text
      try lexer.advance()
      if lexer.sign == .comma {
        beginHeight()
        return FetchExpression(sign + digits)
      }
    }
    lexer = start
    return try expression()
  }

  private mutating func skipComma(in function: String) throws(PredicateFormatError) {
    if try !skip(.comma) { throw lexer.error(expected: ", in \(function)") }
  }

  private mutating func close(_ function: String) throws(PredicateFormatError) {
    if try !skip(.closeParenthesis) { throw lexer.error(expected: ") at the end of \(function)") }
  }
}
