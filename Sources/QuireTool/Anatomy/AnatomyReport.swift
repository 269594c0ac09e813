import QuireStorage

/// The report of `quire stat` on the structures of a store.
struct AnatomyReport {
  let anatomy: StoreAnatomy
  /// Where the text is shown.
  var terminal: Terminal? = nil

  // MARK: Text

  var text: String {
    var table = Table()
    table.add("file format", "\(anatomy.version)")
    table.add("identity", "\(anatomy.identity)")
    table.add("page size", "\(anatomy.pageSize.grouped) bytes")
    let free = anatomy.freePageCount.map { ", of them \($0.grouped) free" } ?? ""
    table.add("pages", "\(anatomy.pageCount.grouped)\(free)")
    table.add("file", "\(anatomy.fileByteCount.grouped) bytes")
    table.add("log", logText)
    table.add("commit", anatomy.lastCommit.map { "\($0)" } ?? "unknown")
    return [table.text, metas, maps, trees, levels].joined(separator: "\n\n")
  }

  private var logText: String {
    guard let log = anatomy.log else { return "none" }
    guard log.isOurs else { return "\(log.byteCount.grouped) bytes, not this store's" }
    let live = log.records.count { $0.state == .counts }
    return "\(log.byteCount.grouped) bytes, "
      + "\(live.counting("commit")) of \(log.liveByteCount.grouped) bytes count"
  }

  private var metas: String {
    var grid = Grid([
      ("meta", .left), ("", .left), ("sequence", .right), ("epoch", .right), ("commit", .right),
      ("pages", .right), ("free", .right), ("first map", .right), ("log from", .right),
      ("closed", .left),
    ])
    for meta in anatomy.metas {
      grid.add(
        "page \(meta.id)", meta.counts ? "counts" : meta.isWhole ? "older" : "damaged",
        "\(meta.sequence)", "\(meta.epoch)", "\(meta.lastCommit)", "\(meta.pageCount)",
        "\(meta.freePageCount)", "\(meta.mapCommit)", "\(meta.logOffset)",
        meta.isClean ? "yes" : "no")
    }
    return grid.text(on: terminal)
  }

  private var maps: String {
    var grid = Grid([
      ("map", .left), ("group", .right), ("commit", .right), ("stamp", .right), ("pages", .right),
      ("in use", .right), ("maps below", .right), ("", .left),
    ])
    for map in anatomy.maps {
      grid.add(
        "page \(map.id)", "\(map.group)", "\(map.commit)", Self.stamp(map.stamp),
        "\(map.pageCount)", "\(map.usedPageCount)", "\(map.childCount)", map.defect ?? "")
    }
    return grid.text(on: terminal)
  }

  private var trees: String {
    var grid = Grid([
      ("tree", .left), ("kind", .left), ("root", .right), ("entries", .right), ("height", .right),
      ("pages", .right), ("long values", .right), ("their pages", .right), ("bytes", .right),
      ("key", .right), ("value", .right),
    ])
    for tree in anatomy.trees {
      grid.add(
        ByteText.escaped(tree.name, limit: 32), tree.kind.text, "\(tree.root)",
        tree.entryCount.grouped, "\(tree.height)", tree.pageCount.grouped,
        tree.longValueCount.grouped, tree.overflowPageCount.grouped,
        tree.overflowByteCount.grouped, tree.averageText(of: tree.keyByteCount),
        tree.averageText(of: tree.valueByteCount))
    }
    return grid.text(on: terminal)
  }

  private var levels: String {
    var grid = Grid([
      ("tree", .left), ("level", .right), ("pages", .right), ("entries", .right), ("fill", .right),
    ])
    for tree in anatomy.trees {
      for (number, level) in tree.levels.enumerated().reversed() {
        grid.add(
          ByteText.escaped(tree.name, limit: 32), "\(number)", level.pageCount.grouped,
          level.entryCount.grouped, "\(fill(of: level))%")
      }
    }
    return grid.text(on: terminal)
  }

