/// Appends commits to the log.
///
/// The log's file is filled with zeros ahead, in doubling steps, and used again from the start
/// after each checkpoint: a commit overwrites bytes that exist, so that its sync need not write a
/// file's length or place, which makes it as fast as the disk can be. Records of earlier epochs may
/// follow the newest one; their epoch tells.
final class LogWriter {
  private let file: any File
  private let checksum: Checksum
  private let pageSize: Int
  private(set) var epoch: UInt64
  /// Where the next record goes.
  private var tail = LogFormat.recordsStart
  /// The bytes the file has.
  private var allocated: Int
  /// The checksum of the last record.
  private var previous: UInt64
  private var buffer = PageMemory(byteCount: 0)

  /// Creates the log and makes it durable, header and name.
  init(
    creating path: String, identity: StoreIdentity, pageSize: Int, epoch: UInt64,
    in fileSystem: any FileSystem, durability: Durability
  ) throws(StorageError) {
    checksum = Checksum(identity)
    self.pageSize = pageSize
    self.epoch = epoch
    previous = checksum.logChainStart(epoch: epoch)
    allocated = LogFormat.initialByteCount
    file = try fileSystem.open(path, .create)
    let start = PageMemory(byteCount: LogFormat.initialByteCount)
    start.base.initializeMemory(as: UInt8.self, repeating: 0, count: start.byteCount)
    LogWriter.encodeHeader(identity, pageSize: pageSize, checksum, in: start.base)
    try file.write(start, at: 0)
    if durability == .full {
      try file.sync(for: .logCreation)
      try fileSystem.syncFolder(of: path, for: .logFolder)
    }
  }

  private static func encodeHeader(
    _ identity: StoreIdentity, pageSize: Int, _ checksum: Checksum,
    in header: UnsafeMutableRawPointer
  ) {
    typealias Header = LogFormat.Header
    header.setU64(LogFormat.fileMagic, at: Header.magic)
    header.setU16(Int(FormatVersion.current.major), at: Header.major)
    header.setU16(Int(FormatVersion.current.minor), at: Header.minor)
    header.setU32(UInt32(pageSize), at: Header.pageSize)
    for (index, byte) in identity.bytes.enumerated() {
      header.storeBytes(of: byte, toByteOffset: Header.identity + index, as: UInt8.self)
    }
    let checked = UnsafeRawBufferPointer(start: header, count: Header.checksum)
    header.setU64(checksum.ofLog(checked, epoch: 0), at: Header.checksum)
  }

  /// The bytes of records since the last checkpoint.
  var usedByteCount: Int { tail - LogFormat.recordsStart }

  /// Writes a commit's record; it is not durable before ``sync()``.
  ///
  /// - Throws: any error of the file. The log then ends where it ended before, if ``retract()``
  ///   succeeds.
  func append(
    _ images: [(id: PageID, page: Page)], commit: CommitNumber, pageCount: UInt32,
    durableThrough: CommitNumber
  ) throws(StorageError) {
    typealias Record = LogFormat.Record
    let byteCount = Record.byteCount(imageCount: images.count, pageSize: pageSize)
    try grow(toHold: tail + byteCount)
    if buffer.byteCount < byteCount { buffer = PageMemory(byteCount: byteCount) }
    let record = buffer.base
    record.setU64(LogFormat.recordMagic, at: Record.magic)
    record.setU64(epoch, at: Record.epoch)
    record.setU64(commit.rawValue, at: Record.commit)
    record.setU64(previous, at: Record.previous)
    record.setU64(UInt64(byteCount), at: Record.byteCount)
    record.setU64(durableThrough.rawValue, at: Record.durableThrough)
    record.setU32(UInt32(images.count), at: Record.imageCount)
    record.setU32(pageCount, at: Record.pageCount)
    var offset = Record.headerByteCount
    for (id, page) in images {
      record.setU32(id.rawValue, at: offset)
      record.setU32(0, at: offset + 4)
      offset += Record.imagePrefixByteCount
      (record + offset).copyMemory(from: page.base, byteCount: pageSize)
      offset += pageSize
    }
    let sum = checksum.ofLog(UnsafeRawBufferPointer(start: record, count: offset), epoch: epoch)
    record.setU64(sum, at: offset)
    try file.write(buffer, byteCount: byteCount, at: tail)
    tail += byteCount
    previous = sum
    // A commit that was far larger than others should not keep its memory.
    if buffer.byteCount > 1 << 20 { buffer = PageMemory(byteCount: 0) }
  }

  /// Makes everything appended durable.
  func sync() throws(StorageError) {
    try file.sync(for: .commit)
  }

  /// After a failed ``append(_:commit:pageCount:durableThrough:)``: spoils what it may have
  /// written, so that it can never be taken for a commit.
  func retract() throws(StorageError) {
    guard tail < allocated else { return }
    let zeros = [UInt8](repeating: 0, count: LogFormat.Record.headerByteCount)
    try zeros.withRawBytes { zeros throws(StorageError) in try file.write(zeros, at: tail) }
  }

  /// Begins the next epoch at the start of the file: every record there is history.
  func restart(epoch: UInt64) {
    self.epoch = epoch
    tail = LogFormat.recordsStart
    previous = checksum.logChainStart(epoch: epoch)
  }

  private func grow(toHold needed: Int) throws(StorageError) {
    while allocated < needed {
      let step = min(allocated, LogFormat.largestStep)
      let zeros = PageMemory(byteCount: step)
      zeros.base.initializeMemory(as: UInt8.self, repeating: 0, count: step)
      try file.write(zeros, at: allocated)
      allocated += step
    }
  }
}
