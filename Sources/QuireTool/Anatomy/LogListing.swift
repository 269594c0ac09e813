import QuireStorage

/// A store's log: its header and its records.
struct LogListing {
  /// `nil` when there is none.
  let log: LogAnatomy?
  let path: String

  var text: String {
    guard let log else { return "There is no log \(path)." }
    return ([header(log)] + log.records.map { record($0) }).joined(separator: "\n\n")
  }

  private func header(_ log: LogAnatomy) -> String {
    var table = Table()
    table.add("log", path)
    table.add("file", "\(log.byteCount.grouped) bytes")
    table.add("format", "\(log.version)")
    table.add("page size", "\(log.pageSize.grouped) bytes")
    table.add("identity", "\(log.identity)")
    table.add("header", log.isOurs ? "whole, and of this store" : "not of this store, or damaged")
    if let commit = log.visibleThrough { table.add("visible", "through commit \(commit)") }
    let states = Dictionary(grouping: log.records) { $0.state }
    let counts = states.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.value.count) \($0.key.rawValue)" }
    table.add("records", counts.isEmpty ? "none" : counts.joined(separator: ", "))
    return table.text
  }

  private func record(_ record: LogAnatomy.Record) -> String {
    let (sum, previous) = (
      ByteText.hex(record.checksum, digits: 16), ByteText.hex(record.previous, digits: 16)
    )
    let head = """
      record at \(record.offset): \(Self.text(of: record.state))
        commit \(record.commit), epoch \(record.epoch), durable through \(record.durableThrough), \
      \(record.byteCount.grouped) bytes
        the store has \(Int(record.pageCount).grouped) pages then, \
      \(Int(record.freePageCount).grouped) free
        checksum \(sum), before it \(previous)
      """
    var grid = Grid([("  page", .right), ("bytes", .right), ("", .left), ("ranges", .left)])
    for page in record.pages {
      let ranges = page.ranges.prefix(8).map { "\($0.lowerBound)+\($0.count)" }
      let more = page.ranges.count > 8 ? " and \(page.ranges.count - 8) more" : ""
      grid.add(
        "\(page.id)", "\(page.byteCount)", page.isWhole ? "whole" : "changes",
        ranges.joined(separator: " ") + more)
    }
    return grid.isEmpty ? head : "\(head)\n\(grid.text)"
  }

  private static func text(of state: LogAnatomy.State) -> String {
    switch state {
    case .counts: "counts"
    case .checkpointed: "history, the pages have it"
    case .stale: "stale, of an earlier epoch"
    case .unreached: "does not count, one before it is missing"
    case .torn: "torn or damaged"
    case .future: "of an epoch that no meta page knows"
    case .unknown: "whole; no meta page says whether it counts"
    }
  }
}
