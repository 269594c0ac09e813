// A store's two files and how they move together.
//
//   commit      record → log, sync                                  one write, one sync
//   checkpoint  changed pages → store, sync; meta page, sync        the log begins anew
//
// The pages in the store's file change at checkpoints only, and only to what the log already holds
// durably; so a crash finds either the old pages and the log to repeat, or the new meta page. Each
// commit logs whole pages, so repeating it never depends on what a torn page in the file looks
// like.
//
// The log exists only while it is needed: from the first commit after opening to the clean close.

/// The writing side of a store's files. Belongs to whoever is through the store's turnstile.
final class StoreFile {
  let path: String
  private let file: any File
  private let fileSystem: any FileSystem
  private let identity: StoreIdentity
  private let checksum: Checksum
  private let pageSize: Int
  private let durability: Durability
  private let checkpointByteLimit: Int
  private var meta: MetaPage
  private var log: LogWriter?
  /// The pages changed since the last checkpoint.
  private var dirty: Set<PageID>

  static func logPath(of path: String) -> String { path + "-log" }
  static func ownerPath(of path: String) -> String { path + "-owner" }

  /// - Parameter dirty: the pages that recovery found in the log.
  init(
    _ file: any File, path: String, in fileSystem: any FileSystem, identity: StoreIdentity,
    pageSize: Int, meta: MetaPage, dirty: Set<PageID>, options: PageStoreOptions
  ) {
    self.file = file
    self.path = path
    self.fileSystem = fileSystem
    self.identity = identity
    self.pageSize = pageSize
    self.meta = meta
    self.dirty = dirty
    checksum = Checksum(identity)
    durability = options.durability
    checkpointByteLimit = options.checkpointByteLimit
  }

  var logByteCount: Int { log?.usedByteCount ?? 0 }
  var wantsCheckpoint: Bool { logByteCount > checkpointByteLimit }
  var hasChanges: Bool { !dirty.isEmpty || log != nil }
  func byteCount() throws(StorageError) -> Int { try file.byteCount() }

  // MARK: Owner

  /// Tells other processes who has the lock. For their error's text only, so failing does not
  /// matter.
  func writeOwnerNote() {
    do throws(StorageError) {
      let note = try fileSystem.open(StoreFile.ownerPath(of: path), .create)
      try Array(fileSystem.currentOwner().note.utf8).withRawBytes { bytes throws(StorageError) in
        try note.write(bytes, at: 0)
      }
    } catch {}
  }

  func removeOwnerNote() {
    do throws(StorageError) { try fileSystem.remove(StoreFile.ownerPath(of: path)) } catch {}
  }

