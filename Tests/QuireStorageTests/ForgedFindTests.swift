import QuireSimulation
import QuireStorage
import Testing

/// What stores that were forged by hand have shown: checksums are right, and numbers are not.
@Suite("Finds in forged stores") struct ForgedFindTests {
  private static let identity = StoreIdentity(high: 0x0123_4567_89AB_4DEF, low: 6)

  private var options: PageStoreOptions {
    var options = PageStoreOptions()
    options.pageSize = 512
    options.identity = Self.identity
    options.createIfMissing = false
    return options
  }

  /// A closed store with one tree of a few entries.
  private func closedStore(entries: Int64 = 3) throws -> [UInt8] {
    let disk = SimulatedDisk()
    var options = options
    options.createIfMissing = true
    let store = try PageStore.open("store", options: options, in: disk)
    try store.write { transaction in
      let tree = try transaction.createRecordTree("records")
      for key in 0..<entries { try tree.put([7, 7, 7], for: key) }
    }
    try store.close()
    return try #require(disk.files["store"])
  }

  /// A log of one record that follows what a closed store says.
  private func log(
    after file: [UInt8], entries: [[UInt8]], pageCount: UInt32, freePageCount: UInt32 = 0
  ) throws -> [UInt8] {
    var file = file
    let sealing = try #require(FileSealing(repairing: &file))
    let newer = file.number(at: 512 + 8) > file.number(at: 1024 + 8) ? 512 : 1024
    let epoch = file.number(at: newer + 16) + 1
    var log = [UInt8](repeating: 0, count: 4096)
    log.setNumber(2, at: 8, byteCount: 2)
    var record = Array("Qcommit1".utf8) + [UInt8](repeating: 0, count: 56)
    for entry in entries { record += entry }
    record += [UInt8](repeating: 0, count: -record.count & 7)
    record += Array("Qdurable".utf8) + [UInt8](repeating: 0, count: 24 + 16)
    record.setNumber(epoch, at: 8)
    record.setNumber(file.number(at: newer + 24) + 1, at: 16)
    record.setNumber(UInt64(record.count), at: 32)
    record.setNumber(UInt64(entries.count), at: 48, byteCount: 4)
    record.setNumber(UInt64(pageCount), at: 52, byteCount: 4)
    record.setNumber(UInt64(freePageCount), at: 56, byteCount: 4)
    log += record
    sealing.sealLog(&log, epoch: epoch, chain: sealing.logChainStart(epoch: epoch))
    return log
  }

  /// An entry that makes a page of zeros but for these bytes from byte 8 on.
  private func wholeEntry(_ page: UInt32, _ bytes: [UInt8]) -> [UInt8] {
    var entry = [UInt8](repeating: 0, count: 16)
    entry.setNumber(UInt64(page), at: 0, byteCount: 4)
    entry.setNumber(1, at: 4, byteCount: 2)
    entry.setNumber(1, at: 6, byteCount: 2)
    entry.setNumber(8, at: 12, byteCount: 2)
    entry.setNumber(UInt64(bytes.count), at: 14, byteCount: 2)
    return entry + bytes
  }

