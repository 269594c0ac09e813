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
  /// Since format 2: the identity page again.
  static let identityCopyOffset = 128
  private static let cleanFlag: UInt32 = 1

  /// The page that a sequence number is written to.
  var id: PageID { sequence & 1 == 1 ? .metaA : .metaB }

  /// The page's bytes.
  ///
  /// - Parameter identity: of which they have a copy, but for format 1.
  func encoded(_ checksum: Checksum, _ identity: IdentityPage) -> PageMemory {
    let pageSize = identity.pageSize
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
    if identity.isCurrent { identity.encode(in: memory.base + MetaPage.identityCopyOffset) }
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

  /// The identity that the meta pages repeat, for a file whose first page is damaged: its checksum
  /// is that of the copy, and that of the meta page is seeded with the identity it has.
  ///
  /// - Returns: the copy in the meta page with the highest sequence number; `nil` if none has one.
  /// - Throws: an error of the file; as ``IdentityPage/init(from:path:isReadOnly:)`` if this
  ///   release cannot open such a store.
  static func identityCopy(
    in file: any File, path: String, isReadOnly: Bool
  ) throws(StorageError) -> IdentityPage? {
    var newest: (sequence: UInt64, identity: IdentityPage)?
    for power in 9...15 {
      let pageSize = 1 << power
      let memory = PageMemory(byteCount: pageSize)
      defer { withExtendedLifetime(memory) {} }
      for id in [PageID.metaA, .metaB] {
        let count = try memory.withBytes { bytes throws(StorageError) in
          try file.read(at: Int(id.rawValue) * pageSize, into: bytes)
        }
        guard count == pageSize else { continue }
        let copy = UnsafeRawBufferPointer(
          start: memory.base + identityCopyOffset, count: IdentityPage.largestByteCount)
        let identity: IdentityPage
        do throws(StorageError) {
          identity = try IdentityPage(from: copy, path: path, isReadOnly: isReadOnly)
        } catch .notAStore {
          continue
        } catch .damaged {
          continue
        }
        guard identity.pageSize == pageSize,
          let meta = MetaPage(
            Page(memory.base), at: id, Checksum(identity.identity), pageSize: pageSize)
        else { continue }
        if newest.map({ $0.sequence < meta.sequence }) ?? true {
          newest = (meta.sequence, identity)
        }
      }
    }
    return newest?.identity
  }

  /// Why no meta page is whole, in a file of so many bytes.
  static func defectOfBoth(fileByteCount: Int, pageSize: Int) -> String {
    fileByteCount < Int(PageID.metaA.rawValue + 1) * pageSize
      ? "the file ends after \(fileByteCount) bytes"
      : "the checksums of both meta pages are wrong"
  }
}
