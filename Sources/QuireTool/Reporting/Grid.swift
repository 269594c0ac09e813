/// Rows under headings, in columns that are as wide as they need to be.
///
/// Numbers end in one column, everything else begins in one; the last column is never padded.
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

  var text: String {
    let all = [columns.map(\.heading)] + rows
    let widths = columns.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let isLast = column == row.count - 1
        switch columns[column].side {
        case .left: line += isLast ? cell : cell.padded(to: widths[column]) + "  "
        case .right: line += cell.aligned(rightTo: widths[column]) + (isLast ? "" : "  ")
        }
      }
      return String(line.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }
}
