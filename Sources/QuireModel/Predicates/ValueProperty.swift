/// A name that the value of an attribute answers to in a key path: `name.length`.
///
/// They are those that Foundation's classes have, as far as Core Data's users ask for them.
package enum ValueProperty {
  /// The type of a property of a value; `nil` where values of the type have no such property.
  package static func type(of name: String, in type: ExpressionType) -> ExpressionType? {
    if type == .unknown || type == .absent { return .unknown }
    return properties(of: type)[name]
  }

  /// The names that values of a type answer to, in order.
  package static func names(of type: ExpressionType) -> [String] {
    properties(of: type).keys.sorted()
  }

  /// Whether any value answers to the name.
  package static func isKnown(_ name: String) -> Bool { all.contains(name) }

  private static let all: Set<String> = Set(
    [.text, .number, .date, .data, .uuid, .url].flatMap { properties(of: $0).keys })

  private static func properties(of type: ExpressionType) -> [String: ExpressionType] {
    switch type {
    case .text: texts
    case .number: numbers
    case .date: dates
    case .data, .transformed: ["length": .number, "description": .text]
    case .uuid: ["UUIDString": .text, "description": .text]
    case .url: ["absoluteString": .text, "host": .text, "path": .text, "description": .text]
    case .unknown, .absent, .composite, .object, .collection: [:]
    }
  }

  private static let texts: [String: ExpressionType] = [
    "length": .number, "uppercaseString": .text, "lowercaseString": .text,
    "capitalizedString": .text, "stringValue": .text, "description": .text, "intValue": .number,
    "integerValue": .number, "longLongValue": .number, "doubleValue": .number,
    "floatValue": .number, "boolValue": .number,
  ]

  private static let numbers: [String: ExpressionType] = [
    "stringValue": .text, "description": .text, "intValue": .number, "integerValue": .number,
    "longLongValue": .number, "doubleValue": .number, "floatValue": .number, "boolValue": .number,
    "decimalValue": .number,
  ]

  private static let dates: [String: ExpressionType] = [
    "timeIntervalSinceReferenceDate": .number, "timeIntervalSince1970": .number,
    "description": .text,
  ]
}
