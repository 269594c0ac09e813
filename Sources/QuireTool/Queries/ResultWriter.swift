/// Writes the rows of a result one after the other, as they come.
///
/// A table waits for its first thousand rows, which decide how wide its columns are.
struct ResultWriter {
  private static let sampleCount = 1_000

  private let columns: [ResultColumn]
  private let format: ResultFormat
  /// Whether the rows are one JSON value, a list.
  private let isList: Bool
  private let output: TextOutput
  private var count = 0
  /// The first rows of a table, as long as its columns have no width.
  private var sample: Grid
  private var layout: Grid.Layout?

  init(
    _ columns: [ResultColumn], as format: ResultFormat, isList: Bool = false,
    to output: TextOutput
  ) {
    self.columns = columns
    self.format = format
    self.isList = isList
    self.output = output
    sample = Grid(columns.map { ($0.name, $0.isNumber ? .right : .left) })
    if format == .csv {
      output.write(CSVText.record(columns.map { CSVText.field($0.name) }) + "\n")
    }
  }

  /// Whether there is still a reader.
  var isOpen: Bool { output.isOpen }

  /// Writes a row with a value for each column.
  mutating func write(_ row: [JSONValue]) {
    count += 1
    switch format {
    case .table: writeTableRow(row.map(Self.cell))
    case .lines:
      if count > 1 { output.write("\n") }
      output.write(PropertyLines(zip(columns, row).map { ($0.name, $1) }).text + "\n")
    case .json:
      let members = zip(columns, row).map { (key: $0.name, value: $1) }
      if isList { output.write(count == 1 ? "[\n  " : ",\n  ") }
      output.write(JSONValue.object(members).lineText + (isList ? "" : "\n"))
    case .csv: output.write(CSVText.record(row.map(Self.field)) + "\n")
    }
  }

  /// Writes what is still to come after the last row.
  mutating func finish() {
    if isList { output.write(count == 0 ? "[]\n" : "\n]\n") }
    guard format == .table || format == .lines else { return }
    if format == .lines, count > 0 { output.write("\n") }
    if layout == nil, format == .table, !sample.isEmpty { writeSample() }
    output.write("(\(count.counting("row")))\n")
  }

  private mutating func writeTableRow(_ cells: [String]) {
    if let layout {
      output.write(layout.line(cells) + "\n")
      return
    }
    sample.add(cells)
    if count == Self.sampleCount { writeSample() }
  }

  private mutating func writeSample() {
    output.write(sample.text(on: output.terminal) + "\n")
    layout = sample.layout(on: output.terminal)
    sample = Grid([])
  }

  // MARK: Values

  private static func cell(_ value: JSONValue) -> String {
    if case .null = value { return "nil" }
    // A control character could move the cursor, or do worse.
    return String(value.plainText.map { $0.hasControl ? " " : $0 })
  }

  private static func field(_ value: JSONValue) -> String {
    if case .null = value { return "" }
    return CSVText.field(value.plainText)
  }
}

extension JSONValue {
  /// A text as it is, anything else as JSON.
  var plainText: String { if case .string(let text) = self { text } else { lineText } }
}

extension Character {
  var hasControl: Bool {
    unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
