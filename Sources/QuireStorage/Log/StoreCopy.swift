/// Writes a version of a store as a file.
struct StoreCopy {
  private let version: OwnedVersion
  let identity: StoreIdentity
  /// The epoch of the last log that the file's path has seen; see ``MetaPage/epoch``.
  let epoch: UInt64
  private static let batchPageCount = 256

  private var space: PageSpace { version.space }
  /// Whether processes write the copy in turn, as the original.
  private let isShared: Bool
  private var page: IdentityPage {
    var page = IdentityPage(space.geometry, identity)
    page.features.isShared = isShared
    return page
  }

  init(
    _ version: OwnedVersion, identity: StoreIdentity, epoch: UInt64 = 0, isShared: Bool = false
  ) {
    self.isShared = isShared
    self.version = version
    self.identity = identity
    self.epoch = epoch
  }

  func write(to file: any File, progress: (Int, Int) throws -> Bool) throws {
    let checksum = Checksum(identity)
    let pageSize = space.pageSize
    let room = PageMemory(byteCount: StoreCopy.batchPageCount * pageSize)
    let total = Int(space.pageCount) * pageSize
    var start: UInt32 = 0
    while start < space.pageCount {
      let count = min(StoreCopy.batchPageCount, Int(space.pageCount - start))
      for index in 0..<count {
        let target = room.base + index * pageSize
        try encode(PageID(start + UInt32(index)), checksum, in: target)
      }
      try file.write(room, byteCount: count * pageSize, at: Int(start) * pageSize)
      start += UInt32(count)
      guard try progress(Int(start) * pageSize, total) else { throw StorageError.cancelled }
    }
  }

  /// Writes identity and meta pages alone.
  func writeHead(to file: any File) throws(StorageError) {
    let room = PageMemory(byteCount: 3 * space.pageSize)
    let checksum = Checksum(identity)
    for id in [PageID.identity, .metaA, .metaB] {
      try encode(id, checksum, in: room.base + Int(id.rawValue) * space.pageSize)
    }
    try file.write(room, at: 0)
  }

  /// Puts one page together.
  func encode(
    _ id: PageID, _ checksum: Checksum, in target: UnsafeMutableRawPointer
  ) throws(StorageError) {
    target.initializeMemory(as: UInt8.self, repeating: 0, count: space.pageSize)
    switch id {
    case .identity:
      page.encode(in: target)
    case .metaA, .metaB:
      let ticket = try space.enter()
      defer { space.leave(ticket) }
      let meta = MetaPage(
        sequence: id == .metaA ? 1 : 0, epoch: epoch, lastCommit: space.commit,
        pageCount: space.pageCount, freePageCount: UInt32(space.freePageCount),
        mapCommit: try space.page(.firstMap).commit,
        logOffset: UInt64(LogFormat.recordsStart), logChain: 0, isClean: true)
      let memory = meta.encoded(checksum, page)
      target.copyMemory(from: memory.base, byteCount: space.pageSize)
      withExtendedLifetime(memory) {}
    default:
      let ticket = try space.enter()
      defer { space.leave(ticket) }
      let map = try space.page(space.geometry.mapPage(for: id))
      guard PageMap.entry(space.geometry.mapIndex(of: id), in: map) != 0 else { return }
      target.copyMemory(from: try space.page(id).base, byteCount: space.pageSize)
      let page = MutablePage(target)
      page.checksum = checksum.ofPage(id, page.page, pageSize: space.pageSize)
    }
  }
}
