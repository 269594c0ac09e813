import QuireStorage

/// The pages of a store's file as cells of a map: a cell for each, in a large store one for several
/// that follow each other.
package struct PageCells {
  /// In the order of the legend. The script colours them by their position.
  static let kinds = [
    "identity", "meta", "map", "record leaf", "record inner", "index leaf", "index inner",
    "overflow", "free", "damaged",
  ]

  private struct Cell {
    var kind: Int
    var tree: Int
    /// The part of the bytes in use, in percent.
    var fill: Int
    var entries: Int
    var commit: UInt64
    var level: Int
  }

  private let anatomy: StoreAnatomy
  private let treeNumbers: [String: Int]
  private let cellLimit: Int

  /// - Parameter cellLimit: the largest number of cells; a browser draws 65,536 without effort.
  package init(_ anatomy: StoreAnatomy, cellLimit: Int = 65_536) {
    self.anatomy = anatomy
    self.cellLimit = cellLimit
    treeNumbers = Dictionary(
      anatomy.trees.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The cells as lists of equal length, and what is damaged by page.
  package func json() throws -> JSONValue {
    let group = max(1, (anatomy.shownPageCount + cellLimit - 1) / cellLimit)
    var cells: [Cell] = []
    var defects: [(key: String, value: JSONValue)] = []
    var fromLog: [Int] = []
    for first in stride(from: 0, to: anatomy.shownPageCount, by: group) {
      var members: [Cell] = []
      for number in first..<min(first + group, anatomy.shownPageCount) {
        let page = try anatomy.summary(of: number)
        members.append(cell(page))
        if let defect = page.defect, defects.count < 1_000 {
          defects.append(("\(number)", .string(defect)))
        }
        if page.isFromLog, fromLog.count < 10_000 { fromLog.append(number) }
      }
      cells.append(Self.joined(members))
    }
    return [
      "size": JSONValue(anatomy.pageSize), "count": JSONValue(anatomy.shownPageCount),
      "group": JSONValue(group), "kinds": JSONValue(Self.kinds),
      "kind": .array(cells.map { JSONValue($0.kind) }),
      "tree": .array(cells.map { JSONValue($0.tree) }),
      "fill": .array(cells.map { JSONValue($0.fill) }),
      "entries": .array(cells.map { JSONValue($0.entries) }),
      "commit": .array(cells.map { JSONValue($0.commit) }),
      "level": .array(cells.map { JSONValue($0.level) }),
      "defects": .object(defects), "fromLog": .array(fromLog.map { JSONValue($0) }),
    ]
  }

  private func cell(_ page: PageSummary) -> Cell {
    let capacity = anatomy.pageCapacity
    let free = page.type == "free" ? capacity : page.freeByteCount ?? 0
    return Cell(
      kind: kind(of: page), tree: page.tree.flatMap { treeNumbers[$0] } ?? -1,
      fill: min(100, max(0, 100 * (capacity - free) / max(1, capacity))),
      entries: page.type == "overflow" ? 0 : page.entryCount ?? 0, commit: page.commit.rawValue,
      level: page.level)
  }

  private func kind(of page: PageSummary) -> Int {
    let name =
      page.defect != nil ? "damaged" : page.type.hasPrefix("meta") ? "meta" : page.type
    return Self.kinds.firstIndex(of: name) ?? Self.kinds.count - 1
  }

  /// The cell of several pages: damaged if one of them is, else of the kind and tree of most.
  private static func joined(_ members: [Cell]) -> Cell {
    guard members.count > 1, var result = members.first else { return members[0] }
    func most(_ values: [Int]) -> Int {
      let counts = Dictionary(grouping: values) { $0 }.mapValues(\.count)
      return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? 0
    }
    let damaged = kinds.count - 1
    result.kind =
      members.contains { $0.kind == damaged } ? damaged : most(members.map(\.kind))
    result.tree = most(members.map(\.tree))
    result.fill = members.reduce(0) { $0 + $1.fill } / members.count
    result.entries = members.reduce(0) { $0 + $1.entries }
    result.commit = members.map(\.commit).max() ?? 0
    return result
  }
}
