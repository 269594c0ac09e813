import Synchronization

/// Follows a store that another process may be writing: keeps the newest version up to date.
///
/// Nothing tells a reader of a commit, so it looks, each time a snapshot is taken. What it looks at
/// first are a few words that a commit changes: where the next record of the log will begin, and,
/// now and then, which file has the store's name and what its meta pages say. Then, cheapest first:
///
/// 1. *Advance.* The log's new records are applied to the newest version, as the writer did.
/// 2. *Relieve.* A checkpoint has written to the file what the version has in memory: the version
///    lets go of it.
/// 3. *Begin again* from the meta page and the log, when a checkpoint has gone beyond the version,
///    or the log or the file is another one. Pages in memory that are still right are kept.
///
/// The cache has for each page that the newest version does not have in memory the content that
/// this version expects, or none. So each of the three takes from it what changes, before it shows
/// another version.
///
/// `@unchecked Sendable`: the variables are accessed only while `monitor` is locked, but for
/// `look`, which has a mutex, and `owner`, which is atomic.
final class StoreFollower: @unchecked Sendable {
  let path: String
  let fileSystem: any FileSystem
  let options: PageStoreOptions
  let geometry: PageGeometry
  let checksum: Checksum
  private let monitor = Monitor()
  /// The thread that has the monitor.
  private let owner = Atomic<UInt>(0)
  var file: any File
  /// What the meta pages said when the newest version was brought up to date.
  private var moment: Recovery.Moment
  /// Where the log goes on; `nil` if the store has none.
  var position: LogPosition?
  /// The file that has the log's name, if it is no log of the store.
  private var logIdentifier: FileIdentifier?
  /// The records that the file does not have yet.
  var records: [(commit: CommitNumber, byteCount: Int)] = []
  private let look = Mutex(Look())
  /// Whether a thread looks from time to time.
  private let isWatched = Atomic(false)

  /// How long the names of the files and the meta pages are taken to be what they were: none of
  /// them changes with a commit while there is a log.
  private static let nameInterval = Duration.milliseconds(20)
  /// How often a store is looked at that changes meanwhile; what has changed by then is shown.
  private static let roundLimit = 4

  init(
    _ recovery: Recovery, _ file: any File, _ moment: Recovery.Moment, path: String,
    in fileSystem: any FileSystem, options: PageStoreOptions
  ) {
    self.path = path
    self.fileSystem = fileSystem
    self.options = options
    self.file = file
    geometry = recovery.page.geometry
    checksum = Checksum(recovery.identity)
    self.moment = moment
    take(recovery, file, moment)
  }

  /// Goes on from a state that was read as a whole.
  func take(_ recovery: Recovery, _ file: any File, _ moment: Recovery.Moment) {
    self.file = file
    self.moment = moment
    position = recovery.log?.end
    // One that is begun later is found by the meta pages; this one is of another time.
    logIdentifier =
      position == nil ? try? fileSystem.identifier(of: StoreFile.logPath(of: path)) : nil
    records = recovery.log?.records.map { ($0.commit, $0.byteCount) } ?? []
  }

  // MARK: Looking

  /// What is looked at without the monitor; nothing is known if there is no file.
  private struct Look {
    var file: (any File)?
    var moment: Recovery.Moment?
    var log: Mark?
    var deadline = ContinuousClock.now
  }

  /// Where the log changes when a commit is made: at its end, or at the start of the ring.
  private struct Mark {
    let file: any File
    let offset: Int
    let end: Words
    let start: Words

    /// The beginning of a record's header, which differs from record to record.
    struct Words: Equatable {
      var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

      init(_ file: any File, at offset: Int) throws(StorageError) {
        _ = try withUnsafeMutableBytes(of: &bytes) { bytes throws(StorageError) in
          try file.read(at: offset, into: bytes)
        }
      }

      static func == (one: Words, other: Words) -> Bool { one.bytes == other.bytes }
    }

    init(_ position: LogPosition) throws(StorageError) {
      file = position.file
      offset = position.offset
      end = try Words(file, at: offset)
      start = try Words(file, at: LogFormat.recordsStart)
    }

    func isUnchanged() throws(StorageError) -> Bool {
      // A log that was removed, or replaced by a recovery, changes no more.
      guard try file.currentNameCount() > 0, try Words(file, at: offset) == end else {
        return false
      }
      return try Words(file, at: LogFormat.recordsStart) == start
    }
  }

  /// Whether the newest version may not be the newest any more.
  private func mayHaveChanged() throws(StorageError) -> Bool {
    let look = look.withLock { $0 }
    guard let file = look.file, ContinuousClock.now < look.deadline else { return true }
    if let log = look.log { return try !log.isUnchanged() }
    // The first commit after a closing writes a meta page before it returns. What replaces a file
    // with a log removes the log.
    if try isOtherFile(file) { return true }
    return try look.moment?.isStill(in: file, pageSize: geometry.pageSize) != true
  }

