/// The combined content of a store's files: the last durable commit.
///
/// Nothing is written. Pages are taken from the log if it has them, otherwise from the file on
/// demand; a page with a wrong checksum or contradictory content is an error then, and all others
/// remain readable.
struct Recovery {
  /// The first page, or its copy.
  let page: IdentityPage
  var identity: StoreIdentity { page.identity }
  /// Whether the first page is damaged, and a meta page had the copy.
  let isIdentityDamaged: Bool
  let meta: MetaPage
  /// The number of bytes in the store's file.
  let fileByteCount: Int
  let version: OwnedVersion
  var space: PageSpace { version.space }
  /// The content of the log; `nil` without one that counts.
  let log: LogReader?
  /// Whether the older meta page refers to the same commit, so that the newer one may be lost. If
  /// not, it is on disk: what it made history is overwritten, and what it begins was written, after
  /// its sync alone.
  let isNewerMetaSpare: Bool
  /// The meta page that was found damaged, and is no page that was never written.
  let damagedMeta: PageID?

  /// The number of bytes that are read first: enough for the first pages of most stores.
  private static let headByteCount = 32_768

  /// - Parameters:
  ///   - validation: the validation of the pages in the log, and of those in the file when they are
  ///     read.
  ///   - registry: the registry of a store that continues with this file; `nil` to make one.
  ///   - follows: whether another process may be writing, so that the last commit is shown that no
  ///     crash takes back. Any error may then be one of the moment
  ///     (``Recovery/reading(_:in:options:validation:always:registry:)``).
  ///   - readsLog: `false` to show the meta page's commit, whatever the log has.
  init(
    _ file: any File, path: String, in fileSystem: any FileSystem, options: PageStoreOptions,
    validation: PageValidation, registry: VersionRegistry? = nil, follows: Bool = false,
    readsLog: Bool = true
  ) throws(StorageError) {
    let isReadOnly = options.isReadOnly
    fileByteCount = try file.byteCount()
    var head = try Recovery.read(
      file, path, byteCount: min(Recovery.headByteCount, fileByteCount))
    (page, isIdentityDamaged) = try IdentityPage.read(
      UnsafeRawBufferPointer(rebasing: head.memory.bytes[..<head.byteCount]), of: file, path: path,
      isReadOnly: isReadOnly)
    let geometry = page.geometry
    if page.pageSize * Int(PageID.firstFree.rawValue) > head.byteCount {
      let byteCount = page.pageSize * Int(PageID.firstFree.rawValue)
      head = try Recovery.read(file, path, byteCount: min(byteCount, fileByteCount))
    }
    defer { withExtendedLifetime(head.memory) {} }
    let bytes = UnsafeRawBufferPointer(rebasing: head.memory.bytes[..<head.byteCount])
    let identity = page.identity
    let checksum = Checksum(identity)
    guard let (newest, other) = MetaPage.both(in: bytes, checksum, pageSize: page.pageSize) else {
      throw .damaged(
        page: .metaA,
        reason: MetaPage.defectOfBoth(fileByteCount: fileByteCount, pageSize: page.pageSize))
    }
    damagedMeta = other == nil ? Recovery.damagedMeta(beside: newest, bytes, page.pageSize) : nil
    let log =
      readsLog
      ? try Recovery.readLog(
        path, fileSystem, options, newest, identity, geometry, storeFile: file, follows: follows)
      : nil
    if let log, !log.lost.isEmpty, !isReadOnly {
      // Writing would begin a history of its own, in which the images count no more.
      let images = StoreFile.imagesPath(of: path)
      if try fileSystem.identifier(of: images) == nil {
        throw .imagesMissing(path: images, pages: log.lost.sorted { $0.rawValue < $1.rawValue })
      }
    }
    self.log = log
    meta = log?.meta ?? newest
    let filePageCount = fileByteCount / geometry.pageSize
    let reach = log?.reach ?? geometry.reach(filePageCount: filePageCount) { _ in false }
    if !isReadOnly { try Recovery.checkWritable(meta, log, reach: reach) }
    // A log is begun only when the meta page before it is certainly on disk.
    let isBegun = meta.epoch > newest.epoch
    if let other, !isReadOnly, !isBegun {
      isNewerMetaSpare = try Recovery.leads(
        other, to: log?.lastCommit ?? meta.lastCommit, path, fileSystem, options, identity,
        geometry, storeFile: file)
    } else {
      isNewerMetaSpare = false
    }
    let registry =
      registry
      ?? VersionRegistry(
        pageSize: page.pageSize, retainedByteLimit: options.retainedByteLimit,
        process: ProcessMark(fileSystem))
    let cache = PageCache(
      file, geometry: geometry, checksum: checksum, validation: validation,
      reclaimer: registry.reclaimer, byteLimit: options.cacheByteLimit,
      mapCommit: meta.mapCommit, readsUnvouchedPages: options.readsUnvouchedPages)
    let pageCount = log?.pageCount ?? meta.pageCount
    let commit = log?.lastCommit ?? meta.lastCommit
    let space = PageSpace(
      geometry: geometry, commit: commit, cache: cache, registry: registry,
      overlay: PageOverlay(pageCount: min(pageCount, reach)), pageCount: pageCount,
      freePageCount: Int(log?.freePageCount ?? meta.freePageCount),
      lowestFree: .firstFree)
    cache.setFile(pageCount: pageCount, byteLimit: options.cacheByteLimit)
    cache.preload(bytes, for: commit)
    if let log { try Recovery.show(log, in: space, validation) }
    version = space.publish(reach: reach)
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    do throws(StorageError) {
      // Nothing vouches for the catalog's root without it.
      if !options.readsUnvouchedPages { _ = try space.page(.firstMap) }
    } catch .damaged(let page, let reason) {
      space.retireEverything()
      throw .damaged(page: page, reason: "the first page map cannot be read: \(reason)")
    }
    do throws(StorageError) {
      _ = try space.page(.catalogRoot)
    } catch .damaged(_, let reason) {
      space.retireEverything()
      throw .damaged(page: .catalogRoot, reason: "the catalog of trees cannot be read: \(reason)")
    }
  }

