import Synchronization

/// Appends commits to the log.
///
/// The log is a ring: records follow each other, and when the end of the file is near and the
/// start is history, the next one goes to the start. What lies between the last completed
/// checkpoint and the newest record is live and never overwritten. When nothing is live, the log
/// begins again at its start.
///
/// The file is filled with zeros ahead, in doubling steps, and used again and again: a commit
/// overwrites bytes that exist, so that its sync need not write a file's length or location, which
/// makes it as fast as the disk can be.
///
/// A page is logged as its difference to what it was. That is enough as long as the page in the
/// file is whole; but a checkpoint that overwrites it may be cut short. So for every page that a
/// checkpoint overwrites there is a whole image somewhere: in the log, where it is put at the
/// page's first change in a *span* (from the beginning of one checkpoint to the beginning of the
/// next) while there are few, or else in a file of its own that the checkpoint writes first
/// (``PageImages``).
final class LogWriter {
  /// The offset of a record, and the checksum of its predecessor.
  struct Position: Equatable {
    var offset: Int
    var chain: UInt64
    /// The span that ended there.
    var span: UInt64 = 0

    /// Without a log, or after its removal.
    static let none = Position(
      offset: LogFormat.recordsStart, chain: 0, span: LogReader.recoveredSpan)
  }

  let file: any File
  let epoch: UInt64
  private let checksum: Checksum
  private let pageSize: Int
  private let fillsAhead: Bool
  /// Whether each commit is synced, and its record sealed then.
  var seals: Bool { fillsAhead }
  /// The records that were written and are not sealed: the commit, where its seal goes, and what it
  /// is.
  private let unsealed = Mutex<[(commit: CommitNumber, offset: Int, seal: UInt64)]>([])
  /// Whether the log is on disk before a meta page demands it.
  private let isSynced: Bool
  /// The offset of the first live record.
  private var head = LogFormat.recordsStart
  /// The offset of the next record, and the checksum of the last one.
  private(set) var tail: Position
  /// The bytes of live records.
  private(set) var liveByteCount = 0
  /// The bytes the file has.
  private(set) var allocated: Int { didSet { written.store(allocated, ordering: .releasing) } }
  // Counters for syncs, possibly by another thread: the bytes written, and those made durable.
  private let written = Atomic(0)
  private let durableByteCount = Atomic(0)
  /// Whether the file was found to have no name, so that no recovery would find it.
  let isNameless = Atomic(false)
  /// See ``LogWriter``. Never 0: no frame has been logged in span 0.
  private(set) var span: UInt64 = 1
  /// The bytes of images in this span that could have been differences, and their limit.
  private var imageByteCount = 0
  private let imageByteLimit: Int
  private var buffer = PageMemory(byteCount: 0)
  /// What other processes are told, with which this one writes in turn.
  private(set) var turn: LogTurn?
  /// What the log says that this process is doing; a checkpoint runs beside the writer.
  private let busy: Mutex<Set<LogTurn.Work>>
  /// The records that were written in this turn.
  private(set) var recordsOfTurn: [LiveRecord] = []

  /// Creates the log's file without content: see ``begin(with:identity:)``.
  ///
  /// - Parameter turn: for a store that processes write in turn.
  init(
    creating path: String, identity: StoreIdentity, pageSize: Int, epoch: UInt64,
    in fileSystem: any FileSystem, durability: Durability, imageByteLimit: Int, turn: LogTurn?
  ) throws(StorageError) {
    self.turn = turn
    busy = Mutex([])
    self.imageByteLimit = imageByteLimit
    checksum = Checksum(identity)
    self.pageSize = pageSize
    self.epoch = epoch
    // Without a sync for each commit there is nothing to gain.
    fillsAhead = durability == .full
    isSynced = durability != .none
    tail = Position(
      offset: LogFormat.recordsStart, chain: checksum.logChainStart(epoch: epoch))
    allocated = LogFormat.initialByteCount
    file = try fileSystem.open(path, .create)
  }

  /// Goes on with a log to which another process has written in its turn, and which is at rest.
  ///
  /// - Parameters:
  ///   - file: the log's, opened for writing.
  ///   - records: those that are live.
  ///   - span: the one in which the pages have their images that the records of others have whole.
  init(
    _ position: LogPosition, _ file: any File, after records: LiveRecords, _ checksum: Checksum,
    span: UInt64, pageSize: Int, imageByteLimit: Int, turn: LogTurn
  ) throws(StorageError) {
    busy = Mutex([])
    self.span = span
    self.imageByteLimit = imageByteLimit
    self.checksum = checksum
    self.pageSize = pageSize
    self.file = file
    self.turn = turn
    epoch = position.epoch
    fillsAhead = position.isSealed == true
    isSynced = true
    head = records.first?.offset ?? LogFormat.recordsStart
    tail = Position(offset: position.offset, chain: position.chain)
    liveByteCount = records.byteCount
    allocated = max(try file.byteCount(), LogFormat.initialByteCount)
    highestBeforeSpan = records.highestPageCount
  }

