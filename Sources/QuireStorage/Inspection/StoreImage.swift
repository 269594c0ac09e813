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
  /// Whether the identity is known, with which all checksums are seeded.
  let isIdentityKnown: Bool
  /// The pages that the log and the images have, newest version of each.
  private var logged: [PageID: PageMemory] = [:]
  /// Pages that the log changes and of which nothing has the version that it builds on.
  private var lostInLog: Set<PageID> = []
  /// Those of the logged pages that the file has no room for.
  private var newPageCount = 0
  /// The newest commit.
  private(set) var lastCommit: CommitNumber?
  private(set) var pageCount: UInt32
  private(set) var freePageCount: UInt32?
  /// The commit that wrote the first map, as the meta page that counts says.
  private(set) var mapCommit: CommitNumber?

  /// - Parameter salvages: whether pages are of interest that nothing vouches for any longer: those
  ///   of a file without a readable identity page, and those newer than the meta page that is left.
  init(
    _ path: String, in fileSystem: any FileSystem, salvages: Bool = false
  ) throws(StorageError) {
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
    var isIdentityKnown = true
    do throws(StorageError) {
      let whole = try IdentityPage(
        from: UnsafeRawBufferPointer(rebasing: head.bytes[..<headByteCount]), path: path,
        isReadOnly: true)
      if salvages, try !StoreImage.hasMeta(of: whole, in: file) {
        // The page may be whole and be another store's.
        (page, isIdentityKnown) = try StoreImage.identity(
          whole, of: file, path: path, "neither meta page belongs to it", fileSystem)
      } else {
        page = whole
      }
    } catch .damaged(_, let reason) {
      let readable = IdentityPage(unchecked: UnsafeRawPointer(head.base))
      let copy = try MetaPage.identityCopy(in: file, path: path, isReadOnly: true)
      findings.append(
        .init(
          page: .identity, message: copy == nil ? reason : IdentityPage.mendable(reason)))
      // With a page size that can be one, the rest may still be shown.
      if let copy {
        page = copy
      } else if salvages {
        (page, isIdentityKnown) = try StoreImage.identity(
          readable, of: file, path: path, reason, fileSystem)
      } else {
        guard PageGeometry.isLegal(pageSize: readable.pageSize) else {
          throw .damaged(page: .identity, reason: reason)
        }
        page = readable
      }
    } catch .notAStore(let path, let reason) {
      let copy = try MetaPage.identityCopy(in: file, path: path, isReadOnly: true)
      guard salvages || copy != nil else { throw .notAStore(path: path, reason: reason) }
      findings.append(
        .init(page: .identity, message: copy == nil ? reason : IdentityPage.mendable(reason)))
      (page, isIdentityKnown) = try StoreImage.identity(
        IdentityPage(unchecked: UnsafeRawPointer(head.base)), of: file, path: path, reason,
        fileSystem)
    }
    self.isIdentityKnown = isIdentityKnown
    version = page.version
    identity = page.identity
    geometry = page.geometry
    checksum = Checksum(identity)
    pageCount = UInt32(clamping: (fileByteCount + page.pageSize - 1) / page.pageSize)
    let rest = head.bytes[..<min(headByteCount, page.pageSize)].dropFirst(page.byteCount)
    if rest.contains(where: { $0 != 0 }) {
      findings.append(
        .init(page: .identity, message: "there is something where nothing is ever written"))
    }
    withExtendedLifetime(head) {}
    let meta = try readMetas()
    try readLog(meta, fileSystem)
    if salvages { try readNewerPages(fileSystem) }
  }

  /// - Returns: the meta page that counts.
  private func readMetas() throws(StorageError) -> MetaPage? {
    let pageSize = geometry.pageSize
    var newest: MetaPage?
    for id in [PageID.metaA, .metaB] {
      let (memory, _) = try readFile(id)
      defer { withExtendedLifetime(memory) {} }
      metas.append(StoreAnatomy.Meta(Page(memory.base), at: id, checksum, pageSize: pageSize))
      if let meta = MetaPage(Page(memory.base), at: id, checksum, pageSize: pageSize),
        newest.map({ $0.sequence < meta.sequence }) ?? true
      {
        newest = meta
      }
    }
    guard let newest else {
      findings.append(
        .init(
          page: .metaA,
          message: MetaPage.defectOfBoth(fileByteCount: fileByteCount, pageSize: pageSize)))
      return nil
    }
    for meta in metas where !meta.isWhole {
      notes.append("page \(meta.id): this meta page is not whole; the other one counts")
    }
    metas[newest.id == .metaA ? 0 : 1].counts = true
    lastCommit = newest.lastCommit
    pageCount = newest.pageCount
    freePageCount = newest.freePageCount
    mapCommit = newest.mapCommit
    return newest
  }

  private func readLog(
    _ meta: MetaPage?, _ fileSystem: any FileSystem
  ) throws(StorageError) {
    let logPath = StoreFile.logPath(of: path)
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
      logFile, path: logPath, meta: metas.first { $0.counts }, checksum,
      pageSize: geometry.pageSize)
    self.log = log
    if let meta, meta.isClean, !log.goesOn {
      notes.append("the store was closed: the log beside it is history")
      return
    }
    findings += log.findings
    notes += log.notes
    try replay(
      log.records.filter { $0.state == .counts }, of: log, try readImages(meta, fileSystem))
  }

  /// What a checkpoint that was cut short was about to overwrite.
  private func readImages(
    _ meta: MetaPage?, _ fileSystem: any FileSystem
  ) throws(StorageError) -> PageImages? {
    guard let meta, !meta.isClean else { return nil }
    let imagesPath = StoreFile.imagesPath(of: path)
    do throws(StorageError) {
      return try PageImages(
        try fileSystem.open(imagesPath, .read), path: imagesPath, after: meta, checksum,
        geometry: geometry)
    } catch .notFound {
      return nil
    }
  }

  /// Applies the records of commits, in their order, and images at their commit.
  private func replay(
    _ records: [LogAnatomy.Record], of log: LogAnatomy, _ images: PageImages?
  ) throws(StorageError) {
    var missing = images
    for record in records {
      if let images = missing, record.commit > images.commit {
        use(images)
        missing = nil
      }
      try replay(record, log, images)
      lastCommit = record.commit
      pageCount = record.pageCount
      freePageCount = record.freePageCount
    }
    if let missing { use(missing) }
    let reach = geometry.reach(filePageCount: filePageCount) { logged[$0] != nil }
    logged = logged.filter { $0.key.rawValue < min(pageCount, reach) }
    // The meta page speaks of the map in the file.
    if logged[.firstMap] != nil { mapCommit = nil }
  }

  /// The whole pages of the file.
  private var filePageCount: Int { fileByteCount / geometry.pageSize }

  /// The memory for pages that the log has and the file does not.
  private static let newPageByteLimit = 1 << 30

  private func use(_ images: PageImages) {
    for (id, frame) in images.pages {
      let memory = PageMemory(byteCount: geometry.pageSize)
      memory.base.copyMemory(from: frame.base, byteCount: geometry.pageSize)
      logged[id] = memory
      lostInLog.remove(id)
    }
  }

  private func replay(
    _ record: LogAnatomy.Record, _ log: LogAnatomy, _ images: PageImages?
  ) throws(StorageError) {
    for entry in record.pages {
      guard entry.id >= .firstMap, entry.id.rawValue < record.pageCount else { continue }
      // Before the images, a page that is in them may look like anything in the file.
      if let images, record.commit <= images.commit, images.pages[entry.id] != nil { continue }
      if Int(entry.id.rawValue) >= filePageCount, logged[entry.id] == nil {
        newPageCount += 1
        guard newPageCount <= StoreImage.newPageByteLimit / geometry.pageSize else { continue }
      }
      guard
        let difference = PageDifference.Entry(
          at: log.bytes.base + entry.offset, room: entry.byteCount, pageSize: geometry.pageSize)
      else { continue }
      if difference.isWhole { lostInLog.remove(entry.id) }
      guard !lostInLog.contains(entry.id) else { continue }
      guard let memory = try pageToChange(by: difference) else {
        lostInLog.insert(entry.id)
        logged[entry.id] = nil
        continue
      }
      logged[entry.id] = memory
      difference.apply(to: memory.base, pageSize: geometry.pageSize)
    }
    withExtendedLifetime(log.bytes) {}
  }

  /// The page that an entry changes: as the log has it so far, else as the file has it; `nil` if
  /// neither has the version on which the entry builds.
  private func pageToChange(
    by difference: PageDifference.Entry
  ) throws(StorageError) -> PageMemory? {
    let id = difference.id
    if let known = logged[id] {
      return difference.isWhole || stamp(of: known) == difference.base ? known : nil
    }
    if difference.isWhole { return PageMemory(byteCount: geometry.pageSize) }
    let (memory, byteCount) = try readFile(id)
    guard byteCount == geometry.pageSize, stamp(of: memory) == difference.base,
      hasRightChecksum(Page(memory.base), at: id)
    else { return nil }
    return memory
  }

  private func stamp(of memory: PageMemory) -> UInt32 {
    defer { withExtendedLifetime(memory) {} }
    return PageMap.stamp(of: Page(memory.base).commit)
  }

  private func hasRightChecksum(_ page: Page, at id: PageID) -> Bool {
    !isIdentityKnown || page.checksum == checksum.ofPage(id, page, pageSize: geometry.pageSize)
  }

  // MARK: Pages that nothing vouches for

  /// Takes the pages in the file for newer than the meta page says, if they are: the newest meta
  /// page is lost then.
  ///
  /// Each commit changes the first map, so its commit number is that of the checkpoint. The log is
  /// used if it goes on from there.
  private func readNewerPages(_ fileSystem: any FileSystem) throws(StorageError) {
    let (memory, byteCount) = try readFile(.firstMap)
    defer { withExtendedLifetime(memory) {} }
    let map = Page(memory.base)
    guard byteCount == geometry.pageSize, map.typeByte == PageType.map.rawValue,
      hasRightChecksum(map, at: .firstMap), lastCommit.map({ map.commit > $0 }) ?? true
    else {
      // Without a meta page and the first map each page speaks for itself.
      if metas.contains(where: { !$0.isWhole }),
        map.typeByte != PageType.map.rawValue
          || !hasRightChecksum(map, at: .firstMap)
      {
        (lastCommit, freePageCount) = (nil, nil)
        pageCount = max(pageCount, UInt32(clamping: filePageCount))
      }
      return
    }
    notes.append(
      "the newest meta page is lost: commit \(map.commit), which the page maps have, is taken for "
        + "the last one")
    (logged, lostInLog, newPageCount) = ([:], [], 0)
    lastCommit = map.commit
    mapCommit = nil
    freePageCount = nil
    pageCount = UInt32(clamping: filePageCount)
    guard let log, log.isOurs else { return }
    let whole = log.records.filter { $0.state != .torn && $0.commit > map.commit }
    let epoch = whole.map(\.epoch).max()
    var next = map.commit.next
    var chain: [LogAnatomy.Record] = []
    for record in whole.filter({ $0.epoch == epoch }).sorted(by: { $0.commit < $1.commit })
    where record.commit == next {
      chain.append(record)
      next = next.next
    }
    try replay(chain, of: log, nil)
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
    if lostInLog.contains(id) {
      return "the log changes it, and nothing has the version that the change builds on"
    }
    // Pages in a log have the checksum of its record.
    if !loaded.isFromLog, !hasRightChecksum(page, at: id) { return "its checksum is wrong" }
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