  /// Puts the log's pages into the version.
  private static func show(
    _ log: LogReader, in space: PageSpace, _ validation: PageValidation
  ) throws(StorageError) {
    let pages = log.takePages()
    func show(_ id: PageID, _ frame: PageFrame) {
      let isSound =
        validation.defect(of: Page(frame.base), at: id, geometry: space.geometry) == nil
      space.set(id, to: isSound ? frame.intoTable() : .unreadable)
    }
    for (id, frame) in pages where space.geometry.isMap(id) { show(id, frame) }
    for id in log.lost { space.set(id, to: .unreadable) }
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    for (id, frame) in pages where !space.geometry.isMap(id) && !log.lost.contains(id) {
      // Not those that a later record gave back.
      if try space.stamp(of: id) != 0 { show(id, frame) }
    }
  }

  /// - Throws: ``StorageError/damaged(page:reason:)`` if nothing can be written after what the
  ///   store says of itself; it can be read.
  private static func checkWritable(
    _ meta: MetaPage, _ log: LogReader?, reach: UInt32
  ) throws(StorageError) {
    let commit = log?.lastCommit ?? meta.lastCommit
    guard StoreLimits.allowsWriting(after: meta.sequence, meta.epoch, commit.rawValue) else {
      throw .damaged(
        page: meta.id,
        reason: "no store comes as far as commit \(commit), epoch \(meta.epoch), sequence "
          + "\(meta.sequence); open it to be read alone")
    }
    let pageCount = log?.pageCount ?? meta.pageCount
    guard pageCount <= reach else {
      throw .damaged(
        page: PageID(reach),
        reason: "the store is said to have \(pageCount) pages, and ends before this one; open it "
          + "to be read alone")
    }
  }

  /// The other meta page, unless there is nothing of it.
  private static func damagedMeta(
    beside newest: MetaPage, _ bytes: UnsafeRawBufferPointer, _ pageSize: Int
  ) -> PageID? {
    let id: PageID = newest.id == .metaA ? .metaB : .metaA
    let start = Int(id.rawValue) * pageSize
    return bytes.dropFirst(start).prefix(pageSize).allSatisfy { $0 == 0 } ? nil : id
  }

