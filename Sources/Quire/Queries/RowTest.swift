import QuireModel
import QuireStorage

/// One comparison of a field with a constant, or several that are joined, on the bytes of a row.
///
/// A few words without a reference: rows are tested by the hundred thousand.
struct RowTest {
  enum Form: UInt8 {
    /// True of no row.
    case never
    /// There is no value.
    case absent
    // A number between two others, which are among them.
    case boolean, integer16, integer32, integer64, double, float
    /// A double, or a date, that is not a number.
    case notANumber
    case floatNotANumber
    // How the value stands to a constant.
    case text, uuid
    /// A text that begins with a constant.
    case prefix
    // Groups: the tests that follow belong to them.
    case all, any
  }

  /// How a value may stand to a constant.
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
  var field = FieldTable.Place()
  /// The lower bound, as bits of an `Int64` or a `Double`; where a constant begins; how many tests
  /// a group has, those of its groups among them.
  var low: UInt64 = 0
  /// The upper bound; how many bytes a constant has.
  var high: UInt64 = 0

  /// Whether the end offsets of variable fields are looked at.
  var readsVariableFields: Bool { form == .text || form == .prefix }

  /// - Parameters:
  ///   - row: bytes of the entity's layout with their whole fixed part; checked by a reader where
  ///     ``readsVariableFields``.
  ///   - constants: the bytes of all constants.
  @inline(__always)
  func holds(in row: UnsafeRawPointer, _ constants: UnsafeRawPointer) -> Bool {
    if field.isNil(in: row) { return (form == .absent) != isNegated }
    return isTrue(in: row, constants) != isNegated
  }

  @inline(__always)
  private func isTrue(in row: UnsafeRawPointer, _ constants: UnsafeRawPointer) -> Bool {
    switch form {
    case .double:
      let number = Double(bitPattern: field.fixed(in: row))
      return Double(bitPattern: low) <= number && number <= Double(bitPattern: high)
    case .float:
      let number = Double(Float(bitPattern: field.fixed(in: row)))
      return Double(bitPattern: low) <= number && number <= Double(bitPattern: high)
    case .integer64: return isBetween(field.fixed(in: row) as Int64)
    case .integer32: return isBetween(Int64(field.fixed(in: row) as Int32))
    case .integer16: return isBetween(Int64(field.fixed(in: row) as Int16))
    case .boolean: return isBetween(field.fixed(in: row) as UInt8 != 0 ? 1 : 0)
    case .notANumber: return Double(bitPattern: field.fixed(in: row)).isNaN
    case .floatNotANumber: return Float(bitPattern: field.fixed(in: row)).isNaN
    case .text:
      let order = CanonicalText.order(field.variable(in: row), constant(constants))
      return orders.contains(Orders(order))
    case .prefix: return CanonicalText.has(field.variable(in: row), prefix: constant(constants))
    case .uuid:
      let bytes = UnsafeRawBufferPointer(start: row + Int(field.place), count: 16)
      return orders.contains(Orders(CanonicalText.byteOrder(bytes, constant(constants))))
    case .never, .absent, .all, .any: return false
    }
  }

  @inline(__always)
  private func isBetween(_ number: Int64) -> Bool {
    Int64(bitPattern: low) <= number && number <= Int64(bitPattern: high)
  }

  @inline(__always)
  private func constant(_ constants: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: constants + Int(low), count: Int(high))
  }
}

/// The part of a predicate that is tested on the bytes of an entity's rows: no value is made, and
/// nothing is counted.
///
/// It is true of a row exactly when ``PredicateEvaluator`` finds the part true of its values.
final class RowFilter {
  // Sound: written in `init` alone, and freed when nobody has the filter any more.
  private let tests: UnsafeMutableBufferPointer<RowTest>
  private let constants: UnsafeMutableRawBufferPointer
  /// Whether rows must have been checked by a reader, beyond their fixed part.
  let needsReader: Bool

  /// - Parameters:
  ///   - tests: all of which must hold; groups come before what belongs to them.
  ///   - constants: what tests are compared with.
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

  /// - Parameter row: not empty, of the entity's layout; checked as ``needsReader`` says.
  @inline(__always)
  func holds(for row: UnsafeRawBufferPointer) -> Bool {
    guard let row = row.baseAddress, let constants = UnsafeRawPointer(constants.baseAddress)
    else { return false }
    var place = 0
    while place < tests.count {
      if !holds(&place, row, constants) { return false }
    }
    return true
  }

  /// Leaves out entries whose rows do not pass, and takes the bytes from those that take a closer
  /// look: what has bytes afterwards has passed.
  ///
  /// - Parameter entries: whose bytes are there.
  func sift(_ entries: inout [RecordEntry], _ shape: RowShape) {
    guard let constants = UnsafeRawPointer(constants.baseAddress) else { return }
    if tests.count == 1, tests[0].form != .all, tests[0].form != .any {
      let test = tests[0]
      if test.readsVariableFields {
        entries.sift { start, byteCount in
          shape.isRight(start, byteCount) ? test.holds(in: start, constants) : nil
        }
      } else {
        entries.sift { start, byteCount in
          shape.endsRight(start, byteCount) ? test.holds(in: start, constants) : nil
        }
      }
      return
    }
    entries.sift { start, byteCount in
      // Filters that read no variable field need not know where these end.
      guard needsReader ? shape.isRight(start, byteCount) : shape.endsRight(start, byteCount)
      else { return nil }
      return holds(for: UnsafeRawBufferPointer(start: start, count: byteCount))
    }
  }

  /// - Parameter place: of the test; afterwards of the one that follows it and all its own.
  @inline(__always)
  private func holds(
    _ place: inout Int, _ row: UnsafeRawPointer, _ constants: UnsafeRawPointer
  ) -> Bool {
    let form = tests[place].form
    if form == .all || form == .any { return groupHolds(&place, row, constants) }
    place += 1
    return tests[place - 1].holds(in: row, constants)
  }

  private func groupHolds(
    _ place: inout Int, _ row: UnsafeRawPointer, _ constants: UnsafeRawPointer
  ) -> Bool {
    let group = tests[place]
    let end = place + 1 + Int(group.low)
    // One member that is otherwise decides.
    var result = group.form == .all
    place += 1
    while place < end, result == (group.form == .all) {
      result = holds(&place, row, constants)
    }
    place = end
    return result != group.isNegated
  }
}

extension [RecordEntry] {
  /// - Parameter passes: whether a row is kept; `nil` if its bytes are to be taken from the entry.
  @inline(__always)
  mutating func sift(_ passes: (UnsafeRawPointer, Int) -> Bool?) {
    var kept = 0
    withUnsafeMutableBufferPointer { entries in
      for place in entries.indices {
        let entry = entries[place]
        if let start = entry.start, let isKept = passes(start, entry.byteCount) {
          entries[kept] = entry
          kept &+= isKept ? 1 : 0
        } else {
          entries[kept] = RecordEntry(key: entry.key, start: nil, byteCount: 0)
          kept &+= 1
        }
      }
    }
    removeLast(count - kept)
  }
}
