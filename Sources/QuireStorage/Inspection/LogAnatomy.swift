/// A log as it lies on disk: its header, and every record that can be recognized in it.
package struct LogAnatomy {
  /// The role of a record.
  package enum State: String, Sendable {
    /// It belongs to the store's content.
    case counts
    /// Of this epoch, but from before the last checkpoint: its content is in the pages.
    case checkpointed
    /// Of an earlier epoch.
    case stale
    /// Whole, but the chain of records does not reach it.
    case unreached
    /// It begins as a record does, and is not whole.
    case torn
    /// Of a later epoch than those of the meta pages.
    case future
    /// Intact, but no meta page tells its role.
    case unknown
  }

  /// The changes to a page in a record.
  package struct PageEntry: Sendable {
    package let id: PageID
    /// Whether the ranges apply to a page of zeros.
    package let isWhole: Bool
    /// The bytes of the page that are given.
    package let ranges: [Range<Int>]
    /// The offset of the entry in the log, and its length.
    package let offset: Int
    package let byteCount: Int
  }

  package struct Record: Sendable {
    package let offset: Int
    /// As the record says; of a torn one it may be anything.
    package let byteCount: Int
    package let epoch: UInt64
    package let commit: CommitNumber
    package let durableThrough: CommitNumber
    /// Whether it was known to be on disk after it was written. Since 2.0.
    package let isSealed: Bool
    package let previous: UInt64
    package let checksum: UInt64
    package let pageCount: UInt32
    package let freePageCount: UInt32
    package internal(set) var pages: [PageEntry] = []
    package internal(set) var state: State
  }

  package let byteCount: Int
  package let version: FormatVersion
  package let pageSize: Int
  package let identity: StoreIdentity
  /// Whether each commit is synced, and its record sealed then. Since 2.0.
  package let hasSeals: Bool
  /// Whether the header is whole and of this store.
  package let isOurs: Bool
  /// Those that count come first, in their order; then the others, in the order of the file.
  package private(set) var records: [Record] = []
  package private(set) var findings: [StoreAnatomy.Finding] = []
  package private(set) var notes: [String] = []
  /// Whether the meta page is that of a closed store, and the log continues it.
  package private(set) var goesOn = false
  let bytes: PageMemory
  /// Whether records have the additions of format 1.1 of the log.
  let isOf11: Bool
  /// The last commit that vouchers of the current epoch declare durable.
  private var vouched = CommitNumber.creation
  /// The smallest number of bytes that the log is known to have had.
  private var leastByteCount = 0
  private let checksum: Checksum
  private let storePageSize: Int

  /// Bytes of the records that count.
  package var liveByteCount: Int {
    records.reduce(0) { $0 + ($1.state == .counts ? $1.byteCount : 0) }
  }

  init(
    _ file: any File, path: String, meta: StoreAnatomy.Meta?, _ checksum: Checksum, pageSize: Int
  ) throws(StorageError) {
    typealias Header = LogFormat.Header
    let length = try file.byteCount()
    // Zeros after it, so that a header that is cut short can be read.
    bytes = PageMemory(byteCount: max(length, Header.byteCount))
    bytes.base.initializeMemory(as: UInt8.self, repeating: 0, count: bytes.byteCount)
    byteCount = try file.readAll(into: bytes)
    self.checksum = checksum
    storePageSize = pageSize
    let base = UnsafeRawPointer(bytes.base)
    version = FormatVersion(
      major: UInt16(base.u16(at: Header.major)), minor: UInt16(base.u16(at: Header.minor)))
    self.pageSize = Int(base.u32(at: Header.pageSize))
    identity = StoreIdentity(at: base + Header.identity)
    let checked = UnsafeRawBufferPointer(start: base, count: Header.checksum)
    isOurs =
      byteCount >= LogFormat.recordsStart && base.u64(at: Header.magic) == LogFormat.fileMagic
      && base.u64(at: Header.checksum) == checksum.ofLog(checked, epoch: 0)
      && self.pageSize == pageSize
    isOf11 = version.major > LogFormat.oldestMajor || version.minor >= 1
    hasSeals =
      isOurs && version.major > LogFormat.oldestMajor
      && base.u64(at: Header.flags) & Header.isSealed != 0
    scan()
    classify(meta, path)
  }

  /// The last commit in the log that readers in other processes may see; `nil` if that is none.
  package var visibleThrough: CommitNumber? {
    records.last { $0.state == .counts && ($0.isSealed || !hasSeals) }?.commit
  }

  /// The log without what a process that writes it has not finished, or may have been writing while
  /// it was read: records that are not whole, and those after the last one that readers see.
  var visible: LogAnatomy {
    var log = self
    let last = visibleThrough
    log.records.removeAll { record in
      switch record.state {
      case .counts: last.map { record.commit > $0 } ?? true
      case .checkpointed, .stale: false
      case .unreached, .torn, .future, .unknown: true
      }
    }
    (log.findings, log.notes) = ([], [])
    return log
  }

  var trailerByteCount: Int { LogFormat.Record.trailerByteCount(version) }

  private mutating func classify(_ meta: StoreAnatomy.Meta?, _ path: String) {
    var meta = meta
    if let closed = meta, closed.isClean, isOurs {
      let begun = closed.begun(checksum)
      follow(begun, path)
      goesOn = records.contains { $0.state == .counts }
      if goesOn { meta = begun }
    } else if let meta, !meta.isClean {
      if isOurs {
        follow(meta, path)
      } else {
        findings.append(.init(message: "\(StorageError.logForeign(path: path))"))
      }
    }
    sort(meta)
    if let meta { readVouchers(of: meta.epoch, isDemanded: !goesOn && !meta.isClean) }
    if let meta, !meta.isClean, isOurs { judge(meta, path) }
  }

  // MARK: Records

  private mutating func scan() {
    var offset = LogFormat.recordsStart
    // See `LogReader.lookBeyondEnd`.
    var vainLimit = 4 * byteCount
    while offset + LogFormat.Record.headerByteCount <= byteCount {
      if vainLimit > 0, let record = record(at: offset) {
        records.append(record)
        if record.state == .torn { vainLimit -= min(byteCount, max(0, record.byteCount)) }
        offset += record.state == .torn ? LogFormat.Record.alignment : record.byteCount
      } else {
        offset += LogFormat.Record.alignment
      }
    }
  }

  /// The record at an offset; `nil` if there is none.
  private func record(at offset: Int) -> Record? {
    typealias Format = LogFormat.Record
    guard offset >= 0, offset <= byteCount - Format.headerByteCount else { return nil }
    let start = UnsafeRawPointer(bytes.base) + offset
    guard start.u64(at: Format.magic) == LogFormat.recordMagic else { return nil }
    let claimed = Int(truncatingIfNeeded: start.u64(at: Format.byteCount))
    let epoch = start.u64(at: Format.epoch)
    guard
      !isOf11
        || start.u32(at: Format.headerCheck) == checksum.ofRecordHeader(start, epoch: epoch)
    else { return nil }
    let isInside =
      claimed >= Format.headerByteCount + trailerByteCount && claimed <= byteCount - offset
      && claimed % Format.alignment == 0
    let checked = isInside ? claimed - trailerByteCount : 0
    let sum = isInside ? start.u64(at: checked) : 0
    let isWhole =
      isInside
      && sum
        == checksum.ofLog(UnsafeRawBufferPointer(start: start, count: checked), epoch: epoch)
    var record = Record(
      offset: offset, byteCount: claimed, epoch: epoch,
      commit: CommitNumber(rawValue: start.u64(at: Format.commit)),
      durableThrough: CommitNumber(rawValue: start.u64(at: Format.durableThrough)),
      isSealed: isWhole && hasSeals && start.u64(at: checked + Format.checksumByteCount) == sum,
      previous: start.u64(at: Format.previous), checksum: sum,
      pageCount: start.u32(at: Format.pageCount),
      freePageCount: start.u32(at: Format.freePageCount), state: isWhole ? .unknown : .torn)
    let end = isInside ? offset + checked : byteCount
    record.pages = pages(
      from: offset + Format.headerByteCount, to: end,
      count: Int(start.u32(at: Format.pageEntryCount)))
    return record
  }

  /// The entries of a record, as far as they can be ones.
  private func pages(from start: Int, to end: Int, count: Int) -> [PageEntry] {
    typealias Format = PageDifference.Format
    var offset = start
    var pages: [PageEntry] = []
    while pages.count < count {
      let base = UnsafeRawPointer(bytes.base) + offset
      guard
        let entry = PageDifference.Entry(at: base, room: end - offset, pageSize: storePageSize)
      else { break }
      let ranges = (0..<base.u16(at: Format.rangeCount)).map { index in
        let range = base + Format.headerByteCount + index * Format.rangeByteCount
        return range.u16(at: 0)..<(range.u16(at: 0) + range.u16(at: 2))
      }
      pages.append(
        PageEntry(
          id: entry.id, isWhole: entry.isWhole, ranges: ranges, offset: offset,
          byteCount: entry.byteCount))
      offset += entry.byteCount
    }
    return pages
  }

  /// Reads the vouchers of an epoch, even those whose records are damaged; and the header, if a
  /// meta page requires the log.
  private mutating func readVouchers(of epoch: UInt64, isDemanded: Bool) {
    typealias Voucher = LogFormat.Voucher
    guard isOf11, byteCount >= LogFormat.recordsStart else { return }
    let base = UnsafeRawPointer(bytes.base)
    let wholeChecksum = LogFormat.Header.wholeChecksum(version)
    let header = UnsafeRawBufferPointer(start: base, count: wholeChecksum)
    if isDemanded, base.u64(at: wholeChecksum) == checksum.ofLog(header, epoch: 0) {
      leastByteCount = Int(clamping: base.u64(at: LogFormat.Header.fileByteCount))
    }
    for offset in stride(
      from: LogFormat.recordsStart, through: byteCount - Voucher.byteCount,
      by: LogFormat.Record.alignment)
    {
      let voucher = base + offset
      guard voucher.u64(at: Voucher.magic) == LogFormat.voucherMagic,
        voucher.u64(at: Voucher.check) == checksum.ofVoucher(voucher, epoch: epoch)
      else { continue }
      vouched = max(
        vouched, CommitNumber(rawValue: voucher.u64(at: Voucher.durableThrough)))
      leastByteCount = max(
        leastByteCount, Int(clamping: voucher.u64(at: Voucher.fileByteCount)))
    }
  }

  // MARK: What counts

  /// Follows the chain of records from its beginning in the meta page.
  private mutating func follow(_ meta: StoreAnatomy.Meta, _ path: String) {
    guard var offset = Int(exactly: meta.logOffset), offset % LogFormat.Record.alignment == 0 else {
      findings.append(
        .init(page: meta.id, message: "the log is said to begin at \(meta.logOffset)"))
      return
    }
    var (previous, last) = (meta.logChain, meta.lastCommit)
    let indexes = Dictionary(uniqueKeysWithValues: records.indices.map { (records[$0].offset, $0) })
    // Each record that counts has a number of its own, so this ends.
    while true {
      let next = [offset, LogFormat.recordsStart].lazy.compactMap { [self] in record(at: $0) }
        .first {
          $0.state != .torn && $0.epoch == meta.epoch && $0.previous == previous
            && $0.commit == last.next
        }
      guard var next else { return }
      next.state = .counts
      if !StoreLimits.allows(pageCount: next.pageCount, freePageCount: next.freePageCount) {
        findings.append(
          .init(
            message: "commit \(next.commit) in the log is said to leave \(next.pageCount) pages, "
              + "\(next.freePageCount) of them free"))
      }
      if let index = indexes[next.offset] {
        records[index] = next
      } else {
        records.append(next)
      }
      (previous, last) = (next.checksum, next.commit)
      offset = next.offset + next.byteCount
    }
  }

  private mutating func sort(_ meta: StoreAnatomy.Meta?) {
    for index in records.indices where records[index].state == .unknown {
      guard let meta, isOurs else { continue }
      let record = records[index]
      records[index].state =
        record.epoch > meta.epoch
        ? .future
        : record.epoch < meta.epoch || meta.isClean
          ? .stale : record.commit <= meta.lastCommit ? .checkpointed : .unreached
    }
    records.sort {
      $0.state == .counts && $1.state == .counts
        ? $0.commit < $1.commit
        : ($0.state == .counts ? 0 : 1, $0.offset) < ($1.state == .counts ? 0 : 1, $1.offset)
    }
  }

  private mutating func judge(_ meta: StoreAnatomy.Meta, _ path: String) {
    let last = records.last { $0.state == .counts }?.commit ?? meta.lastCommit
    var durable = max(last, vouched)
    for record in records {
      switch record.state {
      case .counts, .unreached, .checkpointed: durable = max(durable, record.durableThrough)
      case .future:
        findings.append(
          .init(
            page: meta.id,
            message: "the log has epoch \(record.epoch); the newest readable meta page has epoch "
              + "\(meta.epoch)"))
      case .torn, .stale, .unknown: break
      }
    }
    if durable > last {
      let error = StorageError.logDamaged(path: path, firstLost: last.next, lastLost: durable)
      findings.append(.init(message: "\(error)"))
    }
    if byteCount < leastByteCount {
      let error = StorageError.logCutShort(
        path: path, byteCount: byteCount, atLeast: leastByteCount)
      findings.append(.init(message: "\(error)"))
    }
    if let stale = records.first(where: { $0.state == .stale }) {
      // A log is made empty, so there is nothing in it from before.
      findings.append(
        .init(
          message:
            "the log has commit \(stale.commit) of epoch \(stale.epoch), the store's epoch is "
            + "\(meta.epoch): it is of an earlier time, and later commits are missing"))
    }
    for record in records {
      switch record.state {
      case .torn:
        notes.append(
          "the record at \(record.offset) of the log is not whole: said to be of commit "
            + "\(record.commit), epoch \(record.epoch)")
      case .unreached:
        notes.append(
          "the record at \(record.offset) of the log, commit \(record.commit), does not count: "
            + "one before it is missing")
      default: break
      }
    }
  }
}
