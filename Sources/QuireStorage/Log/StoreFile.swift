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

/// The writing side of a store's files. Belongs to whoever is through the store's turnstile, but
/// for ``write(_:isClosing:)``, which only the one checkpoint under way calls.
///
/// `@unchecked Sendable`: see above; `meta` is written by checkpoints, and by the first commit,
/// when there is no checkpoint.
final class StoreFile: @unchecked Sendable {
  let path: String
  let file: any File
  let fileSystem: any FileSystem
  let identity: StoreIdentity
  let checksum: Checksum
  let pageSize: Int
  let durability: Durability
  private let imageByteLimit: Int
  private(set) var meta: MetaPage
  private(set) var log: LogWriter?
  /// The log's limit at the moment: doubles up to the largest with each checkpoint it causes, as
  /// the load then is worth it.
  private(set) var logByteLimit: Int
  private let largestLogByteLimit: Int
  /// Where commits wait for the checkpoint under way rather than let the log grow.
  var largestLogByteCount: Int { 2 * largestLogByteLimit }

  /// Whether the newest meta page may be lost, as it can be found again from the older one and the
  /// log; see ``Recovery/isNewerMetaSpare``.
  var isMetaSpare: Bool

  init(
    _ file: any File, path: String, in fileSystem: any FileSystem, identity: StoreIdentity,
    pageSize: Int, meta: MetaPage, isMetaSpare: Bool, options: PageStoreOptions
  ) {
    self.isMetaSpare = isMetaSpare
    self.file = file
    self.path = path
    self.fileSystem = fileSystem
    self.identity = identity
    self.pageSize = pageSize
    self.meta = meta
    checksum = Checksum(identity)
    durability = options.durability
    largestLogByteLimit = options.checkpointByteLimit
    logByteLimit = min(4 << 20, options.checkpointByteLimit)
    imageByteLimit = options.imageByteLimit
    // Whoever had the store before may have died while overwriting pages.
    imagesAreNeeded = !meta.isClean
  }

  var logByteCount: Int { log?.liveByteCount ?? 0 }

  // MARK: Commit

  /// Why a commit or a checkpoint did not happen.
  enum Failure: Error {
    /// Nothing that counts has changed in the files; it may be tried again.
    case aborted(StorageError)
    /// It is unknown what is on disk.
    case unknown(StorageError)

