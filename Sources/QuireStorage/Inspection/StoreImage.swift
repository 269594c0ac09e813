/// The bytes of a store's file and its log, combined as far as possible.
///
/// It holds the shared lock while it exists, so that the files are not written meanwhile.
final class StoreImage {
  let path: String
  let file: any File
  let fileByteCount: Int
  let version: FormatVersion
  let identity: StoreIdentity
  let geometry: PageGeometry
  let checksum: Checksum
  private(set) var metas: [StoreAnatomy.Meta] = []
  private(set) var log: LogAnatomy?
  private(set) var findings: [StoreAnatomy.Finding] = []
  private(set) var notes: [String] = []
  /// The pages that the log has, newest version of each.
  private var logged: [PageID: PageMemory] = [:]
  /// Those of them that the file has no place for.
  private var newPageCount = 0
  /// The newest commit.
  private(set) var lastCommit: CommitNumber?
  private(set) var pageCount: UInt32
  private(set) var freePageCount: UInt32?
  /// The commit that wrote the first map, as the meta page that counts says.
  private(set) var mapCommit: CommitNumber?

  init(_ path: String, in fileSystem: any FileSystem) throws(StorageError) {
    let path = fileSystem.destination(of: path)
    self.path = path
    file = try fileSystem.open(path, .read)
    guard try file.lock(.shared) else {
      throw .locked(StoreFile.readOwnerNote(of: path, in: fileSystem))
    }
    fileByteCount = try file.byteCount()
    let head = PageMemory(byteCount: 32_768)
    head.base.initializeMemory(as: UInt8.self, repeating: 0, count: head.byteCount)
    let headByteCount = try file.readAll(into: head)
    let page: IdentityPage
    do throws(StorageError) {
      page = try IdentityPage(
        from: UnsafeRawBufferPointer(rebasing: head.bytes[..<headByteCount]), path: path,
        isReadOnly: true)
    } catch .damaged(_, let reason) {
      // With a page size that can be one, the rest may still be shown.
      findings.append(.init(page: .identity, message: reason))
      let base = UnsafeRawPointer(head.base)
      let pageSize = Int(base.u32(at: IdentityPage.pageSizeOffset))
      guard PageGeometry.isLegal(pageSize: pageSize) else {
        throw .damaged(page: .identity, reason: reason)
      }
      var readable = IdentityPage(
        pageSize: pageSize, identity: StoreIdentity(at: base + IdentityPage.identityOffset))
      readable.version = FormatVersion(
        major: UInt16(base.u16(at: IdentityPage.majorOffset)),
        minor: UInt16(base.u16(at: IdentityPage.minorOffset)))
      page = readable
    }
    version = page.version
    identity = page.identity
    geometry = PageGeometry(pageSize: page.pageSize)
    checksum = Checksum(identity)
    pageCount = UInt32(clamping: (fileByteCount + page.pageSize - 1) / page.pageSize)
    let rest = head.bytes[..<min(headByteCount, page.pageSize)].dropFirst(IdentityPage.byteCount)
    if rest.contains(where: { $0 != 0 }) {
      findings.append(
        .init(page: .identity, message: "there is something where nothing is ever written"))
    }
    withExtendedLifetime(head) {}
    try readMetas()
    try readLog(fileSystem)
  }

  private func readMetas() throws(StorageError) {
    let pageSize = geometry.pageSize
    var newest: Int?
    for id in [PageID.metaA, .metaB] {
      let (memory, _) = try readFile(id)
      let meta = StoreAnatomy.Meta(Page(memory.base), at: id, checksum, pageSize: pageSize)
      withExtendedLifetime(memory) {}
      if meta.isWhole, newest.map({ metas[$0].sequence < meta.sequence }) ?? true {
        newest = metas.count
      }
      metas.append(meta)
    }
    guard let newest else {
      findings.append(
        .init(page: .metaA, message: "the checksums of both meta pages are wrong"))
      return
    }
    for meta in metas where !meta.isWhole {
      notes.append("page \(meta.id): this meta page is not whole; the other one counts")
    }
    metas[newest].counts = true
    lastCommit = metas[newest].lastCommit
    pageCount = metas[newest].pageCount
    freePageCount = metas[newest].freePageCount
    mapCommit = metas[newest].mapCommit
  }

