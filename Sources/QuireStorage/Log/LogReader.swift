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
  /// Pages that the log changes and the file does not have as they were: damage.
  var lost: Set<PageID> { replay.lost }
  /// The last commit, and the store's page counts after it; as at the checkpoint when there is
  /// none.
  private(set) var lastCommit: CommitNumber
  private(set) var pageCount: UInt32
  private(set) var freePageCount: UInt32
  /// The records that count.
  private(set) var records: [LogRecord] = []

  /// The span of pages that the log alone can bring back.
  static let recoveredSpan = UInt64.max

  private var replay: LogReplay
  private var found: LogRecords
  private let storeFile: any File
  /// The whole pages of the store's file.
  private let storePageCount: Int
  /// The largest number of pages that the log may have beyond the end of the file.
  private let newPageLimit: Int
  private var newPageCount = 0
  /// The largest possible number of pages: ``PageGeometry/reach(filePageCount:isLogged:)``.
  private(set) var reach: UInt32 = 0
  let fileByteCount: Int
  private let geometry: PageGeometry
  private var pageSize: Int { geometry.pageSize }
  private let path: String
  /// See ``LogPosition/isSealed``.
  let isSealed: Bool?
  /// The smallest number of bytes that the log is known to have had.
  private var leastByteCount = 0

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
    self.storeFile = storeFile
    self.file = file
    self.meta = meta
    self.geometry = geometry
    self.path = path
    lastCommit = meta.lastCommit
    pageCount = meta.pageCount
    freePageCount = meta.freePageCount
    fileByteCount = try file.byteCount()
    storePageCount = try storeFile.byteCount() / geometry.pageSize
    newPageLimit = newPageByteLimit / geometry.pageSize
    let window = LogWindow(file, path: path, byteCount: fileByteCount)
    let checksum = Checksum(identity)
    let header = try LogHeader(window, fileByteCount: fileByteCount, checksum)
    guard let header, header.pageSize == geometry.pageSize, headerEpochs.contains(header.epoch)
    else { throw .logForeign(path: path) }
    // In a log of another major version this release may take commits for none.
    guard (LogFormat.oldestMajor...LogFormat.version.major).contains(header.version.major) else {
      throw .unsupportedFormat(found: header.version, supported: LogFormat.version)
    }
    isSealed = header.isSealed
    found = LogRecords(checksum, header.version, epoch: meta.epoch, fileByteCount: fileByteCount)
    replay = LogReplay(geometry, path: path, found)
    if isDemanded { leastByteCount = header.leastByteCount }
    // A closed store needs no log. But a newer log shows that it was opened again.
    if meta.isClean {
      try lookBeyondEnd(window, images)
      return
    }
    try findRecords(window)
    if follows {
      records = records.visible(after: meta.lastCommit, isSealed: isSealed)
      noteLast()
    } else {
      try lookBeyondEnd(window, images)
    }
    try replay(images, window)
    reach = geometry.reach(filePageCount: storePageCount) {
      replay.pages[$0] != nil
    }
    replay.cut(to: min(pageCount, reach))
  }

  /// The pages, newest version of each, which are not kept here any longer.
  func takePages() -> [PageID: PageFrame] { replay.takePages() }

  /// Where the log goes on; `nil` in that of a closed store.
  var end: LogPosition? {
    guard !meta.isClean else { return nil }
    return LogPosition(
      file: file, path: path, version: found.version, epoch: meta.epoch, isSealed: isSealed,
      offset: records.last?.end ?? Int(clamping: meta.logOffset),
      chain: records.last?.checksum ?? meta.logChain)
  }

  /// Follows the chain.
  private func findRecords(_ window: LogWindow) throws(StorageError) {
    guard let offset = Int(exactly: meta.logOffset), offset % LogFormat.Record.alignment == 0
    else {
      throw .damaged(page: .metaA, reason: "the log is said to begin at \(meta.logOffset)")
    }
    records = try found.chain(
      from: offset, chain: meta.logChain, after: meta.lastCommit, in: window)
    if let wrong = records.first(where: { !$0.isPossible }) {
      throw .logDamaged(path: path, firstLost: wrong.commit, lastLost: wrong.commit)
    }
    noteLast()
  }

  private func noteLast() {
    lastCommit = records.last?.commit ?? meta.lastCommit
    pageCount = records.last?.pageCount ?? meta.pageCount
    freePageCount = records.last?.freePageCount ?? meta.freePageCount
  }

  private func replay(_ images: PageImages?, _ window: LogWindow) throws(StorageError) {
    var missing = images
    for record in records {
      // The images are of one version: they contain earlier commits, and later ones build on them.
      if let images = missing, record.commit > images.commit {
        replay.use(images)
        missing = nil
      }
      try replay.replay(record, in: window, images: images) { entry throws(StorageError) in
        try frame(for: entry)
      }
    }
    if let missing { replay.use(missing) }
  }

  /// The page that an entry changes, as the file has it; `nil` if that has nothing whole.
  private func frame(
    for entry: PageDifference.Entry
  ) throws(StorageError) -> PageFrame? {
    let isInFile = Int(entry.id.rawValue) < storePageCount
    guard isInFile || entry.isWhole else { return nil }
    if !isInFile {
      newPageCount += 1
      // A few bytes of a log can be a page that is empty otherwise.
      guard newPageCount <= newPageLimit else { throw tooManyPages }
    }
    let frame = PageFrame(pageSize: pageSize)
    if entry.isWhole { return frame }
    let buffer = UnsafeMutableRawBufferPointer(start: frame.base, count: pageSize)
    try storeFile.readFully(at: Int(entry.id.rawValue) * pageSize, into: buffer, path: path)
    let page = Page(frame.base)
    return page.checksum == found.checksum.ofPage(entry.id, page, pageSize: pageSize) ? frame : nil
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
  private func lookBeyondEnd(
    _ window: LogWindow, _ images: PageImages?
  ) throws(StorageError) {
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
      guard magic == LogFormat.recordMagic, found.vainByteCount < vainLimit,
        let record = try found.record(at: offset, in: window)
      else {
        offset += LogFormat.Record.alignment
        continue
      }
      if record.epoch == meta.epoch { durable = max(durable, record.durableThrough) }
      if found.isOf11,
        let voucher = try scan.bytes(
          at: record.offset + record.byteCount - found.trailerByteCount
            - LogFormat.Voucher.byteCount, count: LogFormat.Voucher.byteCount)
      {
        durable = max(durable, take(voucher: voucher))
      }
      // Written after a closing that the meta pages do not have.
      if record.epoch > meta.epoch {
        throw .damaged(
          page: .metaA,
          reason: "the log has epoch \(record.epoch); the newest readable meta page has epoch "
            + "\(meta.epoch)")
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
    guard found.isOf11, voucher.u64(at: Voucher.magic) == LogFormat.voucherMagic,
      voucher.u64(at: Voucher.check) == found.checksum.ofVoucher(voucher, epoch: meta.epoch)
    else { return lastCommit }
    leastByteCount = max(leastByteCount, Int(clamping: voucher.u64(at: Voucher.fileByteCount)))
    return CommitNumber(rawValue: voucher.u64(at: Voucher.durableThrough))
  }
}