  /// In percent.
  private func fill(of level: TreeAnatomy.Level) -> Int {
    let capacity = level.pageCount * anatomy.pageCapacity
    return capacity == 0 ? 0 : 100 - (100 * level.freeByteCount + capacity / 2) / capacity
  }

  /// The low bits of the commit that a stamp is of.
  static func stamp(_ stamp: UInt32?) -> String {
    switch stamp {
    case nil: "?"
    case 0: "free"
    case let stamp?: "\(stamp & 0x7FFF_FFFF)"
    }
  }

  // MARK: JSON

  /// Members for the object that `stat` prints.
  var members: [(key: String, value: JSONValue)] {
    [
      ("fileFormat", .string("\(anatomy.version)")),
      ("identity", .string("\(anatomy.identity)")),
      ("isSound", JSONValue(anatomy.isSound)),
      ("findings", JSONValue(anatomy.findings.map { "\($0)" })),
      ("structureNotes", JSONValue(anatomy.notes)),
      ("metaPages", .array(anatomy.metas.map { json($0) })),
      ("pageMaps", .array(anatomy.maps.map { json($0) })),
      ("logFile", anatomy.log.map { json($0) } ?? .null),
      ("trees", .array(anatomy.trees.map { json($0) })),
    ]
  }

  private func json(_ meta: StoreAnatomy.Meta) -> JSONValue {
    [
      "page": JSONValue(meta.id.rawValue), "counts": JSONValue(meta.counts),
      "isWhole": JSONValue(meta.isWhole), "sequence": JSONValue(meta.sequence),
      "epoch": JSONValue(meta.epoch), "commit": JSONValue(meta.lastCommit.rawValue),
      "pages": JSONValue(meta.pageCount), "freePages": JSONValue(meta.freePageCount),
      "mapCommit": JSONValue(meta.mapCommit.rawValue), "logOffset": JSONValue(meta.logOffset),
      "isClosed": JSONValue(meta.isClean),
    ]
  }

  private func json(_ map: StoreAnatomy.Map) -> JSONValue {
    [
      "page": JSONValue(map.id.rawValue), "group": JSONValue(map.group),
      "commit": JSONValue(map.commit.rawValue), "pages": JSONValue(map.pageCount),
      "usedPages": JSONValue(map.usedPageCount), "maps": JSONValue(map.childCount),
      "defect": JSONValue(map.defect),
    ]
  }

  private func json(_ log: LogAnatomy) -> JSONValue {
    [
      "bytes": JSONValue(log.byteCount), "isOurs": JSONValue(log.isOurs),
      "liveBytes": JSONValue(log.liveByteCount),
      "records": JSONValue(
        Dictionary(grouping: log.records) { $0.state.rawValue }.mapValues(\.count)),
    ]
  }

  private func json(_ tree: TreeAnatomy) -> JSONValue {
    [
      "name": .string(tree.name), "kind": .string(tree.kind.text),
      "root": JSONValue(tree.root.rawValue), "entries": JSONValue(tree.entryCount),
      "cataloguedEntries": tree.cataloguedCount.map { JSONValue($0) } ?? .null,
      "height": JSONValue(tree.height), "pages": JSONValue(tree.pageCount),
      "longValues": JSONValue(tree.longValueCount),
      "overflowPages": JSONValue(tree.overflowPageCount),
      "overflowBytes": JSONValue(tree.overflowByteCount),
      "keyBytes": JSONValue(tree.keyByteCount), "valueBytes": JSONValue(tree.valueByteCount),
      "levels": .array(
        tree.levels.map {
          [
            "pages": JSONValue($0.pageCount), "entries": JSONValue($0.entryCount),
            "freeBytes": JSONValue($0.freeByteCount),
          ]
        }),
    ]
  }
}

extension TreeKind {
  var text: String {
    switch self {
    case .record: "record"
    case .index: "index"
    }
  }
}

extension TreeAnatomy {
  /// With one decimal.
  fileprivate func averageText(of byteCount: Int) -> String {
    guard entryCount > 0 else { return "-" }
    let tenths = (10 * byteCount + entryCount / 2) / entryCount
    return "\(tenths / 10).\(tenths % 10)"
  }
}
