import QuireStorage

/// The pages of a store as lines, or one of them in full.
struct PageListing {
  let anatomy: StoreAnatomy
  private let numberWidth: Int
  private let commitWidth: Int
  private let treeWidth: Int

  /// Column widths are computed from facts known before the first page, because each line is
  /// written as soon as it is made.
  init(anatomy: StoreAnatomy) {
    self.anatomy = anatomy
    numberWidth = max(4, "\(anatomy.shownPageCount)".count)
    let commits = [anatomy.lastCommit?.rawValue ?? 0] + anatomy.metas.map(\.lastCommit.rawValue)
    commitWidth = min(19, max(6, commits.map { "\($0)".count }.max() ?? 0))
    let names = anatomy.trees.map { ByteText.escaped($0.name, limit: 23).count }
    treeWidth = min(24, max(4, names.max() ?? 0))
  }

  /// Writes a line for each page; in blocks, as a store may have millions.
  func write(to output: TextOutput) throws {
    output.write(head)
    for number in 0..<anatomy.shownPageCount {
      guard output.isOpen else { return }
      output.write(line(try anatomy.summary(of: number)))
    }
  }

  // MARK: All pages

  private func row(
    _ page: String, _ type: String, _ level: String, _ commit: String, _ stamp: String,
    _ tree: String, _ entries: String, _ free: String, _ note: String
  ) -> String {
    let cells = [
      page.aligned(rightTo: numberWidth), type.padded(to: 12), level.aligned(rightTo: 5),
      commit.aligned(rightTo: commitWidth), stamp.aligned(rightTo: commitWidth),
      tree.padded(to: treeWidth), entries.aligned(rightTo: 7), free.aligned(rightTo: 5), note,
    ]
    let line = cells.joined(separator: "  ")
    return String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
  }

  private var head: String {
    row("page", "type", "level", "commit", "stamp", "tree", "entries", "free", "")
  }

  private func line(_ page: PageSummary) -> String {
    let hasLevel = page.type.hasSuffix("leaf") || page.type.hasSuffix("inner")
    return row(
      "\(page.id)", page.type, hasLevel ? "\(page.level)" : "",
      page.id == .init(rawValue: 0) ? "" : "\(page.commit)",
      page.id.rawValue < 3 ? "" : AnatomyReport.stamp(page.stamp),
      page.tree.map { ByteText.escaped($0, limit: 23) } ?? "",
      page.entryCount.map { "\($0)" } ?? "", page.freeByteCount.map { "\($0)" } ?? "",
      note(page))
  }

  private func note(_ page: PageSummary) -> String {
    var notes: [String] = []
    if anatomy.metas.contains(where: { $0.id == page.id && $0.counts }) { notes.append("counts") }
    if page.isFromLog { notes.append("from the log") }
    if let defect = page.defect { notes.append("damaged: \(defect)") }
    return notes.joined(separator: "; ")
  }

  // MARK: One page

  func text(ofPage number: Int) throws -> String {
    let content = try anatomy.content(of: number)
    let summary = content.summary
    var table = Table()
    table.add("page", "\(number), at byte \((number * anatomy.pageSize).grouped) of the file")
    table.add("type", summary.type)
    if let tree = summary.tree {
      table.add("tree", "\(ByteText.escaped(tree, limit: 60)), level \(summary.level)")
    }
    if number > 0 { table.add("commit", "\(summary.commit)") }
    if number > 2 { table.add("stamp", AnatomyReport.stamp(summary.stamp)) }
    if let count = summary.entryCount {
      table.add(summary.type == "overflow" ? "value bytes" : "entries", "\(count)")
    }
    if let free = summary.freeByteCount { table.add("free bytes", "\(free)") }
    table.add("content", summary.isFromLog ? "from the log; the file's is older" : "of the file")
    if let expected = content.expectedChecksum, summary.type != "free" {
      let stored = content.bytes[..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let verdict = stored == expected ? "right" : "wrong: \(ByteText.hex(expected, digits: 16))"
      table.add("checksum", "\(ByteText.hex(stored, digits: 16)), \(verdict)")
    }
    if let defect = summary.defect { table.add("damaged", defect) }
    let blocks = [
      table.text, entries(content),
      HexListing.lines(of: content.bytes, parts: content.parts).joined(separator: "\n"),
    ]
    return blocks.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  /// The number of pages of a run. A damaged length can make it any number.
  private func pageCount(of byteCount: UInt64) -> Int {
    let capacity = UInt64(anatomy.pageCapacity)
    return Int(byteCount / capacity) + (byteCount % capacity == 0 ? 0 : 1)
  }

  private func entries(_ content: PageContent) -> String {
    guard !content.entries.isEmpty else { return "" }
    var grid = Grid([
      ("entry", .right), ("at", .right), ("key", .left), ("value", .right), ("", .left),
    ])
    for (slot, entry) in content.entries.enumerated() {
      switch entry.value {
      case .inline(let bytes):
        grid.add(
          "\(slot)", "\(entry.offset)", entry.key.text, "\(bytes.count) bytes",
          ByteText.readable(bytes, limit: 32))
      case .long(let byteCount, let first):
        grid.add(
          "\(slot)", "\(entry.offset)", entry.key.text, "\(byteCount) bytes",
          "in \(pageCount(of: byteCount).grouped) overflow pages from page \(first)")
      case .child(let id):
        grid.add("\(slot)", "\(entry.offset)", entry.key.text, "page \(id)", "")
      }
    }
    return grid.text
  }
}
