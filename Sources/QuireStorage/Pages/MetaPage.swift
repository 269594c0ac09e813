/// Pages 1 and 2: where the last checkpoint left the store. Written in turn, so that one of them is
/// whole whatever happens; the one with the higher sequence counts (`docs/file-format.md`).
struct MetaPage: Equatable {
  /// One more than in the other meta page.
  var sequence: UInt64
  /// Records of the log count if they have this epoch.
  var epoch: UInt64
  /// The commit that the pages in the file show, apart from the log.
  var lastCommit: CommitNumber
  var pageCount: UInt32
  var freePageCount: UInt32
  /// The commit that wrote the first page map, as far as the file shows it: the root of all stamps
  /// (``PageMap``).
  var mapCommit: CommitNumber
  /// The offset at which the log continues after that commit, or its start.
  var logOffset: UInt64
  /// The checksum of the predecessor in the record there.
  var logChain: UInt64
  /// Whether the store was closed and has no log.
  var isClean: Bool

  static let sequenceOffset = 8
  static let epochOffset = 16
  static let commitOffset = 24
  static let pageCountOffset = 32
  static let flagsOffset = 36
  static let logOffsetOffset = 40
  static let logChainOffset = 48
  static let freePageCountOffset = 56
  static let mapCommitOffset = 64
  private static let cleanFlag: UInt32 = 1

  /// The page that a sequence number is written to.
  var id: PageID { sequence & 1 == 1 ? .metaA : .metaB }

  /// The page's bytes.
  func encoded(_ checksum: Checksum, pageSize: Int) -> PageMemory {
    let memory = PageMemory(byteCount: pageSize)
    memory.base.initializeMemory(as: UInt8.self, repeating: 0, count: pageSize)
    memory.base.setU64(sequence, at: MetaPage.sequenceOffset)
    memory.base.setU64(epoch, at: MetaPage.epochOffset)
    memory.base.setU64(lastCommit.rawValue, at: MetaPage.commitOffset)
    memory.base.setU32(pageCount, at: MetaPage.pageCountOffset)
    memory.base.setU32(freePageCount, at: MetaPage.freePageCountOffset)
    memory.base.setU64(mapCommit.rawValue, at: MetaPage.mapCommitOffset)
    memory.base.setU64(logOffset, at: MetaPage.logOffsetOffset)
    memory.base.setU64(logChain, at: MetaPage.logChainOffset)
    memory.base.setU32(isClean ? MetaPage.cleanFlag : 0, at: MetaPage.flagsOffset)
    let page = MutablePage(memory.base)
    page.checksum = checksum.ofPage(id, page.page, pageSize: pageSize)
    return memory
  }

  init(
    sequence: UInt64, epoch: UInt64, lastCommit: CommitNumber, pageCount: UInt32,
    freePageCount: UInt32, mapCommit: CommitNumber, logOffset: UInt64, logChain: UInt64,
    isClean: Bool
  ) {
    self.sequence = sequence
    self.epoch = epoch
    self.lastCommit = lastCommit
    self.pageCount = pageCount
    self.freePageCount = freePageCount
    self.mapCommit = mapCommit
    self.logOffset = logOffset
    self.logChain = logChain
    self.isClean = isClean
  }

  /// `nil` if the page at `id` is not whole.
  init?(_ page: Page, at id: PageID, _ checksum: Checksum, pageSize: Int) {
    guard page.checksum == checksum.ofPage(id, page, pageSize: pageSize) else { return nil }
    sequence = page.base.u64(at: MetaPage.sequenceOffset)
    epoch = page.base.u64(at: MetaPage.epochOffset)
    lastCommit = CommitNumber(rawValue: page.base.u64(at: MetaPage.commitOffset))
    pageCount = page.base.u32(at: MetaPage.pageCountOffset)
    freePageCount = page.base.u32(at: MetaPage.freePageCountOffset)
    mapCommit = CommitNumber(rawValue: page.base.u64(at: MetaPage.mapCommitOffset))
    logOffset = page.base.u64(at: MetaPage.logOffsetOffset)
    logChain = page.base.u64(at: MetaPage.logChainOffset)
    isClean = page.base.u32(at: MetaPage.flagsOffset) & MetaPage.cleanFlag != 0
    guard self.id == id,
      StoreLimits.allows(pageCount: pageCount, freePageCount: freePageCount),
      StoreLimits.allows(sequence, epoch, lastCommit.rawValue)
    else { return nil }
  }

  /// The meta page that counts, and the other if it is whole, too; `nil` when none is.
  static func both(
    in file: UnsafeRawBufferPointer, _ checksum: Checksum, pageSize: Int
  ) -> (newest: MetaPage, other: MetaPage?)? {
    func page(_ id: PageID) -> MetaPage? {
      let start = Int(id.rawValue) * pageSize
      guard start + pageSize <= file.count, let base = file.baseAddress else { return nil }
      return MetaPage(Page(base + start), at: id, checksum, pageSize: pageSize)
    }
    switch (page(.metaA), page(.metaB)) {
    case (let first?, let second?):
      return first.sequence >= second.sequence ? (first, second) : (second, first)
    case (let only?, nil), (nil, let only?): return (only, nil)
    case (nil, nil): return nil
    }
  }

  /// Why no meta page is whole, in a file of so many bytes.
  static func defectOfBoth(fileByteCount: Int, pageSize: Int) -> String {
    fileByteCount < Int(PageID.metaA.rawValue + 1) * pageSize
      ? "the file ends after \(fileByteCount) bytes"
      : "the checksums of both meta pages are wrong"
  }
}