    /// A full disk aborts; anything else leaves the files unknown.
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
      // A log of the time before the store was closed: until the meta page that says so is on disk,
      // it may be the only place of some commits.
      if isMetaSpare { try settleMeta() }
      // From here on the older one leads nowhere, as its log is begun anew.
      isMetaSpare = false
      let logPath = StoreFile.logPath(of: path)
      // What lies under the log's name may be that of another store, which has the name now.
      try checkName()
      // In a file of its own, not over the log of an earlier time: of a write that a crash cuts
      // short, and of a second one that is cut short in its place, a record might be put together
      // that nobody has seen since the first. And whoever has the log of a store open that was
      // deleted here still writes to it.
      return try LogWriter(
        creating: logPath, identity: identity, pageSize: pageSize,
        epoch: meta.epoch + 1, in: fileSystem, durability: durability,
        imageByteLimit: imageByteLimit)
    } catch {
      throw Failure(error)
    }
  }

  /// The first commit after opening: begins the log with it, and writes a meta page that says so.
  ///
  /// That page needs no sync of its own. Recovery goes on from the one that closed the store with a
  /// log that continues it, as with this one; it is there to tell of a log that is missing, and
  /// before it is written over, a checkpoint syncs the file.
  private func begin(_ created: LogWriter, with record: LogWriter.Record) throws(Failure) {
    var next = meta.begun(checksum)
    next.sequence += 1
    do throws(StorageError) {
      // The log's name, and that of the store: until it is on disk, a crash may bring back a file
      // that had the name before, and the log must not seem to go on from that.
      if durability != .none {
        try fileSystem.syncFolder(of: StoreFile.logPath(of: path), for: .logFolder)
      }
    } catch {
      throw Failure(error)
    }
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
    } catch {
      throw .unknown(error)
    }
    do throws(StorageError) {
      let page = next.encoded(checksum, pageSize: pageSize)
      try file.write(page, at: Int(next.id.rawValue) * pageSize)
    } catch {
      // The commit stands, since recovery finds it without this page; but whatever is there now,
      // the other page must not be written over.
      metaFailure = error
    }
    meta = next
    log = created
  }

  /// Writes the newest meta page to where it is once more, and makes it durable.
  ///
  /// Whoever wrote it may have died before it was on disk, or its sync may have failed. Until it is
  /// there, what it made history may be the only place of some commits: a log that lies there
  /// although the meta page says that the store was closed, or the older part of a log that
  /// recovery is about to replace.
  func settleMeta() throws(StorageError) {
    if durability != .none { try secureImages() }
    let page = meta.encoded(checksum, pageSize: pageSize)
    try file.write(page, at: Int(meta.id.rawValue) * pageSize)
    if durability != .none { try sync(for: .settledMeta) }
  }

  /// Makes durable the images that are there: whoever wrote them may have died before they were on
  /// disk. While the newest meta page is written once more, the older one has to lead to all pages,
  /// and may need them for that. Without a log beside them, no recovery looks for images.
  private func secureImages() throws(StorageError) {
    guard try fileSystem.identifier(of: StoreFile.logPath(of: path)) != nil else { return }
    do throws(StorageError) {
      let images = try fileSystem.open(StoreFile.imagesPath(of: path), .write)
      try images.sync(for: .pageImages)
    } catch .notFound {}
  }

  /// Makes sure that nothing is left of a meta page that was found damaged, before anything else is
  /// written: of the page that is written there next, a crash might leave a part, which together
  /// with what is there is the damaged page as it was meant.
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
        // What was refused must not come back after a crash.
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
  /// A full disk aborts it while only page content has changed, since the log still holds
  /// everything.
  func write(_ checkpoint: Checkpoint, isClosing: Bool) throws(Failure) {
    if let metaFailure { throw .unknown(metaFailure) }
    let space = checkpoint.space
    space.cache?.beginOverwriting(with: space.commit)
    defer { space.cache?.endOverwriting() }
    let pages = checkpoint.pages()
    do throws(StorageError) {
      try writeImages(of: checkpoint.pagesWithoutImage(pages), commit: space.commit)
      imagesAreNeeded = true
      try checkpoint.writePages(pages, to: file, checksum)
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
    } catch {
      // Whatever the reason: if the meta page counts, the log is history.
      throw .unknown(error)
    }
    imagesAreNeeded = false
  }

  /// Makes sure of what is about to be overwritten.
  private func writeImages(
    of pages: [(id: PageID, page: Page)], commit: CommitNumber
  ) throws(StorageError) {
    guard !pages.isEmpty else { return }
    // Without a log beside it, no recovery of the file would look for images either.
    guard try nameHolder() != .another else {
      images = nil
      return
    }
    let imagesPath = StoreFile.imagesPath(of: path)
    if !imagesAreNeeded, let images {
      try writeImages(of: pages, commit: commit, to: images)
      return
    }
    // A checkpoint was cut short: its images are needed until these are on disk. Or there is no
    // such file yet.
    let temporary = StoreFile.newImagesPath(of: path)
    do throws(StorageError) {
      let file = try fileSystem.open(temporary, .create)
      try writeImages(of: pages, commit: commit, to: file)
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
    of pages: [(id: PageID, page: Page)], commit: CommitNumber, to file: any File
  ) throws(StorageError) {
    try PageImages.write(
      pages, of: commit, epoch: meta.epoch, checksum, pageSize: pageSize, to: file)
    if durability != .none { try file.sync(for: .pageImages) }
  }

  private var images: (any File)?
  /// Whether pages may have been overwritten in part: the images must not be touched then.
  private var imagesAreNeeded: Bool

  /// The checkpoint is on disk: what it wrote need not be in the log any more.
  func finish(_ checkpoint: Checkpoint) {
    log?.release(before: checkpoint.position)
  }

  /// The log was full before its time; more of it is worth its place.
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

  /// Gives back to the system what the file has beyond its last page.
  func cutOff(afterPages pageCount: UInt32) throws(StorageError) {
    let byteCount = Int(pageCount) * pageSize
    if try file.byteCount() > byteCount { try file.truncate(to: byteCount) }
  }

  private func write(_ next: MetaPage, for reason: SyncReason) throws(StorageError) {
    let page = next.encoded(checksum, pageSize: pageSize)
    try file.write(page, at: Int(next.id.rawValue) * pageSize)
    if durability != .none { try sync(for: reason) }
    meta = next
  }

  /// Makes durable what was written to the store's file. After one failure there is no success: the
  /// system tells of a failure once, whoever asks, and believes the pages clean then.
  func sync(for reason: SyncReason) throws(StorageError) {
    do throws(StorageError) {
      try file.sync(for: reason)
    } catch {
      failure.withLock { if $0 == nil { $0 = error } }
      throw error
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  private let failure = Mutex<StorageError?>(nil)
  /// Why the meta page of the first commit could not be written, though the commit stands.
  private(set) var metaFailure: StorageError?
}
