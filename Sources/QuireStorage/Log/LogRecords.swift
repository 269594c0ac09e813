/// A record of a log that is whole in itself.
struct LogRecord {
  var offset: Int
  var epoch: UInt64
  var commit: CommitNumber
  /// The checksum of the record before.
  var previous: UInt64
  var durableThrough: CommitNumber
  var byteCount: Int
  var pageEntryCount: Int
  var pageCount: UInt32
  var freePageCount: UInt32
  var checksum: UInt64
  /// Whether the seal is there, where logs have them.
  var isSealed: Bool

  var end: Int { offset + byteCount }

  var isPossible: Bool {
    StoreLimits.allows(pageCount: pageCount, freePageCount: freePageCount)
  }
}

/// Finds the records of a log.
struct LogRecords {
  let checksum: Checksum
  /// The version of the log's format.
  let version: FormatVersion
  let epoch: UInt64
  let fileByteCount: Int
  /// The number of bytes read of supposed records that turned out to be none.
  private(set) var vainByteCount = 0

  init(_ checksum: Checksum, _ version: FormatVersion, epoch: UInt64, fileByteCount: Int) {
    self.checksum = checksum
    self.version = version
    self.epoch = epoch
    self.fileByteCount = fileByteCount
  }

  /// Whether records have what format 1.1 of the log brought.
  var isOf11: Bool { version.major > LogFormat.oldestMajor || version.minor >= 1 }
  var trailerByteCount: Int { LogFormat.Record.trailerByteCount(version) }

  /// Follows the chain from a commit on, whose record ends at `offset` and has the checksum
  /// `chain`.
  mutating func chain(
    from offset: Int, chain: UInt64, after commit: CommitNumber, in window: LogWindow
  ) throws(StorageError) -> [LogRecord] {
    var records: [LogRecord] = []
    var (offset, chain, commit) = (offset, chain, commit)
    while let found = try record(after: commit, chain: chain, at: offset, in: window) {
      records.append(found)
      (offset, chain, commit) = (found.end, found.checksum, found.commit)
    }
    return records
  }

  /// The record that follows, where it would be or at the start of the ring.
  private mutating func record(
    after commit: CommitNumber, chain: UInt64, at offset: Int, in window: LogWindow
  ) throws(StorageError) -> LogRecord? {
    for start in [offset, LogFormat.recordsStart]
    where try isBegun(at: start, chain: chain, after: commit, in: window) {
      // What is read by now may be another one.
      if let record = try record(at: start, in: window), record.epoch == epoch,
        record.previous == chain, record.commit == commit.next
      {
        return record
      }
    }
    return nil
  }

  /// Whether the record that follows is begun, and perhaps not whole: it is being written, or a
  /// process has died in its middle.
  func isBegun(
    _ offset: Int, chain: UInt64, after commit: CommitNumber, in window: LogWindow
  ) throws(StorageError) -> Bool {
    if try isBegun(at: offset, chain: chain, after: commit, in: window) { return true }
    return try isBegun(at: LogFormat.recordsStart, chain: chain, after: commit, in: window)
  }

  private func isBegun(
    at start: Int, chain: UInt64, after commit: CommitNumber, in window: LogWindow
  ) throws(StorageError) -> Bool {
    typealias Format = LogFormat.Record
    guard let header = try window.header(at: start) else { return false }
    return header.u64(at: Format.magic) == LogFormat.recordMagic
      && header.u64(at: Format.epoch) == epoch
      && header.u64(at: Format.previous) == chain
      && header.u64(at: Format.commit) == commit.next.rawValue
  }

