#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension AttributeValue: CustomStringConvertible {
  /// The value alone, as a person reads it: `"Ada"`, `1815`, `<16 bytes>`.
  public var description: String {
    switch self {
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .float(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    // With its quotation marks, and escapes for what cannot be seen.
    case .string(let value): String(reflecting: value)
    case .date(let value): value.words
    case .binary(let value), .transformed(let value): "<\(value.count) bytes>"
    case .uuid(let value): value.uuidString
    case .uri(let value), .objectID(let value): value.absoluteString
    case .composite(let values):
      "{"
        + values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }
        .joined(separator: "; ") + "}"
    }
  }
}

extension AttributeValue? {
  /// The value, or `nil`, without the word `Optional`.
  package var text: String { map { "\($0)" } ?? "nil" }
}
