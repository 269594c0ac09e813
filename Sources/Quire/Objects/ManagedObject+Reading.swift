import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Attributes of the usual types, read directly from the row of a clean object: typed properties
// call these functions. Everything else is read by `attribute(_:)`.
extension ManagedObject {
  /// The result of reading a slot's field in the row.
  private enum Found<Value> {
    case value(Value?)
    /// The slot was changed, the row is not here, or the field is of another kind.
    case elsewhere
  }

  private func find<Value>(
    _ slot: Int, _ kind: FieldKind,
    _ read: (FieldTable.Field, UnsafeRawPointer) -> Value
  ) -> Found<Value> {
    guard slots.isEmpty, let row = rowStart, let field = ofArena({ $0.field(of: slot) }) else {
      return .elsewhere
    }
    guard field.isKind(kind) else { return .elsewhere }
    return .value(field.isNil(in: row) ? nil : read(field, row))
  }

  /// The destination that the row of a clean object has, where it cannot be dangling, nor be
  /// another in the state that the context reads; `nil` when there is none, and where the general
  /// way has to find it.
  final func sureReference(_ slot: Int) -> Reference? {
    guard slots.isEmpty, let row = rowStart, let field = ofArena({ $0.field(of: slot) }),
      field.isSure, field.isKind(.reference), !field.isNil(in: row),
      !ofArena({ $0.linksHaveMoved })
    else { return nil }
    let reference = Reference(rawValue: field.fixed(in: row))
    return reference.isTemporary ? nil : reference
  }

  /// Reads the row of a fault.
  ///
  /// - Returns: whether the object has a row now, so that its field can be read.
  @inline(never)
  private func fulfilFault() throws -> Bool {
    guard !hasRow, slots.isEmpty else { return false }
    try fulfil()
    return hasRow
  }

  final func double(_ slot: Int) throws -> Double? {
    repeat {
      if case .value(let value) = find(slot, .double, { Double(bitPattern: $0.fixed(in: $1)) }) {
        return value
      }
    } while try fulfilFault()
    return try typed(slot)
  }

  final func date(_ slot: Int) throws -> Date? {
    repeat {
      let found = find(slot, .date) {
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0.fixed(in: $1)))
      }
      if case .value(let value) = found { return value }
    } while try fulfilFault()
    return try typed(slot)
  }

  final func boolean(_ slot: Int) throws -> Bool? {
    repeat {
      if case .value(let value) = find(slot, .boolean, { ($0.fixed(in: $1) as UInt8) != 0 }) {
        return value
      }
    } while try fulfilFault()
    return try typed(slot)
  }

  final func string(_ slot: Int) throws -> String? {
    repeat {
      let found = find(slot, .string) { String(decoding: $0.variable(in: $1), as: UTF8.self) }
      if case .value(let value) = found { return value }
    } while try fulfilFault()
    return try typed(slot)
  }

  /// An integer attribute. A value that `Number` cannot show is left to `typed(_:)`, which throws.
  final func integer<Number: FixedWidthInteger & SignedInteger & ManagedAttribute>(
    _ slot: Int
  ) throws -> Number? {
    if slots.isEmpty, let row = rowStart, let field = ofArena({ $0.field(of: slot) }) {
      if field.kind == FieldKind.integer64.rawValue || field.kind == FieldKind.integer32.rawValue
        || field.kind == FieldKind.integer16.rawValue
      {
        if field.isNil(in: row) { return nil }
        let value: Int64 =
          switch field.kind {
          case FieldKind.integer16.rawValue: Int64(field.fixed(in: row) as Int16)
          case FieldKind.integer32.rawValue: Int64(field.fixed(in: row) as Int32)
          default: field.fixed(in: row)
          }
        if let number = Number(exactly: value) { return number }
      }
    }
    return try typed(slot)
  }

  /// Any attribute as a type that can show it.
  final func typed<Value: ManagedAttribute>(_ slot: Int) throws -> Value? {
    guard binding.traits[slot].attributeType != nil else {
      throw unacceptable("an attribute", for: binding.properties[slot].name)
    }
    recordAccess(to: slot)
    guard let value = try attribute(slot) else { return nil }
    guard let typed = Value(attributeValue: value) else {
      throw cannotShow(value, slot, Value.self)
    }
    return typed
  }

  /// The error for a stored value that a property's type cannot show, such as a raw value that is
  /// no case.
  private func cannotShow(
    _ value: AttributeValue, _ slot: Int, _ type: Any.Type
  ) -> PersistenceError {
    let name = binding.name(of: slot)
    var error = PersistenceError(
      .unacceptableValue,
      "\(entity.name).\(name) is \(value), which the property's type \(type) cannot show")
    error.entityName = entity.name
    error.key = name
    error.objectID = objectID
    error.rejectedValue = value
    return error
  }

  /// Sets any attribute to the value of a type that stands for it.
  final func setTyped<Value: ManagedAttribute>(_ slot: Int, _ value: Value?) throws {
    guard let type = binding.traits[slot].attributeType else {
      throw unacceptable("an attribute", for: binding.properties[slot].name)
    }
    guard let value else { return try put(nil as AttributeValue?, in: slot) }
    let exact = value.attributeValue
    if exact.isOf(type) { return try put(exact, in: slot) }
    // A number out of its attribute's range is kept as it is, and refused when the object is saved.
    guard case .attribute(let attribute) = binding.properties[slot],
      let converted = AttributeValue(exact.plainValue, for: attribute)
    else { throw unacceptable(value, for: binding.properties[slot].name) }
    try setAttribute(slot, converted)
  }
}
