import Synchronization

// A store's two files and how they move together.
//
//   commit      record → log, sync                                  one write, one sync
//   checkpoint  changed pages → store, sync; meta page, sync        the log's part becomes history
//
// The pages in the store's file change at checkpoints only, and only to what the log already holds
// durably; so a crash finds either the old pages and the log to repeat, or the new meta page. What
// a torn page looks like never matters: the log has every page that a checkpoint may be writing
// whole.
//
// The log exists only while it is needed: from the first commit after opening to the clean close.

/// The writing side of a store's files. It belongs to the thread that has passed the store's
/// turnstile, except for ``write(_:isClosing:)``, which only the current checkpoint calls.
///
/// `@unchecked Sendable`: see above; `meta` is written by checkpoints, and by the first commit,
/// when there is no checkpoint.
final class StoreFile: @unchecked Sendable {
  let path: String
  let file: any File
  let fileSystem: any FileSystem
  /// The first page, as it is on disk.
  private(set) var page: IdentityPage
  var identity: StoreIdentity { page.identity }
  var pageSize: Int { page.pageSize }
  let checksum: Checksum
  let durability: Durability
  private let imageByteLimit: Int
  let reserve: DiskReserve
  private(set) var meta: MetaPage
  private(set) var log: LogWriter?
  /// The log's limit at the moment: doubles up to the largest with each checkpoint it causes, as
  /// the load then is worth it.
  private(set) var logByteLimit: Int
  private let largestLogByteLimit: Int
  /// The size of the log at which commits wait for the current checkpoint.
  var largestLogByteCount: Int { 2 * largestLogByteLimit }

  /// Whether the newest meta page may be lost, as it can be found again from the older one and the
  /// log; see ``Recovery/isNewerMetaSpare``.
  var isMetaSpare: Bool

  /// This process, for others that write the store in turn; `nil` if it is this one's alone.
  let turnOwner: LockOwner?

  /// - Parameters:
  ///   - isAtRest: whether surely no process has died in the middle of something.
  ///   - reserve: that of the same file in an earlier turn.
  init(
    _ file: any File, path: String, in fileSystem: any FileSystem, page: IdentityPage,
    meta: MetaPage, pageCount: UInt32, isMetaSpare: Bool, isAtRest: Bool = false,
    durability: Durability? = nil, turnOwner: LockOwner? = nil, reserve: DiskReserve? = nil,
    options: PageStoreOptions
  ) {
    self.turnOwner = turnOwner
    self.isMetaSpare = isMetaSpare
    self.file = file
    self.path = path
    self.fileSystem = fileSystem
    self.page = page
    self.meta = meta
    checksum = Checksum(page.identity)
    self.durability = durability ?? options.durability
    largestLogByteLimit = options.checkpointByteLimit
    logByteLimit = min(4 << 20, options.checkpointByteLimit)
    imageByteLimit = options.imageByteLimit
    self.reserve =
      reserve
      ?? DiskReserve(
        file, pagesByteCount: Int(pageCount) * page.pageSize, limit: options.reserveByteLimit)
    // The last process may have ended while overwriting pages.
    imagesAreNeeded = !meta.isClean && !isAtRest
  }

  /// Goes on with the log of another process's turn.
  func take(_ log: LogWriter) { self.log = log }

  /// The writing side of a store that is being recovered: makes sure of what was read, before
  /// anything is written over it.
  convenience init(
    recovering recovery: Recovery, _ file: any File, _ path: String,
    _ fileSystem: any FileSystem, turnOwner: LockOwner? = nil, _ options: PageStoreOptions
  ) throws(StorageError) {
    self.init(
      file, path: path, in: fileSystem, page: recovery.page, meta: recovery.meta,
      pageCount: recovery.space.pageCount,
      isMetaSpare: recovery.isNewerMetaSpare && recovery.meta.isClean, turnOwner: turnOwner,
      options: options)
    if recovery.isIdentityDamaged { try mendIdentity() }
    guard options.durability != .none else { return }
    if let damaged = recovery.damagedMeta { try eraseMeta(damaged) }
    // For a closed store this can wait until a new log is begun.
    if recovery.isNewerMetaSpare, !recovery.meta.isClean { try settleMeta() }
    try secureLog(of: recovery)
  }

  var logByteCount: Int { log?.liveByteCount ?? 0 }

  // MARK: Commit

  /// Why a commit or a checkpoint did not happen.
  enum Failure: Error {
    /// Nothing that counts has changed in the files; it may be tried again.
    case aborted(StorageError)
    /// It is unknown what is on disk.
    case unknown(StorageError)

