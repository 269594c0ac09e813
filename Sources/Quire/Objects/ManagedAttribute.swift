import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A Swift type that stands for attribute values of a typed property. An enumeration with raw
/// values of such a type needs to say no more than that it conforms.
public protocol ManagedAttribute: ManagedValue, OptionalManagedValue, AttributeManagedValue,
  PredicateConvertible, GroupValue, AggregateValue
where Present == Self {
  /// The types of attributes of which the type can show every value.
  ///
  /// A property that stands for an attribute of another type is an error when a store is added. An
  /// empty array, which is what a type has unless it says more, means that this is not checked.
  static var attributeTypes: [AttributeType] { get }

  /// The value of this type that stands for an attribute's.
  ///
  /// - Returns: `nil` when the value is of another kind, or not one this type can show, such as a
  ///   raw value that is no case. A property then reads as ``ManagedValue/empty``, and the context
  ///   keeps an error.
  init?(attributeValue: AttributeValue)

  /// The value that a property of this type stores.
  ///
  /// A number is converted to the attribute's own type when the property is set.
  var attributeValue: AttributeValue { get }
}

extension ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [] }

  public var predicateValue: PredicateValue? { .value(attributeValue) }

  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Self? {
    try object.typed(slot)
  }

  public static func read(from object: ManagedObject, _ slot: Int) throws -> Self {
    try readOptional(from: object, slot) ?? empty
  }

  public static func writeOptional(_ value: Self?, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }

  public static func write(_ value: Self, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
}

extension Bool: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [.boolean] }
  public static var empty: Bool { false }
  public init?(attributeValue: AttributeValue) {
    guard case .boolean(let value) = attributeValue else { return nil }
    self = value
  }
  public var attributeValue: AttributeValue { .boolean(self) }

  // Not generic, so that a property of another module gets here by one call.
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Bool? {
    try object.boolean(slot)
  }
  public static func read(from object: ManagedObject, _ slot: Int) throws -> Bool {
    try object.boolean(slot) ?? empty
  }
  public static func writeOptional(_ value: Bool?, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
  public static func write(_ value: Bool, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
}

extension String: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [.string] }
  public static var empty: String { "" }
  public init?(attributeValue: AttributeValue) {
    guard case .string(let value) = attributeValue else { return nil }
    self = value
  }
  public var attributeValue: AttributeValue { .string(self) }

  // Not generic, so that a property of another module gets here by one call.
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> String? {
    try object.string(slot)
  }
  public static func read(from object: ManagedObject, _ slot: Int) throws -> String {
    try object.string(slot) ?? empty
  }
  public static func writeOptional(_ value: String?, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
  public static func write(_ value: String, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
}

extension ManagedAttribute where Self: FixedWidthInteger & SignedInteger {
  public static var empty: Self { 0 }
  public init?(attributeValue: AttributeValue) {
    guard case .integer(let value) = attributeValue else { return nil }
    self.init(exactly: value)
  }
  public var attributeValue: AttributeValue { .integer(Int64(self)) }
}

extension Int: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [.integer16, .integer32, .integer64] }
  // Not generic, so that a property of another module gets here by one call.
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Int? {
    try object.integer(slot)
  }
  public static func read(from object: ManagedObject, _ slot: Int) throws -> Int {
    try object.integer(slot) ?? empty
  }
  public static func writeOptional(_ value: Int?, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
  public static func write(_ value: Int, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
}
extension Int16: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [.integer16] }
  // Not generic, so that a property of another module gets here by one call.
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Int16? {
    try object.integer(slot)
  }
  public static func read(from object: ManagedObject, _ slot: Int) throws -> Int16 {
    try object.integer(slot) ?? empty
  }
  public static func writeOptional(_ value: Int16?, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
  public static func write(_ value: Int16, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
}
extension Int32: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [.integer16, .integer32] }
  // Not generic, so that a property of another module gets here by one call.
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Int32? {
    try object.integer(slot)
  }
  public static func read(from object: ManagedObject, _ slot: Int) throws -> Int32 {
    try object.integer(slot) ?? empty
  }
  public static func writeOptional(_ value: Int32?, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
  public static func write(_ value: Int32, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
}
extension Int64: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [.integer16, .integer32, .integer64] }
  // Not generic, so that a property of another module gets here by one call.
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Int64? {
    try object.integer(slot)
  }
  public static func read(from object: ManagedObject, _ slot: Int) throws -> Int64 {
    try object.integer(slot) ?? empty
  }
  public static func writeOptional(_ value: Int64?, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
  public static func write(_ value: Int64, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
}

extension Double: ManagedAttribute {
  /// Doubles, and floats, each of which is exactly a double.
  public static var attributeTypes: [AttributeType] { [.double, .float] }
  public static var empty: Double { 0 }
  public init?(attributeValue: AttributeValue) {
    switch attributeValue {
    case .double(let value): self = value
    case .float(let value): self = Double(value)
    default: return nil
    }
  }
  public var attributeValue: AttributeValue { .double(self) }

  // Not generic, so that a property of another module gets here by one call.
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Double? {
    try object.double(slot)
  }
  public static func read(from object: ManagedObject, _ slot: Int) throws -> Double {
    try object.double(slot) ?? empty
  }
  public static func writeOptional(_ value: Double?, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
  public static func write(_ value: Double, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
}

extension Float: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [.float] }
  public static var empty: Float { 0 }
  public init?(attributeValue: AttributeValue) {
    guard case .float(let value) = attributeValue else { return nil }
    self = value
  }
  public var attributeValue: AttributeValue { .float(self) }
}

extension Decimal: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [.decimal] }
  public static var empty: Decimal { 0 }
  public init?(attributeValue: AttributeValue) {
    guard case .decimal(let value) = attributeValue else { return nil }
    self = value
  }
  public var attributeValue: AttributeValue { .decimal(self) }
}