  private static func read(
    _ file: any File, _ path: String, byteCount: Int
  ) throws(StorageError) -> (memory: PageMemory, byteCount: Int) {
    let memory = PageMemory(byteCount: byteCount)
    try memory.withBytes { bytes throws(StorageError) in
      try file.readFully(at: 0, into: bytes, path: path)
    }
    return (memory, memory.byteCount)
  }

  /// A log that was begun after a closing may be another's, which nothing is written to; but if it
  /// is not, readers are told when a copy takes its place.
  private static func openLog(
    _ path: String, _ fileSystem: any FileSystem, isReadOnly: Bool, _ meta: MetaPage
  ) throws(StorageError) -> any File {
    if isReadOnly { return try fileSystem.open(path, .read) }
    do throws(StorageError) {
      return try fileSystem.open(path, .write)
    } catch {
      guard meta.isClean else { throw error }
      return try fileSystem.open(path, .read)
    }
  }

  /// The log of a meta page, and that page; for a closed store, the log that was begun afterwards,
  /// and its meta page, even if the file does not have it.
  private static func readLog(
    _ path: String, _ fileSystem: any FileSystem, _ options: PageStoreOptions, _ meta: MetaPage,
    _ identity: StoreIdentity, _ geometry: PageGeometry, storeFile: any File,
    follows: Bool = false
  ) throws(StorageError) -> LogReader? {
    let logPath = StoreFile.logPath(of: path)
    let limit = newPageByteLimit(options, geometry)
    let file: any File
    do throws(StorageError) {
      file = try openLog(logPath, fileSystem, isReadOnly: options.isReadOnly, meta)
    } catch .notFound {
      if meta.isClean { return nil }
      throw .logMissing(path: logPath)
    }
    if meta.isClean {
      // A new log may have been begun by a commit that continues from here.
      let begun = meta.begun(Checksum(identity))
      do throws(StorageError) {
        let reader = try LogReader(
          file, path: logPath, identity: identity, meta: begun,
          headerEpochs: meta.epoch...begun.epoch, geometry: geometry,
          images: try readImages(path, fileSystem, begun, identity, geometry),
          storeFile: storeFile, isDemanded: false, newPageByteLimit: limit, follows: follows)
        if !reader.records.isEmpty { return reader }
      } catch .logForeign {}
      if follows { return nil }
      // Else a closed store needs no log; one that lies there was left behind, or is another's. But
      // if it has commits of a later time, it is the meta page that is of an earlier one.
      do throws(StorageError) {
        _ = try LogReader(
          file, path: logPath, identity: identity, meta: meta, headerEpochs: 0...(.max),
          geometry: geometry, images: nil, storeFile: storeFile, isDemanded: false,
          newPageByteLimit: limit)
      } catch .logForeign {}
      return nil
    }
    return try LogReader(
      file, path: logPath, identity: identity, meta: meta, headerEpochs: meta.epoch...meta.epoch,
      geometry: geometry,
      images: try readImages(path, fileSystem, meta, identity, geometry), storeFile: storeFile,
      isDemanded: true, newPageByteLimit: limit, follows: follows)
  }

  /// Whether a meta page refers to that commit, with all its pages, if recovery uses it alone. The
  /// chain of records may lead there although the images that a crash of the checkpoint in between
  /// would need are gone, because the next checkpoint has reused their file, or because the store
  /// was closed. And a new log may already have records that prove that the store was opened after
  /// the closing.
  private static func leads(
    _ meta: MetaPage, to commit: CommitNumber, _ path: String, _ fileSystem: any FileSystem,
    _ options: PageStoreOptions, _ identity: StoreIdentity, _ geometry: PageGeometry,
    storeFile: any File
  ) throws(StorageError) -> Bool {
    var options = options
    options.isReadOnly = true
    do throws(StorageError) {
      let log = try readLog(
        path, fileSystem, options, meta, identity, geometry, storeFile: storeFile)
      guard let log else { return meta.lastCommit == commit }
      return log.lastCommit == commit && log.lost.isEmpty && log.pageCount <= log.reach
    } catch .logMissing, .logForeign, .logDamaged, .logCutShort, .damaged, .invalidArgument {
      return false
    }
  }