    /// A full disk aborts; anything else leaves the files unknown, as a failed sync does.
    init(_ error: StorageError) {
      if case .noSpaceLeft = error { self = .aborted(error) } else { self = .unknown(error) }
    }

    var cause: StorageError {
      switch self {
      case .aborted(let cause), .unknown(let cause): cause
      }
    }
  }

  /// The log; before the first commit after opening a file for it.
  func openLog() throws(Failure) -> LogWriter {
    if let log { return log }
    do throws(StorageError) {
      // A log from before the closing: until the meta page of the closing is on disk, it may have
      // the only copy of some commits.
      if isMetaSpare { try settleMeta() }
      // From here on the older meta page cannot be used, as a new log replaces its log.
      isMetaSpare = false
      let logPath = StoreFile.logPath(of: path)
      try checkNames(nil)
      // What lies under the log's name may be that of another store, which has the name now.
      try checkName()
      if !page.isCurrent { try becomeCurrent() }
      // In a new file, not over an older log: of a write that a crash cuts short, and a second one
      // that is cut short in its place, a record might be combined that was lost since the first.
      // And a process that still has a deleted store's log open may write to it.
      let created = try LogWriter(
        creating: logPath, identity: identity, pageSize: pageSize,
        epoch: meta.epoch + 1, in: fileSystem, durability: durability,
        imageByteLimit: imageByteLimit, turn: turnOwner.map { LogTurn(owner: $0) })
      // The log's name, and that of the store: until it is on disk, a crash may bring back a file
      // that had the name before, and the log must not seem to go on from that.
      if durability != .none { try fileSystem.makeNamesDurable(beside: logPath, for: .logFolder) }
      return created
    } catch {
      throw Failure(error)
    }
  }

  /// The first commit after opening: begins the log with it, and writes a meta page for the log.
  ///
  /// That page needs no sync. Without it, recovery starts from the page of the closing and
  /// continues with the log, with the same result; it only serves to detect a missing log, and
  /// before it is overwritten, a checkpoint syncs the file.
  private func begin(_ created: LogWriter, with record: LogWriter.Record) throws(Failure) {
    var next = meta.begun(checksum)
    next.sequence += 1
    do throws(StorageError) {
      try created.begin(with: record, identity: identity)
    } catch {
      guard case .noSpaceLeft = error else { throw .unknown(error) }
      do throws(StorageError) {
        try created.takeBack(durability: durability)
      } catch {
        throw .unknown(error)
      }
      throw .aborted(error)
    }
    do throws(StorageError) {
      if durability != .none { try created.sync(for: .logCreation) }
      try checkNames(created)
      created.seal(through: record.commit)
    } catch {
      throw .unknown(error)
    }
    do throws(StorageError) {
      try writeWithoutSync(next)
    } catch {
      // The commit stands, since recovery finds it without this page; but whatever is there now,
      // the other page must not be written over.
      metaFailure = error
    }
    meta = next
    log = created
  }

  /// Writes the newest meta page again to the same location, and makes it durable.
  ///
  /// The process that wrote it may have ended before it was on disk, or its sync may have failed.
  /// Until it is on disk, the data that it made obsolete may be the only copy of some commits: a
  /// log although the meta page is that of a closing, or the older part of a log that recovery is
  /// about to replace.
  func settleMeta() throws(StorageError) {
    if durability != .none { try secureImages() }
    try writeWithoutSync(meta)
    if durability != .none { try sync(for: .settledMeta) }
  }

  /// Makes existing images durable, as the process that wrote them may have ended before they were
  /// on disk. While the newest meta page is written again, the older one must refer to all pages,
  /// and may need them for that. Without a log, recovery uses no images.
  private func secureImages() throws(StorageError) {
    guard try fileSystem.identifier(of: StoreFile.logPath(of: path)) != nil else { return }
    do throws(StorageError) {
      let images = try fileSystem.open(StoreFile.imagesPath(of: path), .write)
      try images.makeDurable(for: .pageImages)
    } catch .notFound {}
  }

  /// Makes durable what recovery read from the log; if there is no other room for its copy, in that
  /// of the reserve.
  func secureLog(of recovery: Recovery) throws(StorageError) {
    do throws(StorageError) {
      try recovery.secureLog(of: path, file, in: fileSystem)
    } catch .noSpaceLeft(let logPath) {
      guard reserve.giveUp() else { throw .noSpaceLeft(path: logPath) }
      try recovery.secureLog(of: path, file, in: fileSystem)
    }
  }

  /// Gives a closed store of an earlier format the present one.
  ///
  /// Nothing but the first page says what a file is, and its place cannot be had twice. So a meta
  /// page repeats it first: if a crash cuts the page short, it is read from there, and written once
  /// more. To an earlier release a store with that meta page alone is as it was.
  private func becomeCurrent() throws(StorageError) { try become(page.current) }

