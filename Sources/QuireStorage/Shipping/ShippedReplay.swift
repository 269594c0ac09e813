/// Puts a store together: from a base, and the commits that followed.
final class ShippedReplay {
  private let file: any File
  private let path: String
  private let identity: IdentityPage
  private var geometry: PageGeometry { identity.geometry }
  private let checksum: Checksum
  /// What the file shows, with the pages in memory.
  private(set) var commit: ShippedCommit
  /// Pages that were changed and are not in the file yet.
  private var pages: [PageID: PageMemory] = [:]

  /// The most bytes of pages in memory.
  private static let byteLimit = 32 << 20

  /// - Parameters:
  ///   - file: a copy of the base.
  ///   - base: what it shows.
  ///   - path: what it is called in errors: the base's path.
  init(_ file: any File, _ base: ShippedCommit, path: String) throws(StorageError) {
    self.file = file
    self.path = path
    identity = try IdentityPage.read(from: file, path: path)
    checksum = Checksum(identity.identity)
    commit = base
    let byteCount = try file.byteCount()
    guard byteCount >= Int(base.pageCount) * identity.pageSize else {
      throw .shipmentDamaged(path: path, reason: "it was cut short: it has \(byteCount) bytes")
    }
    let map = PageMemory(byteCount: identity.pageSize)
    _ = try map.withBytes { bytes throws(StorageError) in
      try file.read(at: Int(PageID.firstMap.rawValue) * bytes.count, into: bytes)
    }
    guard
      checksum.ofPage(.firstMap, Page(map.base), pageSize: geometry.pageSize) == base.mapChecksum
    else {
      throw .shipmentDamaged(
        path: path, reason: "it is not the base that the segments after it go on from")
    }
    withExtendedLifetime(map) {}
  }

  /// Applies a frame of a segment.
  func apply(
    _ frame: ShippedFrame, _ entries: UnsafeRawBufferPointer, of segment: Segment
  ) throws(StorageError) {
    func damage(_ reason: String) -> StorageError {
      .shipmentDamaged(path: segment.path, reason: "commit \(frame.commit.commit): \(reason)")
    }
    guard frame.commit.commitBefore == commit.commit, frame.commit.commit > commit.commit else {
      throw damage("it does not follow commit \(commit.commit)")
    }
    try entries.forEachEntry(frame.entryCount, pageSize: geometry.pageSize) {
      entry throws(StorageError) in
      guard entry.id >= .firstMap, entry.id.rawValue < frame.commit.pageCount else {
        throw damage("there is no page \(entry.id)")
      }
      let memory = try page(entry)
      guard entry.isWhole || PageMap.stamp(of: Page(memory.base).commit) == entry.base else {
        throw damage("page \(entry.id) is not the one that it changes")
      }
      entry.apply(to: memory.base, pageSize: geometry.pageSize)
    } orThrow: {
      damage("what it changes cannot be read")
    }
    if !frame.goesOn { commit = frame.commit }
    if pages.count * geometry.pageSize > ShippedReplay.byteLimit { try flush() }
  }

  private func page(_ entry: PageDifference.Entry) throws(StorageError) -> PageMemory {
    if let page = pages[entry.id] { return page }
    let memory = PageMemory(byteCount: geometry.pageSize)
    pages[entry.id] = memory
    if entry.isWhole { return memory }
    let count = try memory.withBytes { bytes throws(StorageError) in
      try file.read(at: Int(entry.id.rawValue) * bytes.count, into: bytes)
    }
    // It gets another checksum, so that nobody could tell later.
    guard count == memory.byteCount,
      Page(memory.base).checksum
        == checksum.ofPage(entry.id, Page(memory.base), pageSize: memory.byteCount)
    else {
      throw .shipmentDamaged(path: path, reason: "page \(entry.id) is damaged")
    }
    return memory
  }

  /// Writes the pages in memory to the file.
  private func flush() throws(StorageError) {
    for (id, memory) in pages.sorted(by: { $0.key < $1.key }) {
      let page = MutablePage(memory.base)
      page.checksum = checksum.ofPage(id, page.page, pageSize: geometry.pageSize)
      try file.write(memory, at: Int(id.rawValue) * geometry.pageSize)
    }
    pages = [:]
  }

  /// Makes it a closed store.
  func finish() throws(StorageError) {
    try flush()
    let pageSize = geometry.pageSize
    let map = PageMemory(byteCount: pageSize)
    try map.withBytes { bytes throws(StorageError) in
      try file.readFully(
        at: Int(PageID.firstMap.rawValue) * pageSize, into: bytes, path: path)
    }
    // What lies around it in the base nobody has verified.
    try file.write(identity.encoded(byteCount: pageSize), at: 0)
    for sequence in 0..<UInt64(2) {
      let meta = MetaPage(
        sequence: sequence, epoch: 0, lastCommit: commit.commit, pageCount: commit.pageCount,
        freePageCount: commit.freePageCount, mapCommit: Page(map.base).commit,
        logOffset: UInt64(LogFormat.recordsStart), logChain: 0, isClean: true)
      try file.write(
        meta.encoded(checksum, identity), at: Int(meta.id.rawValue) * pageSize)
    }
    let byteCount = Int(commit.pageCount) * pageSize
    if try file.byteCount() != byteCount { try file.truncate(to: byteCount) }
    guard checksum.ofPage(.firstMap, Page(map.base), pageSize: pageSize) == commit.mapChecksum
    else {
      throw .shipmentDamaged(
        path: path, reason: "with the segments after it, it is not commit \(commit.commit)")
    }
    withExtendedLifetime(map) {}
  }
}

extension UnsafeRawBufferPointer {
  /// Reads page entries, one after the other.
  ///
  /// - Parameter orThrow: makes the error for what are none.
  func forEachEntry(
    _ count: Int, pageSize: Int, _ body: (PageDifference.Entry) throws(StorageError) -> Void,
    orThrow error: () -> StorageError
  ) throws(StorageError) {
    guard let start = baseAddress else { return }
    var offset = 0
    for _ in 0..<count {
      guard
        let entry = PageDifference.Entry(
          at: start + offset, room: self.count - offset, pageSize: pageSize)
      else { throw error() }
      try body(entry)
      offset += entry.byteCount
    }
  }
}
