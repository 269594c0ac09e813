/// Reads the content of a log after the last checkpoint, and distinguishes a torn end from damage.
///
/// A record counts if its epoch, number, position in the chain and checksum are all right; it
/// follows the one before, or is at the start of the ring. The bytes after the first that does not
/// count are remains of commits that were never acknowledged as durable, with one exception: if any
/// intact record of the same epoch says that the missing commit was durable, the log is damaged.
/// Damage to the very last commit cannot be distinguished from a torn end.
///
/// The log is read twice: to find the records that count, and to apply them, starting with the
/// images if there are any (``PageImages``). Memory: the pages of the commits, and the longest
/// record.
final class LogReader {
  /// The meta page that refers to the log.
  let meta: MetaPage
  let file: any File
  /// The pages of the commits, newest version of each.
  private(set) var pages: [PageID: PageFrame] = [:]
  /// Pages that the log changes and the file does not have as they were: damage.
  private(set) var lost: Set<PageID> = []
  /// The last commit, and the store's page counts after it; as at the checkpoint when there is
  /// none.
  private(set) var lastCommit: CommitNumber
  private(set) var pageCount: UInt32
  private(set) var freePageCount: UInt32
  /// The offsets of the records that count.
  private(set) var records: [(offset: Int, byteCount: Int)] = []

  /// The span of pages that the log alone can bring back.
  static let recoveredSpan = UInt64.max

  private let images: PageImages?
  private let storeFile: any File
  /// The whole pages of the store's file.
  private let storePageCount: Int
  /// The largest number of pages that the log may have beyond the end of the file.
  private let newPageLimit: Int
  private var newPageCount = 0
  /// The largest possible number of pages: ``PageGeometry/reach(filePageCount:isLogged:)``.
  private(set) var reach: UInt32 = 0
  let fileByteCount: Int
  private let checksum: Checksum
  private let geometry: PageGeometry
  private var pageSize: Int { geometry.pageSize }
  private let epoch: UInt64
  private let path: String
  private var version = LogFormat.version
  /// Whether records have what format 1.1 of the log brought.
  private var isOf11: Bool { version.major > LogFormat.oldestMajor || version.minor >= 1 }
  private var trailerByteCount: Int { LogFormat.Record.trailerByteCount(version) }
  /// The smallest number of bytes that the log is known to have had.
  private var leastByteCount = 0
  /// The number of bytes read of supposed records that turned out to be none.
  private var vainByteCount = 0

  /// - Parameters:
  ///   - headerEpochs: what the header may say. That of a log that was being begun may be the one
  ///     before: header and first record reach the disk in any order.
  ///   - images: what a checkpoint that was cut short was about to overwrite.
  ///   - storeFile: has the pages that the log changes.
  ///   - isDemanded: whether a meta page on disk demands the log, which then was there before.
  ///   - newPageByteLimit: the memory for pages that the log has and the file has no room for yet.
  ///   - follows: whether another process may be writing. Then the log is read up to the last
  ///     commit that no crash takes back, and what is missing behind it is no damage.
  /// - Throws: ``StorageError/logForeign(path:)`` if the header is not this store's,
  ///   ``StorageError/unsupportedFormat(found:supported:)`` if a newer release wrote the log,
  ///   ``StorageError/logDamaged(path:firstLost:lastLost:)``,
  ///   ``StorageError/logCutShort(path:byteCount:atLeast:)``, or an error of the file.
  init(
    _ file: any File, path: String, identity: StoreIdentity, meta: MetaPage,
    headerEpochs: ClosedRange<UInt64>, geometry: PageGeometry, images: PageImages?,
    storeFile: any File,
    isDemanded: Bool, newPageByteLimit: Int, follows: Bool = false
  ) throws(StorageError) {
    self.images = images
    self.storeFile = storeFile
    self.file = file
    self.meta = meta
    checksum = Checksum(identity)
    self.geometry = geometry
    self.path = path
    epoch = meta.epoch
    lastCommit = meta.lastCommit
    pageCount = meta.pageCount
    freePageCount = meta.freePageCount
    fileByteCount = try file.byteCount()
    storePageCount = try storeFile.byteCount() / geometry.pageSize
    newPageLimit = newPageByteLimit / geometry.pageSize
    let window = LogWindow(file, path: path, byteCount: fileByteCount)
    guard try isHeaderOurs(window, headerEpochs) else { throw .logForeign(path: path) }
    try requireKnownVersion()
    if isDemanded { leastByteCount = try headerByteCount(window) }
    // A closed store needs no log. But a newer log shows that it was opened again.
    if meta.isClean {
      try lookBeyondEnd(window)
      return
    }
    var found = try findRecords(from: meta.logOffset, chain: meta.logChain, window)
    if follows {
      found = visible(found, hasSeals: try hasSeals(window))
    } else {
      try lookBeyondEnd(window)
    }
    var missing = images
    for record in found {
      // The images are of one version: they contain earlier commits, and later ones build on them.
      if let images = missing, record.commit > images.commit {
        use(images)
        missing = nil
      }
      try replay(record, window)
    }
    if let missing { use(missing) }
    reach = geometry.reach(filePageCount: storePageCount) {
      pages[$0] != nil
    }
    // Pages after the last one are never read.
    let end = min(pageCount, reach)
    pages = pages.filter { $0.key.rawValue < end }
    lost = lost.filter { $0.rawValue < end && !isFreed($0) }
  }