  private func readLog(_ fileSystem: any FileSystem) throws(StorageError) {
    let logPath = StoreFile.logPath(of: path)
    let meta = metas.first { $0.counts }
    let logFile: any File
    do throws(StorageError) {
      logFile = try fileSystem.open(logPath, .read)
    } catch .notFound {
      if let meta, !meta.isClean {
        findings.append(.init(message: "\(StorageError.logMissing(path: logPath))"))
      }
      return
    }
    let log = try LogAnatomy(
      logFile, path: logPath, meta: meta, checksum, pageSize: geometry.pageSize)
    self.log = log
    if let meta, meta.isClean, !log.goesOn {
      notes.append("the store was closed: the log beside it is history")
      return
    }
    findings += log.findings
    notes += log.notes
    for record in log.records where record.state == .counts {
      replay(record, log)
      lastCommit = record.commit
      pageCount = record.pageCount
      freePageCount = record.freePageCount
    }
    let reach = geometry.reach(filePageCount: filePageCount) { logged[$0] != nil }
    logged = logged.filter { $0.key.rawValue < min(pageCount, reach) }
    // The meta page speaks of the map in the file.
    if logged[.firstMap] != nil { mapCommit = nil }
  }

  /// The whole pages of the file.
  private var filePageCount: Int { fileByteCount / geometry.pageSize }

  /// The memory for pages that the log has and the file does not.
  private static let newPageByteLimit = 1 << 30

  private func replay(_ record: LogAnatomy.Record, _ log: LogAnatomy) {
    let pageSize = geometry.pageSize
    for entry in record.pages {
      guard entry.id >= .firstMap, entry.id.rawValue < record.pageCount else { continue }
      if Int(entry.id.rawValue) >= filePageCount, logged[entry.id] == nil {
        newPageCount += 1
        guard newPageCount <= StoreImage.newPageByteLimit / pageSize else { continue }
      }
      guard
        let difference = PageDifference.Entry(
          at: log.bytes.base + entry.offset, room: entry.byteCount, pageSize: pageSize)
      else { continue }
      let memory: PageMemory
      if let known = logged[entry.id] {
        memory = known
      } else {
        memory = PageMemory(byteCount: pageSize)
        memory.base.initializeMemory(as: UInt8.self, repeating: 0, count: pageSize)
        logged[entry.id] = memory
      }
      difference.apply(to: memory.base, pageSize: pageSize)
    }
    withExtendedLifetime(log.bytes) {}
  }

  // MARK: Pages

  /// A page as it counts.
  struct Loaded {
    let id: PageID
    let memory: PageMemory
    /// The number of its bytes that exist.
    let byteCount: Int
    let isFromLog: Bool

    var page: Page { Page(memory.base) }
  }

  /// The page's bytes in the file, with zeros where it ends.
  func readFile(_ id: PageID) throws(StorageError) -> (memory: PageMemory, byteCount: Int) {
    let memory = PageMemory(byteCount: geometry.pageSize)
    memory.base.initializeMemory(as: UInt8.self, repeating: 0, count: memory.byteCount)
    let count = try memory.withBytes { bytes throws(StorageError) in
      try file.read(at: Int(id.rawValue) * geometry.pageSize, into: bytes)
    }
    return (memory, count)
  }

  func load(_ id: PageID) throws(StorageError) -> Loaded {
    if let memory = logged[id] {
      return Loaded(id: id, memory: memory, byteCount: geometry.pageSize, isFromLog: true)
    }
    let (memory, byteCount) = try readFile(id)
    return Loaded(id: id, memory: memory, byteCount: byteCount, isFromLog: false)
  }

  /// The pages that can be there at all, whatever a meta page says.
  var pageCountInReach: UInt32 {
    let inFile = filePageCount + (fileByteCount % geometry.pageSize > 0 ? 1 : 0)
    let inLog = logged.keys.max().map { Int($0.rawValue) + 1 } ?? 0
    return min(pageCount, UInt32(clamping: max(inFile, inLog)))
  }

  /// The defect of a page in use, given its stamp in the maps; `nil` if there is none.
  func defect(of loaded: Loaded, stamp: UInt32?) -> String? {
    let (id, page) = (loaded.id, loaded.page)
    defer { withExtendedLifetime(loaded.memory) {} }
    guard loaded.byteCount == geometry.pageSize else { return "the file ends before it" }
    // Pages in a log have the checksum of its record.
    if !loaded.isFromLog,
      page.checksum != checksum.ofPage(id, page, pageSize: geometry.pageSize)
    {
      return "its checksum is wrong"
    }
    if let lastCommit, page.commit > lastCommit {
      return "it carries commit \(page.commit), the store is at \(lastCommit)"
    }
    if id == .firstMap {
      if let mapCommit, page.commit != mapCommit {
        return "it is of commit \(page.commit), that of commit \(mapCommit) is missing"
      }
    } else if let stamp, stamp != PageMap.stamp(of: page.commit) {
      return stamp == 0
        ? "it is free, but referred to"
        : "it is of commit \(page.commit), which is not the one that wrote it last"
    }
    return PageValidation.ofTrees.defect(of: page, at: id, geometry: geometry)
  }
}

extension StoreIdentity {
  /// Reads the 16 bytes as they are on disk.
  init(at start: UnsafeRawPointer) {
    self.init(
      high: UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }
}
