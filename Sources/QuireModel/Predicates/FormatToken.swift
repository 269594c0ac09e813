/// A token of a format of predicates and expressions.
enum FormatToken: UInt8 {
  /// A name or a word of the language.
  case word
  /// A name after a `#`, which is never a word of the language.
  case name
  case string
  case number
  /// The name after a dollar sign.
  case variable
  /// A percent sign and the letters of its conversion.
  case argument
  /// Anything else, such as `>=`.
  case sign
  case end
}

/// A word of the language; it may be written in any case.
enum FormatWord: String, CaseIterable {
  case and = "AND"
  case or = "OR"
  case not = "NOT"
  case `in` = "IN"
  case between = "BETWEEN"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case like = "LIKE"
  case matches = "MATCHES"
  case anyOf = "ANY"
  case someOf = "SOME"
  case allOf = "ALL"
  case noneOf = "NONE"
  case truePredicate = "TRUEPREDICATE"
  case falsePredicate = "FALSEPREDICATE"
  case itself = "SELF"
  case `nil` = "NIL"
  case null = "NULL"
  case yes = "YES"
  case no = "NO"
  case `true` = "TRUE"
  case `false` = "FALSE"
  // The following words have their meaning only between two operands, and may be names elsewhere.
  case union = "UNION"
  case intersect = "INTERSECT"
  case minus = "MINUS"
  // The following words have their meaning only between brackets.
  case first = "FIRST"
  case last = "LAST"
  case size = "SIZE"

  /// - Parameter bytes: the UTF-8 of a word.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard let code = FormatWord.code(bytes) else {
      // Some letters that are not ASCII have capitals that are.
      guard bytes.contains(where: { $0 >= 0x80 }) else { return nil }
      self.init(rawValue: String(decoding: bytes, as: UTF8.self).uppercased())
      return
    }
    guard let index = FormatWord.codes.firstIndex(of: code) else { return nil }
    self = FormatWord.words[index]
  }

  private static let words = allCases
  private static let codes = words.map { code(Array($0.rawValue.utf8)[...]) ?? 0 }

  /// The capitals of a word in one number; `nil` of one that is too long, or not of ASCII letters.
  private static func code(_ bytes: ArraySlice<UInt8>) -> UInt128? {
    if bytes.count > 14 { return nil }
    var code: UInt128 = 0
    for byte in bytes {
      let letter = byte & 0xDF
      guard letter &- 0x41 < 26 else { return nil }
      code = code << 8 | UInt128(letter)
    }
    return code
  }

  /// Whether a property of that name is written after a `#`.
  var isReserved: Bool {
    switch self {
    case .union, .intersect, .minus, .first, .last, .size: false
    default: true
    }
  }

  var comparison: FetchPredicate.Operator? {
    switch self {
    case .in: .in
    case .between: .between
    case .contains: .contains
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .like: .like
    case .matches: .matches
    default: nil
    }
  }

  var infix: FetchExpression.Function? {
    switch self {
    case .union: .union
    case .intersect: .intersection
    case .minus: .difference
    default: nil
    }
  }
}

/// A sign of the language.
enum FormatSign: UInt8 {
  case openParenthesis, closeParenthesis, openBrace, closeBrace, openBracket, closeBracket
  case comma, colon, point
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
  case not, and, or
  case plus, minus, times, divide, power
  /// The sign `@`, which precedes the name of a collection operator.
  case at
  /// A character that is no sign of the language.
  case other

  /// The sign that begins with a byte, and whether the byte after it is part of it.
  static func sign(_ first: UInt8, _ second: UInt8?) -> (sign: FormatSign, isPair: Bool) {
    if let second, let pair = pair(first, second) { return (pair, true) }
    let sign: FormatSign =
      switch first {
      case UInt8(ascii: "("): .openParenthesis
      case UInt8(ascii: ")"): .closeParenthesis
      case UInt8(ascii: "{"): .openBrace
      case UInt8(ascii: "}"): .closeBrace
      case UInt8(ascii: "["): .openBracket
      case UInt8(ascii: "]"): .closeBracket
      case UInt8(ascii: ","): .comma
      case UInt8(ascii: ":"): .colon
      case UInt8(ascii: "."): .point
      case UInt8(ascii: "="): .equal
      case UInt8(ascii: "<"): .less
      case UInt8(ascii: ">"): .greater
      case UInt8(ascii: "!"): .not
      case UInt8(ascii: "+"): .plus
      case UInt8(ascii: "-"): .minus
      case UInt8(ascii: "*"): .times
      case UInt8(ascii: "/"): .divide
      default: .other
      }
    return (sign, false)
  }

  private static func pair(_ first: UInt8, _ second: UInt8) -> FormatSign? {
    switch (first, second) {
    case (UInt8(ascii: "="), UInt8(ascii: "=")): .equal
    case (UInt8(ascii: "!"), UInt8(ascii: "=")), (UInt8(ascii: "<"), UInt8(ascii: ">")): .notEqual
    case (UInt8(ascii: "<"), UInt8(ascii: "=")), (UInt8(ascii: "="), UInt8(ascii: "<")):
      .lessOrEqual
    case (UInt8(ascii: ">"), UInt8(ascii: "=")), (UInt8(ascii: "="), UInt8(ascii: ">")):
      .greaterOrEqual
    case (UInt8(ascii: "&"), UInt8(ascii: "&")): .and
    case (UInt8(ascii: "|"), UInt8(ascii: "|")): .or
    case (UInt8(ascii: "*"), UInt8(ascii: "*")): .power
    default: nil
    }
  }

  var comparison: FetchPredicate.Operator? {
    switch self {
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .lessThan
    case .lessOrEqual: .lessThanOrEqual
    case .greater: .greaterThan
    case .greaterOrEqual: .greaterThanOrEqual
    default: nil
    }
  }

  var infix: FetchExpression.Function? {
    switch self {
    case .plus: .add
    case .minus: .subtract
    case .times: .multiply
    case .divide: .divide
    case .power: .power
    default: nil
    }
  }
}
