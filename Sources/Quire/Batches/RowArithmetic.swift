import QuireModel

/// An expression of numbers that a row's bytes say, worked out without a value in between.
///
/// What takes more (other types, another object, an absent value, a number that does not fit, a
/// division of integers) has no answer here, and is left to ``Evaluation``, which says what is
/// wrong.
indirect enum RowArithmetic {
  case number(Number)
  case field(FieldTable.Place, FieldKind)
  case function(FetchExpression.Function, RowArithmetic, RowArithmetic)

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

  /// - Returns: `nil` for an expression that takes more.
  init?(_ expression: FetchExpression, _ storage: EntityStorage) {
    switch expression {
    case .constant(.value(.integer(let number))?): self = .number(.integer(number))
    case .constant(.value(.double(let number))?): self = .number(.double(number))
    case .keyPath(let names):
      guard names.count == 1, let slot = storage.binding.slot(named: names[0]),
        storage.fieldBySlot[slot] >= 0
      else { return nil }
      let kind = storage.layout.fields[storage.fieldBySlot[slot]].kind
      switch kind {
      case .double, .integer16, .integer32, .integer64: break
      default: return nil
      }
      self = .field(storage.table.places[slot], kind)
    case .function(let function, let arguments):
      guard arguments.count == 2, let left = RowArithmetic(arguments[0], storage),
        let right = RowArithmetic(arguments[1], storage)
      else { return nil }
      switch function {
      case .add, .subtract, .multiply, .divide: self = .function(function, left, right)
      default: return nil
      }
    default: return nil
    }
  }

  /// - Parameter row: of the entity's current layout.
  func value(in row: UnsafeRawPointer) -> Number? {
    switch self {
    case .number(let number): return number
    case .field(let place, let kind):
      if place.isNil(in: row) { return nil }
      switch kind {
      case .double: return .double(Double(bitPattern: place.fixed(in: row)))
      case .integer64: return .integer(place.fixed(in: row))
      case .integer32: return .integer(Int64(place.fixed(in: row) as Int32))
      case .integer16: return .integer(Int64(place.fixed(in: row) as Int16))
      default: return nil
      }
    case .function(let function, let left, let right):
      guard let left = left.value(in: row), let right = right.value(in: row) else { return nil }
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
}
