// The identity of a store whose first page is damaged.
extension StoreImage {
  /// The identity of a file whose first page is damaged: the copy in a meta page. Without one, as
  /// before format 2, the page size is that which the first map has; of the identity that the page
  /// says and that of the log beside the store one is right if it gives the map's checksum.
  static func identity(
    _ page: IdentityPage, of file: any File, path: String, _ reason: String,
    _ fileSystem: any FileSystem
  ) throws(StorageError) -> (page: IdentityPage, isKnown: Bool) {
    if let copy = try MetaPage.identityCopy(in: file, path: path, isReadOnly: true) {
      return (copy, true)
    }
    for power in 9...15 {
      let pageSize = 1 << power
      let memory = PageMemory(byteCount: pageSize)
      memory.base.initializeMemory(as: UInt8.self, repeating: 0, count: pageSize)
      let offset = Int(PageID.firstMap.rawValue) * pageSize
      let count = try memory.withBytes { bytes throws(StorageError) in
        try file.read(at: offset, into: bytes)
      }
      defer { withExtendedLifetime(memory) {} }
      let map = Page(memory.base)
      guard count == pageSize, map.typeByte == PageType.map.rawValue, map.cellStart == pageSize,
        map.freeBytes == PageGeometry(pageSize: pageSize).capacity
      else { continue }
      let identities = [page.identity] + [logIdentity(path, fileSystem)].compactMap { $0 }
      let right = identities.first {
        Checksum($0).ofPage(.firstMap, map, pageSize: pageSize) == map.checksum
      }
      var found = IdentityPage(PageGeometry(pageSize: pageSize), right ?? page.identity)
      found.version = page.version == .first ? .first : .current
      return (found, right != nil)
    }
    throw .damaged(page: .identity, reason: "\(reason); and page 3 does not tell the page size")
  }

  /// Whether a meta page is whole, and of this identity.
  static func hasMeta(of page: IdentityPage, in file: any File) throws(StorageError) -> Bool {
    for id in [PageID.metaA, .metaB] {
      let memory = PageMemory(byteCount: page.pageSize)
      memory.base.initializeMemory(as: UInt8.self, repeating: 0, count: page.pageSize)
      defer { withExtendedLifetime(memory) {} }
      _ = try memory.withBytes { bytes throws(StorageError) in
        try file.read(at: Int(id.rawValue) * page.pageSize, into: bytes)
      }
      let checksum = Checksum(page.identity)
      if MetaPage(Page(memory.base), at: id, checksum, pageSize: page.pageSize) != nil {
        return true
      }
    }
    return false
  }

  /// The identity in the header of the store's log; `nil` if there is none.
  private static func logIdentity(_ path: String, _ fileSystem: any FileSystem) -> StoreIdentity? {
    let header = PageMemory(byteCount: LogFormat.Header.byteCount)
    header.base.initializeMemory(as: UInt8.self, repeating: 0, count: header.byteCount)
    defer { withExtendedLifetime(header) {} }
    let base = UnsafeRawPointer(header.base)
    guard let file = try? fileSystem.open(StoreFile.logPath(of: path), .read),
      (try? file.readAll(into: header)) == header.byteCount,
      base.u64(at: LogFormat.Header.magic) == LogFormat.fileMagic
    else { return nil }
    return StoreIdentity(at: base + LogFormat.Header.identity)
  }
}
