import QuireModel
import QuireStorage

/// One comparison of a field with a constant, or a group of comparisons, on the bytes of a row.
///
/// A few words without references, as rows are tested by the hundred thousand.
struct RowTest {
  enum Form: UInt8 {
    /// True of no row.
    case never
    /// There is no value.
    case absent
    // A number in a closed range.
    case boolean, integer16, integer32, integer64, double, float
    /// A double, or a date, that is not a number.
    case notANumber
    case floatNotANumber
    // The order of the value relative to a constant.
    case text, uuid
    /// A text that begins with a constant.
    case prefix
    // Groups of the tests that follow.
    case all, any
  }

  /// The possible orders of a value relative to a constant.
  struct Orders: OptionSet {
    let rawValue: UInt8
    static let ascending = Orders(rawValue: 1)
    static let same = Orders(rawValue: 2)
    static let descending = Orders(rawValue: 4)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ order: ValueOrder) {
      switch order {
      case .ascending: self = .ascending
      case .same: self = .same
      case .descending: self = .descending
      }
    }
  }

  var form: Form
  var isNegated = false
  var orders: Orders = []
  var field = FieldTable.Field()
  /// The lower bound, as bits of an `Int64` or a `Double`; or the offset of a constant; or the
  /// number of tests in a group, those of nested groups included.
  var low: UInt64 = 0
  /// The upper bound, or the byte count of a constant.
  var high: UInt64 = 0

  /// Whether the test reads the end offsets of variable fields.
  var readsVariableFields: Bool { form == .text || form == .prefix }

  /// - Parameters:
  ///   - row: bytes in the entity's layout with a complete fixed part; checked by a reader if
  ///     ``readsVariableFields``.
  ///   - constants: the bytes of all constants.
  func holds(in row: UnsafeRawPointer, _ constants: UnsafeRawPointer) -> Bool {
    holds(in: row, constants, as: form)
  }

  /// The same for a test whose form is known where this is compiled, so that nothing is left of the
  /// choice among the forms.
  func holds(in row: UnsafeRawPointer, _ constants: UnsafeRawPointer, as form: Form) -> Bool {
    if field.isNil(in: row) { return (form == .absent) != isNegated }
    return isTrue(in: row, constants, as: form) != isNegated
  }

  private func isTrue(
    in row: UnsafeRawPointer, _ constants: UnsafeRawPointer, as form: Form
  ) -> Bool {
    switch form {
    case .double: return isBetween(Double(bitPattern: field.fixed(in: row)))
    case .float: return isBetween(Double(Float(bitPattern: field.fixed(in: row))))
    case .integer64: return isBetween(field.fixed(in: row) as Int64)
    case .integer32: return isBetween(Int64(field.fixed(in: row) as Int32))
    case .integer16: return isBetween(Int64(field.fixed(in: row) as Int16))
    case .boolean: return isBetween(Int64(field.fixed(in: row) as UInt8 != 0 ? 1 : 0))
    case .notANumber: return Double(bitPattern: field.fixed(in: row)).isNaN
    case .floatNotANumber: return Float(bitPattern: field.fixed(in: row)).isNaN
    case .text:
      let order = CanonicalText.order(field.variable(in: row), constant(constants))
      return orders.contains(Orders(order))
    case .prefix: return CanonicalText.has(field.variable(in: row), prefix: constant(constants))
    case .uuid:
      let bytes = UnsafeRawBufferPointer(start: row + Int(field.position), count: 16)
      return orders.contains(Orders(CanonicalText.byteOrder(bytes, constant(constants))))
    case .never, .absent, .all, .any: return false
    }
  }

  private func isBetween(_ number: Int64) -> Bool {
    // Without a branch, as which rows pass is as good as random.
    let isAbove = Int64(bitPattern: low) <= number ? 1 : 0
    let isBelow = number <= Int64(bitPattern: high) ? 1 : 0
    return isAbove & isBelow != 0
  }

  private func isBetween(_ number: Double) -> Bool {
    let isAbove = Double(bitPattern: low) <= number ? 1 : 0
    let isBelow = number <= Double(bitPattern: high) ? 1 : 0
    return isAbove & isBelow != 0
  }

  private func constant(_ constants: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: constants + Int(low), count: Int(high))
  }
}

