import Foundation
import Quire
import QuireModel

/// Values of attributes as they are typed.
enum EditValue {
  /// The value that a word means for an attribute; `nil` where it means none of its type.
  static func value(of text: String, for attribute: AttributeDescription) -> AttributeValue? {
    switch attribute.type {
    case .integer16, .integer32, .integer64: return Int64(text).map { .integer($0) }
    case .double: return Double(text).map { .double($0) }
    case .float: return Float(text).map { .float($0) }
    case .decimal:
      // Foundation reads the beginning of a text, passes over the rest, and rounds.
      return DecimalParts(text: text)?.decimal.map { .decimal($0) }
    case .boolean:
      switch text.lowercased() {
      case "true", "yes", "1": return .boolean(true)
      case "false", "no", "0": return .boolean(false)
      default: return nil
      }
    case .string: return .string(text)
    case .date: return date(text).map { .date($0) }
    case .binaryData: return Data(base64Encoded: text).map { .binary($0) }
    case .transformable:
      return (json(text, of: attribute) ?? Data(base64Encoded: text)).map { .transformed($0) }
    case .uuid: return UUID(uuidString: text).map { .uuid($0) }
    case .uri: return URL(string: text).map { .uri($0) }
    case .objectID: return URL(string: text).map { .objectID($0) }
    case .composite: return composite(text, attribute)
    case .undefined: return nil
    }
  }

  /// What a value of the type is, for a message.
  static func expectation(of type: AttributeType) -> String {
    switch type {
    case .integer16, .integer32, .integer64: "a whole number"
    case .double, .float: "a number"
    case .decimal: "a number of up to 38 digits"
    case .boolean: "true or false"
    case .string: "a text"
    case .date: "a moment such as 2024-01-31 12:00, a day such as 2024-01-31, or seconds since 2001"
    case .binaryData: "base64"
    case .transformable: "base64 or, of a value without a transformer of its own, JSON"
    case .uuid: "a UUID"
    case .uri, .objectID: "a URL"
    case .composite: "a JSON object with its elements"
    case .undefined: "no value that can be typed"
    }
  }

  /// The bytes of a value that is kept as JSON; base64 begins with none of these characters.
  private static func json(_ text: String, of attribute: AttributeDescription) -> Data? {
    let data = Data(text.utf8)
    guard attribute.valueTransformerName == nil, let first = data.first,
      "[{\"".utf8.contains(first),
      (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
    else { return nil }
    return data
  }

  private static func date(_ text: String) -> Date? {
    if let seconds = Double(text) { return Date(timeIntervalSinceReferenceDate: seconds) }
    return DateText.date(of: text)
  }

  private static func composite(
    _ text: String, _ attribute: AttributeDescription
  ) -> AttributeValue? {
    guard
      let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
      // This reader keeps the digits of numbers.
      case .composite(let exact)? = try? JSONDecoder().decode(
        ExportedValue.self, from: Data(text.utf8))
    else { return nil }
    var values: [String: AttributeValue] = [:]
    for (name, value) in object {
      guard let element = attribute.elements.first(where: { $0.name == name }),
        let value = (value as? String).flatMap({ self.value(of: $0, for: element) })
          ?? exact[name]?.value(for: element) ?? AttributeValue(value, for: element)
      else { return nil }
      values[name] = value
    }
    return .composite(values)
  }
}
