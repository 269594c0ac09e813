import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What tells the groups of an aggregate from each other: a value that objects have in common.
enum GroupKey: Hashable {
  case absent
  case boolean(Bool)
  case integer(Int64)
  case text(String)
  /// An object that a store has; of several stores, which.
  case reference(Reference, store: Int)
  /// What is not a number, of an attribute of one of three types. Such a value does not equal
  /// itself in Swift, but it equals its like in a predicate, and so it is one group.
  case notANumber(AttributeType)
  case other(PredicateValue)

  init(_ value: PredicateValue?) {
    switch value {
    case nil: self = .absent
    case .value(.integer(let number))?: self = .integer(number)
    case .value(.boolean(let flag))?: self = .boolean(flag)
    case .value(.string(let text))?: self = .text(text)
    case .value(.double(let number))? where number.isNaN: self = .notANumber(.double)
    case .value(.float(let number))? where number.isNaN: self = .notANumber(.float)
    case .value(.date(let date))? where date.timeIntervalSinceReferenceDate.isNaN:
      self = .notANumber(.date)
    case let value?: self = .other(value)
    }
  }

  /// What the objects of the group have in common.
  ///
  /// - Parameter object: what a reference stands for.
  func value(
    _ object: (Reference, Int) throws -> ManagedObjectID
  ) rethrows -> PredicateValue? {
    switch self {
    case .absent: nil
    case .boolean(let flag): .value(.boolean(flag))
    case .integer(let number): .value(.integer(number))
    case .text(let text): .value(.string(text))
    case .reference(let reference, let store): try object(reference, store).predicateValue
    case .notANumber(.date): .value(.date(Date(timeIntervalSinceReferenceDate: .nan)))
    case .notANumber(.float): .value(.float(.nan))
    case .notANumber: .value(.double(.nan))
    case .other(let value): value
    }
  }
}

extension FieldTable.Place {
  /// The group of a row by this field, where its bytes tell it.
  @inline(__always)
  func groupKey(in row: UnsafeRawPointer, store: Int) -> GroupKey? {
    if isNil(in: row) { return .absent }
    switch FieldKind(rawValue: kind) {
    case .boolean: return .boolean(fixed(in: row) as UInt8 != 0)
    case .integer16: return .integer(Int64(fixed(in: row) as Int16))
    case .integer32: return .integer(Int64(fixed(in: row) as Int32))
    case .integer64: return .integer(fixed(in: row))
    case .string: return .text(String(decoding: variable(in: row), as: UTF8.self))
    case .reference: return .reference(Reference(rawValue: fixed(in: row)), store: store)
    default: return nil
    }
  }
}
