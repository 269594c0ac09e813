import QuireModel

// Values of known types, put without a look at what they are.
extension RowWriter {
  /// Puts a text in a field of the row that is being built.
  @inline(__always)
  func put(_ text: String, in field: Int) throws {
    guard kinds[field] == .string else { throw mismatch(field, text) }
    append(text)
  }

  /// Puts a number in a field of the row that is being built.
  @inline(__always)
  func put(_ number: Double, in field: Int) throws {
    guard kinds[field] == .double else { throw mismatch(field, "\(number)") }
    store(number.bitPattern, at: layout.places[field])
  }

  /// Puts a destination in a field of the row that is being built.
  func put(_ reference: Reference, in field: Int) throws {
    guard kinds[field] == .reference else { throw mismatch(field, "a reference") }
    store(reference.rawValue, at: layout.places[field])
  }
}
