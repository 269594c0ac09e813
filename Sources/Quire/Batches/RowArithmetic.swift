import QuireModel

/// An arithmetic expression on numbers in a row, computed from the bytes without making values.
///
/// Anything else (other types, another object, an absent value, an overflow, a division of
/// integers) has no result here, and is left to ``Evaluation``, which reports errors.
final class RowArithmetic {
  enum Number {
    case integer(Int64)
    case double(Double)

    var double: Double {
      switch self {
      case .integer(let number): Double(number)
      case .double(let number): number
      }
    }
  }

  /// A part of the expression, without references to count.
  enum Step {
    case number(Number)
    case field(FieldTable.Field, FieldKind)
    /// A function of the two expressions that follow.
    case function(FetchExpression.Function)
  }

  // Sound: written only in `init`, and freed with the object. Evaluation for many rows uses the
  // address, without reference counting.
  /// The expression in prefix order: each function before its operands.
  let steps: UnsafePointer<Step>

  /// - Returns: `nil` for an expression that cannot be computed in this way.
  init?(_ expression: FetchExpression, _ storage: EntityStorage) {
    var list: [Step] = []
    guard RowArithmetic.append(expression, storage, to: &list) else { return nil }
    let steps = UnsafeMutablePointer<Step>.allocate(capacity: list.count)
    for (index, step) in list.enumerated() { (steps + index).initialize(to: step) }
    self.steps = UnsafePointer(steps)
  }

  deinit { steps.deallocate() }

  private static func append(
    _ expression: FetchExpression, _ storage: EntityStorage, to list: inout [Step]
  ) -> Bool {
    switch expression {
    case .constant(.value(.integer(let number))?): list.append(.number(.integer(number)))
    case .constant(.value(.double(let number))?): list.append(.number(.double(number)))
    case .keyPath(let names):
      guard names.count == 1, let slot = storage.binding.slot(named: names[0]),
        storage.fieldBySlot[slot] >= 0
      else { return false }
      let kind = storage.layout.fields[storage.fieldBySlot[slot]].kind
      switch kind {
      case .double, .integer16, .integer32, .integer64: break
      default: return false
      }
      list.append(.field(storage.table.fields[slot], kind))
    case .function(let function, let arguments):
      guard arguments.count == 2 else { return false }
      switch function {
      case .add, .subtract, .multiply, .divide: list.append(.function(function))
      default: return false
      }
      return append(arguments[0], storage, to: &list) && append(arguments[1], storage, to: &list)
    default: return false
    }
    return true
  }

  /// - Parameters:
  ///   - steps: the steps of an expression; afterwards those that follow it.
  ///   - row: a row of the entity's current layout.
  static func value(of steps: inout UnsafePointer<Step>, in row: UnsafeRawPointer) -> Number? {
    let step = steps.pointee
    steps += 1
    switch step {
    case .number(let number): return number
    case .field(let field, let kind):
      if field.isNil(in: row) { return nil }
      switch kind {
      case .double: return .double(Double(bitPattern: field.fixed(in: row)))
      case .integer64: return .integer(field.fixed(in: row))
      case .integer32: return .integer(Int64(field.fixed(in: row) as Int32))
      case .integer16: return .integer(Int64(field.fixed(in: row) as Int16))
      default: return nil
      }
    case .function(let function):
      guard let left = value(of: &steps, in: row), let right = value(of: &steps, in: row) else {
        return nil
      }
      return value(of: function, left, right)
    }
  }

  private static func value(
    of function: FetchExpression.Function, _ left: Number, _ right: Number
  ) -> Number? {
    if case .integer(let left) = left, case .integer(let right) = right {
      let result: (partialValue: Int64, overflow: Bool)
      switch function {
      case .add: result = left.addingReportingOverflow(right)
      case .subtract: result = left.subtractingReportingOverflow(right)
      case .multiply: result = left.multipliedReportingOverflow(by: right)
      default: return nil
      }
      return result.overflow ? nil : .integer(result.partialValue)
    }
    switch function {
    case .add: return .double(left.double + right.double)
    case .subtract: return .double(left.double - right.double)
    case .multiply: return .double(left.double * right.double)
    case .divide: return .double(left.double / right.double)
    default: return nil
    }
  }
}
