#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The type that `CAST` converts values to: a type of constants, a number of any type, or a text.
enum CastTarget {
  case type(CastType)
  case number
  case string

  init?(named name: String) {
    switch name {
    case "NSNumber", "Number": self = .number
    case "NSString", "String": self = .string
    default:
      guard let type = CastType(named: name) else { return nil }
      self = .type(type)
    }
  }

  /// The kind of the converted value.
  var expressionType: ExpressionType {
    switch self {
    case .number, .type(.decimal), .type(.double), .type(.float): .number
    case .string: .text
    case .type(.date): .date
    case .type(.uuid): .uuid
    case .type(.url), .type(.objectID): .url
    case .type(.data): .data
    case .type(.composite): .composite
    case .type(.transformed): .unknown
    }
  }

  /// - Returns: `nil` for the absence of a value.
  static func cast(
    _ value: PredicateValue?, to name: String
  ) throws(FetchPredicateError) -> PredicateValue? {
    guard let value else { return nil }
    guard let target = CastTarget(named: name) else {
      throw FetchPredicateError(
        .function(.cast, message: "there is no type \(FormatLanguage.quoted(name))"))
    }
    guard case .value(let value) = value, let result = target.value(from: value) else {
      throw FetchPredicateError(
        .function(.cast, message: "\(value) cannot be cast to \(FormatLanguage.quoted(name))"))
    }
    return .value(result)
  }

  private func value(from value: AttributeValue) -> AttributeValue? {
    switch (self, value) {
    case (.number, .boolean), (.number, .integer), (.number, .double), (.number, .float),
      (.number, .decimal), (.string, .string), (.type(.date), .date), (.type(.decimal), .decimal),
      (.type(.double), .double), (.type(.float), .float), (.type(.uuid), .uuid),
      (.type(.url), .uri), (.type(.data), .binary), (.type(.transformed), .transformed),
      (.type(.objectID), .objectID), (.type(.composite), .composite):
      return value
    case (.number, .date(let date)): return .double(date.timeIntervalSinceReferenceDate)
    case (.number, _):
      guard let text = Self.text(of: value) else { return nil }
      return Int64(text).map(AttributeValue.integer) ?? Double(text).map(AttributeValue.double)
    case (.string, _): return Self.text(of: value).map(AttributeValue.string)
    case (.type(let type), _): return Self.text(of: value).flatMap(type.value(of:))
    }
  }

  private static func text(of value: AttributeValue) -> String? {
    switch value {
    case .boolean(let flag): flag ? "1" : "0"
    case .integer(let number): number.description
    case .double(let number): number.description
    case .float(let number): number.description
    case .decimal(let number): number.description
    case .string(let text): text
    case .date(let date): date.timeIntervalSinceReferenceDate.description
    case .uuid(let uuid): uuid.uuidString
    case .uri(let url), .objectID(let url): url.absoluteString
    case .binary(let data), .transformed(let data): data.base64EncodedString()
    case .composite: nil
    }
  }
}