  /// Whether a later record gave a page back: then nothing misses it, and recovery has not written
  /// it either. Its map is in the log, as every record has the maps of the pages that it changes.
  private func isFreed(_ id: PageID) -> Bool {
    guard let (map, index) = geometry.stampLocation(of: id),
      let frame = pages[map]
    else { return false }
    return PageMap.entry(index, in: Page(frame.base)) == 0
  }

  private func isHeaderOurs(
    _ window: LogWindow, _ epochs: ClosedRange<UInt64>
  ) throws(StorageError) -> Bool {
    typealias Header = LogFormat.Header
    guard fileByteCount >= LogFormat.recordsStart,
      let header = try window.bytes(at: 0, count: Header.byteCount)
    else { return false }
    let checked = UnsafeRawBufferPointer(start: header, count: Header.checksum)
    version = FormatVersion(
      major: UInt16(header.u16(at: Header.major)), minor: UInt16(header.u16(at: Header.minor)))
    // The checksum is seeded with the identity, so the identity itself need not be compared.
    return header.u64(at: Header.magic) == LogFormat.fileMagic
      && epochs.contains(header.u64(at: Header.epoch))
      && header.u64(at: Header.checksum) == checksum.ofLog(checked, epoch: 0)
      && Int(header.u32(at: Header.pageSize)) == pageSize
  }

  /// In a log of another major version this release may take commits for none.
  private func requireKnownVersion() throws(StorageError) {
    guard (LogFormat.oldestMajor...LogFormat.version.major).contains(version.major) else {
      throw .unsupportedFormat(found: version, supported: LogFormat.version)
    }
  }

  /// The length of the file in the header.
  private func headerByteCount(_ window: LogWindow) throws(StorageError) -> Int {
    typealias Header = LogFormat.Header
    guard isOf11, let header = try window.bytes(at: 0, count: Header.wholeByteCount) else {
      return 0
    }
    let wholeChecksum = Header.wholeChecksum(version)
    let checked = UnsafeRawBufferPointer(start: header, count: wholeChecksum)
    guard header.u64(at: wholeChecksum) == checksum.ofLog(checked, epoch: 0) else { return 0 }
    return Int(clamping: header.u64(at: Header.fileByteCount))
  }

  /// Whether each commit is synced, and its record sealed then; `nil` in a log of an earlier
  /// release, which does not say.
  private func hasSeals(_ window: LogWindow) throws(StorageError) -> Bool? {
    typealias Header = LogFormat.Header
    guard version.major > LogFormat.oldestMajor,
      let header = try window.bytes(at: 0, count: Header.wholeByteCount)
    else { return nil }
    let wholeChecksum = Header.wholeChecksum(version)
    let checked = UnsafeRawBufferPointer(start: header, count: wholeChecksum)
    guard header.u64(at: wholeChecksum) == checksum.ofLog(checked, epoch: 0) else { return nil }
    return header.u64(at: Header.flags) & Header.isSealed != 0
  }

  /// Those of the records that a reader in another process may show, which become all that there
  /// are.
  private func visible(_ found: [Record], hasSeals: Bool?) -> [Record] {
    if hasSeals == false { return found }
    let known = found.map(\.durableThrough) + found.filter(\.isSealed).map(\.commit)
    let last = max(meta.lastCommit, known.max() ?? meta.lastCommit)
    let visible = Array(found.prefix { $0.commit <= last })
    records = visible.map { ($0.offset, $0.byteCount) }
    lastCommit = visible.last?.commit ?? meta.lastCommit
    pageCount = visible.last?.pageCount ?? meta.pageCount
    freePageCount = visible.last?.freePageCount ?? meta.freePageCount
    return visible
  }

  /// The pages, which are not kept here any longer.
  func takePages() -> [PageID: PageFrame] {
    defer { pages = [:] }
    return pages
  }