  /// What the owner of the lock wrote.
  static func readOwnerNote(of path: String, in fileSystem: any FileSystem) -> LockOwner {
    do throws(StorageError) {
      let note = try fileSystem.open(ownerPath(of: path), .read)
      let memory = PageMemory(byteCount: min(try note.byteCount(), 1024))
      let read = try note.readAll(into: memory)
      return try memory.withBytes { bytes throws(StorageError) in
        LockOwner(note: String(decoding: bytes.prefix(read), as: UTF8.self))
      }
    } catch {
      return .unknown
    }
  }

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
  }

  /// Makes a commit durable. Its pages are sealed with their checksums on the way.
  func commit(
    _ space: PageSpace, changed: [(id: PageID, page: MutablePage)]
  ) throws(Failure) {
    for (id, page) in changed {
      page.checksum = checksum.ofPage(id, page.page, pageSize: pageSize)
    }
    let log = try openLog(for: space)
    do throws(StorageError) {
      // With full durability every commit before this one was synced before it was acknowledged.
      let durableThrough =
        durability == .full
        ? CommitNumber(rawValue: space.commit.rawValue - 1) : meta.lastCommit
      try log.append(
        changed.map { ($0.id, $0.page.page) }, commit: space.commit, pageCount: space.pageCount,
        durableThrough: durableThrough)
    } catch {
      try retract(from: log, after: error)
    }
    guard durability == .full else { return note(changed) }
    do throws(StorageError) {
      try log.sync()
    } catch {
      throw .unknown(error)
    }
    note(changed)
  }

  private func note(_ changed: [(id: PageID, page: MutablePage)]) {
    for (id, _) in changed { dirty.insert(id) }
  }

  private func retract(
    from log: LogWriter, after error: StorageError
  ) throws(Failure) {
    guard case .noSpaceLeft = error else { throw .unknown(error) }
    do throws(StorageError) {
      try log.retract()
    } catch {
      throw .unknown(error)
    }
    throw .aborted(error)
  }

  /// The log; before the first commit after opening it is created, and a meta page says so.
  private func openLog(for space: PageSpace) throws(Failure) -> LogWriter {
    if let log { return log }
    let created: LogWriter
    do throws(StorageError) {
      created = try LogWriter(
        creating: StoreFile.logPath(of: path), identity: identity, pageSize: pageSize,
        epoch: meta.epoch + 1, in: fileSystem, durability: durability)
    } catch {
      // What there is of it, no meta page demands; the next commit begins it again.
      throw Failure(error)
    }
    // The log's name and header are durable before a meta page demands them.
    var next = meta
    next.sequence += 1
    next.epoch += 1
    next.isClean = false
    do throws(StorageError) {
      try write(next, for: .firstCommitMeta)
    } catch {
      // Whatever the reason: if the meta page counts, the log must not be begun again.
      throw .unknown(error)
    }
    log = created
    return created
  }

  // MARK: Checkpoint

  /// Brings the pages in the file up to `space`, which must be durable in the log, and begins the
  /// log anew; or, when `isClosing`, removes it.
  ///
  /// A full disk aborts it while only page content has changed, since the log still holds
  /// everything.
  func checkpoint(_ space: PageSpace, isClosing: Bool) throws(Failure) {
    do throws(StorageError) {
      try writePages(of: space)
      if durability == .full { try file.sync(for: .checkpointPages) }
    } catch {
      throw Failure(error)
    }
    do throws(StorageError) {
      try turnOver(to: space, isClosing: isClosing)
    } catch {
      // Whatever the reason: if the meta page counts, records of this epoch no longer do.
      throw .unknown(error)
    }
  }

  /// Writes the meta page that makes the log history.
  private func turnOver(to space: PageSpace, isClosing: Bool) throws(StorageError) {
    let next = MetaPage(
      sequence: meta.sequence + 1, epoch: meta.epoch + 1, lastCommit: space.commit,
      pageCount: space.pageCount, isClean: isClosing)
    try write(next, for: .checkpointMeta)
    dirty = []
    if isClosing {
      log = nil
      try fileSystem.remove(StoreFile.logPath(of: path))
    } else {
      log?.restart(epoch: next.epoch)
    }
  }

  private func write(_ next: MetaPage, for reason: SyncReason) throws(StorageError) {
    let page = next.encoded(checksum, pageSize: pageSize)
    try file.write(page, at: Int(next.id.rawValue) * pageSize)
    if durability == .full { try file.sync(for: reason) }
    meta = next
  }

  /// Writes the changed pages in the order of the file, neighbours together.
  private func writePages(of space: PageSpace) throws(StorageError) {
    // A page that is free by now need not be written: nothing will read it.
    let pages = dirty.sorted().compactMap { id in space.table[id].map { (id, $0) } }
    guard !pages.isEmpty else { return }
    let room = PageMemory(byteCount: min(pages.count, StoreFile.batchPageCount) * pageSize)
    var start = 0
    while start < pages.count {
      var count = 0
      while start + count < pages.count, count < StoreFile.batchPageCount,
        pages[start + count].0.rawValue == pages[start].0.rawValue + UInt32(count)
      {
        (room.base + count * pageSize)
          .copyMemory(from: pages[start + count].1.base, byteCount: pageSize)
        count += 1
      }
      try file.write(
        room, byteCount: count * pageSize, at: Int(pages[start].0.rawValue) * pageSize)
      start += count
    }
  }

  private static let batchPageCount = 256
}
