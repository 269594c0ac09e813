#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An attribute of an entity: a name, a type, and the rules its values obey.
///
/// In code that builds a model the short name ``Attribute`` reads better:
///
/// ```swift
/// Attribute("title", .string, optional: false, default: "Untitled")
/// ```
public struct AttributeDescription: Hashable, Sendable {
  public var name: String
  public var type: AttributeType
  public var isOptional = true
  /// A transient attribute lives in memory only.
  public var isTransient = false
  public var defaultValue: AttributeValue?
  /// The name this attribute had in an earlier version, when it was renamed.
  public var renamingIdentifier: String?
  /// Changes the version hash without any other change of the model.
  public var versionHashModifier: String?
  /// The elements of a composite attribute, in order; empty for any other type.
  public var elements: [AttributeDescription] = []
  public var validation = AttributeValidation()
  public var valueTransformerName: String?
  /// The Swift or Objective-C class of a transformable value.
  public var valueClassName: String?
  /// Whether large values may be kept outside the row.
  public var allowsExternalBinaryDataStorage = false
  /// The expression of a derived attribute, such as `artworks.@count`.
  public var derivationExpression: String?
  /// Whether the value of a deleted object is kept in the history.
  public var preservesValueInHistoryOnDeletion = false
  public var usesScalarValueType = false
  public var isIndexedBySpotlight = false
  public var allowsCloudEncryption = false
  /// The old single-attribute index flag; fetch indexes on the entity say more.
  public var isIndexed = false
  public var userInfo: [String: String] = [:]

  public init(
    _ name: String, _ type: AttributeType, optional: Bool = true,
    default defaultValue: AttributeValue? = nil, transient: Bool = false,
    renamedFrom renamingIdentifier: String? = nil
  ) {
    self.name = name
    self.type = type
    self.isOptional = optional
    self.defaultValue = defaultValue?.asNumber(of: type)
    self.isTransient = transient
    self.renamingIdentifier = renamingIdentifier
  }
}

public typealias Attribute = AttributeDescription

/// The limits that a value is checked against when its object is saved.
public struct AttributeValidation: Hashable, Sendable {
  /// Smallest number, or shortest string in characters.
  public var minimum: String?
  /// Largest number, or longest string in characters.
  public var maximum: String?
  public var earliestDate: Date?
  public var latestDate: Date?
  /// A pattern the whole string must match.
  public var regularExpression: String?

  public init() {}
}

extension AttributeValue {
  /// A number as the type keeps it, so that `default: 0` is a default for any kind of number.
  fileprivate func asNumber(of type: AttributeType) -> AttributeValue {
    switch (self, type) {
    case (.integer(let number), .double): .double(Double(number))
    case (.integer(let number), .float): .float(Float(number))
    case (.integer(let number), .decimal): .decimal(Decimal(number))
    case (.double(let number), .float): .float(Float(number))
    case (.double(let number), .decimal): .decimal(Decimal(number))
    default: self
    }
  }
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