  /// Follows the chain.
  private func findRecords(
    from start: UInt64, chain: UInt64, _ window: LogWindow
  ) throws(StorageError) -> [Record] {
    guard var offset = Int(exactly: start), offset % LogFormat.Record.alignment == 0 else {
      throw .damaged(page: .metaA, reason: "the log is said to begin at \(start)")
    }
    var previous = chain
    var records: [Record] = []
    while let found = try record(after: lastCommit, chain: previous, at: offset, window) {
      guard
        StoreLimits.allows(pageCount: found.pageCount, freePageCount: found.freePageCount)
      else {
        throw .logDamaged(path: path, firstLost: found.commit, lastLost: found.commit)
      }
      records.append(found)
      self.records.append((found.offset, found.byteCount))
      lastCommit = found.commit
      pageCount = found.pageCount
      freePageCount = found.freePageCount
      previous = found.checksum
      offset = found.offset + found.byteCount
    }
    return records
  }

  /// The record that follows, where it would be or at the start of the ring.
  private func record(
    after commit: CommitNumber, chain: UInt64, at offset: Int, _ window: LogWindow
  ) throws(StorageError) -> Record? {
    for start in [offset, LogFormat.recordsStart] {
      if let record = try record(at: start, window), record.epoch == epoch,
        record.previous == chain, record.commit == commit.next
      {
        return record
      }
    }
    return nil
  }

  private func use(_ images: PageImages) {
    for (id, frame) in images.pages {
      pages[id] = frame
      lost.remove(id)
    }
  }

  private func replay(_ record: Record, _ window: LogWindow) throws(StorageError) {
    typealias Format = LogFormat.Record
    let damage = StorageError.logDamaged(
      path: path, firstLost: record.commit, lastLost: record.commit)
    guard let start = try window.bytes(at: record.offset, count: record.byteCount) else {
      throw damage
    }
    var offset = Format.headerByteCount
    let end = record.byteCount - trailerByteCount
    for _ in 0..<record.pageEntryCount {
      guard
        let entry = PageDifference.Entry(
          at: start + offset, room: end - offset, pageSize: pageSize),
        entry.id >= .firstMap, entry.id.rawValue < record.pageCount
      else { throw damage }
      offset += entry.byteCount
      // Before the images, a page that is in them may look like anything in the file.
      if let images, record.commit <= images.commit, images.pages[entry.id] != nil { continue }
      if entry.isWhole { lost.remove(entry.id) }
      guard !lost.contains(entry.id) else { continue }
      guard let frame = try frame(for: entry),
        entry.isWhole || PageMap.stamp(of: Page(frame.base).commit) == entry.base
      else {
        // The file does not have the version on which the entry builds, or has no intact one.
        lost.insert(entry.id)
        pages[entry.id] = nil
        continue
      }
      if entry.isWhole { PageWord(Page(frame.base)).imageSpan = LogReader.recoveredSpan }
      entry.apply(to: frame.base, pageSize: pageSize)
    }
  }

  /// The page that an entry changes: as the log has it so far, else as the file has it; `nil` if
  /// the file has nothing whole.
  private func frame(
    for entry: PageDifference.Entry
  ) throws(StorageError) -> PageFrame? {
    if let known = pages[entry.id] { return known }
    let isInFile = Int(entry.id.rawValue) < storePageCount
    guard isInFile || entry.isWhole else { return nil }
    if !isInFile {
      newPageCount += 1
      // A few bytes of a log can be a page that is empty otherwise.
      guard newPageCount <= newPageLimit else { throw tooManyPages }
    }
    let frame = PageFrame(pageSize: pageSize)
    pages[entry.id] = frame
    if entry.isWhole { return frame }
    let buffer = UnsafeMutableRawBufferPointer(start: frame.base, count: pageSize)
    try storeFile.readFully(at: Int(entry.id.rawValue) * pageSize, into: buffer, path: path)
    let page = Page(frame.base)
    return page.checksum == checksum.ofPage(entry.id, page, pageSize: pageSize) ? frame : nil
  }

  private var tooManyPages: StorageError {
    .invalidArgument(
      "\(path) has more than \(newPageLimit * pageSize) bytes of new pages, which is more than "
        + "twice cacheByteLimit and transactionByteLimit together; open it with a higher "
        + "transactionByteLimit")
  }

