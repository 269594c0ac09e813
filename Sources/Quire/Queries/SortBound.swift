import QuireModel
import QuireStorage

/// What the first sort key of a row may be if as many matches as are wanted have been found: a row
/// whose key comes after those of all of them is left out.
///
/// It is made of the last match once a leaf, and read for each row: bounds of a number in place of
/// a ``SortPrefix`` of each row.
struct SortBound {
  private let field: FieldTable.Field
  private let excludesAbsent: Bool
  private let excludesNotANumber: Bool
  /// The numbers that are not excluded, inclusive; of dates, their seconds.
  private let low: Double
  private let high: Double

  /// - Returns: `nil` if the field has no number.
  init?(_ last: SortPrefix, by rule: SortPrefix.Rule, in field: FieldTable.Field) {
    let ascending = rule.ascending
    let notANumber: SortPrefix
    switch FieldKind(rawValue: field.kind) {
    case .date: notANumber = SortPrefix(seconds: .nan, ascending: ascending)
    case .double, .float, .boolean, .integer16, .integer32, .integer64:
      notANumber = SortPrefix(number: .nan, ascending: ascending)
    default: return nil
    }
    self.field = field
    excludesAbsent = last < SortPrefix(nil, by: rule)
    excludesNotANumber = last < notANumber
    if let number = last.number(ascending: ascending) {
      (low, high) = ascending ? (-.infinity, number) : (number, .infinity)
    } else {
      // Absent or not a number: all numbers come after it, or none does.
      let excludesAll =
        field.isKind(.date)
        ? last < SortPrefix(seconds: 0, ascending: ascending)
        : last < SortPrefix(number: 0, ascending: ascending)
      (low, high) = excludesAll ? (.infinity, -.infinity) : (-.infinity, .infinity)
    }
  }

  /// Removes the entries whose rows are excluded.
  ///
  /// - Parameter entries: rows whose fixed part was checked; others have no bytes, and stay.
  func sift(_ entries: inout [RecordEntry]) {
    entries.sift { entries in
      switch FieldKind(rawValue: field.kind) {
      case .double, .date:
        entries.sift { row, _ in !excludes(row) { Double(bitPattern: $0.fixed(in: row)) } }
      case .float:
        entries.sift { row, _ in
          !excludes(row) { Double(Float(bitPattern: $0.fixed(in: row))) }
        }
      case .integer64:
        entries.sift { row, _ in !excludes(row) { Double($0.fixed(in: row) as Int64) } }
      case .integer32:
        entries.sift { row, _ in !excludes(row) { Double($0.fixed(in: row) as Int32) } }
      case .integer16:
        entries.sift { row, _ in !excludes(row) { Double($0.fixed(in: row) as Int16) } }
      default:
        entries.sift { row, _ in !excludes(row) { $0.fixed(in: row) as UInt8 != 0 ? 1 : 0 } }
      }
    }
  }

  private func excludes(
    _ row: UnsafeRawPointer, _ number: (FieldTable.Field) -> Double
  ) -> Bool {
    if field.isNil(in: row) { return excludesAbsent }
    let number = number(field)
    return number < low || number > high || number.isNaN && excludesNotANumber
  }
}

extension [RecordEntry] {
  /// Filters the entries in place.
  ///
  /// - Parameter sift: moves those that are kept to the front, and returns their number.
  mutating func sift(_ sift: (UnsafeMutableBufferPointer<RecordEntry>) -> Int) {
    let kept = withUnsafeMutableBufferPointer { sift($0) }
    removeLast(count &- kept)
  }
}

extension UnsafeMutableBufferPointer<RecordEntry> {
  /// Moves the entries that are kept to the front.
  ///
  /// - Parameter passes: whether an entry is kept; `nil` to keep it without its bytes. Called with
  ///   the bytes of each entry that has any.
  /// - Returns: the number of entries kept.
  func sift(_ passes: (UnsafeRawPointer, Int) -> Bool?) -> Int {
    var kept = 0
    for index in indices {
      let entry = self[index]
      if let start = entry.start, let isKept = passes(start, entry.byteCount) {
        self[kept] = entry
        kept &+= isKept ? 1 : 0
      } else {
        self[kept] = RecordEntry(key: entry.key, start: nil, byteCount: 0)
        kept &+= 1
      }
    }
    return kept
  }
}