  /// Says whether what is being done must be recovered if this process dies in the middle of it.
  func note(_ work: LogTurn.Work, isBusy: Bool) throws(StorageError) {
    guard turn != nil, busy.withLock({ $0.contains(work) }) != isBusy else { return }
    try LogTurn.note(work, isBusy, in: file)
    busy.withLock { busy in
      if isBusy { busy.insert(work) } else { busy.remove(work) }
    }
  }

  /// Says whose turn it is.
  func noteTurn(of owner: LockOwner) throws(StorageError) {
    guard var turn, turn.owner != owner else { return }
    turn.owner = owner
    try turn.write(to: file, checksum)
    self.turn = turn
  }

  /// The records that were written since this was last asked.
  func takeRecordsOfTurn() -> [LiveRecord] {
    defer { recordsOfTurn = [] }
    return recordsOfTurn
  }

  /// Writes the header and the first record: at once, unless the record is a large one.
  func begin(with record: Record, identity: StoreIdentity) throws(StorageError) {
    while fillsAhead, allocated < tail.offset + record.byteCount, allocated < 1 << 20 {
      allocated *= 2
    }
    let start = PageMemory(byteCount: allocated)
    start.base.initializeMemory(as: UInt8.self, repeating: 0, count: start.byteCount)
    LogWriter.encodeHeader(
      identity, pageSize: pageSize, epoch, checksum,
      fileByteCount: isSynced ? start.byteCount : 0, isSealed: seals, in: start.base)
    turn?.encode(in: start.base + LogFormat.Header.turn, checksum)
    written.store(allocated, ordering: .releasing)
    guard tail.offset + record.byteCount <= allocated else {
      try file.write(start, at: 0)
      return try append(record)
    }
    (start.base + tail.offset).copyMemory(from: buffer.base, byteCount: record.byteCount)
    try file.write(start, at: 0)
    noteAppended(record, at: tail.offset)
  }

  /// After a failed ``begin(with:identity:)``: the record must not come back.
  func takeBack(durability: Durability) throws(StorageError) {
    // An intact log begins with a header; a shorter file has nothing to lose.
    guard try file.byteCount() > LogFormat.recordsStart else { return }
    try file.truncate(to: 0)
    if durability != .none { try file.makeDurable(for: .commit) }
  }

  private static func encodeHeader(
    _ identity: StoreIdentity, pageSize: Int, _ epoch: UInt64, _ checksum: Checksum,
    fileByteCount: Int, isSealed: Bool, in header: UnsafeMutableRawPointer
  ) {
    typealias Header = LogFormat.Header
    header.setU64(LogFormat.fileMagic, at: Header.magic)
    header.setU16(Int(LogFormat.version.major), at: Header.major)
    header.setU16(Int(LogFormat.version.minor), at: Header.minor)
    header.setU32(UInt32(pageSize), at: Header.pageSize)
    for (index, byte) in identity.bytes.enumerated() {
      header.storeBytes(of: byte, toByteOffset: Header.identity + index, as: UInt8.self)
    }
    header.setU64(epoch, at: Header.epoch)
    let checked = UnsafeRawBufferPointer(start: header, count: Header.checksum)
    header.setU64(checksum.ofLog(checked, epoch: 0), at: Header.checksum)
    header.setU64(UInt64(fileByteCount), at: Header.fileByteCount)
    header.setU64(isSealed ? Header.isSealed : 0, at: Header.flags)
    let wholeChecksum = Header.wholeChecksum(LogFormat.version)
    let whole = UnsafeRawBufferPointer(start: header, count: wholeChecksum)
    header.setU64(checksum.ofLog(whole, epoch: 0), at: wholeChecksum)
  }

  // MARK: Appending

  /// A record ready to be written; it lies in the writer's own buffer.
  struct Record {
    let commit: CommitNumber
    fileprivate let pageCount: UInt32
    fileprivate var byteCount: Int
    fileprivate var checksum: UInt64
  }

