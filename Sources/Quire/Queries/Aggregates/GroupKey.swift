import QuireModel

/// What tells the groups of an aggregate from each other: a value that objects have in common.
enum GroupKey: Hashable {
  case absent
  case boolean(Bool)
  case integer(Int64)
  case text(String)
  /// An object that a store has; of several stores, which.
  case reference(Reference, store: Int)
  case other(PredicateValue)

  init(_ value: PredicateValue?) {
    switch value {
    case nil: self = .absent
    case .value(.integer(let number))?: self = .integer(number)
    case .value(.boolean(let flag))?: self = .boolean(flag)
    case .value(.string(let text))?: self = .text(text)
    // What is not a number is one group.
    case .value(.double(let number))? where number.isNaN: self = .other(.value(.double(0.0 / 0)))
    case let value?: self = .other(value)
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
