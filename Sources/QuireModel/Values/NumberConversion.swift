#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The conversion of numbers of one type to another: integers, Booleans (which are 0 and 1),
/// floating-point and decimal numbers.
///
/// A number is converted to an equal number or to none: it is never rounded, truncated or wrapped
/// around. Binary and decimal numbers are equal if the shortest decimal that names the binary one
/// is the decimal: the `Double` 19.99 and the `Decimal` 19.99 are one number, as they are in
/// comparisons. Whole numbers of 64 bits are converted exactly. NaN stays NaN between the types
/// that have it.
public struct NumberConversion: Hashable, Sendable {
  /// Whether every number can be converted, or only some.
  public enum Direction: String, Hashable, Sendable, Codable {
    /// Every number of the source type is one of the destination type.
    case widening
    /// Some numbers of the source type do not exist in the destination type, so that each value has
    /// to be checked.
    case narrowing
  }

  /// The type whose numbers are converted.
  public let source: AttributeType
  /// The type that the numbers become.
  public let destination: AttributeType

  /// - Returns: `nil` unless the types are two different types of numbers.
  public init?(from source: AttributeType, to destination: AttributeType) {
    guard source != destination, source.isNumber, destination.isNumber else { return nil }
    self.source = source
    self.destination = destination
  }

  /// Whether every number of ``source`` is one of ``destination``.
  public var direction: Direction {
    switch (source, destination) {
    case (.boolean, _), (.integer16, .integer32), (.integer16, .integer64), (.integer16, .decimal),
      (.integer16, .double), (.integer16, .float), (.integer32, .integer64),
      (.integer32, .decimal), (.integer32, .double), (.integer64, .decimal), (.float, .double):
      .widening
    default: .narrowing
    }
  }

  /// The equal number of the destination type; `nil` if there is none.
  ///
  /// - Parameter value: of the source type.
  public func converted(_ value: AttributeValue) -> AttributeValue? {
    switch destination {
    case .integer16, .integer32, .integer64:
      guard let number = Self.integer(value), destination.integerRange?.contains(number) == true
      else { return nil }
      return .integer(number)
    case .boolean:
      guard let number = Self.integer(value), number == 0 || number == 1 else { return nil }
      return .boolean(number == 1)
    case .double: return Self.double(value).map { .double($0) }
    case .float: return Self.float(value).map { .float($0) }
    case .decimal: return Self.decimal(value).map { .decimal($0) }
    case .undefined, .string, .date, .binaryData, .uuid, .uri, .transformable, .objectID,
      .composite:
      return nil
    }
  }

  /// Why a value has no counterpart, as the rest of a sentence that begins with the property:
  /// `is 70000, which is beyond integer16 (-32768 to 32767)`.
  public func refusal(of value: AttributeValue) -> String {
    let text = "is \(Self.text(value))"
    if destination == .boolean { return "\(text), and only 0 and 1 are Booleans" }
    if let range = destination.integerRange {
      guard let parts = Self.parts(value) else { return "\(text), which no \(destination) is" }
      if parts.exponent < 0 { return "\(text), and \(destination) has no fractions" }
      return
        "\(text), which is beyond \(destination) (\(range.lowerBound) to \(range.upperBound))"
    }
    guard let parts = Self.parts(value) else { return "\(text), which no \(destination) is" }
    let isBeyond: Bool =
      switch destination {
      case .float: Float(parts.scientific).map(\.isInfinite) ?? true
      case .double: Double(parts.scientific).map(\.isInfinite) ?? true
      default: parts.decimal == nil
      }
    return isBeyond
      ? "\(text), which is beyond \(destination)"
      : "\(text), which has more digits than \(destination) keeps"
  }
}

extension NumberConversion {
  private static func integer(_ value: AttributeValue) -> Int64? {
    switch value {
    case .integer(let number): number
    case .boolean(let flag): flag ? 1 : 0
    case .double(let number): Int64(exactly: number)
    case .float(let number): Int64(exactly: number)
    case .decimal(let number): DecimalParts(number)?.integer
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: nil
    }
  }

  private static func double(_ value: AttributeValue) -> Double? {
    switch value {
    case .integer(let number): return Double(exactly: number)
    case .boolean(let flag): return flag ? 1 : 0
    case .double(let number): return number
    case .float(let number): return Double(number)
    case .decimal(let number):
      guard let parts = DecimalParts(number) else { return .nan }
      if let whole = parts.integer { return Double(exactly: whole) }
      guard let double = Double(parts.scientific), DecimalParts(double) == parts else { return nil }
      return double
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: return nil
    }
  }

  private static func float(_ value: AttributeValue) -> Float? {
    switch value {
    case .integer(let number): return Float(exactly: number)
    case .boolean(let flag): return flag ? 1 : 0
    case .double(let number): return number.isNaN ? .nan : Float(exactly: number)
    case .float(let number): return number
    case .decimal(let number):
      guard let parts = DecimalParts(number) else { return .nan }
      if let whole = parts.integer { return Float(exactly: whole) }
      guard let float = Float(parts.scientific), DecimalParts(float) == parts else { return nil }
      return float
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: return nil
    }
  }

  private static func decimal(_ value: AttributeValue) -> Decimal? {
    switch value {
    case .integer(let number): Decimal(number)
    case .boolean(let flag): flag ? 1 : 0
    case .double(let number):
      Int64(exactly: number).map { Decimal($0) } ?? Decimal(shortest: number)
    case .float(let number):
      Int64(exactly: number).map { Decimal($0) } ?? Decimal(shortest: number)
    case .decimal(let number): number
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: nil
    }
  }

  private static func text(_ value: AttributeValue) -> String {
    switch value {
    case .integer(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .double(let number): "\(number)"
    case .float(let number): "\(number)"
    case .decimal(let number): "\(number)"
    default: "\(PredicateValue.value(value))"
    }
  }

  /// The decimal that names a number; `nil` for what is infinite or not a number.
  private static func parts(_ value: AttributeValue) -> DecimalParts? {
    switch value {
    case .integer(let number): DecimalParts(text: "\(number)")
    case .boolean(let flag): DecimalParts(text: flag ? "1" : "0")
    case .double(let number): DecimalParts(number)
    case .float(let number): DecimalParts(number)
    case .decimal(let number): DecimalParts(number)
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: nil
    }
  }
}

extension DecimalParts {
  /// The number, if it is a whole one of 64 bits.
  fileprivate var integer: Int64? {
    guard exponent >= 0, exponent < 20 else { return nil }
    let (product, isOver) = mantissa.multipliedReportingOverflow(
      by: DecimalParts.powerOfTen(exponent))
    guard !isOver, let magnitude = Int128(exactly: product) else { return nil }
    return Int64(exactly: isNegative ? -magnitude : magnitude)
  }

  /// In a form that numbers are read from.
  fileprivate var scientific: String { "\(isNegative ? "-" : "")\(mantissa)e\(exponent)" }
}

extension AttributeType {
  /// Whether values are numbers, of which Booleans are 0 and 1.
  package var isNumber: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: true
    case .undefined, .string, .date, .binaryData, .uuid, .uri, .transformable, .objectID,
      .composite:
      false
    }
  }
}
