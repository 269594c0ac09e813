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
  case undefined = 0
  case integer16 = 100
  case integer32 = 200
  case integer64 = 300
  case decimal = 400
  case double = 500
  case float = 600
  case string = 700
  case boolean = 800
  case date = 900
  case binaryData = 1000
  case uuid = 1100
  case uri = 1200
  case transformable = 1800
  case objectID = 2000
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
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case float(Float)
  case decimal(Decimal)
  case string(String)
  case date(Date)
  case binary(Data)
  case uuid(UUID)
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
