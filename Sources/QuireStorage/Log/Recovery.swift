/// What the files of a store say, put together: the last durable commit, with every page that can
/// be trusted.
///
/// Writes nothing. Pages come from the log where it has them, else from the file; a page that fails
/// its checksum, or whose content contradicts itself, leaves an empty slot, so that the rest stays
/// readable.
struct Recovery {
  let identity: StoreIdentity
  let meta: MetaPage
  let space: PageSpace
  /// The pages that came from the log; if there are any, or the store was not closed, a store
  /// opened for writing checkpoints before anything else.
  let replayed: Set<PageID>
  /// The log's bytes up to the end of its last whole record, and its file; `nil` without a log that
  /// counts.
  let log: (file: any File, bytes: PageMemory, byteCount: Int)?
  /// What is wrong with the file as a whole, for an inspection to tell.
  let findings: [CheckReport.Finding]

  init(
    _ file: any File, path: String, in fileSystem: any FileSystem, isReadOnly: Bool
  ) throws(StorageError) {
    let slab = PageMemory(byteCount: try file.byteCount())
    let read = try file.readAll(into: slab)
    let bytes = UnsafeRawBufferPointer(rebasing: slab.bytes[..<read])
    let page = try IdentityPage(from: bytes, path: path, isReadOnly: isReadOnly)
    identity = page.identity
    let checksum = Checksum(identity)
    guard let meta = MetaPage.newest(in: bytes, checksum, pageSize: page.pageSize) else {
      throw .damaged(page: .metaA, reason: "the checksums of both meta pages are wrong")
    }
    self.meta = meta
    let opened = try Recovery.openLog(path, fileSystem, isReadOnly: isReadOnly, meta)
    var reader: LogReader?
    if let opened {
      do throws(StorageError) {
        reader = try LogReader(
          opened, path: StoreFile.logPath(of: path), identity: identity, meta: meta,
          pageSize: page.pageSize)
      } catch .logForeign where meta.isClean {
        // Left behind by something else, or never finished: a closed store needs no log.
      }
    }
    if let opened, let reader, !meta.isClean {
      log = (opened, reader.memory, reader.end)
    } else {
      log = nil
    }
    replayed = Set((reader?.images ?? [:]).keys)
    let loader = PageLoader(
      geometry: PageGeometry(pageSize: page.pageSize), checksum: checksum, file: bytes, slab: slab,
      log: reader, pageCount: reader?.pageCount ?? meta.pageCount,
      lastCommit: reader?.lastCommit ?? meta.lastCommit)
    space = loader.load()
    findings = Recovery.findings(in: bytes, space)
    guard space.table[.catalogRoot] != nil else {
      throw .damaged(page: .catalogRoot, reason: "the catalog of trees cannot be read")
    }
  }

  private static func findings(
    in file: UnsafeRawBufferPointer, _ space: PageSpace
  ) -> [CheckReport.Finding] {
    var findings: [CheckReport.Finding] = []
    // Free pages at the end need never have been written, and others may be in the log.
    let pageCount = UInt32(clamping: file.count / space.pageSize)
    let missing = (pageCount..<max(space.pageCount, pageCount)).count {
      space.isMissing(PageID($0))
    }
    if missing > 0 {
      findings.append(
        .init(message: "the file ends after \(file.count) bytes, before \(missing) pages in use"))
    }
    if file.prefix(space.pageSize).dropFirst(IdentityPage.byteCount).contains(where: { $0 != 0 }) {
      findings.append(
        .init(page: .identity, message: "there is something where nothing is ever written"))
    }
    return findings
  }

  private static func openLog(
    _ path: String, _ fileSystem: any FileSystem, isReadOnly: Bool, _ meta: MetaPage
  ) throws(StorageError) -> (any File)? {
    let logPath = StoreFile.logPath(of: path)
    do throws(StorageError) {
      return try fileSystem.open(logPath, isReadOnly ? .read : .write)
    } catch .notFound {
      if meta.isClean { return nil }
      throw .logMissing(path: logPath)
    }
  }

  /// Makes durable what was read from the log, by writing it once more: after a failed sync, the
  /// system may show bytes that are not on the disk and believe them clean.
  func secureLog() throws(StorageError) {
    guard let log else { return }
    try log.file.write(log.bytes, byteCount: log.byteCount, at: 0)
    try log.file.sync(for: .recoveredLog)
  }
}

/// Finds, verifies and tables every page in use.
private struct PageLoader {
  let geometry: PageGeometry
  let checksum: Checksum
  let file: UnsafeRawBufferPointer
  let slab: PageMemory
  let log: LogReader?
  let pageCount: UInt32
  let lastCommit: CommitNumber

  func load() -> PageSpace {
    var table = PageTable()
    var freePageCount = 0
    var group: UInt32 = 0
    while group < pageCount {
      let bitmapID = PageID(group + PageID.firstBitmap.rawValue)
      let end = UInt32(min(UInt64(group) + UInt64(geometry.groupPageCount), UInt64(pageCount)))
      let bitmap = trusted(bitmapID)
      if let bitmap {
        table.set(bitmapID, to: bitmap.page, owner: bitmap.owner)
        freePageCount +=
          Int(end - group) - Bitmap.countSet(in: bitmap.page, below: Int(end - group))
      }
      for number in max(group, PageID.catalogRoot.rawValue)..<max(end, group) {
        let id = PageID(number)
        if id == bitmapID { continue }
        // Without its bitmap, a page that is whole is taken to be in use.
        if let bitmap, !Bitmap.isSet(geometry.bitIndex(of: id), in: bitmap.page) { continue }
        if let page = trusted(id) { table.set(id, to: page.page, owner: page.owner) }
      }
      guard let next = UInt32(exactly: UInt64(group) + UInt64(geometry.groupPageCount)) else {
        break
      }
      group = next
    }
    return PageSpace(
      geometry: geometry, commit: lastCommit, table: table, pageCount: pageCount,
      freePageCount: freePageCount, lowestFree: .firstFree, isPublished: true)
  }

  private func trusted(_ id: PageID) -> (page: Page, owner: PageMemory)? {
    guard let found = find(id) else { return nil }
    let page = found.page
    guard page.checksum == checksum.ofPage(id, page, pageSize: geometry.pageSize),
      page.commit <= lastCommit,
      PageValidation.defect(of: page, at: id, geometry: geometry) == nil
    else { return nil }
    return found
  }

  private func find(_ id: PageID) -> (page: Page, owner: PageMemory)? {
    if let log, let image = log.images[id] { return (image, log.memory) }
    let start = Int(id.rawValue) * geometry.pageSize
    guard start + geometry.pageSize <= file.count, let base = file.baseAddress else { return nil }
    return (Page(base + start), slab)
  }
}