/// The part of a predicate that is tested on the bytes of an entity's rows, without decoding values
/// and without reference counting.
///
/// It holds for a row exactly if ``PredicateEvaluator`` finds that part true of the row's values.
final class RowFilter {
  // Sound: written only in `init`, and freed with the filter.
  private let tests: UnsafeMutableBufferPointer<RowTest>
  private let constants: UnsafeMutableRawBufferPointer
  /// Whether rows must have been checked by a reader, beyond their fixed part.
  let needsReader: Bool

  /// - Parameters:
  ///   - tests: tests that must all hold; a group comes before its members.
  ///   - constants: the bytes with which tests compare.
  init(_ tests: [RowTest], _ constants: [UInt8]) {
    self.tests = .allocate(capacity: tests.count)
    _ = self.tests.initialize(from: tests)
    self.constants = .allocate(byteCount: max(1, constants.count), alignment: 8)
    self.constants.copyBytes(from: constants)
    needsReader = tests.contains(where: \.readsVariableFields)
  }

  deinit {
    tests.deallocate()
    constants.deallocate()
  }

  /// - Parameter row: bytes in the entity's layout, not empty; checked as ``needsReader`` says.
  func holds(for row: UnsafeRawBufferPointer) -> Bool {
    guard let row = row.baseAddress, let constants = UnsafeRawPointer(constants.baseAddress)
    else { return false }
    var index = 0
    while index < tests.count {
      if !holds(&index, row, constants) { return false }
    }
    return true
  }

  /// Removes the entries whose rows fail, and removes the bytes of entries whose rows must be
  /// looked up: an entry with bytes has passed.
  ///
  /// - Parameter entries: entries whose bytes are in memory.
  func sift(_ entries: inout [RecordEntry], _ shape: RowShape) {
    guard let constants = UnsafeRawPointer(constants.baseAddress) else { return }
    if tests.count == 1, tests[0].form != .all, tests[0].form != .any {
      let test = tests[0]
      return entries.sift { Self.sift($0, shape, test, constants) }
    }
    entries.sift { entries in
      entries.sift { start, byteCount in
        // Without a test of variable fields, their end offsets need not be checked.
        guard needsReader ? shape.isRight(start, byteCount) : shape.endsRight(start, byteCount)
        else { return nil }
        return holds(for: UnsafeRawBufferPointer(start: start, count: byteCount))
      }
    }
  }

  /// Sifts by one test. The forms that are met most have loops of their own.
  private static func sift(
    _ entries: UnsafeMutableBufferPointer<RecordEntry>, _ shape: RowShape, _ test: RowTest,
    _ constants: UnsafeRawPointer
  ) -> Int {
    switch test.form {
    case .text, .prefix:
      entries.sift { start, byteCount in
        shape.isRight(start, byteCount) ? test.holds(in: start, constants) : nil
      }
    case .double:
      entries.sift { start, byteCount in
        shape.endsRight(start, byteCount) ? test.holds(in: start, constants, as: .double) : nil
      }
    case .integer64:
      entries.sift { start, byteCount in
        shape.endsRight(start, byteCount) ? test.holds(in: start, constants, as: .integer64) : nil
      }
    case .integer32:
      entries.sift { start, byteCount in
        shape.endsRight(start, byteCount) ? test.holds(in: start, constants, as: .integer32) : nil
      }
    default:
      entries.sift { start, byteCount in
        shape.endsRight(start, byteCount) ? test.holds(in: start, constants) : nil
      }
    }
  }

  /// - Parameter index: that of the test; afterwards that of the next test outside it.
  private func holds(
    _ index: inout Int, _ row: UnsafeRawPointer, _ constants: UnsafeRawPointer
  ) -> Bool {
    let form = tests[index].form
    if form == .all || form == .any { return groupHolds(&index, row, constants) }
    index += 1
    return tests[index - 1].holds(in: row, constants)
  }

  private func groupHolds(
    _ index: inout Int, _ row: UnsafeRawPointer, _ constants: UnsafeRawPointer
  ) -> Bool {
    let group = tests[index]
    let end = index + 1 + Int(group.low)
    // The first member with the other result decides.
    var result = group.form == .all
    index += 1
    while index < end, result == (group.form == .all) {
      result = holds(&index, row, constants)
    }
    index = end
    return result != group.isNegated
  }
}
