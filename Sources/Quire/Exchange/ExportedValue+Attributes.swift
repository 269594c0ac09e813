import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ExportedValue {
  package init(_ value: AttributeValue) {
    self =
      switch value {
      case .boolean(let flag): .boolean(flag)
      case .integer(let number): .integer(number)
      case .double(let number): Self.number(of: number)
      case .float(let number): Self.number(of: Self.shortest(number))
      case .decimal(let number): .text(number.isNaN ? "nan" : number.description)
      case .string(let text): .text(text)
      case .date(let date): Self.moment(date)
      case .binary(let data), .transformed(let data): .text(data.base64EncodedString())
      case .uuid(let uuid): .text(uuid.uuidString)
      case .uri(let url), .objectID(let url): .text(url.absoluteString)
      case .composite(let elements): .composite(elements.mapValues { ExportedValue($0) })
      }
  }

  private static func number(of number: Double) -> ExportedValue {
    if number.isNaN { return .text("nan") }
    if number.isInfinite { return .text(number < 0 ? "-inf" : "inf") }
    if number == 0, number.sign == .minus { return .text("-0") }
    // As a decoder gives it, which cannot tell 3 from 3.0.
    if let whole = Int64(exactly: number) { return .integer(whole) }
    return .number(number)
  }

  /// The number with the fewest digits that is this one as a `Float`.
  private static func shortest(_ number: Float) -> Double {
    if let short = Double("\(number)"), Float(short) == number { return short }
    return Double(number)
  }

  private static func moment(_ date: Date) -> ExportedValue {
    MomentText.text(of: date).map { .text($0) } ?? number(of: date.timeIntervalSinceReferenceDate)
  }

  /// The value that an attribute has of this one; `nil` if it is not of the attribute's type.
  package func value(for attribute: AttributeDescription) -> AttributeValue? {
    switch attribute.type {
    case .boolean: if case .boolean(let flag) = self { return .boolean(flag) }
    case .integer16, .integer32, .integer64:
      if case .integer(let number) = self { return .integer(number) }
    case .double: return double.map(AttributeValue.double)
    case .float:
      guard let double else { return nil }
      let number = Float(double)
      // A number that a float cannot be is no infinity.
      return number.isInfinite && !double.isInfinite ? nil : .float(number)
    case .decimal:
      return decimal.map(AttributeValue.decimal)
    case .string: if case .text(let text) = self { return .string(text) }
    case .date: return date.map(AttributeValue.date)
    case .binaryData: return data.map(AttributeValue.binary)
    case .transformable: return data.map(AttributeValue.transformed)
    case .uuid:
      if case .text(let text) = self { return UUID(uuidString: text).map(AttributeValue.uuid) }
    case .uri: if case .text(let text) = self { return URL(string: text).map(AttributeValue.uri) }
    case .objectID:
      if case .text(let text) = self { return URL(string: text).map(AttributeValue.objectID) }
    case .composite: return composite(of: attribute.elements).map(AttributeValue.composite)
    case .undefined: return nil
    }
    return nil
  }

  private var decimal: Decimal? {
    switch self {
    case .integer(let number): Decimal(number)
    // The number as it was written: what a double rounds comes as a text.
    case .number(let number): Decimal(shortest: number)
    case .text("nan"): .nan
    // Foundation reads the beginning of a text, passes over the rest, and rounds.
    case .text(let text): DecimalParts(text: text)?.decimal
    default: nil
    }
  }

  private var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    case .text("nan"): .nan
    case .text("inf"): .infinity
    case .text("-inf"): -.infinity
    case .text("-0"): -0.0
    // A number that has more digits than a double, which a decoder gives as a text.
    case .text(let text):
      DecimalParts(text: text).flatMap { parts in
        Double(text).flatMap { DecimalParts($0) == parts ? nil : $0 }
      }
    default: nil
    }
  }

  private var date: Date? {
    if let double { return Date(timeIntervalSinceReferenceDate: double) }
    if case .text(let text) = self { return MomentText.date(of: text) }
    return nil
  }

  private var data: Data? {
    if case .text(let text) = self { Data(base64Encoded: text) } else { nil }
  }

  private func composite(of elements: [AttributeDescription]) -> [String: AttributeValue]? {
    guard case .composite(let values) = self else { return nil }
    var result: [String: AttributeValue] = [:]
    for (name, value) in values where value != .absent {
      guard let element = elements.first(where: { $0.name == name }),
        let converted = value.value(for: element)
      else { return nil }
      result[name] = converted
    }
    return result
  }
}
