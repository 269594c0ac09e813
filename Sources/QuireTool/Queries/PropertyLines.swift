/// Properties with their values, a line each, nothing cut: for rows that are wider than a line.
struct PropertyLines {
  private let properties: [(name: String, value: JSONValue)]

  init(_ properties: [(name: String, value: JSONValue)]) { self.properties = properties }

  /// Values begin in one column; the lines of a text stand below each other.
  var text: String {
    let width = properties.map(\.name.columnCount).max() ?? 0
    return properties.map { name, value in
      let lines = Self.lines(of: value)
      let indent = String(repeating: " ", count: width + 2)
      return "\(name.padded(to: width))  \(lines.joined(separator: "\n" + indent))"
    }.joined(separator: "\n")
  }

  private static func lines(of value: JSONValue) -> [String] {
    switch value {
    case .null: return ["nil"]
    case .array(let members):
      // Objects of a relationship.
      return [members.isEmpty ? "none" : members.map(\.plainText).joined(separator: ", ")]
    default:
      return value.plainText.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        // A control character could move the cursor, or do worse.
        .map { String($0.map { $0.hasControl ? " " : $0 }) }
    }
  }
}
