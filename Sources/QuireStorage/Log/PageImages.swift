/// The pages that a checkpoint is about to overwrite, whole, in a file of their own: written and
/// synced first, so that a page that is cut short while it is overwritten can be brought back.
///
/// Only pages that the log does not have whole. The file counts as long as its checkpoint is newer
/// than what the meta page shows, and only if all of it is there; if it is not, nothing was
/// overwritten yet. (What InnoDB calls its doublewrite buffer.)
struct PageImages {
  /// The version that the images are of.
  let commit: CommitNumber
  let pages: [PageID: PageFrame]

  /// `\x89 Q I m g CR LF \x1A`.
  private static let magic: UInt64 = 0x1A0A_0D67_6D49_5189
  private static let epochOffset = 8
  private static let commitOffset = 16
  private static let pageSizeOffset = 24
  private static let countOffset = 28
  private static let checksumOffset = 32
  /// For each page its number, 4 bytes, and its commit, 8 bytes: in a file that is used again, a
  /// page of last time may lie where one was not written.
  private static let listOffset = 40
  private static let listEntryByteCount = 12

  /// The offset of the pages, after their list.
  private static func pagesStart(count: Int, pageSize: Int) -> Int {
    (listOffset + listEntryByteCount * count + pageSize - 1) / pageSize * pageSize
  }

  private static func headChecksum(
    _ head: UnsafeMutableRawPointer, count: Int, _ checksum: Checksum, epoch: UInt64
  ) -> UInt64 {
    head.setU64(0, at: checksumOffset)
    return checksum.ofLog(
      UnsafeRawBufferPointer(start: head, count: listOffset + listEntryByteCount * count),
      epoch: epoch)
  }

  /// Writes the pages' images; they count when the file is synced.
  ///
  /// - Parameter proof: refuses what is not the page that belongs there.
  static func write(
    _ pages: [(id: PageID, page: Page)], of commit: CommitNumber, epoch: UInt64,
    _ checksum: Checksum, pageSize: Int, proof: CheckpointProof, to file: any File
  ) throws(StorageError) {
    let start = pagesStart(count: pages.count, pageSize: pageSize)
    let head = PageMemory(byteCount: start)
    head.base.initializeMemory(as: UInt8.self, repeating: 0, count: start)
    head.base.setU64(magic, at: 0)
    head.base.setU64(epoch, at: epochOffset)
    head.base.setU64(commit.rawValue, at: commitOffset)
    head.base.setU32(UInt32(pageSize), at: pageSizeOffset)
    head.base.setU32(UInt32(pages.count), at: countOffset)
    for (index, page) in pages.enumerated() {
      let entry = listOffset + listEntryByteCount * index
      head.base.setU32(page.id.rawValue, at: entry)
      head.base.setU64(page.page.commit.rawValue, at: entry + 4)
    }
    let sum = headChecksum(head.base, count: pages.count, checksum, epoch: epoch)
    head.base.setU64(sum, at: checksumOffset)
    try file.write(head, at: 0)
    var run = SealedRun(pageSize: pageSize, checksum, proof: proof)
    for (index, page) in pages.enumerated() {
      try run.add(page.page, at: page.id)
      if run.isFull || index == pages.count - 1 {
        try run.write(to: file, at: start + (index + 1 - run.count) * pageSize)
      }
    }
  }

  /// Reads a file of images.
  ///
  /// - Returns: `nil` if it is not whole, or belongs to another time or store.
  init?(
    _ file: any File, path: String, after meta: MetaPage, _ checksum: Checksum,
    geometry: PageGeometry
  ) throws(StorageError) {
    let pageSize = geometry.pageSize
    let byteCount = try file.byteCount()
    let first = PageMemory(byteCount: PageImages.listOffset)
    guard byteCount >= PageImages.listOffset else { return nil }
    try first.withBytes { bytes throws(StorageError) in
      try file.readFully(at: 0, into: bytes, path: path)
    }
    guard UnsafeRawPointer(first.base).u64(at: 0) == PageImages.magic,
      UnsafeRawPointer(first.base).u64(at: PageImages.epochOffset) == meta.epoch,
      Int(UnsafeRawPointer(first.base).u32(at: PageImages.pageSizeOffset)) == pageSize
    else { return nil }
    let count = Int(UnsafeRawPointer(first.base).u32(at: PageImages.countOffset))
    let sum = UnsafeRawPointer(first.base).u64(at: PageImages.checksumOffset)
    commit = CommitNumber(rawValue: UnsafeRawPointer(first.base).u64(at: PageImages.commitOffset))
    let start = PageImages.pagesStart(count: count, pageSize: pageSize)
    guard commit > meta.lastCommit, start + count * pageSize <= byteCount else { return nil }
    let head = PageMemory(byteCount: start)
    try head.withBytes { bytes throws(StorageError) in
      try file.readFully(at: 0, into: bytes, path: path)
    }
    guard
      PageImages.headChecksum(head.base, count: count, checksum, epoch: meta.epoch) == sum
    else { return nil }
    var pages: [PageID: PageFrame] = [:]
    for index in 0..<count {
      let entry = PageImages.listOffset + PageImages.listEntryByteCount * index
      let id = PageID(UnsafeRawPointer(head.base).u32(at: entry))
      let written = UnsafeRawPointer(head.base).u64(at: entry + 4)
      guard id >= .firstMap, id.rawValue < StoreLimits.pageCount else { return nil }
      let frame = PageFrame(pageSize: pageSize)
      let buffer = UnsafeMutableRawBufferPointer(start: frame.base, count: pageSize)
      try file.readFully(at: start + index * pageSize, into: buffer, path: path)
      guard Page(frame.base).commit.rawValue == written,
        Page(frame.base).checksum == checksum.ofPage(id, Page(frame.base), pageSize: pageSize)
      else { return nil }
      pages[id] = frame
    }
    self.pages = pages
  }
}
