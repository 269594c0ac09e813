import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The key of a group of an aggregate: the value that its objects share.
enum GroupKey: Hashable {
  case absent
  case boolean(Bool)
  case integer(Int64)
  case text(String)
  /// A saved object; `store` is the index of its store among those that are asked.
  case reference(Reference, store: Int)
  /// NaN, of an attribute of one of three types. NaN does not equal itself in Swift, but it does in
  /// a predicate, and so it is one group.
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

  /// The value that the objects of the group share.
  ///
  /// - Parameter object: finds the ID of a reference, given the index of its store.
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

extension FieldTable.Field {
  /// The group of a row by this field; `nil` for kinds that cannot be read from the row's bytes
  /// alone.
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
