/// Reads what a log holds beyond the last checkpoint, and tells a torn end from damage.
///
/// A record counts while its epoch, number, place in the chain and checksum all hold. What follows
/// the first that does not is the remains of a commit that was never acknowledged, with one
/// exception: if a later whole record of the same epoch says that the missing commit was durable,
/// the log is damaged. Damage to the very last commit cannot be told from a torn end.
struct LogReader {
  /// The pages of the commits, newest version of each; they point into `memory`.
  private(set) var images: [PageID: Page] = [:]
  /// The last commit, and the store's page count after it; as at the checkpoint when there is none.
  private(set) var lastCommit: CommitNumber
  private(set) var pageCount: UInt32
  /// Where the last whole record ends.
  private(set) var end = LogFormat.recordsStart
  let memory: PageMemory

  private let checksum: Checksum
  private let pageSize: Int
  private let epoch: UInt64
  private let path: String

  /// - Throws: ``StorageError/logForeign(path:)`` if the header is not this store's,
  ///   ``StorageError/logDamaged(path:firstLost:lastLost:)``, or an error of the file.
  init(
    _ file: any File, path: String, identity: StoreIdentity, meta: MetaPage, pageSize: Int
  ) throws(StorageError) {
    checksum = Checksum(identity)
    self.pageSize = pageSize
    self.path = path
    epoch = meta.epoch
    lastCommit = meta.lastCommit
    pageCount = meta.pageCount
    memory = PageMemory(byteCount: try file.byteCount())
    let read = try file.readAll(into: memory)
    guard read == memory.byteCount, isHeaderOurs(identity) else { throw .logForeign(path: path) }
    try readRecords()
  }

  private func isHeaderOurs(_ identity: StoreIdentity) -> Bool {
    typealias Header = LogFormat.Header
    guard memory.byteCount >= LogFormat.recordsStart else { return false }
    let header = UnsafeRawPointer(memory.base)
    let checked = UnsafeRawBufferPointer(start: header, count: Header.checksum)
    // The checksum is seeded with the identity, so the identity itself need not be compared.
    return header.u64(at: Header.magic) == LogFormat.fileMagic
      && header.u64(at: Header.checksum) == checksum.ofLog(checked, epoch: 0)
      && Int(header.u32(at: Header.pageSize)) == pageSize
  }

  private mutating func readRecords() throws(StorageError) {
    var previous = checksum.logChainStart(epoch: epoch)
    while let record = record(at: end), record.epoch == epoch, record.previous == previous,
      record.commit == lastCommit.next
    {
      replay(record)
      previous = record.checksum
    }
    try lookBeyondEnd()
  }

  private mutating func replay(_ record: Record) {
    typealias Format = LogFormat.Record
    var offset = end + Format.headerByteCount
    for _ in 0..<record.imageCount {
      let id = PageID(UnsafeRawPointer(memory.base).u32(at: offset))
      offset += Format.imagePrefixByteCount
      images[id] = Page(UnsafeRawPointer(memory.base + offset))
      offset += pageSize
    }
    lastCommit = record.commit
    pageCount = record.pageCount
    end += record.byteCount
  }

  /// Looks for whole records after the first bad one. Records begin at multiples of eight.
  private func lookBeyondEnd() throws(StorageError) {
    var durable = lastCommit
    var offset = end
    while offset + LogFormat.Record.headerByteCount <= memory.byteCount {
      guard let record = record(at: offset) else {
        offset += 8
        continue
      }
      if record.epoch == epoch { durable = max(durable, record.durableThrough) }
      // Written after a checkpoint that the meta pages know nothing of.
      if record.epoch > epoch {
        throw .damaged(
          page: .metaA,
          reason: "the log continues checkpoint epoch \(record.epoch); the newest readable meta "
            + "page has epoch \(epoch)")
      }
      offset += record.byteCount
    }
    if durable > lastCommit {
      throw .logDamaged(path: path, firstLost: lastCommit.next, lastLost: durable)
    }
  }

  private struct Record {
    var epoch: UInt64
    var commit: CommitNumber
    var previous: UInt64
    var durableThrough: CommitNumber
    var byteCount: Int
    var imageCount: Int
    var pageCount: UInt32
    var checksum: UInt64
  }

  /// A record that is whole in itself, or `nil`.
  private func record(at offset: Int) -> Record? {
    typealias Format = LogFormat.Record
    let room = memory.byteCount - offset
    guard room >= Format.headerByteCount + Format.trailerByteCount else { return nil }
    let start = UnsafeRawPointer(memory.base + offset)
    guard start.u64(at: Format.magic) == LogFormat.recordMagic else { return nil }
    let imageCount = Int(start.u32(at: Format.imageCount))
    let byteCount = Format.byteCount(imageCount: imageCount, pageSize: pageSize)
    guard byteCount <= room, start.u64(at: Format.byteCount) == UInt64(byteCount) else {
      return nil
    }
    let epoch = start.u64(at: Format.epoch)
    let checked = byteCount - Format.trailerByteCount
    let sum = checksum.ofLog(UnsafeRawBufferPointer(start: start, count: checked), epoch: epoch)
    guard start.u64(at: checked) == sum else { return nil }
    return Record(
      epoch: epoch, commit: CommitNumber(rawValue: start.u64(at: Format.commit)),
      previous: start.u64(at: Format.previous),
      durableThrough: CommitNumber(rawValue: start.u64(at: Format.durableThrough)),
      byteCount: byteCount, imageCount: imageCount, pageCount: start.u32(at: Format.pageCount),
      checksum: sum)
  }
}