  /// Bytes 8 to 23 of an empty page.
  private func header(type: UInt8, commit: UInt64) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16)
    bytes.setNumber(commit, at: 0)
    bytes[8] = type
    bytes.setNumber(512, at: 12, byteCount: 2)
    bytes.setNumber(488, at: 14, byteCount: 2)
    return bytes
  }

  /// Opens both ways, and looks at the files without opening them.
  private func answer(
    _ files: [String: [UInt8]], readLimit: Int = 8 << 20,
    _ body: (PageStore) throws -> Void = { _ in }
  ) -> [String] {
    let disk = BoundedDisk(files, readLimit: readLimit, fileLimit: 64 << 20)
    var answers: [String] = []
    func attempt(_ body: () throws -> Void) {
      do {
        try body()
        answers.append("")
      } catch { answers.append("\(error)") }
    }
    attempt {
      let anatomy = try StoreAnatomy(of: "store", in: disk)
      if !anatomy.isSound { throw StorageError.invalidArgument("\(anatomy.findings[0])") }
    }
    for isReadOnly in [true, false] {
      attempt {
        var options = options
        options.isReadOnly = isReadOnly
        let store = try PageStore.open("store", options: options, in: disk)
        try body(store)
        let report = try store.check()
        if !report.isSound { throw StorageError.invalidArgument("\(report)") }
        try store.close()
      }
    }
    #expect(!disk.isExhausted)
    return answers
  }

  @Test func `a record made by hand is as good as one of the engine`() throws {
    let file = try closedStore()
    let map = wholeEntry(3, [UInt8](file[(3 * 512 + 8)..<(4 * 512)]))
    let log = try log(after: file, entries: [map], pageCount: UInt32(file.count / 512))
    #expect(answer(["store": file, "store-log": log]) == ["", "", ""])
  }

  /// Room for the page was made by adding an eighth to its number: a trap at every opening, and in
  /// `quire check`. Others let the file become 16 TiB long, or asked for as much memory.
  @Test(arguments: [.max, .max - 1, .max - 8, .max - 9, 0xE38E_38E4, 1 << 31, 5000] as [UInt32])
  func `a page in the log that is far beyond the others is refused`(page: UInt32) throws {
    let file = try closedStore()
    for pageCount in [page, page &+ 1, .max, 8] as [UInt32] {
      for type in [1, 2] as [UInt8] {
        let entry = wholeEntry(page, header(type: type, commit: 2))
        let log = try log(after: file, entries: [entry], pageCount: pageCount)
        let answers = answer(["store": file, "store-log": log])
        #expect(!answers.contains(""), "\(page), \(pageCount): \(answers)")
        // A writer does not begin with it.
        let refusals = ["store-log is damaged", "open it to be read alone"]
        #expect(
          refusals.contains { answers[2].contains($0) }, "\(page), \(pageCount): \(answers)")
      }
    }
  }

  /// A writer wrote the number of free pages in 32 bits, whatever it had become.
  @Test(arguments: [8, 9, .max - 9, .max] as [UInt32])
  func `a record with more free pages than pages is refused`(free: UInt32) throws {
    let file = try closedStore()
    let map = wholeEntry(3, [UInt8](file[(3 * 512 + 8)..<(4 * 512)]))
    let log = try log(
      after: file, entries: [map], pageCount: UInt32(file.count / 512), freePageCount: free)
    let answers = answer(["store": file, "store-log": log]) { store in
      if !store.isReadOnly { try Proof.put(store, 0..<20, 1) }
    }
    #expect(!answers.contains(""), "\(answers)")
    // The record itself is refused, not what comes of it.
    #expect(answers.dropFirst().allSatisfy { $0.contains("store-log is damaged") }, "\(answers)")
  }

  /// The maps have other free pages than were counted: counting down ended below none.
  @Test(arguments: [1, 2, 3, 4, 5, 6]) func `a wrong count of free pages does not trap`(
    count: UInt64
  ) throws {
    var file = try closedStore(entries: 1000)
    let sealing = try #require(FileSealing(repairing: &file))
    let pageCount = file.count / 512
    for meta in 1...2 {
      file.setNumber(count, at: meta * 512 + 56, byteCount: 4)
      sealing.sealPage(meta, at: meta * 512, in: &file)
    }
    // Some more pages are free than that; what was in them is lost.
    for page in (pageCount - 6)..<pageCount {
      file.setNumber(0, at: 3 * 512 + 24 + 4 * page, byteCount: 4)
    }
    sealing.sealPage(3, at: 3 * 512, in: &file)
    let disk = BoundedDisk(["store": file], readLimit: 8 << 20, fileLimit: 8 << 20)
    let store = try PageStore.open("store", options: options, in: disk)
    for round in 0..<6 as Range<Int64> {
      try? store.write { transaction in
        let tree = try transaction.createRecordTree("new \(round)")
        for key in 0..<(20 * round + 1) {
          try tree.put([UInt8](repeating: 1, count: 900), for: key)
        }
      }
      try? store.write { try $0.dropTree("new \(round)") }
    }
    try? store.close()
  }

  /// A few bytes in the log stand for a page that is empty otherwise: a log of 60 MB became a store
  /// of 1.3 GB in memory, in 20 seconds.
  @Test func `a log of many small pages takes no more memory than it may`() throws {
    let file = try closedStore()
    // Nobody vouches for them, but each has its map.
    let pageCount: UInt32 = Amount.of(sampled: 40_000, exhaustive: 1_000_000)
    let entries = (UInt32(file.count / 512)..<pageCount).map {
      wholeEntry($0, header(type: $0 % 118 == 3 ? 1 : 2, commit: 2))
    }
    let log = try log(after: file, entries: entries, pageCount: pageCount)
    var options = options
    options.cacheByteLimit = 1 << 20
    options.transactionByteLimit = 4 << 20
    for isReadOnly in [true, false] {
      options.isReadOnly = isReadOnly
      let disk = BoundedDisk(
        ["store": file, "store-log": log], readLimit: 4 * log.count, fileLimit: 64 << 20)
      #expect {
        _ = try PageStore.open("store", options: options, in: disk)
      } throws: { error in
        guard case .invalidArgument(let text) = error as? StorageError else { return false }
        return text.contains("transactionByteLimit")
      }
    }
  }

  /// Numbers as high as these were taken, and those after them not: the store could be written to
  /// once, and never be opened again.
  @Test(arguments: [8, 16, 24]) func `a store that has come too far is read alone`(
    offset: Int
  ) throws {
    for number in [1 << 61, 1 << 61 + 1, 1 << 62 - 2, 1 << 62 - 1, 1 << 62, .max] as [UInt64] {
      var file = try closedStore()
      let sealing = try #require(FileSealing(repairing: &file))
      let newer = file.number(at: 512 + 8) > file.number(at: 1024 + 8) ? 1 : 2
      // A sequence number belongs to one of the two.
      let number = offset == 8 && newer == 1 ? number | 1 : offset == 8 ? number & ~1 : number
      file.setNumber(number, at: newer * 512 + offset)
      sealing.sealPage(newer, at: newer * 512, in: &file)
      let disk = BoundedDisk(["store": file], readLimit: 8 << 20, fileLimit: 8 << 20)
      var refusal = ""
      do {
        try PageStore.open("store", options: options, in: disk).close()
      } catch {
        refusal = "\(error)"
      }
      // Beyond what can be, it is the other page that counts; that one demands a log.
      #expect(refusal.contains(number < 1 << 62 ? "read alone" : "missing"), "\(refusal)")
      guard number < 1 << 62 else { continue }
      var options = options
      options.isReadOnly = true
      let store = try PageStore.open("store", options: options, in: disk)
      #expect(try Proof.values(try store.snapshot()).count == 3)
    }
  }

  /// Each node has the same child twice, eight levels of them and more: a scan went on for as long
  /// as there are ways through, and twice as long for each level.
  @Test(arguments: [false, true]) func `nodes with the same children do not let a scan go on`(
    isEmpty: Bool
  ) throws {
    let levels = 39
    var file = try closedStore()
    let sealing = try #require(FileSealing(repairing: &file))
    let root = 5
    let pageCount = file.count / 512
    // The leaf keeps its content and goes to the end; above it a node for each level.
    var leaf = [UInt8](file[(root * 512)..<((root + 1) * 512)])
    if isEmpty { leaf.replaceSubrange(8..<24, with: header(type: 2, commit: 1)) }
    file += leaf
    for level in 1...levels {
      var node = [UInt8](repeating: 0, count: 512)
      node.setNumber(1, at: 8)
      node[16] = 3
      node[17] = UInt8(level)
      node.setNumber(2, at: 18, byteCount: 2)
      node.setNumber(512, at: 20, byteCount: 2)
      node.setNumber(512 - 40 - 2 * (2 + 4), at: 22, byteCount: 2)
      // Differences 0 and a key that is higher the higher the node is, both with two bytes.
      node.setNumber(UInt64(100 + level), at: 42, byteCount: 2)
      let child = UInt64(pageCount + level - 1)
      node.setNumber(child, at: 44, byteCount: 4)
      node.setNumber(child, at: 48, byteCount: 4)
      if level == levels {
        file.replaceSubrange((root * 512)..<((root + 1) * 512), with: node)
      } else {
        file += node
      }
    }
    let count = file.count / 512
    for page in pageCount..<count {
      file.setNumber(0x8000_0001, at: 3 * 512 + 24 + 4 * page, byteCount: 4)
    }
    for meta in 1...2 { file.setNumber(UInt64(count), at: meta * 512 + 32, byteCount: 4) }
    sealing.sealPages(of: &file)
    let disk = BoundedDisk(["store": file], readLimit: 8 << 20, fileLimit: 8 << 20)
    #expect(try !StoreAnatomy(of: "store", in: disk).isSound)
    let store = try PageStore.open("store", options: options, in: disk)
    #expect(try !store.check().isSound)
    let snapshot = try store.snapshot()
    let tree = try #require(try snapshot.recordTree("records"))
    #expect(try tree.extent().pageCount <= 64 * count)
    for isForward in [true, false] {
      var cursor = tree.cursor()
      var entries = 0
      do {
        while try isForward ? cursor.next() : cursor.previous() { entries += 1 }
        Issue.record("the scan came to an end, after \(entries) entries")
      } catch .damaged {
        #expect(entries <= 3)
      } catch {
        Issue.record("\(error)")
      }
      #expect(!cursor.isAtEntry)
    }
    #expect(throws: StorageError.self) { try store.compact() }
    #expect(throws: StorageError.self) {
      try store.write { try $0.mutableRecordTree("records")?.removeAll() }
    }
    try? store.close()
  }

  /// Values that share the pages of one run: a copy of the store would be larger by as much as they
  /// are many.
  @Test func `a copy is no longer than the store that it is of`() throws {
    let disk = SimulatedDisk()
    var options = options
    options.createIfMissing = true
    var store = try PageStore.open("store", options: options, in: disk)
    try store.write { transaction in
      let tree = try transaction.createRecordTree("records")
      for key in 0..<20 as Range<Int64> {
        try tree.put([UInt8](repeating: 3, count: key == 0 ? 40_000 : 300), for: key)
      }
    }
    try store.close()
    var file = try #require(disk.files["store"])
    let sealing = try #require(FileSealing(repairing: &file))
    // References to runs have a length of 8 bytes: here that of the long value, 40,000.
    let reference: [UInt8] = [0, 0x80, 0x40, 0x9C, 0, 0, 0, 0, 0, 0]
    let long = try #require(
      (5 * 512..<file.count - 14).first { file[$0..<$0 + 10].elementsEqual(reference) })
    let content = [UInt8](file[long..<long + 14])
    var count = 0
    for start in 5 * 512..<file.count - 14
    where file[start..<start + 10].elementsEqual([0, 0x80, 0x2C, 1, 0, 0, 0, 0, 0, 0]) {
      file.replaceSubrange(start..<start + 14, with: content)
      count += 1
    }
    #expect(count == 19)
    sealing.sealPages(of: &file)
    let forged = BoundedDisk(["store": file], readLimit: 8 << 20, fileLimit: 8 << 20)
    store = try PageStore.open("store", options: options, in: forged)
    #expect(try store.check().findings.count < 60)
    #expect {
      try store.compact()
    } throws: { error in
      guard case .damaged(_, let reason) = error as? StorageError else { return false }
      return reason.contains("longer than the store")
    }
    try store.close()
  }
}
