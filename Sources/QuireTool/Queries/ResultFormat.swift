/// The format in which the rows of a result are written.
enum ResultFormat: String, CaseIterable {
  /// Columns under headings, for reading: long texts are cut.
  case table
  /// A JSON object on each line.
  case json
  /// Comma-separated values (RFC 4180, but with line feeds), after a line of names. An absent value
  /// is an empty field, an empty text a pair of quotes.
  case csv

  /// Writes rows, each with a value for each column.
  func write(
    _ columns: [ResultColumn], _ rows: some Sequence<[JSONValue]>, to output: TextOutput
  ) {
    switch self {
    case .table: writeTable(columns, rows, to: output)
    case .json:
      for row in rows where output.isOpen {
        let members = zip(columns, row).map { (key: $0.name, value: $1) }
        output.write(JSONValue.object(members).lineText + "\n")
      }
    case .csv:
      output.write(columns.map { ResultFormat.field($0.name) }.joined(separator: ",") + "\n")
      for row in rows where output.isOpen {
        output.write(row.map(ResultFormat.field).joined(separator: ",") + "\n")
      }
    }
  }

  private func writeTable(
    _ columns: [ResultColumn], _ rows: some Sequence<[JSONValue]>, to output: TextOutput
  ) {
    var grid = Grid(columns.map { ($0.name, $0.isNumber ? .right : .left) })
    var count = 0
    for row in rows {
      grid.add(row.map(ResultFormat.cell))
      count += 1
    }
    if count > 0 { output.write(grid.text + "\n") }
    output.write("(\(count.counting("row")))\n")
  }

  // MARK: Values

  private static let cellWidth = 40

  private static func cell(_ value: JSONValue) -> String {
    if case .null = value { return "nil" }
    // A control character could move the cursor, or do worse.
    let text = String(value.plainText.map { $0.hasControl ? " " : $0 })
    return text.count <= cellWidth ? text : text.prefix(cellWidth - 1) + "…"
  }

  private static func field(_ value: JSONValue) -> String {
    if case .null = value { return "" }
    return field(value.plainText)
  }

  private static func field(_ text: String) -> String {
    let needsQuotes = text.unicodeScalars.contains { ["\"", ",", "\n", "\r"].contains($0) }
    guard needsQuotes || text.isEmpty else { return text }
    return
      "\"\(text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }
}

/// A column of a result.
struct ResultColumn {
  let name: String
  /// Whether its values are numbers, whose digits end in one column of a table.
  let isNumber: Bool
}

extension JSONValue {
  /// A text as it is, anything else as JSON.
  fileprivate var plainText: String { if case .string(let text) = self { text } else { lineText } }
}

extension Character {
  fileprivate var hasControl: Bool {
    unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
