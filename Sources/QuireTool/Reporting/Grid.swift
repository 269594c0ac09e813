/// Rows under headings, in columns that are as wide as they need to be.
///
/// Numbers end in one column, everything else begins in one; the last column is never padded. On a
/// terminal the rows fit its lines: long cells are cut.
struct Grid {
  enum Side { case left, right }

  private let columns: [(heading: String, side: Side)]
  private var rows: [[String]] = []

  init(_ columns: [(String, Side)]) {
    self.columns = columns
  }

  mutating func add(_ cells: String...) { add(cells) }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  var isEmpty: Bool { rows.isEmpty }

  /// The text for a file, whole.
  var text: String { text(on: nil) }

  func text(on terminal: Terminal?) -> String {
    let layout = layout(on: terminal)
    return ([layout.heading(on: terminal)] + rows.map { layout.line($0) }).joined(separator: "\n")
  }

  /// The layout that these rows need.
  func layout(on terminal: Terminal?) -> Layout {
    var widths = columns.map(\.heading.columnCount)
    for row in rows {
      for (column, cell) in row.enumerated() {
        widths[column] = max(widths[column], cell.columnCount)
      }
    }
    var layout = Layout(columns: columns, widths: widths, isCut: false)
    if let count = terminal?.columnCount { layout.fit(count) }
    return layout
  }

  /// The widths of the columns, by which rows become lines.
  struct Layout {
    fileprivate let columns: [(heading: String, side: Side)]
    fileprivate var widths: [Int]
    /// Whether cells that are wider than their column are cut.
    fileprivate var isCut: Bool

    private static let gap = 2
    /// The width that a column keeps when others need more.
    private static let smallestWidth = 8

    /// Makes the widest columns narrower until a line has at most this width; those of numbers,
    /// which say nothing when they are cut, only if nothing else helps.
    fileprivate mutating func fit(_ lineWidth: Int) {
      isCut = true
      let limit = max(0, lineWidth - Self.gap * (columns.count - 1))
      let texts = columns.indices.filter { columns[$0].side == .left }
      for (candidates, smallest) in [(texts, Self.smallestWidth), (Array(columns.indices), 1)] {
        while widths.reduce(0, +) > limit {
          guard let widest = candidates.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > smallest
          else { break }
          widths[widest] -= 1
        }
      }
    }

    func heading(on terminal: Terminal?) -> String {
      line(columns.map(\.heading)).styled(.heading, on: terminal)
    }

    func line(_ cells: [String]) -> String {
      var line = ""
      for (column, cell) in cells.enumerated() {
        let isLast = column == cells.count - 1
        let width = widths[column]
        let cell = isCut ? cell.cut(to: width) : cell
        switch columns[column].side {
        case .left: line += isLast ? cell : cell.padded(to: width)
        case .right: line += cell.aligned(rightTo: width)
        }
        if !isLast { line += String(repeating: " ", count: Self.gap) }
      }
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }
}
