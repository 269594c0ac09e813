import QuireSimulation
import QuireStorage
import Testing

/// Records that are whole in themselves, and not the next one: each must be taken for the remains
/// of something else, or for damage, and never be replayed.
@Suite("Proofs of records")
struct RecordProofTests {
  /// The files of a store whose process died after these commits: key 0 gets each byte in turn.
  private func files(_ bytes: [UInt8]) throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    let store = try PageStore.open("store", options: Proof.options, in: disk)
    for byte in bytes { try Proof.put(store, 0..<1, byte) }
    return disk.files
  }

  /// Gives a record its right checksum, by the format.
  private func seal(_ record: Range<Int>, of log: inout [UInt8]) throws {
    let identity = try #require(Proof.options.identity).bytes
    let seed = identity.withUnsafeBytes { XXH3.hash($0, seed: 0) }
    let epoch = log.number(at: record.lowerBound + 8)
    let check = log[record.prefix(60)].withUnsafeBytes {
      XXH3.hash($0, seed: seed ^ (epoch &+ 1) &* 0xC2B2_AE3D_27D4_EB4F)
    }
    log.setNumber(check, at: record.lowerBound + 60, byteCount: 4)
    let sum = log[record.dropLast(16)].withUnsafeBytes {
      XXH3.hash($0, seed: seed ^ (epoch &+ 1) &* 0xC2B2_AE3D_27D4_EB4F)
    }
    log.setNumber(sum, at: record.upperBound - 16)
  }

  /// The value of key 0 in the store that these files are.
  private func value(_ files: [String: [UInt8]], _ log: [UInt8]) throws -> UInt8? {
    var files = files
    files["store-log"] = log
    let store = try PageStore.open("store", options: Proof.options, in: SimulatedDisk(files))
    #expect(try store.check().isSound)
    return try Proof.values(try store.snapshot()).first
  }

  @Test func `sealing by the format leaves the engine's own records as they are`() throws {
    let log = try #require(try files([1, 2, 3])["store-log"])
    #expect(Proof.records(log).count == 3)
    var sealed = log
    for record in Proof.records(log) { try seal(record, of: &sealed) }
    #expect(sealed == log)
  }

  /// A store was copied, both went on, and the disk mixed their logs up: identity, epoch and number
  /// of the commit are all right.
  @Test func `a record of another history is not replayed`() throws {
    let one = try files([1, 2, 3])
    let other = try #require(try files([1, 7, 8])["store-log"])
    var log = try #require(one["store-log"])
    let last = Proof.records(log)[2]
    #expect(Proof.records(other)[2] == last)
    log.replaceSubrange(last, with: other[last])
    #expect(try value(one, log) == 2)
  }

  @Test func `a record of another epoch is not replayed`() throws {
    let files = try files([1, 2, 3])
    var log = try #require(files["store-log"])
    let last = Proof.records(log)[2]
    log.setNumber(log.number(at: last.lowerBound + 8) - 1, at: last.lowerBound + 8)
    try seal(last, of: &log)
    #expect(try value(files, log) == 2)
  }

  @Test func `a record that leaves out a commit is not replayed`() throws {
    let files = try files([1, 2, 3])
    var log = try #require(files["store-log"])
    let last = Proof.records(log)[2]
    log.setNumber(4, at: last.lowerBound + 16)
    try seal(last, of: &log)
    #expect(try value(files, log) == 2)
  }

  @Test func `a record that makes no sense is damage`() throws {
    let files = try files([1, 2, 3])
    let good = try #require(files["store-log"])
    let last = Proof.records(good)[2]
    var log = good
    // More pages than it has.
    log.setNumber(1000, at: last.lowerBound + 48, byteCount: 4)
    try seal(last, of: &log)
    #expect {
      _ = try value(files, log)
    } throws: { error in
      guard case .logDamaged(_, let first, _) = error as? StorageError else { return false }
      return first.rawValue == 3
    }
  }

  /// The store was closed and opened again, and then committed to; of the meta page that says so
  /// the disk lost the write. The older one says that there is no log, and there is one.
  @Test(arguments: [false, true])
  func `a log that was begun counts without the meta page that says so`(isReadOnly: Bool) throws {
    var options = Proof.options
    options.isReadOnly = isReadOnly
    let disk = SimulatedDisk(try filesWithoutNewerMeta())
    let store = try PageStore.open("store", options: options, in: disk)
    #expect(try Proof.values(try store.snapshot()) == [3])
    #expect(try store.check().findings == [])
  }

  @Test func `the anatomy of a log that was begun counts its records`() throws {
    let disk = SimulatedDisk(try filesWithoutNewerMeta())
    let anatomy = try StoreAnatomy(of: "store", in: disk)
    #expect(anatomy.log?.goesOn == true)
    #expect(anatomy.log?.records.allSatisfy { $0.state == .counts } == true)
    #expect(anatomy.lastCommit?.rawValue == 3)
  }

  /// Its first record is gone, and with it what leads to the others.
  @Test func `a log that was begun and lacks its first record is damage`() throws {
    var files = try filesWithoutNewerMeta()
    files["store-log"]?[4096 + 70] ^= 1
    #expect(throws: StorageError.self) {
      _ = try PageStore.open("store", options: Proof.options, in: SimulatedDisk(files))
    }
  }

  /// The file is one of two closings ago.
  @Test func `a log that is newer than the meta page is not passed over`() throws {
    let disk = SimulatedDisk()
    var store = try PageStore.open("store", options: Proof.options, in: disk)
    try Proof.put(store, 0..<1, 1)
    try store.close()
    let old = disk.files
    for byte in 2..<4 as Range<UInt8> {
      store = try PageStore.open("store", options: Proof.options, in: disk)
      try Proof.put(store, 0..<1, byte)
      if byte == 2 { try store.close() }
    }
    var files = disk.files
    files["store"] = old["store"]
    #expect(throws: StorageError.self) {
      _ = try PageStore.open("store", options: Proof.options, in: SimulatedDisk(files))
    }
  }

  private func filesWithoutNewerMeta() throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    var store = try PageStore.open("store", options: Proof.options, in: disk)
    try Proof.put(store, 0..<1, 1)
    try store.close()
    store = try PageStore.open("store", options: Proof.options, in: disk)
    try Proof.put(store, 0..<1, 2)
    try Proof.put(store, 0..<1, 3)
    var files = disk.files
    let sequences = [1, 2].map { files["store"]?.number(at: $0 * 512 + 8) ?? 0 }
    let newer = sequences[0] > sequences[1] ? 1 : 2
    files["store"]?[newer * 512 + 100] ^= 1
    return files
  }
}