  /// Puts a commit's record together.
  ///
  /// - Parameters:
  ///   - touched: the pages the transaction set, in the order of the file, each once; those it gave
  ///     back are passed over.
  ///   - cleanBases: the pages of the file among them as they were, in the order of the file.
  func encode(
    _ space: PageSpace, touched: [PageID], cleanBases: [PageEditor.CleanBase],
    durableThrough: CommitNumber
  ) -> Record {
    typealias Format = LogFormat.Record
    var offset = Format.headerByteCount
    var entryCount = 0
    let limit = PageDifference.byteCountLimit(pageSize: pageSize)
    // Untouched memory costs only address space; memory that grows would be touched again each
    // time.
    makeRoom(min(touched.count * pageSize, LogWriter.roomLimit) + limit, keeping: 0)
    var nextBase = 0
    let parent = space.parent
    defer { withExtendedLifetime(parent) {} }
    // Taken once: on the way to it are two objects, which each page would count.
    let before = parent?.space.overlay
    for id in touched {
      let word = space.overlay[id]
      guard word.isPage else { continue }
      makeRoom(offset + limit + Format.endByteCount, keeping: offset)
      let old = before?[id] ?? .absent
      while nextBase < cleanBases.count, cleanBases[nextBase].id < id { nextBase += 1 }
      var base = old.isPage ? old.page : nil
      if base == nil, nextBase < cleanBases.count, cleanBases[nextBase].id == id {
        base = cleanBases[nextBase].page
      }
      let hasImage = old.isPage && old.imageSpan == span
      let isWhole = base == nil || !hasImage && imageByteCount < imageByteLimit
      let byteCount = PageDifference.encode(
        word.page, from: isWhole ? nil : base, at: id, pageSize: pageSize,
        in: buffer.base + offset)
      word.imageSpan = isWhole || hasImage ? span : 0
      if isWhole, base != nil { imageByteCount += byteCount }
      offset += byteCount
      if byteCount > 0 { entryCount += 1 }
    }
    makeRoom(offset + Format.endByteCount, keeping: offset)
    let record = buffer.base
    let end = LogFormat.roundedUp(offset) + LogFormat.Voucher.byteCount
    for padding in offset..<(end - LogFormat.Voucher.byteCount) {
      record.storeBytes(of: 0, toByteOffset: padding, as: UInt8.self)
    }
    putVoucher(record + (end - LogFormat.Voucher.byteCount), durableThrough)
    let byteCount = end + Format.trailerByteCount
    // Too many when the record is not written after all: harmless.
    highestInSpan = max(highestInSpan, space.pageCount)
    record.setU64(LogFormat.recordMagic, at: Format.magic)
    record.setU64(epoch, at: Format.epoch)
    record.setU64(space.commit.rawValue, at: Format.commit)
    record.setU64(tail.chain, at: Format.previous)
    record.setU64(UInt64(byteCount), at: Format.byteCount)
    record.setU64(durableThrough.rawValue, at: Format.durableThrough)
    record.setU32(UInt32(entryCount), at: Format.pageEntryCount)
    record.setU32(space.pageCount, at: Format.pageCount)
    record.setU32(UInt32(space.freePageCount), at: Format.freePageCount)
    record.setU32(
      checksum.ofRecordHeader(UnsafeRawPointer(record), epoch: epoch), at: Format.headerCheck)
    let sum = checksum.ofLog(UnsafeRawBufferPointer(start: record, count: end), epoch: epoch)
    record.setU64(sum, at: end)
    record.setU64(0, at: end + Format.checksumByteCount)
    return Record(
      commit: space.commit, pageCount: space.pageCount, byteCount: byteCount, checksum: sum)
  }

  private func putVoucher(_ voucher: UnsafeMutableRawPointer, _ durableThrough: CommitNumber) {
    typealias Voucher = LogFormat.Voucher
    voucher.setU64(LogFormat.voucherMagic, at: Voucher.magic)
    voucher.setU64(durableThrough.rawValue, at: Voucher.durableThrough)
    let durable = fillsAhead ? durableByteCount.load(ordering: .relaxed) : 0
    voucher.setU64(UInt64(durable), at: Voucher.fileByteCount)
    voucher.setU64(
      checksum.ofVoucher(UnsafeRawPointer(voucher), epoch: epoch), at: Voucher.check)
  }

  /// The largest room that is made before it is known to be needed.
  private static let roomLimit = 64 << 20

  private func makeRoom(_ byteCount: Int, keeping used: Int) {
    guard buffer.byteCount < byteCount else { return }
    let larger = PageMemory(byteCount: max(byteCount, 2 * buffer.byteCount, 16 * pageSize))
    // A new buffer has no content, although the offset after a header is requested.
    larger.base.copyMemory(from: buffer.base, byteCount: min(used, buffer.byteCount))
    buffer = larger
  }

  /// Whether the record must wait for a checkpoint, since the log would grow beyond its limit.
  func needsCheckpoint(for record: Record, limit: Int) -> Bool {
    guard liveByteCount > 0, recordOffset(for: record.byteCount) == nil else { return false }
    return isWrapped || allocated >= LogFormat.recordsStart + limit
  }

