#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads a predicate format by recursive descent: disjunction, conjunction, negation, comparison.
struct PredicateFormatParser {
  private var lexer: FormatLexer
  private let arguments: [PredicateValue?]
  private var argumentCount = 0
  private var depth = 0

  init(_ format: String, _ arguments: [PredicateValue?]) throws(PredicateFormatError) {
    lexer = try FormatLexer(format)
    self.arguments = arguments
  }

  mutating func parse() throws(PredicateFormatError) -> FetchPredicate {
    let predicate = try disjunction()
    if lexer.next != .end { throw lexer.error(expected: "AND, OR or the end") }
    if argumentCount < arguments.count {
      throw lexer.error(
        expected: "a format for \(argumentCount) arguments", found: "\(arguments.count) of them")
    }
    return predicate
  }

  // MARK: Predicates

  private mutating func disjunction() throws(PredicateFormatError) -> FetchPredicate {
    var parts = [try conjunction()]
    while try skip(word: "OR", or: "||") { parts.append(try conjunction()) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func conjunction() throws(PredicateFormatError) -> FetchPredicate {
    var parts = [try negation()]
    while try skip(word: "AND", or: "&&") { parts.append(try negation()) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func negation() throws(PredicateFormatError) -> FetchPredicate {
    try enter()
    defer { depth -= 1 }
    if try skip(word: "NOT", or: "!") { return .not(try negation()) }
    if try skip(sign: "(") {
      let predicate = try disjunction()
      if try !skip(sign: ")") { throw lexer.error(expected: "AND, OR or )") }
      return predicate
    }
    if try skip(word: "TRUEPREDICATE") { return .constant(true) }
    if try skip(word: "FALSEPREDICATE") { return .constant(false) }
    if try skip(word: "NONE") { return .not(try comparison(.any)) }
    if try skip(word: "ANY") { return try comparison(.any) }
    if try skip(word: "SOME") { return try comparison(.any) }
    if try skip(word: "ALL") { return try comparison(.all) }
    return try comparison(.direct)
  }

  private mutating func comparison(
    _ modifier: FetchPredicate.Modifier
  ) throws(PredicateFormatError) -> FetchPredicate {
    let left = try expression()
    let `operator` = try comparisonOperator()
    let options = try self.options()
    let right = try expression()
    return .comparison(left, `operator`, right, options: options, modifier: modifier)
  }

  private static let operatorSigns: [String: FetchPredicate.Operator] = [
    "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .lessThan,
    "<=": .lessThanOrEqual, "=<": .lessThanOrEqual, ">": .greaterThan,
    ">=": .greaterThanOrEqual, "=>": .greaterThanOrEqual,
  ]

  private mutating func comparisonOperator()
    throws(PredicateFormatError) -> FetchPredicate.Operator
  {
    let found: FetchPredicate.Operator? =
      switch lexer.next {
      case .sign(let sign): Self.operatorSigns[sign]
      case .word(let word): FetchPredicate.Operator(rawValue: word.uppercased())
      default: nil
      }
    guard let found else { throw lexer.error(expected: "a comparison such as == or CONTAINS") }
    try lexer.advance()
    return found
  }

  private mutating func options() throws(PredicateFormatError) -> FetchComparisonOptions {
    guard try skip(sign: "[") else { return [] }
    guard case .word(let letters) = lexer.next else {
      throw lexer.error(expected: "the options c, d or n")
    }
    var options: FetchComparisonOptions = []
    for letter in letters.utf8 {
      switch letter | 0x20 {
      case UInt8(ascii: "c"): options.insert(.caseInsensitive)
      case UInt8(ascii: "d"): options.insert(.diacriticInsensitive)
      case UInt8(ascii: "n"): options.insert(.normalized)
      default: throw lexer.error(expected: "the options c, d or n")
      }
    }
    try lexer.advance()
    if try !skip(sign: "]") { throw lexer.error(expected: "] after the options") }
    return options
  }

  // MARK: Expressions

  private mutating func expression() throws(PredicateFormatError) -> FetchExpression {
    try enter()
    defer { depth -= 1 }
    switch lexer.next {
    case .string(let text):
      try lexer.advance()
      return FetchExpression(text)
    case .number(let digits):
      guard let value = Self.value(ofNumber: digits) else {
        throw lexer.error(expected: "a number that is not too large")
      }
      try lexer.advance()
      return FetchExpression(value)
    case .argument(let conversion) where conversion != "K":
      return try argument(conversion)
    case .sign("{"):
      try lexer.advance()
      return try aggregate()
    case .word(let word):
      return try expression(beginningWith: word)
    case .name, .argument, .sign("@count"):
      return try keyPath(after: [])
    default:
      throw lexer.error(expected: "a value or a key path")
    }
  }

  private mutating func expression(
    beginningWith word: String
  ) throws(PredicateFormatError) -> FetchExpression {
    let constant: FetchExpression
    switch word.uppercased() {
    case "SELF":
      try lexer.advance()
      return try skip(sign: ".") ? keyPath(after: []) : .evaluatedObject
    case "NIL", "NULL": constant = nil
    case "YES", "TRUE": constant = FetchExpression(true)
    case "NO", "FALSE": constant = FetchExpression(false)
    default:
      if FormatLanguage.isReserved(word) {
        throw lexer.error(expected: "a value or a key path (a property of that name is #\(word))")
      }
      return try keyPath(after: [])
    }
    try lexer.advance()
    return constant
  }

  private mutating func aggregate() throws(PredicateFormatError) -> FetchExpression {
    var members: [FetchExpression] = []
    if try skip(sign: "}") { return .aggregate([]) }
    repeat { members.append(try expression()) } while try skip(sign: ",")
    if try !skip(sign: "}") { throw lexer.error(expected: ", or } in a list") }
    return .aggregate(members)
  }

  private mutating func keyPath(
    after prefix: [String]
  ) throws(PredicateFormatError) -> FetchExpression {
    var names = prefix
    repeat {
      switch lexer.next {
      case .argument("K"):
        names += try keyPathArgument()
        continue
      case .word(let name):
        try lexer.advance()
        if lexer.next == .sign("(") {
          if name.uppercased() == "CAST", names.isEmpty { return try cast() }
          throw lexer.error(expected: "a comparison; functions such as \(name) are not supported")
        }
        names.append(name)
      case .name(let name),
        .sign(let name) where name == FetchExpression.countOperator:
        try lexer.advance()
        names.append(name)
      default:
        throw lexer.error(expected: "a name, or @count")
      }
    } while try skip(sign: ".")
    return .keyPath(names)
  }
}

// MARK: Literals and arguments

extension PredicateFormatParser {
  private static func value(ofNumber digits: String) -> AttributeValue? {
    if let integer = Int64(digits) { return .integer(integer) }
    if digits.utf8.allSatisfy({ $0 == 0x2D || $0 &- 0x30 < 10 }) {
      if let decimal = DecimalParts(text: digits)?.decimal { return .decimal(decimal) }
    }
    guard let number = Double(digits), number.isFinite else { return nil }
    return .double(number)
  }

  private mutating func nextArgument() throws(PredicateFormatError) -> PredicateValue? {
    if argumentCount == arguments.count {
      throw lexer.error(
        expected: "one of \(arguments.count) arguments", found: "a place for one more")
    }
    defer { argumentCount += 1 }
    return arguments[argumentCount]
  }

  private mutating func keyPathArgument() throws(PredicateFormatError) -> [String] {
    guard case .value(.string(let path))? = try nextArgument() else {
      throw lexer.error(
        expected: "a key path as argument \(argumentCount)", found: "an argument that is no text")
    }
    try lexer.advance()
    return FetchExpression.names(in: path)
  }

  private mutating func argument(
    _ conversion: String
  ) throws(PredicateFormatError) -> FetchExpression {
    var wanted: String?
    switch conversion {
    case "@": break
    case "d", "i", "u", "x", "X", "hd", "hu", "hi", "ld", "lu", "li", "lld", "llu", "qd", "qu",
      "zd", "zu":
      wanted = "an integer"
    case "f", "lf", "g", "e": wanted = "a number"
    default: throw lexer.error(expected: "%@, %K, %d, %ld or %f")
    }
    let value = try nextArgument()
    if let wanted, !Self.isNumber(value, integer: wanted == "an integer") {
      throw lexer.error(
        expected: "\(wanted) as argument \(argumentCount)", found: value?.description ?? "nil")
    }
    try lexer.advance()
    return FetchExpression(value: value)
  }

  private static func isNumber(_ value: PredicateValue?, integer: Bool) -> Bool {
    switch value {
    case .value(.integer)?, .value(.boolean)?: true
    case .value(.double)?, .value(.float)?: !integer
    case .value(.decimal(let number))?: !integer || number > Decimal(Int64.max)
    default: false
    }
  }

  /// `("…", "Type")` behind a `CAST`.
  private mutating func cast() throws(PredicateFormatError) -> FetchExpression {
    try lexer.advance()
    let text: String
    switch lexer.next {
    case .string(let content), .number(let content): text = content
    default: throw lexer.error(expected: "a text or a number to cast")
    }
    let place = lexer
    try lexer.advance()
    if try !skip(sign: ",") { throw lexer.error(expected: ", in a cast") }
    guard case .string(let name) = lexer.next, let type = CastType(named: name) else {
      let names = CastType.allCases.map { FormatLanguage.quoted($0.rawValue) }
      throw lexer.error(expected: "one of the types \(names.joined(separator: ", "))")
    }
    guard let value = type.value(of: text) else {
      throw place.error(expected: "a text that can be cast to \(type.rawValue)")
    }
    try lexer.advance()
    if try !skip(sign: ")") { throw lexer.error(expected: ") at the end of a cast") }
    return FetchExpression(value)
  }
}

// MARK: Tokens

extension PredicateFormatParser {
  private mutating func skip(word: String) throws(PredicateFormatError) -> Bool {
    guard case .word(let found) = lexer.next, found.uppercased() == word else { return false }
    try lexer.advance()
    return true
  }

  private mutating func skip(
    word: String, or sign: String
  ) throws(PredicateFormatError) -> Bool {
    if try skip(word: word) { return true }
    return try skip(sign: sign)
  }

  private mutating func skip(sign: String) throws(PredicateFormatError) -> Bool {
    guard lexer.next == .sign(sign) else { return false }
    try lexer.advance()
    return true
  }

  private mutating func enter() throws(PredicateFormatError) {
    depth += 1
    if depth > PredicateEvaluator.maximumDepth {
      throw lexer.error(
        expected: "a predicate nested at most \(PredicateEvaluator.maximumDepth) deep")
    }
  }
}
