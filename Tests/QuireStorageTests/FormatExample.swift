import QuireStorage

/// The worked example of `docs/file-format.md`, made by the engine: a tiny store, byte by byte.
struct FormatExample {
  static let identity = StoreIdentity(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
  static let begin = "<!-- example: made by FormatTests, QUIRE_UPDATE_EXAMPLE=1 -->\n"
  static let end = "<!-- end of example -->\n"

  let store: [UInt8]
  let log: [UInt8]
  private let closed: StoreAnatomy
  private let died: StoreAnatomy

  init() throws {
    let files = MemoryFileSystem()
    var options = PageStoreOptions()
    options.pageSize = 512
    options.identity = FormatExample.identity
    var opened = try PageStore.open("store", options: options, in: files)
    try opened.write { transaction in
      let records = try transaction.createRecordTree("a")
      try records.put(Array("one".utf8), for: 1)
      try records.put(Array("two".utf8), for: 2)
      let index = try transaction.createIndexTree("b")
      try index.put([1], for: Array("key of one".utf8))
      try index.put([2], for: Array("key of two".utf8))
    }
    try opened.close()
    store = files.bytes(of: "store") ?? []
    let copy = MemoryFileSystem()
    copy.setBytes(store, of: "store")
    closed = try StoreAnatomy(of: "store", in: copy)
    opened = try PageStore.open("store", options: options, in: files)
    try opened.write { try $0.mutableRecordTree("a")?.put(Array("TWO".utf8), for: 2) }
    log = files.bytes(of: "store-log") ?? []
    let crashed = MemoryFileSystem()
    crashed.setBytes(files.bytes(of: "store") ?? [], of: "store")
    crashed.setBytes(log, of: "store-log")
    died = try StoreAnatomy(of: "store", in: crashed)
    try opened.close()
  }

  /// The listings of each page and of the log, in the order of the document.
  func blocks() throws -> [(title: String, lines: [String], bytes: [UInt8])] {
    var blocks = try (0..<closed.shownPageCount).map { number in
      let content = try closed.content(of: number)
      let tree = content.summary.tree.map { " of \($0)" } ?? ""
      return (
        title: "Page \(number), \(content.summary.type)\(tree)",
        lines: HexListing.lines(of: content.bytes, parts: content.parts), bytes: content.bytes
      )
    }
    guard let log = died.log, let record = log.records.first else { return blocks }
    let header = log.bytes(0..<4096)
    blocks.append(
      ("The log's header", HexListing.lines(of: header, parts: log.headerParts), header))
    let bytes = log.bytes(record.offset..<record.offset + record.byteCount)
    blocks.append(
      (
        "Its record of commit 2, in which “two” becomes “TWO”",
        HexListing.lines(of: bytes, from: record.offset, parts: log.parts(of: record)), bytes
      ))
    return blocks
  }

  /// What stands between the two marks in the document.
  func text() throws -> String {
    try blocks().map { "\($0.title):\n\n```hex\n\($0.lines.joined(separator: "\n"))\n```\n" }
      .joined(separator: "\n")
  }
}