  /// Searches for intact records and vouchers anywhere that prove commits which were not found, or
  /// a longer log.
  ///
  /// Values in the log may look like records, in any number, each with a length up to the end. The
  /// checksums of their headers are wrong. But a log of format 1.0 has none, and they can be
  /// forged: so the number of bytes read of false records is limited to a few times the log.
  /// Remains of older records are fewer.
  private func lookBeyondEnd(_ window: LogWindow) throws(StorageError) {
    // A checkpoint makes a commit durable in the log before it writes it to pages.
    var durable = max(lastCommit, images?.commit ?? lastCommit)
    let scan = LogWindow(file, path: path, byteCount: fileByteCount)
    var offset = LogFormat.recordsStart
    let vainLimit = 4 * min(fileByteCount, .max / 4)
    while offset + LogFormat.Voucher.byteCount <= fileByteCount {
      guard let start = try scan.bytes(at: offset, count: LogFormat.Voucher.byteCount) else {
        break
      }
      let magic = start.u64(at: 0)
      if magic == LogFormat.voucherMagic { durable = max(durable, take(voucher: start)) }
      guard magic == LogFormat.recordMagic, vainByteCount < vainLimit,
        let record = try record(at: offset, window)
      else {
        offset += LogFormat.Record.alignment
        continue
      }
      if record.epoch == epoch { durable = max(durable, record.durableThrough) }
      if isOf11,
        let voucher = try scan.bytes(
          at: record.offset + record.byteCount - trailerByteCount
            - LogFormat.Voucher.byteCount, count: LogFormat.Voucher.byteCount)
      {
        durable = max(durable, take(voucher: voucher))
      }
      // Written after a closing that the meta pages do not have.
      if record.epoch > epoch {
        throw .damaged(
          page: .metaA,
          reason: "the log has epoch \(record.epoch); the newest readable meta page has epoch "
            + "\(epoch)")
      }
      offset += record.byteCount
    }
    if durable > lastCommit {
      throw .logDamaged(path: path, firstLost: lastCommit.next, lastLost: durable)
    }
    if !meta.isClean, fileByteCount < leastByteCount {
      throw .logCutShort(path: path, byteCount: fileByteCount, atLeast: leastByteCount)
    }
  }

  /// Notes what a voucher says of the log's length, and returns what it says of commits; nothing if
  /// it is none of this epoch.
  private func take(voucher: UnsafeRawPointer) -> CommitNumber {
    typealias Voucher = LogFormat.Voucher
    guard isOf11, voucher.u64(at: Voucher.magic) == LogFormat.voucherMagic,
      voucher.u64(at: Voucher.check) == checksum.ofVoucher(voucher, epoch: epoch)
    else { return lastCommit }
    leastByteCount = max(leastByteCount, Int(clamping: voucher.u64(at: Voucher.fileByteCount)))
    return CommitNumber(rawValue: voucher.u64(at: Voucher.durableThrough))
  }

  private struct Record {
    var offset: Int
    var epoch: UInt64
    var commit: CommitNumber
    var previous: UInt64
    var durableThrough: CommitNumber
    var byteCount: Int
    var pageEntryCount: Int
    var pageCount: UInt32
    var freePageCount: UInt32
    var checksum: UInt64
    /// Whether the seal is there, where logs have them.
    var isSealed: Bool
  }

  /// A record that is whole in itself, or `nil`.
  private func record(at offset: Int, _ window: LogWindow) throws(StorageError) -> Record? {
    typealias Format = LogFormat.Record
    let room = fileByteCount - offset
    guard room >= Format.headerByteCount + trailerByteCount,
      let header = try window.bytes(at: offset, count: Format.headerByteCount),
      header.u64(at: Format.magic) == LogFormat.recordMagic,
      let byteCount = Int(exactly: header.u64(at: Format.byteCount)),
      byteCount >= Format.headerByteCount + trailerByteCount, byteCount <= room,
      byteCount % Format.alignment == 0,
      !isOf11
        || header.u32(at: Format.headerCheck)
          == checksum.ofRecordHeader(header, epoch: header.u64(at: Format.epoch))
    else { return nil }
    guard let start = try window.bytes(at: offset, count: byteCount) else { return nil }
    let epoch = start.u64(at: Format.epoch)
    let checked = byteCount - trailerByteCount
    let sum = checksum.ofLog(UnsafeRawBufferPointer(start: start, count: checked), epoch: epoch)
    guard start.u64(at: checked) == sum else {
      vainByteCount += byteCount
      return nil
    }
    return Record(
      offset: offset, epoch: epoch, commit: CommitNumber(rawValue: start.u64(at: Format.commit)),
      previous: start.u64(at: Format.previous),
      durableThrough: CommitNumber(rawValue: start.u64(at: Format.durableThrough)),
      byteCount: byteCount, pageEntryCount: Int(start.u32(at: Format.pageEntryCount)),
      pageCount: start.u32(at: Format.pageCount),
      freePageCount: start.u32(at: Format.freePageCount), checksum: sum,
      isSealed: trailerByteCount > Format.checksumByteCount
        && start.u64(at: checked + Format.checksumByteCount) == sum)
  }
}
