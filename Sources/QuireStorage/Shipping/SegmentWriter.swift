/// Writes a segment, under a name of its own until it is whole.
struct SegmentWriter {
  let store: ShippedStore
  let generation: UInt32
  let sequence: UInt32
  private let new: NewFile
  private let fileSystem: any FileSystem
  private let path: String
  private let checksum: Checksum
  private var end = ShippingFormat.Header.byteCount
  private let previous: UInt64
  /// The checksum of the last frame.
  private(set) var last: UInt64
  private var commitCount = 0
  private var first: ShippedCommit?
  private(set) var newest: ShippedCommit?
  private var room = PageMemory(byteCount: 64 << 10)
  private var count = ShippingFormat.Frame.headerByteCount
  private var entryCount = 0

  /// The number of bytes of entries after which a commit goes on in another frame.
  static let frameByteLimit = 1 << 20

  var isEmpty: Bool { commitCount == 0 }
  var byteCount: Int { end }

  /// - Parameter previous: the checksum of the frame before.
  init(
    _ store: ShippedStore, to folder: ShippingFolder, generation: UInt32, sequence: UInt32,
    after previous: UInt64
  ) throws(StorageError) {
    self.store = store
    self.generation = generation
    self.sequence = sequence
    fileSystem = folder.fileSystem
    path = folder.path(of: SegmentName(generation: generation, sequences: sequence...sequence))
    new = try NewFile(for: path, in: folder.fileSystem)
    checksum = store.checksum
    self.previous = previous
    last = previous
    do throws(StorageError) {
      try Segment.writeHeader(
        store, generation: generation, firstSequence: sequence, previous: previous, to: new.file)
    } catch {
      new.discard()
      throw error
    }
  }

  // MARK: Entries

  /// What is written so far, to go back to.
  struct Mark {
    fileprivate let end: Int
    fileprivate let last: UInt64
  }

  /// Begins a commit.
  mutating func begin() -> Mark {
    (count, entryCount) = (ShippingFormat.Frame.headerByteCount, 0)
    return Mark(end: end, last: last)
  }

  /// Forgets the commit that was begun.
  mutating func goBack(to mark: Mark) {
    (end, last) = (mark.end, mark.last)
    (count, entryCount) = (ShippingFormat.Frame.headerByteCount, 0)
  }

  /// Adds entries as the log has them.
  mutating func add(_ bytes: UnsafeRawBufferPointer, entryCount: Int) {
    makeRoom(bytes.count)
    if let start = bytes.baseAddress {
      (room.base + count).copyMemory(from: start, byteCount: bytes.count)
    }
    count += bytes.count
    self.entryCount += entryCount
  }

  /// Adds all of a page.
  mutating func add(
    _ page: Page, at id: PageID, of commit: ShippedCommit
  ) throws(StorageError) {
    let limit = PageDifference.byteCountLimit(pageSize: store.pageSize)
    if count + limit > SegmentWriter.frameByteLimit {
      try writeFrame(of: commit, flags: ShippingFormat.Frame.goesOn)
    }
    makeRoom(limit)
    count += PageDifference.encode(
      page, from: nil, at: id, pageSize: store.pageSize, in: room.base + count)
    entryCount += 1
  }

  private mutating func makeRoom(_ byteCount: Int) {
    let needed =
      count + byteCount + LogFormat.Record.alignment
      + ShippingFormat.Frame.checksumByteCount
    guard needed > room.byteCount else { return }
    let larger = PageMemory(byteCount: max(needed, 2 * room.byteCount))
    larger.base.copyMemory(from: room.base, byteCount: count)
    room = larger
  }

  /// Ends the commit that was begun.
  mutating func finish(_ commit: ShippedCommit, isBase: Bool = false) throws(StorageError) {
    try writeFrame(of: commit, flags: isBase ? ShippingFormat.Frame.isBase : 0)
    commitCount += 1
    if first == nil { first = commit }
    newest = commit
  }

  private mutating func writeFrame(
    of commit: ShippedCommit, flags: UInt32
  ) throws(StorageError) {
    makeRoom(0)
    let padded = LogFormat.roundedUp(count)
    (room.base + count).initializeMemory(as: UInt8.self, repeating: 0, count: padded - count)
    let byteCount = padded + ShippingFormat.Frame.checksumByteCount
    ShippedFrame.write(
      commit, flags: flags, previous: last, byteCount: byteCount, entryCount: entryCount,
      in: room.base)
    let sum = checksum.ofLog(
      UnsafeRawBufferPointer(start: room.base, count: padded), epoch: UInt64(generation))
    room.base.setU64(sum, at: padded)
    try new.file.write(room, byteCount: byteCount, at: end)
    last = sum
    end += byteCount
    (count, entryCount) = (ShippingFormat.Frame.headerByteCount, 0)
  }

  // MARK: The end

  /// Gives the segment its name, for good.
  ///
  /// - Throws: ``StorageError/alreadyExists(path:)`` if there is one of that number: another
  ///   process ships to the folder.
  func publish() throws(StorageError) -> Segment {
    guard let first, let newest else {
      preconditionFailure("a segment without commits is not published")
    }
    let segment = Segment(
      name: SegmentName(generation: generation, sequences: sequence...sequence), path: path,
      store: store, previous: previous, last: last, commitCount: commitCount,
      commitBefore: first.commitBefore, lastCommit: newest.commit, firstTime: first.time,
      lastTime: newest.time, byteCount: end + ShippingFormat.Trailer.byteCount)
    do throws(StorageError) {
      try segment.writeTrailer(to: new.file)
      // What a mark was gone back to may have been longer.
      if try new.file.byteCount() > segment.byteCount {
        try new.file.truncate(to: segment.byteCount)
      }
      try new.file.makeDurable(for: .backup)
      try new.publish()
    } catch {
      new.discard()
      throw error
    }
    new.file.unlock()
    try fileSystem.confirmName(path, for: .backupFolder)
    return segment
  }

  func discard() { new.discard() }
}
