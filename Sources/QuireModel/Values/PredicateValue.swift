#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value that a predicate compares; the absence of a value is the `nil` of a `PredicateValue?`.
public enum PredicateValue: Hashable, Sendable {
  /// A number, a text, or another value of an attribute.
  case value(AttributeValue)
  /// An object, by its identity.
  case object(OpaqueIdentity)
  /// The values at the end of a path through a to-many relationship. Some may be absent: an artist
  /// of a work may have no name.
  case collection([PredicateValue?])
}

/// The identity of an object, of a type that the caller chooses, such as an object ID.
///
/// One reference, so that predicate values are small and cheap to copy. Making an identity
/// allocates; keep one that is needed often.
public struct OpaqueIdentity: Sendable {
  private let box: IdentityBox

  /// - Parameter base: identities are equal when their bases are equal and of one type.
  public init<Base: Hashable & Sendable>(_ base: Base) { box = IdentityBoxOf(base) }

  /// An identity of something that has an order as well.
  package init<Base: OrderedIdentity>(ordered base: Base) { box = OrderedIdentityBox(base) }

  /// The order relative to another identity of the same type; `nil` if the type has no order.
  func order(comparedTo other: OpaqueIdentity) -> ValueOrder? { box.order(comparedTo: other.box) }

  /// The value that the identity was made of.
  public var base: any Hashable & Sendable { box.base }

  /// The same if it is of this very type; cheaper than a cast.
  package func base<Base: Hashable & Sendable>(as type: Base.Type) -> Base? {
    guard box.isOf(ObjectIdentifier(type)) else { return nil }
    // Sound: whatever is of the type is an `IdentityBoxOf`, or a subclass.
    return unsafeDowncast(box, to: IdentityBoxOf<Base>.self).value
  }
}

extension OpaqueIdentity: Hashable {
  public static func == (left: OpaqueIdentity, right: OpaqueIdentity) -> Bool {
    left.box === right.box || left.box.isEqual(to: right.box)
  }

  public func hash(into hasher: inout Hasher) { box.hash(into: &hasher) }
}

extension OpaqueIdentity: CustomStringConvertible {
  public var description: String { String(describing: base) }
}

/// Something opaque whose order a predicate may ask for.
package protocol OrderedIdentity: Hashable, Sendable {
  /// - Returns: `nil` when no order holds between the two.
  func order(comparedTo other: Self) -> ValueOrder?
}

/// Never made itself: only as an ``IdentityBoxOf``, which overrides everything.
private class IdentityBox: @unchecked Sendable {
  var base: any Hashable & Sendable { 0 }
  func isOf(_ type: ObjectIdentifier) -> Bool { false }
  func isEqual(to other: IdentityBox) -> Bool { false }
  func hash(into hasher: inout Hasher) {}
  func order(comparedTo other: IdentityBox) -> ValueOrder? { nil }
}

private class IdentityBoxOf<Base: Hashable & Sendable>: IdentityBox, @unchecked Sendable {
  final let value: Base

  init(_ value: Base) { self.value = value }

  override var base: any Hashable & Sendable { value }
  final override func isOf(_ type: ObjectIdentifier) -> Bool {
    type == ObjectIdentifier(Base.self)
  }
  override func isEqual(to other: IdentityBox) -> Bool {
    (other as? IdentityBoxOf<Base>)?.value == value
  }
  override func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

// `@unchecked Sendable`: as its superclass, it holds one value that never changes.
private final class OrderedIdentityBox<Base: OrderedIdentity>: IdentityBoxOf<Base>,
  @unchecked Sendable
{
  override func order(comparedTo other: IdentityBox) -> ValueOrder? {
    (other as? OrderedIdentityBox<Base>).flatMap { value.order(comparedTo: $0.value) }
  }
}

/// Anything that a predicate can be given as a value.
///
/// Numbers, strings, dates, data, UUIDs, URLs, optionals and collections of these conform; objects
/// and their IDs do on the floors above.
public protocol PredicateConvertible {
  /// The value, or `nil` for the absence of one.
  var predicateValue: PredicateValue? { get }
}

extension PredicateValue: PredicateConvertible {
  public var predicateValue: PredicateValue? { self }
}

extension OpaqueIdentity: PredicateConvertible {
  public var predicateValue: PredicateValue? { .object(self) }
}

extension AttributeValue: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(self) }
}

extension Optional: PredicateConvertible where Wrapped: PredicateConvertible {
  public var predicateValue: PredicateValue? { self?.predicateValue }
}

extension Array: PredicateConvertible where Element: PredicateConvertible {
  public var predicateValue: PredicateValue? { .collection(map(\.predicateValue)) }
}

extension Set: PredicateConvertible where Element: PredicateConvertible {
  public var predicateValue: PredicateValue? { .collection(map(\.predicateValue)) }
}

extension Bool: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.boolean(self)) }
}

extension String: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.string(self)) }
}

extension Substring: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.string(String(self))) }
}

extension Double: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.double(self)) }
}

extension Float: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.float(self)) }
}

extension Decimal: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.decimal(self)) }
}

extension Date: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.date(self)) }
}

extension Data: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.binary(self)) }
}

extension UUID: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.uuid(self)) }
}

extension URL: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.uri(absoluteURL)) }
}

extension PredicateConvertible where Self: FixedWidthInteger {
  /// An integer; a decimal when no `Int64` holds it.
  public var predicateValue: PredicateValue? {
    if let integer = Int64(exactly: self) { return .value(.integer(integer)) }
    let parts = DecimalParts(
      isNegative: self < 0, mantissa: UInt128(clamping: magnitude), exponent: 0)
    return .value(.decimal(parts.decimal ?? .nan))
  }
}

extension Int: PredicateConvertible {}
extension Int8: PredicateConvertible {}
extension Int16: PredicateConvertible {}
extension Int32: PredicateConvertible {}
extension Int64: PredicateConvertible {}
extension UInt: PredicateConvertible {}
extension UInt8: PredicateConvertible {}
extension UInt16: PredicateConvertible {}
extension UInt32: PredicateConvertible {}
extension UInt64: PredicateConvertible {}
