#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The types of constants that have no literal and are written `CAST("…", "Date")`.
enum CastType: String, CaseIterable {
  /// Seconds since the reference date, or ISO 8601.
  case date = "Date"
  case decimal = "Decimal"
  case double = "Double"
  case float = "Float"
  case uuid = "UUID"
  case url = "URL"
  /// Base 64, like the next.
  case data = "Data"
  case transformed = "Transformed"
  case objectID = "ObjectID"
  /// Base 64 of the value in a ``ModelArchive``.
  case composite = "Composite"

  /// Recognises Core Data's names, too.
  init?(named name: String) {
    switch name {
    case "NSDate": self = .date
    case "NSDecimalNumber": self = .decimal
    case "NSUUID": self = .uuid
    case "NSURL": self = .url
    case "NSData": self = .data
    default: self.init(rawValue: name)
    }
  }

  /// The value that `text` is in this type, if it is one.
  func value(of text: String) -> AttributeValue? {
    switch self {
    case .date:
      (Double(text).map(Date.init(timeIntervalSinceReferenceDate:)) ?? MomentText.date(of: text))
        .map { .date($0) }
    case .decimal:
      text == "NaN" ? .decimal(.nan) : DecimalParts(text: text)?.decimal.map { .decimal($0) }
    case .double: Double(text).map { .double($0) }
    case .float: Float(text).map { .float($0) }
    case .uuid: UUID(uuidString: text).map { .uuid($0) }
    case .url: URL(string: text).map { .uri($0) }
    case .objectID: URL(string: text).map { .objectID($0) }
    case .data: Data(base64Encoded: text).map { .binary($0) }
    case .transformed: Data(base64Encoded: text).map { .transformed($0) }
    case .composite: Self.composite(text)
    }
  }

  private static func composite(_ text: String) -> AttributeValue? {
    guard let data = Data(base64Encoded: text) else { return nil }
    var offset = 0
    let value = data.withUnsafeBytes { try? ModelArchive.decodeValue($0, at: &offset) }
    guard case .composite? = value, offset == data.count else { return nil }
    return value
  }

  static func text(ofComposite value: AttributeValue) -> String {
    var bytes: [UInt8] = []
    ModelArchive.append(value, to: &bytes)
    return Data(bytes).base64EncodedString()
  }
}
