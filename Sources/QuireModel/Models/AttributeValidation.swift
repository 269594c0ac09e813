#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The limits that a value is checked against when its object is saved.
///
/// Numbers are kept as text, in the form in which Xcode keeps them, so that no digit of a decimal
/// is lost and a limit of a length looks like one of a number.
public struct AttributeValidation: Hashable, Sendable {
  /// Smallest number, or shortest string in characters.
  public var minimum: String?
  /// Largest number, or longest string in characters.
  public var maximum: String?
  /// The earliest legal date; `nil` for no limit.
  public var earliestDate: Date?
  /// The latest legal date; `nil` for no limit.
  public var latestDate: Date?
  /// A pattern the whole string must match.
  public var regularExpression: String?

  /// No limits.
  public init() {}

  /// ``minimum`` as a number; `nil` when there is none.
  public var minimumNumber: Decimal? { minimum.flatMap(Self.number) }

  /// ``maximum`` as a number; `nil` when there is none.
  public var maximumNumber: Decimal? { maximum.flatMap(Self.number) }

  private static func number(_ text: String) -> Decimal? { DecimalParts(text: text)?.decimal }

  mutating func limit(to limits: any AttributeLimits) {
    func open<Limits: AttributeLimits>(_ limits: Limits) {
      set(limits.smallest?.attributeLimit, \.minimum, \.earliestDate)
      set(limits.largest?.attributeLimit, \.maximum, \.latestDate)
    }
    open(limits)
  }

  private mutating func set(
    _ limit: AttributeValue?, _ text: WritableKeyPath<Self, String?>,
    _ date: WritableKeyPath<Self, Date?>
  ) {
    switch limit {
    case .date(let limit)?: self[keyPath: date] = limit
    case .integer(let limit)?: self[keyPath: text] = "\(limit)"
    case .double(let limit)?: self[keyPath: text] = "\(limit)"
    case .decimal(let limit)?: self[keyPath: text] = "\(limit)"
    case .boolean, .float, .string, .binary, .uuid, .uri, .transformed, .objectID, .composite, nil:
      break
    }
  }
}

/// A value that can be the smallest or the largest of an attribute: an integer, a number, a date.
public protocol AttributeLimit: Comparable, Sendable {
  /// The limit as a value, which says whether it is one of numbers or of dates.
  var attributeLimit: AttributeValue { get }
}

extension Int: AttributeLimit {
  public var attributeLimit: AttributeValue { .integer(Int64(self)) }
}

extension Double: AttributeLimit {
  public var attributeLimit: AttributeValue { .double(self) }
}

extension Decimal: AttributeLimit {
  public var attributeLimit: AttributeValue { .decimal(self) }
}

extension Date: AttributeLimit {
  public var attributeLimit: AttributeValue { .date(self) }
}

/// A range of legal values, closed or open at one end: `0...5`, `1...`, `...99.5`.
public protocol AttributeLimits<Bound>: Sendable {
  /// The type of the limits: an integer, a number or a date.
  associatedtype Bound: AttributeLimit
  /// The smallest legal value; `nil` for no limit.
  var smallest: Bound? { get }
  /// The largest legal value; `nil` for no limit.
  var largest: Bound? { get }
}

extension ClosedRange: AttributeLimits where Bound: AttributeLimit {
  public var smallest: Bound? { lowerBound }
  public var largest: Bound? { upperBound }
}

extension PartialRangeFrom: AttributeLimits where Bound: AttributeLimit {
  public var smallest: Bound? { lowerBound }
  public var largest: Bound? { nil }
}

extension PartialRangeThrough: AttributeLimits where Bound: AttributeLimit {
  public var smallest: Bound? { nil }
  public var largest: Bound? { upperBound }
}