  /// Marks a store that is at rest as one that processes write in turn.
  func becomeShared() throws(StorageError) {
    // The older meta page is about to be written over.
    if isMetaSpare { try settleMeta() }
    isMetaSpare = false
    var new = page.current
    new.features.isShared = true
    try become(new)
    if durability != .none { try sync(for: .identityCopy) }
  }

  private func become(_ new: IdentityPage) throws(StorageError) {
    var next = meta
    next.sequence += 1
    try file.write(next.encoded(checksum, new), at: Int(next.id.rawValue) * pageSize)
    if durability != .none { try sync(for: .identityCopy) }
    meta = next
    try write(new)
  }

  /// Writes the first page, of which a meta page on disk has a copy. Later meta pages have it too,
  /// so that no sync is needed.
  private func write(_ new: IdentityPage) throws(StorageError) {
    try file.write(new.encoded(byteCount: new.byteCount), at: 0)
    page = new
  }

  /// Writes the first page anew, which was found damaged: all of it.
  func mendIdentity() throws(StorageError) {
    try file.write(page.encoded(byteCount: pageSize), at: 0)
  }

  /// Erases a damaged meta page before anything else is written: a crash while the next one is
  /// written there could otherwise combine parts of both into an intact page.
  func eraseMeta(_ id: PageID) throws(StorageError) {
    let page = PageMemory(byteCount: pageSize)
    page.base.initializeMemory(as: UInt8.self, repeating: 0, count: pageSize)
    try file.write(page, at: Int(id.rawValue) * pageSize)
    try sync(for: .settledMeta)
  }

  /// Writes a record.
  ///
  /// - Returns: whether it is durable, as that of the first commit after opening is. Of the others,
  ///   with full durability, each is to be synced before it counts.
  func append(_ record: LogWriter.Record, to log: LogWriter) throws(Failure) -> Bool {
    if self.log == nil {
      try begin(log, with: record)
      return durability != .none
    }
    do throws(StorageError) {
      try log.append(record)
    } catch {
      guard case .noSpaceLeft = error else { throw .unknown(error) }
      do throws(StorageError) {
        try log.retract()
        // Refused commits must not reappear after a crash.
        if durability == .full { try log.sync(for: .commit) }
      } catch {
        throw .unknown(error)
      }
      throw .aborted(error)
    }
    return false
  }

  // MARK: Checkpoint

  /// Brings the pages in the file up to the checkpoint's version, which must be durable in the log;
  /// the log is then history up to it, or altogether when `isClosing`.
  ///
  /// A disk that has no room for what is written aborts it while only page content has changed,
  /// since the log still holds everything.
  func write(_ checkpoint: Checkpoint, isClosing: Bool) throws(Failure) {
    if let metaFailure { throw .unknown(metaFailure) }
    let space = checkpoint.space
    space.cache?.beginOverwriting(with: space.commit)
    defer { space.cache?.endOverwriting() }
    let pages = checkpoint.pages()
    do throws(StorageError) {
      try saveImages(of: checkpoint.pagesWithoutImage(pages), checkpoint)
      try log?.note(.checkpoint, isBusy: true)
      imagesAreNeeded = true
      try writePages(pages, checkpoint)
      if durability != .none { try sync(for: .checkpointPages) }
    } catch {
      throw Failure(error)
    }
    // In memory if it has changed since the last checkpoint.
    let map = space.overlay[.firstMap]
    let next = MetaPage(
      sequence: meta.sequence + 1, epoch: meta.epoch, lastCommit: space.commit,
      pageCount: space.pageCount, freePageCount: UInt32(space.freePageCount),
      mapCommit: map.isPage ? map.page.commit : meta.mapCommit,
      logOffset: UInt64(checkpoint.position.offset), logChain: checkpoint.position.chain,
      isClean: isClosing)
    do throws(StorageError) {
      try write(next, for: .checkpointMeta)
      try log?.note(.checkpoint, isBusy: false)
      try checkNames(log)
    } catch {
      // Whatever the reason: if the meta page counts, the log is history.
      throw .unknown(error)
    }
    imagesAreNeeded = false
  }

  private func writePages(
    _ pages: [(id: PageID, page: Page)], _ checkpoint: Checkpoint
  ) throws(StorageError) {
    try reserve.duringGrowth { () throws(StorageError) in
      try checkpoint.writePages(pages, to: file, after: meta.lastCommit, checksum)
    }
  }

