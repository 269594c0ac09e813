import QuireSimulation
import QuireStorage
import Synchronization

/// The files of a store in which numbers are set to what nobody would write, under checksums that
/// are right.
struct ForgedStore {
  private(set) var files: [String: [UInt8]]
  private let sealing: FileSealing
  private static let identity = StoreIdentity(high: 0x0123_4567_89AB_4DEF, low: 5)
  static let pageSize = 512

  /// A number in one of the files.
  struct Field: CustomStringConvertible {
    var file: String
    var offset: Int
    var byteCount: Int
    var name: String

    var description: String { "\(name) at \(offset) of \(file)" }
  }

  /// What of a store there is.
  enum Kind: CaseIterable {
    /// One that was closed, of two groups of pages.
    case closed
    /// One whose process died with commits in the log.
    case open
    /// One that died while a checkpoint overwrote pages: with images.
    case overwriting
  }

  static var options: PageStoreOptions {
    var options = PageStoreOptions()
    options.pageSize = pageSize
    options.identity = identity
    options.checkpointByteLimit = 1 << 20
    options.checkpointsInBackground = false
    options.transactionByteLimit = 8 << 20
    options.cacheByteLimit = 256 << 10
    options.imageByteLimit = 0
    return options
  }

  init(_ kind: Kind) throws {
    let disk = SimulatedDisk()
    var store: PageStore? = try PageStore.open("store", options: ForgedStore.options, in: disk)
    try store?.write { transaction in
      let records = try transaction.createRecordTree("records")
      for key in 0..<(kind == .closed ? 420 : 40) as Range<Int64> {
        let byteCount = key % 20 == 7 ? 1300 : 60
        try records.put([UInt8](repeating: UInt8(key & 255), count: byteCount), for: key * 3)
      }
      let index = try transaction.createIndexTree("index")
      for number in 0..<60 { try index.put([1, 2, 3], for: Array("index/\(number * 37)".utf8)) }
    }
    try store?.close()
    var files = disk.files
    if kind != .closed {
      store = try PageStore.open("store", options: ForgedStore.options, in: disk)
      for round in 0..<3 as Range<Int64> {
        try store?.write { transaction in
          let records = try transaction.mutableRecordTree("records")
          for key in [0, 20, 50] as [Int64] {
            try records?.put([UInt8](repeating: 9, count: 70), for: (key + round) * 3)
          }
          try transaction.mutableIndexTree("index")?.remove(Array("index/\(round * 37)".utf8))
        }
      }
      files = disk.files
      if kind == .overwriting, let store { files = try ForgedStore.overwriting(store, on: disk) }
    }
    store = nil
    files["store-owner"] = nil
    var file = files["store"] ?? []
    guard let sealing = FileSealing(repairing: &file) else { throw Failure.noStore }
    self.files = files
    self.sealing = sealing
  }

  enum Failure: Error { case noStore }

  /// The files when a checkpoint has written images, and over some pages: no meta page yet.
  private static func overwriting(
    _ store: PageStore, on disk: SimulatedDisk
  ) throws -> [String: [UInt8]] {
    let before = disk.files["store"]
    let moment = Mutex<[String: [UInt8]]?>(nil)
    disk.observe { state, _ in
      guard state.files["store-pages"] != nil, state.files["store"]?.bytes != before else { return }
      moment.withLock { if $0 == nil { $0 = state.files.mapValues(\.bytes) } }
    }
    try store.checkpoint()
    disk.observe(nil)
    return moment.withLock { $0 } ?? [:]
  }

  // MARK: Fields

  /// The numbers of all files that something depends on.
  func fields() -> [Field] {
    metaFields() + pageFields() + logFields() + imageFields()
  }

  private func metaFields() -> [Field] {
    [
      (8, 8, "sequence"), (16, 8, "epoch"), (24, 8, "commit"), (32, 4, "pages"), (36, 4, "flags"),
      (40, 8, "place in the log"), (48, 8, "chain"), (56, 4, "free pages"), (64, 8, "map's commit"),
    ].flatMap { offset, byteCount, name in
      (1...2).map {
        Field(
          file: "store", offset: $0 * ForgedStore.pageSize + offset, byteCount: byteCount,
          name: "meta page's \(name)")
      }
    }
  }

  /// Headers; of maps the words; of other pages every number that can lie there.
  private func pageFields() -> [Field] {
    let size = ForgedStore.pageSize
    var fields: [Field] = []
    for page in 3..<((files["store"]?.count ?? 0) / size) {
      let start = page * size
      let type = files["store"]?[start + 16] ?? 0
      func add(_ offset: Int, _ byteCount: Int, _ name: String) {
        fields.append(
          Field(
            file: "store", offset: start + offset, byteCount: byteCount,
            name: "page \(page) of type \(type), \(name)"))
      }
      add(8, 8, "commit")
      for (offset, byteCount) in [(16, 1), (17, 1), (18, 2), (20, 2), (22, 2)] {
        add(offset, byteCount, "header")
      }
      if type == 1 {
        for word in [0, 3, 4, 5, 6, 50, 100, 117, 118, 119, 121] { add(24 + 4 * word, 4, "word") }
      } else {
        for offset in stride(from: 24, to: size - 8, by: 2) {
          add(offset, 2, "number")
          if offset % 4 == 0 { add(offset, 4, "number") }
          if offset % 8 == 0 { add(offset, 8, "number") }
        }
      }
    }
    return fields
  }