  /// A record that is whole in itself, or `nil`.
  mutating func record(at offset: Int, in window: LogWindow) throws(StorageError) -> LogRecord? {
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
    return LogRecord(
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

extension [LogRecord] {
  /// Those of a chain that a reader in another process may show, as no crash takes them back.
  ///
  /// - Parameters:
  ///   - commit: the commit before them.
  ///   - isSealed: whether each commit is synced, and its record sealed then; `nil` in a log of an
  ///     earlier release, which does not say.
  func visible(after commit: CommitNumber, isSealed: Bool?) -> [LogRecord] {
    if isSealed == false { return self }
    let known = map(\.durableThrough) + filter(\.isSealed).map(\.commit)
    let last = Swift.max(commit, known.max() ?? commit)
    return Array(prefix { $0.commit <= last })
  }
}

/// A record of which a log still has need.
struct LiveRecord {
  let commit: CommitNumber
  let offset: Int
  let byteCount: Int
  let pageCount: UInt32
}

extension LiveRecord {
  init(_ record: LogRecord) {
    commit = record.commit
    offset = record.offset
    byteCount = record.byteCount
    pageCount = record.pageCount
  }
}

/// The records of which a log still has need, oldest first.
struct LiveRecords {
  private var list: [LiveRecord] = []
  /// How many at the beginning of the list are none any more.
  private var goneCount = 0
  private(set) var byteCount = 0
  /// No page from this number on is in any of them, nor in any that was removed since they were
  /// none.
  private(set) var highestPageCount: UInt32 = 0

  init(_ records: [LiveRecord] = []) { append(records) }

  var first: LiveRecord? { goneCount < list.count ? list[goneCount] : nil }

  mutating func append(_ records: [LiveRecord]) {
    list += records
    for record in records {
      byteCount += record.byteCount
      highestPageCount = max(highestPageCount, record.pageCount)
    }
  }

  /// A checkpoint has made history of those.
  ///
  /// - Complexity: O(1) for each of them, over all calls.
  mutating func remove(through commit: CommitNumber) {
    while let record = first, record.commit <= commit {
      byteCount -= record.byteCount
      goneCount += 1
    }
    if goneCount == list.count {
      self = LiveRecords()
    } else if goneCount > list.count / 2 {
      list.removeFirst(goneCount)
      goneCount = 0
    }
  }
}

/// Where a log goes on after the last of its commits that a reader shows.
struct LogPosition {
  let file: any File
  let path: String
  let version: FormatVersion
  let epoch: UInt64
  /// See ``Swift/Array/visible(after:isSealed:)``.
  let isSealed: Bool?
  var offset: Int
  /// The checksum of the record before.
  var chain: UInt64
}

/// The pages that the records of a log change, as the last one leaves them.
struct LogReplay {
  let geometry: PageGeometry
  let path: String
  /// See ``LogFormat/Record/trailerByteCount(_:)``.
  let trailerByteCount: Int
  private(set) var pages: [PageID: PageFrame] = [:]
  /// Pages that the log changes and that cannot be had as they were.
  private(set) var lost: Set<PageID> = []

  init(_ geometry: PageGeometry, path: String, _ records: LogRecords) {
    self.geometry = geometry
    self.path = path
    trailerByteCount = records.trailerByteCount
  }

  /// Puts in what a checkpoint saved before it overwrote it.
  mutating func use(_ images: PageImages) {
    for (id, frame) in images.pages {
      pages[id] = frame
      lost.remove(id)
    }
  }

  /// - Parameters:
  ///   - images: before whose commit a page that is in them may look like anything.
  ///   - takesLater: whether a page may be of this record's commit or a later one, as a checkpoint
  ///     has written it: then it has what the record changes. Whether it is the one that the last
  ///     record leaves, its stamp tells.
  ///   - span: the span of the log in which whole pages have their image.
  ///   - frame: a page that is changed for the first time, in memory of its own, as it was before;
  ///     any memory if all of it is replaced; `nil` if it cannot be had.
  mutating func replay(
    _ record: LogRecord, in window: LogWindow, images: PageImages? = nil,
    takesLater: Bool = false, span: UInt64 = LogReader.recoveredSpan,
    frame: (PageDifference.Entry) throws(StorageError) -> PageFrame?
  ) throws(StorageError) {
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
          at: start + offset, room: end - offset, pageSize: geometry.pageSize),
        entry.id >= .firstMap, entry.id.rawValue < record.pageCount
      else { throw damage }
      offset += entry.byteCount
      if let images, record.commit <= images.commit, images.pages[entry.id] != nil { continue }
      if entry.isWhole { lost.remove(entry.id) }
      guard !lost.contains(entry.id) else { continue }
      let known = pages[entry.id]
      guard let frame = try known == nil ? frame(entry) : known else {
        lost.insert(entry.id)
        continue
      }
      let commit = Page(frame.base).commit
      // A page that the transaction itself had written to the file is changed from there.
      let isBase = !entry.isWhole && PageMap.stamp(of: commit) == entry.base
      if takesLater, !isBase, known != nil || !entry.isWhole, commit >= record.commit {
        pages[entry.id] = frame
        continue
      }
      guard entry.isWhole || isBase else {
        // The version on which the entry builds is not to be had.
        lost.insert(entry.id)
        pages[entry.id] = nil
        continue
      }
      pages[entry.id] = frame
      if entry.isWhole { PageWord(Page(frame.base)).imageSpan = span }
      entry.apply(to: frame.base, pageSize: geometry.pageSize)
    }
  }

  /// Leaves out pages from `end` on, which are never read, and such as a later record gave back:
  /// nothing misses these.
  mutating func cut(to end: UInt32) {
    pages = pages.filter { $0.key.rawValue < end }
    let known = pages
    lost = lost.filter { $0.rawValue < end && !isFreed($0, known) }
  }

  /// Whether a later record gave a page back, so that recovery has not written it. Its map is in
  /// the log, as every record has the maps of the pages that it changes.
  private func isFreed(_ id: PageID, _ pages: [PageID: PageFrame]) -> Bool {
    guard let (map, index) = geometry.stampLocation(of: id), let frame = pages[map] else {
      return false
    }
    return PageMap.entry(index, in: Page(frame.base)) == 0
  }

  /// The pages, which are not kept here any longer.
  mutating func takePages() -> [PageID: PageFrame] {
    defer { pages = [:] }
    return pages
  }
}
