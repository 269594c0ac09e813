#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Numbers, and the arguments of a format.
extension PredicateFormatParser {
  mutating func number(_ digits: String) throws(PredicateFormatError) -> FetchExpression {
    guard let value = keepsDigits ? exactValue(ofNumber: digits) : Self.value(ofNumber: digits)
    else {
      throw lexer.error(
        expected: keepsDigits
          ? "a number that is not too large, with at most 38 digits"
          : "a number that is not too large")
    }
    try lexer.advance()
    beginHeight()
    return FetchExpression(value)
  }

  /// A decimal where a double would lose digits; `nil` if a decimal would lose some as well.
  private func exactValue(ofNumber digits: String) -> AttributeValue? {
    let value = Self.value(ofNumber: digits)
    guard case .double(let number) = value else { return value }
    guard let parts = DecimalParts(text: digits) else { return nil }
    if parts == DecimalParts(number) { return value }
    return parts.decimal.map { .decimal($0) } ?? value
  }

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
        expected: "argument number \(argumentCount + 1)",
        found: arguments.isEmpty
          ? "that no arguments are given"
          : "that no more than "
            + "\(arguments.count) \(arguments.count == 1 ? "is" : "are") given")
    }
    defer { argumentCount += 1 }
    return arguments[argumentCount]
  }

  mutating func keyPathArgument() throws(PredicateFormatError) -> [String] {
    guard case .value(.string(let path))? = try nextArgument() else {
      throw lexer.error(
        expected: "a key path as argument \(argumentCount)", found: "an argument that is no text")
    }
    keyPathArguments.append(argumentCount - 1)
    try lexer.advance()
    return FetchExpression.names(in: path)
  }

  mutating func argument() throws(PredicateFormatError) -> FetchExpression {
    var wanted: String?
    if !lexer.isArgument(UInt8(ascii: "@")) {
      switch lexer.conversion {
      case "d", "i", "u", "x", "X", "hd", "hu", "hi", "ld", "lu", "li", "lld", "llu", "qd", "qu",
        "zd", "zu":
        wanted = "an integer"
      case "f", "lf", "g", "e": wanted = "a number"
      default: throw lexer.error(expected: "%@, %K, %d, %ld or %f")
      }
    }
    let value = try nextArgument()
    if let wanted, !Self.isNumber(value, integer: wanted == "an integer") {
      throw lexer.error(
        expected: "\(wanted) as argument \(argumentCount)", found: value?.description ?? "nil")
    }
    if marksArguments, wanted != nil, case .value(.decimal)? = value {
      throw lexer.error(expected: "an argument whose kind alone says whether it fits")
    }
    try lexer.advance()
    return marksArguments
      ? ArgumentMark.variable(argumentCount - 1) : FetchExpression(value: value)
  }

  private static func isNumber(_ value: PredicateValue?, integer: Bool) -> Bool {
    switch value {
    case .value(.integer)?, .value(.boolean)?: true
    case .value(.double)?, .value(.float)?: !integer
    case .value(.decimal(let number))?: !integer || number > Decimal(Int64.max)
    default: false
    }
  }
}
