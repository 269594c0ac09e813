extension MigrationPlan: CustomStringConvertible {
  /// A table of the entities, one of the indexes, and the totals; then the obstacles.
  public var description: String {
    var blocks = [Self.arrow(sourceVersion, destinationVersion)]
    if !entities.isEmpty { blocks.append(entityTable) }
    let links = indexes.filter { $0.kind == .relationship }
    if !links.isEmpty { blocks.append(table(of: links, "links of", "links")) }
    let others = indexes.filter { $0.kind != .relationship }
    if !others.isEmpty { blocks.append(table(of: others, "index", "entries")) }
    if !numbers.isEmpty { blocks.append(numberList) }
    if droppedLinkCount > 0 { blocks.append(droppedLinkList) }
    if !possibleRenamings.isEmpty { blocks.append(renamingList) }
    blocks.append(obstacles.isEmpty ? total : obstacleList)
    return blocks.joined(separator: "\n\n")
  }

  private static func arrow(_ from: String, _ to: String) -> String { "\(from) → \(to)" }

  private var entityTable: String {
    var table = PlanTable(["", "entity", "rows", "bytes", "about", "changes"])
    for step in entities {
      table.add(
        [
          step.action.rawValue, step.name, step.action == .added ? "" : step.objectCount.grouped,
          step.byteCount == 0 ? "" : step.byteCount.grouped, Self.text(step.estimatedMilliseconds),
        ], step.changes)
    }
    return table.text
  }

  private func table(of steps: [IndexStep], _ title: String, _ unit: String) -> String {
    var table = PlanTable(["", title, unit, "bytes", "about", "changes"])
    for step in steps {
      let wasRenamed = step.sourceName.map { $0 != step.name } ?? false
      table.add(
        [
          step.action.rawValue, "\(step.entityName).\(step.name)",
          step.action == .added ? "" : step.entryCount.grouped,
          step.byteCount == 0 ? "" : step.byteCount.grouped, Self.text(step.estimatedMilliseconds),
        ], wasRenamed ? [step.sourceName.map { "was \($0)" } ?? ""] : [])
    }
    return table.text
  }

  private var total: String {
    let rows = rewrittenObjectCount.counting("row")
    let rebuilt = indexes(.rebuilt)
    let links = rebuilt.reduce(0) { $0 + ($1.kind == .relationship ? $1.entryCount : 0) }
    let entries = rebuiltEntryCount - links
    let entryText = entries == 0 ? "" : "\(entries.counting("index key")), "
    let written =
      "To write: \(rows), \(links.counting("link")), \(entryText)\(writtenByteCount.counting("byte")); "
      + "about \(Self.text(estimatedMilliseconds))."
    guard !entities(.deferred).isEmpty else { return written }
    return written + "\nLeft for later: \(deferredObjectCount.counting("row")), "
      + "\(deferredByteCount.counting("byte"))."
  }

  /// The number of links shown for each relationship; the plan has more.
  private static let shownLinkCount = 5

  private var droppedLinkList: String {
    let lists = relationships.filter { $0.droppedLinkCount > 0 }.map { step in
      let links = step.droppedLinkCount.counting("link")
      let verb = step.droppedLinkCount == 1 ? "goes" : "go"
      let shown = step.droppedLinks.prefix(Self.shownLinkCount)
      var lines = ["  \(step.entityName).\(step.name): \(links) \(verb)"]
      lines += shown.map { "    \($0)" }
      let rest = step.droppedLinkCount - shown.count
      if rest > 0 { lines.append("    and \(rest.grouped) more") }
      return lines.joined(separator: "\n")
    }
    return "The new model cannot have some links:\n" + lists.joined(separator: "\n")
  }

  private var numberList: String {
    numbers.map { step in
      let rows = step.checkedObjectCount.counting("row")
      let check =
        step.direction == .widening ? "every number fits" : "\(rows) to look at before"
      return "  \(step.entityName).\(step.propertyName): \(step.sourceType) → "
        + "\(step.destinationType), \(step.direction): \(check)"
    }.joined(separator: "\n")
  }

  private var renamingList: String {
    "Was anything renamed? These values are dropped:\n"
      + possibleRenamings.map { "  \($0.words). If it was renamed:\n    \($0.remedy)" }
      .joined(separator: "\n")
  }

  private var obstacleList: String {
    let list = obstacles.map { obstacle in
      let name = obstacle.propertyName.map { "\(obstacle.entityName).\($0)" }
      return "  \(name ?? obstacle.entityName) (\(obstacle.objectCount.counting("object"))) "
        + "\(obstacle.reason):\n    \(obstacle.remedy)"
    }
    return "It cannot be migrated so:\n" + list.joined(separator: "\n")
  }

  /// Milliseconds with one decimal, seconds from ten on; empty for 0.
  private static func text(_ milliseconds: Double) -> String {
    guard milliseconds > 0 else { return "" }
    guard milliseconds >= 0.05 else { return "<0.1 ms" }
    let inSeconds = milliseconds >= 10_000
    let tenths = Int((milliseconds / (inSeconds ? 100 : 0.1)).rounded())
    return "\((tenths / 10).grouped).\(tenths % 10) \(inSeconds ? "s" : "ms")"
  }
}

extension MigrationPlan.EntityStep {
  /// The changes of the entity's properties, as parts that may be on separate lines.
  fileprivate var changes: [String] {
    var changes: [String] = []
    if let sourceName, isRenamed { changes.append("was \(sourceName)") }
    // For an entity that is added or removed completely there are no changes to list.
    guard action != .added, action != .removed else { return changes }
    changes += addedProperties.map { "+ \($0)" }
    changes += removedProperties.map { "- \($0)" }
    changes += renamedProperties.map { "\($0.from) → \($0.to)" }
    return changes
  }
}

/// A table with two columns of words, three of numbers, and a list that may continue on further
/// lines.
private struct PlanTable {
  private static let columnLimit = 99
  private var rows: [(cells: [String], list: [String])]

  init(_ headings: [String]) {
    rows = [(headings.dropLast(), headings.suffix(1))]
  }

  mutating func add(_ cells: [String], _ list: [String]) { rows.append((cells, list)) }

  var text: String {
    let widths = (rows.first?.cells ?? []).indices.map { column in
      rows.map { $0.cells[column].count }.max() ?? 0
    }
    let indent = widths.reduce(2) { $0 + $1 + 2 }
    return rows.map { row in
      var line = "  "
      for (column, cell) in row.cells.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += (column < 2 ? cell + padding : padding + cell) + "  "
      }
      var lines: [String] = []
      for (index, item) in row.list.enumerated() {
        let item = index < row.list.count - 1 ? item + ", " : item
        let isEmpty = line.count <= indent
        if !isEmpty, line.count + item.count > Self.columnLimit {
          lines.append(line)
          line = String(repeating: " ", count: indent)
        }
        line += item
      }
      return (lines + [line]).map(\.withoutTrailingSpace).joined(separator: "\n")
    }.joined(separator: "\n")
  }
}

extension String {
  fileprivate var withoutTrailingSpace: String {
    String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)])
  }
}

extension Int {
  /// The number with commas between thousands, regardless of locale.
  fileprivate var grouped: String {
    var text = ""
    for (index, digit) in String(self).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3), digit != "-" { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  fileprivate func counting(_ noun: String) -> String {
    "\(grouped) \(noun)\(self == 1 ? "" : "s")"
  }
}
