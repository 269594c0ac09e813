/// The escapes in texts of Core Data's XML stores, of which Xcode's mapping documents are one.
///
/// Characters with a meaning in XML are not written as in other XML, but as `\u` and the four
/// digits of a UTF-16 unit with its low byte first: `\u3c00` for “<”, `\u2600` for “&”. A backslash
/// is written twice.
enum XMLStoreText {
  /// The text without escapes. A backslash that begins no escape stays as it is, and so does a text
  /// with an escape for half a character.
  static func unescaped(_ text: String) -> String {
    guard text.contains("\\") else { return text }
    var units: [UInt16] = []
    var rest = Array(text.utf16)[...]
    while let unit = rest.popFirst() {
      guard unit == backslash else {
        units.append(unit)
        continue
      }
      if rest.first == backslash {
        rest.removeFirst()
        units.append(backslash)
      } else if let escaped = escapedUnit(rest) {
        rest.removeFirst(5)
        units.append(escaped)
      } else {
        units.append(unit)
      }
    }
    let meant = String(decoding: units, as: UTF16.self)
    // The replacement character in place of something that is no text, absent from the original.
    return meant.contains("\u{FFFD}") && !text.contains("\u{FFFD}") ? text : meant
  }

  private static let backslash = UInt16(UInt8(ascii: "\\"))

  /// The unit of an escape, which is `u` and four digits at the beginning.
  private static func escapedUnit(_ text: ArraySlice<UInt16>) -> UInt16? {
    guard text.count >= 5, text.first == UInt16(UInt8(ascii: "u")) else { return nil }
    var unit: UInt16 = 0
    for digit in text.dropFirst().prefix(4) {
      guard let scalar = Unicode.Scalar(digit), let value = Character(scalar).hexDigitValue else {
        return nil
      }
      unit = unit << 4 | UInt16(value)
    }
    return unit.byteSwapped
  }
}
