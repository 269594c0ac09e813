import QuireModel

// Rows that are copies of others, except for some fields of fixed width.
extension RowWriter {
  /// Begins with a copy of a row.
  ///
  /// - Returns: `false` for a row of another layout, or with values outside of it.
  func begin(copyOf row: UnsafeRawBufferPointer, version: UInt32) -> Bool {
    guard RowReader.isCurrent(row, layout), row[2] & RowLayout.externalFlag == 0 else {
      return false
    }
    take(row, version)
    return true
  }

  /// Replaces the value of a field.
  ///
  /// - Returns: `false`, with nothing changed, if the field has no fixed width.
  func patch(_ field: Int, _ value: AttributeValue?) throws -> Bool {
    guard let width = layout.fields[field].kind.fixedWidth else { return false }
    setAbsent(field, value == nil, width)
    if let value { try put(value, in: field) }
    return true
  }

  func patch(_ field: Int, reference: Reference?) -> Bool {
    guard layout.fields[field].kind == .reference else { return false }
    setAbsent(field, reference == nil, 8)
    if let reference { store(reference.rawValue, at: layout.positions[field]) }
    return true
  }
}
