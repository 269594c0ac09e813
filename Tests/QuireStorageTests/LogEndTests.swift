import QuireSimulation
import QuireStorage
import Testing

/// What the log knows of its own end: commits that are missing there, bytes that are missing, and
/// values that look like records.
@Suite("The end of the log")
struct LogEndTests {
  /// The files of a store whose process died after these commits.
  private func files(commits: Int, byteCount: Int = 60) throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    let store = try PageStore.open("store", options: Proof.options, in: disk)
    for number in 1...commits {
      try store.write { transaction in
        let tree = try transaction.mutableRecordTree("a") ?? transaction.createRecordTree("a")
        try tree.put([UInt8](repeating: UInt8(number), count: byteCount), for: 1)
      }
    }
    return disk.files
  }

  /// The last commit that a store shows.
  private func shown(_ files: [String: [UInt8]], isReadOnly: Bool = true) throws -> UInt8? {
    var options = Proof.options
    options.isReadOnly = isReadOnly
    let store = try PageStore.open("store", options: options, in: SimulatedDisk(files))
    return try store.read { try $0.recordTree("a")?.value(for: 1)?.array.first }
  }

  /// A write cache that lost one sector: the record before the last is damaged, and the beginning
  /// of the last one, which knows that the other was on disk.
  @Test func `a sector that is lost where the last two records meet is noticed`() throws {
    let files = try files(commits: 6, byteCount: 700)
    let log = try #require(files["store-log"])
    let last = try #require(Proof.records(log).last)
    for start in stride(
      from: last.lowerBound - 300, through: last.lowerBound - 16,
      by: Amount.of(debug: 4, release: 1)
    ) {
      var damaged = files
      damaged["store-log"]?.replaceSubrange(
        start..<start + 512, with: [UInt8](repeating: 0, count: 512))
      for isReadOnly in [true, false] {
        #expect(throws: StorageError.self, "from \(start)") {
          _ = try shown(damaged, isReadOnly: isReadOnly)
        }
      }
      let anatomy = try StoreAnatomy(of: "store", in: SimulatedDisk(damaged))
      #expect(anatomy.findings.contains { "\($0)".contains("were durable") }, "from \(start)")
    }
  }

  @Test func `a log that was cut short is noticed`() throws {
    var files = try files(commits: 40, byteCount: 900)
    let log = try #require(files["store-log"])
    #expect(log.count > 32_768 && Proof.records(log).count == 40)
    for length in stride(
      from: 4096, to: log.count, by: Amount.of(debug: 900, release: 200, exhaustive: 8))
    {
      files["store-log"] = [UInt8](log.prefix(length))
      // A length that it had is one that it may have.
      guard length & (length - 1) != 0 else { continue }
      #expect {
        _ = try shown(files)
      } throws: { error in
        switch error as? StorageError {
        case .logCutShort(_, length, let least): least > length && least <= log.count
        case .logDamaged: true
        default: false
        }
      }
      let anatomy = try StoreAnatomy(of: "store", in: SimulatedDisk(files))
      #expect(!anatomy.findings.isEmpty, "\(length)")
    }
  }

  /// The files of a store whose log an earlier release has written: without vouchers.
  private func filesOfEarlierRelease(commits: Int) throws -> [String: [UInt8]] {
    var files = try files(commits: commits)
    files["store-log"] = try inFormat10(try #require(files["store-log"]))
    return files
  }

  /// A log as a release would have written it that knew no vouchers and no seals.
  private func inFormat10(_ log: [UInt8]) throws -> [UInt8] {
    var log = log
    let seed = try #require(Proof.options.identity).bytes.withUnsafeBytes { XXH3.hash($0, seed: 0) }
    func hash(_ range: Range<Int>, epoch: UInt64) -> UInt64 {
      log[range].withUnsafeBytes {
        XXH3.hash($0, seed: seed ^ (epoch &+ 1) &* 0xC2B2_AE3D_27D4_EB4F)
      }
    }
    log.setNumber(1, at: 8, byteCount: 2)
    log.setNumber(0, at: 10, byteCount: 2)
    log.setNumber(hash(0..<40, epoch: 0), at: 40)
    log.replaceSubrange(48..<72, with: [UInt8](repeating: 0, count: 24))
    var previous: UInt64?
    for record in Proof.records(log) {
      if let previous { log.setNumber(previous, at: record.lowerBound + 24) }
      log.setNumber(0, at: record.lowerBound + 60, byteCount: 4)
      // Voucher, and the checksum of which the place is the seal's now.
      let end = record.upperBound - 48..<record.upperBound - 8
      log.replaceSubrange(end, with: [UInt8](repeating: 0, count: 40))
      let sum = hash(record.dropLast(8), epoch: log.number(at: record.lowerBound + 8))
      log.setNumber(sum, at: record.upperBound - 8)
      previous = sum
    }
    return log
  }

  @Test func `a log of an earlier release is read`() throws {
    let files = try filesOfEarlierRelease(commits: 5)
    #expect(try shown(files) == 5)
    #expect(try shown(files, isReadOnly: false) == 5)
    #expect(try StoreAnatomy(of: "store", in: SimulatedDisk(files)).findings.isEmpty)
  }

  /// The header of a record says what was on disk before it, where nothing else does.
  @Test func `damage in a log of an earlier release is noticed`() throws {
    let files = try filesOfEarlierRelease(commits: 5)
    let records = Proof.records(try #require(files["store-log"]))
    for record in records.dropLast(2) {
      var damaged = files
      damaged["store-log"]?[record.lowerBound + 70] ^= 1
      for isReadOnly in [true, false] {
        #expect(throws: StorageError.self) { _ = try shown(damaged, isReadOnly: isReadOnly) }
      }
    }
  }

  // MARK: Values that look like records

  /// The files of a store in whose log there is the rest of a value full of what looks like
  /// records.
  private func filesWithMarks(
    isOf11: Bool
  ) throws -> [String: [UInt8]] {
    // More than is read at once. No zeros, which would not be in the log.
    let pieceByteCount = 10_000
    var pieces: [[UInt8]] = []
    for number in 0..<250 {
      var piece = [UInt8](repeating: 0x55, count: pieceByteCount)
      // At each place of the eight that a value may have in the log.
      for place in 0..<8 {
        let start = place * 65
        piece.replaceSubrange(start..<start + 8, with: Array("Qcommit1".utf8))
        piece.setNumber(1, at: start + 8)
        piece.setNumber(2, at: start + 16)
        piece.setNumber(UInt64((250 - number) * pieceByteCount & ~7), at: start + 32)
      }
      pieces.append(piece)
    }
    let disk = SimulatedDisk()
    let store = try PageStore.open("store", options: Proof.options, in: disk)
    try store.write { transaction in
      // In pieces that go through the log.
      let tree = try transaction.createRecordTree("marks")
      for (key, piece) in pieces.enumerated() { try tree.put(piece, for: Int64(key)) }
      try transaction.createRecordTree("a").put([0], for: 1)
    }
    try store.checkpoint()
    for number in 1...3 as ClosedRange<UInt8> {
      try store.write { try $0.mutableRecordTree("a")?.put([number], for: 1) }
    }
    var files = disk.files
    if !isOf11 {
      files["store-log"] = try inFormat10(try #require(files["store-log"]))
    }
    return files
  }

  /// How much was read of the log, however it was read.
  @Test(arguments: [true, false])
  func `values that look like records cost no more than others`(isOf11: Bool) throws {
    let files = try filesWithMarks(isOf11: isOf11)
    let byteCount = try #require(files["store-log"]?.count)
    for isReadOnly in [true, false] {
      var options = Proof.options
      options.isReadOnly = isReadOnly
      let disk = BoundedDisk(
        files, readLimit: (isOf11 ? 8 : 20) * byteCount, fileLimit: 2 * byteCount)
      let store = try PageStore.open("store", options: options, in: disk)
      #expect(try store.read { try $0.recordTree("a")?.value(for: 1)?.array } == [3])
      try store.close()
      #expect(byteCount > 2 << 20 && !disk.isExhausted)
    }
  }
}
