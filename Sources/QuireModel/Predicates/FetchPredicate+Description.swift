#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension FetchPredicate: CustomStringConvertible {
  /// The predicate as a format string.
  ///
  /// It parses back to an equal predicate, with these exceptions: an object prints as `<…>`, which
  /// has no literal; a conjunction or disjunction of fewer than two parts prints as what it means;
  /// a constant collection prints as the list of its members, and an empty key path as `SELF`.
  public var description: String {
    switch self {
    case .constant(let flag): flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): comparison.description
    case .and(let parts): Self.joined(parts, by: " AND ", empty: true)
    case .or(let parts): Self.joined(parts, by: " OR ", empty: false)
    case .not(let part): "NOT " + part.operandDescription
    }
  }

  private static func joined(_ parts: [FetchPredicate], by word: String, empty: Bool) -> String {
    if parts.isEmpty { return FetchPredicate.constant(empty).description }
    if parts.count == 1 { return parts[0].description }
    return parts.map(\.operandDescription).joined(separator: word)
  }

  private var operandDescription: String {
    switch self {
    case .and(let parts) where parts.count == 1, .or(let parts) where parts.count == 1:
      parts[0].operandDescription
    case .and(let parts) where !parts.isEmpty, .or(let parts) where !parts.isEmpty:
      "(\(description))"
    default:
      description
    }
  }
}

extension FetchPredicate.Comparison: CustomStringConvertible {
  public var description: String {
    let word =
      switch modifier {
      case .direct: ""
      case .any: "ANY "
      case .all: "ALL "
      }
    return "\(word)\(left) \(self.operator.rawValue)\(options) \(right)"
  }
}

extension PredicateValue: CustomStringConvertible {
  /// The value as a format string writes it.
  public var description: String {
    switch self {
    case .value(let value): value.formatDescription
    case .object(let identity): "<\(identity)>"
    case .collection(let members):
      "{\(members.map { $0?.description ?? "nil" }.joined(separator: ", "))}"
    }
  }
}

extension AttributeValue {
  fileprivate var formatDescription: String {
    switch self {
    case .boolean(let flag): flag ? "YES" : "NO"
    case .integer(let number): number.description
    case .string(let text): FormatLanguage.quoted(text)
    case .double(let number) where number.isFinite: number.description
    case .double(let number): Self.cast(number.description, .double)
    case .float(let number): Self.cast(number.description, .float)
    case .decimal(let number): Self.cast(number.description, .decimal)
    case .date(let date): Self.cast(date.timeIntervalSinceReferenceDate.description, .date)
    case .uuid(let uuid): Self.cast(uuid.uuidString, .uuid)
    case .uri(let url): Self.cast(url.absoluteString, .url)
    case .objectID(let url): Self.cast(url.absoluteString, .objectID)
    case .binary(let data): Self.cast(data.base64EncodedString(), .data)
    case .transformed(let data): Self.cast(data.base64EncodedString(), .transformed)
    case .composite: Self.cast(CastType.text(ofComposite: self), .composite)
    }
  }

  private static func cast(_ text: String, _ type: CastType) -> String {
    "CAST(\(FormatLanguage.quoted(text)), \(FormatLanguage.quoted(type.rawValue)))"
  }
}
