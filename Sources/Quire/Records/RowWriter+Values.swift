import QuireModel

// Values of known types, written without a switch over all kinds.
extension RowWriter {
  /// Writes a text to a field of the row that is being built.
  func put(_ text: String, in field: Int) throws {
    guard kinds[field] == .string else { throw mismatch(field, text) }
    append(text)
  }

  /// Writes a number to a field of the row that is being built.
  func put(_ number: Double, in field: Int) throws {
    guard kinds[field] == .double else { throw mismatch(field, "\(number)") }
    store(number.bitPattern, at: layout.positions[field])
  }

  /// Writes a destination to a field of the row that is being built.
  func put(_ reference: Reference, in field: Int) throws {
    guard kinds[field] == .reference else { throw mismatch(field, "a reference") }
    store(reference.rawValue, at: layout.positions[field])
  }
}
