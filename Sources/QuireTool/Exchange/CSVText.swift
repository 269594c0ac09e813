/// Comma-separated values as RFC 4180 has them, with line feeds at the ends of lines.
enum CSVText {
  /// A field, in quotes where it must be: with a quote, a comma or the end of a line in it, and
  /// when it is empty, as nothing at all is an absent value.
  static func field(_ text: String) -> String {
    let needsQuotes = text.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
    guard needsQuotes || text.isEmpty else { return text }
    // By scalars: a quote with an accent on it is another character, and a quote all the same.
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" { quoted.unicodeScalars.append(scalar) }
      quoted.unicodeScalars.append(scalar)
    }
    quoted.unicodeScalars.append("\"")
    return quoted
  }

  /// - Parameter fields: as ``field(_:)`` makes them, and nothing for absent values.
  static func record(_ fields: [String]) -> String { fields.joined(separator: ",") }
}