extension Date: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [.date] }
  /// The reference date: midnight of 1 January 2001, UTC.
  public static var empty: Date { Date(timeIntervalSinceReferenceDate: 0) }
  public init?(attributeValue: AttributeValue) {
    guard case .date(let value) = attributeValue else { return nil }
    self = value
  }
  public var attributeValue: AttributeValue { .date(self) }

  // Not generic, so that a property of another module gets here by one call.
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Date? {
    try object.date(slot)
  }
  public static func read(from object: ManagedObject, _ slot: Int) throws -> Date {
    try object.date(slot) ?? empty
  }
  public static func writeOptional(_ value: Date?, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
  public static func write(_ value: Date, to object: ManagedObject, _ slot: Int) throws {
    try object.setTyped(slot, value)
  }
}

extension Data: ManagedAttribute {
  /// Binary data, and the bytes of transformable attributes as they are stored.
  public static var attributeTypes: [AttributeType] { [.binaryData, .transformable] }
  public static var empty: Data { Data() }
  public init?(attributeValue: AttributeValue) {
    switch attributeValue {
    case .binary(let value), .transformed(let value): self = value
    default: return nil
    }
  }
  public var attributeValue: AttributeValue { .binary(self) }
}

extension UUID: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { [.uuid] }
  /// The UUID of zeros.
  public static var empty: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
  public init?(attributeValue: AttributeValue) {
    guard case .uuid(let value) = attributeValue else { return nil }
    self = value
  }
  public var attributeValue: AttributeValue { .uuid(self) }
}

extension URL: OptionalManagedValue, AttributeManagedValue {
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> URL? {
    switch try object.attribute(slot) {
    case nil: return nil
    case .uri(let url), .objectID(let url): return url
    case let value?:
      throw object.unacceptable(value.plainValue, for: object.binding.properties[slot].name)
    }
  }
  public static func writeOptional(_ value: URL?, to object: ManagedObject, _ slot: Int) throws {
    guard case .attribute(let attribute) = object.binding.properties[slot],
      attribute.type == .uri || attribute.type == .objectID
    else { throw object.unacceptable("a URL", for: object.binding.properties[slot].name) }
    try object.setAttribute(slot, value.map { attribute.type == .uri ? .uri($0) : .objectID($0) })
  }
}
