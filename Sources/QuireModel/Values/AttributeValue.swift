#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The type of an attribute.
///
/// Raw values are Core Data's, so that numbers in tools and logs mean the same in both worlds.
/// They are written into stores: add cases, never renumber.
public enum AttributeType: Int, Sendable, CaseIterable {
  /// No type: any value, which lives in memory only. Only a transient attribute may have it.
  case undefined = 0
  /// A whole number of 16 bits: -32,768 to 32,767.
  case integer16 = 100
  /// A whole number of 32 bits: -2,147,483,648 to 2,147,483,647.
  case integer32 = 200
  /// A whole number of 64 bits.
  case integer64 = 300
  /// A decimal number of up to 38 digits: Foundation's `Decimal`.
  case decimal = 400
  /// A binary floating-point number of 64 bits.
  case double = 500
  /// A binary floating-point number of 32 bits.
  case float = 600
  /// A text.
  case string = 700
  /// `true` or `false`.
  case boolean = 800
  /// A moment, in seconds since the reference date: Foundation's `Date`.
  case date = 900
  /// Bytes: Foundation's `Data`.
  case binaryData = 1000
  /// A UUID of 16 bytes.
  case uuid = 1100
  /// A URL.
  case uri = 1200
  /// A value of any type that a ``AttributeDescription/valueTransformerName`` makes bytes of.
  case transformable = 1800
  /// The ID of another object, kept as its URI.
  case objectID = 2000
  /// Several values under one name; ``AttributeDescription/elements`` says which.
  case composite = 2100
}

extension AttributeType {
  /// The values an integer attribute of this type can hold, or `nil` for other types.
  public var integerRange: ClosedRange<Int64>? {
    switch self {
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    case .integer64: Int64.min...Int64.max
    case .undefined, .decimal, .double, .float, .string, .boolean, .date, .binaryData, .uuid, .uri,
      .transformable, .objectID, .composite:
      nil
    }
  }
}

/// One value of an attribute; the absence of a value is the `nil` of an `AttributeValue?`.
///
/// All integer types share one case, because a value read as `Int` and one read as `Int16` are the
/// same fact; the attribute's type says which range is legal.
public enum AttributeValue: Hashable, Sendable {
  /// A value of an attribute of the type ``AttributeType/boolean``.
  case boolean(Bool)
  /// A value of an attribute of one of the three types of whole numbers.
  case integer(Int64)
  /// A value of an attribute of the type ``AttributeType/double``.
  case double(Double)
  /// A value of an attribute of the type ``AttributeType/float``.
  case float(Float)
  /// A value of an attribute of the type ``AttributeType/decimal``.
  case decimal(Decimal)
  /// A value of an attribute of the type ``AttributeType/string``.
  case string(String)
  /// A value of an attribute of the type ``AttributeType/date``.
  case date(Date)
  /// A value of an attribute of the type ``AttributeType/binaryData``.
  case binary(Data)
  /// A value of an attribute of the type ``AttributeType/uuid``.
  case uuid(UUID)
  /// A value of an attribute of the type ``AttributeType/uri``.
  case uri(URL)
  /// The data that the attribute's value transformer made.
  case transformed(Data)
  /// An object ID in its URI form.
  case objectID(URL)
  /// The values of a composite attribute, by the names of its elements.
  case composite([String: AttributeValue])
}

extension AttributeValue {
  /// Whether an attribute of `type` stores values of this case.
  ///
  /// Ranges are not considered: 70,000 is an integer, though not one that an `integer16` may keep.
  public func isOf(_ type: AttributeType) -> Bool {
    if type == .undefined { return true }
    return switch self {
    case .boolean: type == .boolean
    case .integer: type == .integer16 || type == .integer32 || type == .integer64
    case .double: type == .double
    case .float: type == .float
    case .decimal: type == .decimal
    case .string: type == .string
    case .date: type == .date
    case .binary: type == .binaryData
    case .uuid: type == .uuid
    case .uri: type == .uri
    case .transformed: type == .transformable
    case .objectID: type == .objectID
    case .composite: type == .composite
    }
  }
}