  // MARK: Following

  /// Brings the newest version of the store up to date.
  ///
  /// - Returns: whether that could be done: not by the thread that is doing it.
  /// - Throws: ``StorageError/replaced(path:)``; ``StorageError/snapshotTooOld(tries:)`` if the
  ///   store changes faster than it can be read; what is wrong with the store.
  @discardableResult
  func follow(_ core: StoreCore) throws(StorageError) -> Bool {
    let thread = ThreadIdentity.current
    if owner.load(ordering: .relaxed) == thread { return false }
    guard try mayHaveChanged() else { return true }
    if let commit = try followAlone(core, thread) {
      let attachment = core.attachment.withLock { $0 }
      attachment?.store(core.identity, didMoveTo: commit)
    }
    return true
  }

  /// - Returns: the newest commit, if it is another one than before.
  private func followAlone(
    _ core: StoreCore, _ thread: UInt
  ) throws(StorageError) -> CommitNumber? {
    monitor.lock()
    owner.store(thread, ordering: .relaxed)
    defer {
      owner.store(0, ordering: .relaxed)
      monitor.unlock()
    }
    // Another thread may have done so meanwhile.
    guard try mayHaveChanged(), !core.isClosed else { return nil }
    let former = core.latestVersion.space.commit
    try bringUpToDate(core)
    let newest = core.latestVersion.space.commit
    return newest == former ? nil : newest
  }

  // MARK: Watching

  /// How often it is looked whether there is something new, while somebody wants to know.
  private static let watchInterval = Duration.milliseconds(40)

  /// Follows on a thread of its own, for as long as somebody wants to know.
  func watch(_ core: StoreCore, while isWanted: @escaping @Sendable () -> Bool) {
    guard isWatched.exchange(true, ordering: .acquiringAndReleasing) == false else { return }
    let isOnItsWay = Threads.run { [weak core, weak self] in
      while true {
        Threads.sleep(for: StoreFollower.watchInterval)
        // Held for the moment only: a store that goes is not to wait for this thread.
        guard let self, let core, !core.isClosed else { return }
        guard isWanted() else {
          self.isWatched.store(false, ordering: .releasing)
          // Who has begun to want it meanwhile has found it watched.
          if isWanted() { self.watch(core, while: isWanted) }
          return
        }
        // Whoever reads next meets the error.
        do throws(StorageError) { try self.follow(core) } catch {}
      }
    }
    if !isOnItsWay { isWatched.store(false, ordering: .releasing) }
  }

  private func bringUpToDate(_ core: StoreCore) throws(StorageError) {
    look.withLock { $0 = Look() }
    for _ in 0..<StoreFollower.roundLimit {
      let now = ContinuousClock.now
      // Whatever changes after it was looked at is found by the next look.
      let seen = try Recovery.Moment(file, pageSize: geometry.pageSize)
      if try isOtherFile() {
        guard try beginAgain(core) else { return }
        continue
      }
      var look = Look(file: file, moment: seen, deadline: now + StoreFollower.nameInterval)
      if let position { look.log = try Mark(position) }
      // First what the log has, so that the version has come as far as the checkpoint.
      let progress = try advance(core, seen)
      if progress == .impossible {
        guard try beginAgain(core) else { return }
        continue
      }
      if seen != moment {
        if try relieve(core, seen) {
          moment = seen
        } else if progress != .advanced {
          guard try beginAgain(core) else { return }
          continue
        }
      }
      switch progress {
      case .impossible: continue
      // It shows what there was when this was begun; what came since is looked for next time.
      case .advanced, .unsealed: return
      case .nothing:
        // The end of the log may have been written over since the meta pages were read.
        guard try Recovery.Moment(file, pageSize: geometry.pageSize) == seen else { continue }
        self.look.withLock { $0 = look }
        return
      }
    }
  }

  /// Whether another file has the name. One without a name is what the store was: nothing newer can
  /// be had.
  private func isOtherFile(_ file: any File) throws(StorageError) -> Bool {
    guard let named = try fileSystem.identifier(of: path) else { return false }
    return named != file.identifier
  }

  /// Whether the store, or its log, is another file than it was.
  private func isOtherFile() throws(StorageError) -> Bool {
    if try isOtherFile(file) { return true }
    if let position { return try position.file.currentNameCount() == 0 }
    let log = try fileSystem.identifier(of: StoreFile.logPath(of: path))
    return log != nil && log != logIdentifier
  }
}