  /// The memory for pages that a log has and the file does not: of a writer with these options a
  /// crash leaves no more.
  private static func newPageByteLimit(
    _ options: PageStoreOptions, _ geometry: PageGeometry
  ) -> Int {
    let transaction = options.transactionByteLimit(pageSize: geometry.pageSize)
    let once = max(options.cacheByteLimit, 32 * geometry.pageSize)
      .addingReportingOverflow(transaction)
    let twice = once.partialValue.multipliedReportingOverflow(by: 2)
    return once.overflow || twice.overflow ? .max : twice.partialValue
  }

  private static func readImages(
    _ path: String, _ fileSystem: any FileSystem, _ meta: MetaPage, _ identity: StoreIdentity,
    _ geometry: PageGeometry
  ) throws(StorageError) -> PageImages? {
    do throws(StorageError) {
      let file = try fileSystem.open(StoreFile.imagesPath(of: path), .read)
      return try PageImages(
        file, path: StoreFile.imagesPath(of: path), after: meta, Checksum(identity),
        geometry: geometry)
    } catch .notFound {
      return nil
    }
  }

  /// Makes durable what was read from the log, by writing it again: after a failed sync, the system
  /// may show bytes that are not on the disk and consider them clean. They are written to another
  /// file, which then gets the log's name, so that a disk error while writing loses nothing.
  ///
  /// - Parameter storeFile: the file of the store, which must still have its name.
  func secureLog(
    of path: String, _ storeFile: any File, in fileSystem: any FileSystem
  ) throws(StorageError) {
    guard let log, !log.records.isEmpty else { return }
    let temporary = StoreFile.newLogPath(of: path)
    let logPath = StoreFile.logPath(of: path)
    let file: any File
    var end = LogFormat.recordsStart
    do throws(StorageError) {
      file = try fileSystem.open(temporary, .create)
      // The records follow each other from the start, which is one of the offsets to look for them.
      try Recovery.copy(log.file, logPath, 0, LogFormat.recordsStart, to: file, at: 0)
      for record in log.records {
        try Recovery.copy(log.file, logPath, record.offset, record.byteCount, to: file, at: end)
        end += record.byteCount
      }
      // As long as the log was, as records and header have its minimum length.
      if end < log.fileByteCount { try file.truncate(to: log.fileByteCount) }
      try file.makeDurable(for: .recoveredLog)
      // If the name was taken before the log was read, that is another store's.
      try storeFile.checkName(path, in: fileSystem)
      LogTurn.noteReplaced(log.file)
      try storeFile.checkName(path, in: fileSystem)
      try fileSystem.replace(StoreFile.logPath(of: path), by: temporary)
    } catch {
      do throws(StorageError) { try fileSystem.remove(temporary) } catch {}
      throw error
    }
    try fileSystem.makeNamesDurable(beside: path, for: .logFolder)
    try seal(to: end, in: file)
  }

  /// Lets readers come as far as the pages do that are about to be written: the last commit is on
  /// disk by now, whether it was when its process died or not.
  private func seal(to end: Int, in file: any File) throws(StorageError) {
    guard let log, log.isSealed == true, let last = log.records.last, !last.isSealed else { return }
    try withUnsafeBytes(of: last.checksum.littleEndian) { seal throws(StorageError) in
      try file.write(seal, at: end - LogFormat.Record.sealByteCount)
    }
  }

  private static func copy(
    _ source: any File, _ path: String, _ offset: Int, _ byteCount: Int, to target: any File,
    at end: Int
  ) throws(StorageError) {
    let memory = PageMemory(byteCount: byteCount)
    try memory.withBytes { bytes throws(StorageError) in
      try source.readFully(at: offset, into: bytes, path: path)
    }
    try target.write(memory, at: end)
  }
}
