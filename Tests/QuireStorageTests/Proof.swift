import QuireSimulation
import QuireStorage
import Testing

/// What the proofs have in common: a small store, and a look at what a crash may leave of it.
enum Proof {
  static var options: PageStoreOptions {
    var options = PageStoreOptions()
    options.pageSize = 512
    options.identity = StoreIdentity(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF)
    options.checkpointByteLimit = 16 << 20
    options.checkpointsInBackground = false
    return options
  }

  static func put(
    _ store: PageStore, _ keys: Range<Int64>, _ byte: UInt8, in name: String = "records"
  ) throws {
    try store.write { transaction in
      let tree = try transaction.mutableRecordTree(name) ?? transaction.createRecordTree(name)
      for key in keys { try tree.put([UInt8](repeating: byte, count: 60), for: key) }
    }
  }

  /// How many records a tree has most of whose pages go around the log: more than a tree of 512
  /// pages has.
  static let largeCount: Int64 = Amount.of(debug: 5_000, release: 9_000)

  /// A tree of more pages than are logged: most go around the log.
  static func build(_ store: PageStore, _ name: String, _ byte: UInt8) throws {
    try store.write { transaction in
      try transaction.buildRecordTree(name) { builder in
        for key in 0..<largeCount {
          try builder.append([UInt8](repeating: byte, count: 60), for: key)
        }
      }
    }
  }

  /// Where the records of a log lie, by the format.
  static func records(_ log: [UInt8]) -> [Range<Int>] {
    var records: [Range<Int>] = []
    var start = 4096
    while start + 64 <= log.count, log[start..<(start + 8)].elementsEqual("Qcommit1".utf8) {
      records.append(start..<(start + Int(log.number(at: start + 32))))
      start = records[records.count - 1].upperBound
    }
    return records
  }

  /// The first byte of each value.
  static func values(_ snapshot: Snapshot, in name: String = "records") throws -> [UInt8] {
    guard var cursor = try snapshot.recordTree(name)?.cursor() else { return [] }
    var values: [UInt8] = []
    while try cursor.next() {
      let value = try cursor.storedValue().array
      #expect(Set(value).count == 1)
      values.append(value[0])
    }
    return values
  }

  /// Opens what crashes may leave of a disk, and hands each store over once it was inspected.
  static func afterCrashes(
    of state: DiskState, limit: Int = Amount.of(debug: 20, release: 60),
    _ body: (PageStore, CrashImage) throws -> Void
  ) throws {
    try CrashImages(state, seed: 1).visit(limit: limit) { image in
      let store = try PageStore.open("store", options: options, in: SimulatedDisk(image))
      let report = try store.check()
      #expect(report.isSound, "\(image): \(report)")
      try body(store, image)
      return true
    }
  }
}