  private func logFields() -> [Field] {
    guard let log = files["store-log"] else { return [] }
    var fields: [Field] = []
    func add(_ offset: Int, _ byteCount: Int, _ name: String) {
      fields.append(Field(file: "store-log", offset: offset, byteCount: byteCount, name: name))
    }
    for (offset, byteCount) in [(8, 2), (10, 2), (12, 4), (32, 8), (48, 8), (56, 8)] {
      add(offset, byteCount, "log")
    }
    var start = 4096
    while start + 72 <= log.count, log[start..<(start + 8)].elementsEqual("Qcommit1".utf8) {
      for (offset, byteCount, name) in [
        (8, 8, "epoch"), (16, 8, "commit"), (24, 8, "chain"), (32, 8, "length"),
        (40, 8, "durable through"), (48, 4, "entries"), (52, 4, "pages"), (56, 4, "free pages"),
      ] {
        add(start + offset, byteCount, "record's \(name)")
      }
      let voucher = start + Int(log.number(at: start + 32)) - 48
      add(voucher + 8, 8, "voucher's durable through")
      add(voucher + 16, 8, "voucher's length")
      var entry = start + 64
      for _ in 0..<log.number(at: start + 48, byteCount: 4) {
        let rangeCount = Int(log.number(at: entry + 6, byteCount: 2))
        add(entry, 4, "entry's page")
        add(entry + 4, 2, "entry's flags")
        add(entry + 6, 2, "entry's ranges")
        add(entry + 8, 4, "entry's base")
        for range in 0..<min(rangeCount, 2) {
          add(entry + 12 + 4 * range, 2, "range's place")
          add(entry + 14 + 4 * range, 2, "range's length")
        }
        let lengths = (0..<rangeCount).map {
          Int(log.number(at: entry + 14 + 4 * $0, byteCount: 2))
        }
        entry += 12 + 4 * rangeCount + lengths.reduce(0, +)
      }
      start += Int(log.number(at: start + 32))
    }
    return fields
  }

  private func imageFields() -> [Field] {
    guard let images = files["store-pages"] else { return [] }
    let list = (0..<Int(images.number(at: 28, byteCount: 4))).flatMap {
      [(40 + 12 * $0, 4, "page"), (44 + 12 * $0, 8, "commit")]
    }
    return ([(8, 8, "epoch"), (16, 8, "commit"), (24, 4, "page size"), (28, 4, "count")] + list).map
    {
      Field(file: "store-pages", offset: $0, byteCount: $1, name: "image's \($2)")
    }
  }

  // MARK: Forging

  /// Numbers that are likely to be wrong to count with.
  func extremes(for field: Field) -> [UInt64] {
    let now = files[field.file]?.number(at: field.offset, byteCount: field.byteCount) ?? 0
    let pageCount = UInt64(files["store"]?.count ?? 0) / UInt64(ForgedStore.pageSize)
    var values: [UInt64] = [0, 1, 2, 3, 4, 5, 7, 40, now &+ 1, now &- 1, pageCount, pageCount - 1]
    for bit in [7, 8, 15, 16, 23, 31, 32, 48, 61, 62, 63] as [UInt64] {
      let power = 1 << bit as UInt64
      values += [power - 2, power - 1, power, power + 1]
    }
    for distance in 0..<12 as Range<UInt64> { values.append(1 << 32 - 1 - distance) }
    values += [0xDF_FFFF_FF, 0xE38E_38E4, .max - 1, .max]
    let mask: UInt64 = field.byteCount == 8 ? .max : 1 << UInt64(8 * field.byteCount) - 1
    return Set(values.map { $0 & mask }).subtracting([now]).sorted()
  }

  /// Sets a number, and makes checksums, chains and stamps right.
  mutating func set(_ field: Field, to value: UInt64) {
    files[field.file]?.setNumber(value, at: field.offset, byteCount: field.byteCount)
    let size = ForgedStore.pageSize
    switch field.file {
    case "store":
      guard var file = files["store"] else { return }
      let isCommit = field.offset >= 3 * size && field.offset % size == 8
      if isCommit { sealing.sealPages(of: &file) }
      let page = field.offset / size
      sealing.sealPage(page, at: page * size, in: &file)
      files["store"] = file
    case "store-log":
      guard var log = files["store-log"] else { return }
      sealLog(&log)
      files["store-log"] = log
    default:
      guard var images = files["store-pages"] else { return }
      sealing.sealImages(&images)
      files["store-pages"] = images
    }
  }

  private func sealLog(_ log: inout [UInt8]) {
    // The version, the size of pages and the length are questions, too.
    let header = [UInt8](log[8..<56])
    sealing.sealLog(&log, epoch: log.number(at: 32), chain: log.number(at: 4096 + 24))
    log.replaceSubrange(8..<56, with: header)
    sealing.sealLogHeader(&log)
  }
}
