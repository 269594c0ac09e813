/// What is so of an attribute that a class declares:
/// `@Managed(.unique, .external) var scan: Data`; several may be a list, `[.unique, .external]`.
public struct AttributeOptions: OptionSet, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// No two objects of the entity have the same value: a uniqueness constraint, which is an index
  /// as well. Values that are unique together are said in ``ManagedObject/entityDeclaration``.
  public static let unique = AttributeOptions(rawValue: 1 << 0)
  /// Objects are found and sorted by the value without all of them being read: a fetch index.
  public static let indexed = AttributeOptions(rawValue: 1 << 1)
  /// The value lives in memory alone.
  public static let transient = AttributeOptions(rawValue: 1 << 2)
  /// Large values, of more than 102,400 bytes, are kept outside the row and read when they are
  /// used.
  public static let external = AttributeOptions(rawValue: 1 << 3)
  /// The value of a deleted object is kept in the history.
  public static let keptInHistory = AttributeOptions(rawValue: 1 << 4)
}

/// A type of a property that stands for an attribute: a ``ManagedAttribute``, a
/// ``TransformableValue`` or `URL`, and the optionals of these.
public protocol AttributeManagedValue {}

extension Optional: AttributeManagedValue where Wrapped: AttributeManagedValue {}

/// The inverse of a relationship that a class declares, by its name; `nil` says that there is none.
public struct InverseName: ExpressibleByStringLiteral, ExpressibleByNilLiteral, Sendable {
  enum Kind {
    case none
    /// Said by the other side, if there is one.
    case unsaid
    case named(String)
  }

  let kind: Kind

  private init(_ kind: Kind) { self.kind = kind }

  public init(stringLiteral name: String) { self.init(.named(name)) }
  public init(nilLiteral: ()) { self.init(.none) }

  /// The other side of the relationship says so, or there is no other side.
  public static let unsaid = InverseName(.unsaid)
}