  /// Writes the record; it is not durable before ``sync()``.
  ///
  /// - Throws: any error of the file. The log then ends where it ended before, if ``retract()``
  ///   succeeds.
  func append(_ record: Record) throws(StorageError) {
    if liveByteCount == 0 {
      head = LogFormat.recordsStart
      tail.offset = LogFormat.recordsStart
    }
    attempted = nil
    if recordOffset(for: record.byteCount) == nil {
      // Not wrapped: a wrapped log without room had to wait for a checkpoint.
      try grow(toHold: tail.offset + record.byteCount)
    } else if fillsAhead, !isWrapped, allocated < 16 << 20,
      recordOffset(for: 3 * record.byteCount) == nil
    {
      try growAhead(toHold: tail.offset + 3 * record.byteCount)
    }
    guard let offset = recordOffset(for: record.byteCount) else { return }
    attempted = offset
    try file.write(buffer, byteCount: record.byteCount, at: offset)
    attempted = nil
    noteAppended(record, at: offset)
  }

  private func noteAppended(_ record: Record, at offset: Int) {
    tail = Position(offset: offset + record.byteCount, chain: record.checksum)
    if seals {
      let seal = tail.offset - LogFormat.Record.sealByteCount
      unsealed.withLock { $0.append((record.commit, seal, record.checksum)) }
    }
    liveByteCount += record.byteCount
    if turn != nil {
      recordsOfTurn.append(
        LiveRecord(
          commit: record.commit, offset: offset, byteCount: record.byteCount,
          pageCount: record.pageCount))
    }
    // A commit that was far larger than others should not keep its memory.
    if record.byteCount > 8 << 20 { buffer = PageMemory(byteCount: 0) }
  }

  private var isWrapped: Bool { liveByteCount > 0 && tail.offset <= head }
  /// The offset where writing a record has failed.
  private var attempted: Int?

  /// The offset of a record with that length; `nil` if the file has no room as it is.
  private func recordOffset(for byteCount: Int) -> Int? {
    if isWrapped { return tail.offset + byteCount < head ? tail.offset : nil }
    if tail.offset + byteCount <= allocated { return tail.offset }
    return LogFormat.recordsStart + byteCount < head ? LogFormat.recordsStart : nil
  }

  /// After a failed ``append(_:)``: spoils what it may have written, so that it can never be taken
  /// for a commit.
  func retract() throws(StorageError) {
    guard let attempted else { return }
    let zeros = [UInt8](repeating: 0, count: LogFormat.Record.headerByteCount)
    try zeros.withRawBytes { zeros throws(StorageError) in try file.write(zeros, at: attempted) }
  }

  /// Two records before it has to be: the one that comes last before the old end of the file then
  /// vouches for the new one, and the log cannot be cut short there unnoticed.
  private func growAhead(toHold needed: Int) throws(StorageError) {
    do throws(StorageError) { try grow(toHold: needed) } catch .noSpaceLeft {}
  }

  private func grow(toHold needed: Int) throws(StorageError) {
    while allocated < needed {
      let step = min(allocated, 8 << 20)
      if fillsAhead {
        let zeros = PageMemory(byteCount: step)
        zeros.base.initializeMemory(as: UInt8.self, repeating: 0, count: step)
        try file.write(zeros, at: allocated)
      }
      allocated += step
    }
  }

  /// Makes all appended records durable.
  func sync(for reason: SyncReason) throws(StorageError) {
    let byteCount = written.load(ordering: .acquiring)
    try file.makeDurable(for: reason)
    durableByteCount.max(byteCount, ordering: .relaxed)
  }

  /// Seals the record of a commit, as all up to it are on disk: readers in other processes may go
  /// so far. Called by one thread at a time, beside the writer.
  func seal(through commit: CommitNumber) {
    guard seals else { return }
    let last = unsealed.withLock { records in
      let last = records.last { $0.commit <= commit }
      records.removeAll { $0.commit <= commit }
      return last
    }
    guard let last else { return }
    // Without it they see less; the next one says it, too.
    do throws(StorageError) {
      try withUnsafeBytes(of: last.seal.littleEndian) { seal throws(StorageError) in
        try file.write(seal, at: last.offset)
      }
    } catch {}
  }

  // MARK: Checkpoints

  /// A checkpoint of everything logged so far begins: from here on images are wanted again.
  func beginSpan() -> Position {
    let end = Position(offset: tail.offset, chain: tail.chain, span: span)
    span += 1
    imageByteCount = 0
    bytesBeforeSpan = liveByteCount
    highestBeforeSpan = highestPageCount
    highestInSpan = 0
    return end
  }

  private var bytesBeforeSpan = 0
  private var highestBeforeSpan: UInt32 = 0
  private var highestInSpan: UInt32 = 0

  /// No page from this number on is in a live record.
  var highestPageCount: UInt32 { max(highestBeforeSpan, highestInSpan) }

  /// That checkpoint is complete: what came before it is history.
  func release(before position: Position) {
    head = position.offset
    liveByteCount -= bytesBeforeSpan
    bytesBeforeSpan = 0
    highestBeforeSpan = 0
  }
}