  /// Saves images of the pages that are about to be overwritten; if there is no other room for
  /// them, in that of the reserve.
  private func saveImages(
    of pages: [(id: PageID, page: Page)], _ checkpoint: Checkpoint
  ) throws(StorageError) {
    do throws(StorageError) {
      try writeImages(of: pages, checkpoint)
    } catch .noSpaceLeft(let path) {
      guard reserve.giveUp() else { throw .noSpaceLeft(path: path) }
      try writeImages(of: pages, checkpoint)
    }
  }

  private func writeImages(
    of pages: [(id: PageID, page: Page)], _ checkpoint: Checkpoint
  ) throws(StorageError) {
    guard !pages.isEmpty else { return }
    // Without a log beside it, no recovery of the file would look for images either.
    guard try nameHolder() != .another else {
      images = nil
      return
    }
    let imagesPath = StoreFile.imagesPath(of: path)
    if !imagesAreNeeded, let images {
      try writeImages(of: pages, checkpoint, to: images)
      return
    }
    // A checkpoint was cut short: its images are needed until these are on disk. Or there is no
    // such file yet.
    let temporary = StoreFile.newImagesPath(of: path)
    do throws(StorageError) {
      let file = try fileSystem.open(temporary, .create)
      try writeImages(of: pages, checkpoint, to: file)
      // It is used again only if its name is on disk for sure.
      images = nil
      guard try nameHolder() != .another else {
        try fileSystem.remove(temporary)
        return
      }
      try fileSystem.replace(imagesPath, by: temporary)
      if durability != .none { try fileSystem.syncFolder(of: path, for: .pageImagesFolder) }
      images = file
    } catch {
      do throws(StorageError) { try fileSystem.remove(temporary) } catch {}
      throw error
    }
  }

  private func writeImages(
    of pages: [(id: PageID, page: Page)], _ checkpoint: Checkpoint, to file: any File
  ) throws(StorageError) {
    try PageImages.write(
      pages, of: checkpoint.space.commit, epoch: meta.epoch, checksum, pageSize: pageSize,
      proof: checkpoint.proof(after: meta.lastCommit), to: file)
    // Not `makeDurable`: one that finds no space is as a write that finds none, as images are only
    // relied on when their sync went well, and the next attempt writes all of them again.
    if durability != .none { try file.sync(for: .pageImages) }
  }

  private var images: (any File)?
  /// Whether pages may have been overwritten in part: the images must not be touched then.
  private var imagesAreNeeded: Bool

  /// The checkpoint is on disk: what it wrote need not be in the log any more.
  func finish(_ checkpoint: Checkpoint) {
    log?.release(before: checkpoint.position)
  }

  /// The log was full before its time; more of it is worth its room.
  func raiseLogLimit() { logByteLimit = min(2 * logByteLimit, largestLogByteLimit) }

  /// After the closing checkpoint.
  func removeLog() throws(StorageError) {
    log = nil
    images = nil
    guard try nameHolder() != .another else { return }
    defer {
      // After the log: as long as there is one, an older meta page might need both. What stays
      // behind counts for nothing once there is another log.
      do throws(StorageError) {
        if try nameHolder() != .another { try fileSystem.remove(StoreFile.imagesPath(of: path)) }
      } catch {}
    }
    try fileSystem.remove(StoreFile.logPath(of: path))
  }

  /// Truncates the file after its last page.
  func cutOff(afterPages pageCount: UInt32) throws(StorageError) {
    let byteCount = Int(pageCount) * pageSize
    guard try file.byteCount() > byteCount else { return }
    try file.truncate(to: byteCount)
    reserve.noteCut(to: byteCount)
  }

  private func write(_ next: MetaPage, for reason: SyncReason) throws(StorageError) {
    try writeWithoutSync(next)
    if durability != .none { try sync(for: reason) }
    meta = next
  }

  private func writeWithoutSync(_ meta: MetaPage) throws(StorageError) {
    try file.write(meta.encoded(checksum, page), at: Int(meta.id.rawValue) * pageSize)
  }

  /// Makes durable what was written to the store's file. After one failure all later calls fail:
  /// the system reports a failure once, to any caller, and considers the pages clean afterwards.
  func sync(for reason: SyncReason) throws(StorageError) {
    do throws(StorageError) {
      try file.makeDurable(for: reason)
    } catch {
      failure.withLock { if $0 == nil { $0 = error } }
      throw error
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  private let failure = Mutex<StorageError?>(nil)
  /// When the log's name was last asked for after a commit.
  let lastNameCheck = Mutex<ContinuousClock.Instant?>(nil)
  /// Why the meta page of the first commit could not be written, though the commit stands.
  private(set) var metaFailure: StorageError?
}
