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
  var records = LiveRecords()
  /// The span of the log in which pages have images that come from other processes' records; see
  /// ``LogWriter``.
  var span: UInt64 = 1
  /// How many bytes the last records had.
  var advanceByteCount = 0
  /// Whether the newest version may have pages that are not made; see ``DeferredPage``.
  var hasDeferredPages = false
  /// Whether what this process has written last does not count, so that all is to be read anew.
  private var isForgotten = false
  /// What this process has left at the end of its last turn.
  private var left: (moment: Recovery.Moment, log: FileIdentifier?, chain: UInt64?)?
  private let look = Mutex(Look())
  /// When the log is asked next whether it has a name.
  private var nextNameCheck = ContinuousClock.now
  /// Whether a thread looks from time to time.
  private let isWatched = Atomic(false)

  /// How long the names of the files and the meta pages are taken to be what they were: none of
  /// them changes with a commit while there is a log.
  private static let nameInterval = Duration.milliseconds(20)
  /// How often a store is looked at that changes meanwhile; what has changed by then is shown.
  private static let roundLimit = 4
  /// The same when nobody writes.
  private static let turnRoundLimit = 8

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
    // A log beside a closed store is of another time, unless somebody is beginning it now.
    logIdentifier = nil
    if position == nil, (try? file.isBeingWritten()) == false {
      logIdentifier = try? fileSystem.identifier(of: StoreFile.logPath(of: path))
    }
    records = LiveRecords(recovery.log?.records.map(LiveRecord.init) ?? [])
    hasDeferredPages = false
    isForgotten = false
  }

  // MARK: Looking

  /// What is looked at without the monitor; nothing is known if there is no file.
  private struct Look {
    var file: (any File)?
    var moment: Recovery.Moment?
    var log: Mark?
    /// See ``logIdentifier``.
    var foreignLog: FileIdentifier?
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

    /// Of a log that is not removed: that changes the meta pages.
    func isUnchanged() throws(StorageError) -> Bool {
      guard try Words(file, at: offset) == end, try !LogTurn.isReplaced(file) else { return false }
      return try Words(file, at: LogFormat.recordsStart) == start
    }
  }

  /// Whether the newest version may not be the newest any more.
  private func mayHaveChanged() throws(StorageError) -> Bool {
    let look = look.withLock { $0 }
    guard let file = look.file, ContinuousClock.now < look.deadline else { return true }
    guard try look.moment?.isStill(in: file, pageSize: geometry.pageSize) == true else {
      return true
    }
    // What replaces a file with a log closes it before.
    if let log = look.log { return try !log.isUnchanged() }
    if try isOtherFile(file) { return true }
    return try hasOtherLog(look.foreignLog)
  }

  // MARK: Following

  /// Brings the newest version of the store up to date.
  ///
  /// - Returns: whether that could be done: not by the thread that is doing it.
  /// - Throws: ``StorageError/replaced(path:)``; ``StorageError/snapshotTooOld(tries:)`` if the
  ///   store changes faster than it can be read; what is wrong with the store.
  @discardableResult
  func follow(_ core: StoreCore) throws(StorageError) -> Bool {
    // Nobody else writes.
    if let turns = core.turns, turns.isHeld { return true }
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
    try alone(thread) { () throws(StorageError) in
      // Another thread may have done so meanwhile, or this process may have its turn by now.
      guard core.turns?.isHeld != true, try mayHaveChanged(), !core.isClosed else { return nil }
      let former = core.latestVersion.space.commit
      _ = try bringUpToDate(core)
      let newest = core.latestVersion.space.commit
      return newest == former ? nil : newest
    }
  }

  /// Calls `body` while no other thread follows.
  private func alone<R>(
    _ thread: UInt = ThreadIdentity.current, _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R {
    monitor.lock()
    owner.store(thread, ordering: .relaxed)
    defer {
      owner.store(0, ordering: .relaxed)
      monitor.unlock()
    }
    return try body()
  }

  // MARK: Turns

  /// What there is when a process gets its turn.
  enum Find {
    /// What it left itself.
    case same
    /// What others have left.
    case changed
    /// The middle of something: its process has died.
    case unfinished
  }

  /// Brings the newest version up to date at the beginning of a turn, and calls `body` with what
  /// was found, before anybody reads it.
  func beginTurn(
    _ core: StoreCore, _ turns: StoreTurns, _ body: (Find) throws(StorageError) -> Void
  ) throws(StorageError) {
    try alone { () throws(StorageError) in
      do throws(StorageError) {
        var found = try find(core, turns)
        // If that fails, a checkpoint was cut short.
        if found == .changed, !makeDeferredPages(core) { found = .unfinished }
        try body(found)
      } catch {
        // Half of it may be of the turn.
        forgetLast()
        throw error
      }
      turns.noteHeld()
    }
  }

  private func find(_ core: StoreCore, _ turns: StoreTurns) throws(StorageError) -> Find {
    if turns.file.identifier == file.identifier, !isForgotten, try isUnchanged() {
      if isAsLeft { return .same }
      return try isAtRest(turns) ? .changed : .unfinished
    }
    do throws(StorageError) {
      for _ in 0..<StoreFollower.turnRoundLimit {
        switch try bringUpToDate(core) {
        case .upToDate: return try isAtRest(turns) ? .changed : .unfinished
        case .unfinished: return .unfinished
        case .advanced, .behind: continue
        }
      }
    } catch .replaced(let path) {
      throw .replaced(path: path)
    } catch .forked {
      throw .forked
    } catch {}
    // What is wrong with it, if anything, the recovery tells.
    return .unfinished
  }

  /// Whether the newest version is what this process has left at the end of its last turn.
  private var isAsLeft: Bool {
    guard let left else { return false }
    // A recovery puts a copy in the place of a log.
    return left.moment == moment && left.log == position?.file.identifier
      && left.chain == position?.chain
  }

  /// Whether nothing has changed since the last look, by all that could.
  private func isUnchanged() throws(StorageError) -> Bool {
    guard try moment.isStill(in: file, pageSize: geometry.pageSize) else { return false }
    nextNameCheck = .now
    guard let log = look.withLock({ $0.log }) else {
      guard position == nil else { return false }
      return try fileSystem.identifier(of: StoreFile.logPath(of: path)) == nil
    }
    guard try log.isUnchanged(), try log.file.currentNameCount() > 0 else { return false }
    return try !LogTurn.isBusy(in: log.file)
  }

  /// Whether nobody has died in the middle of something that cannot be seen in the log.
  private func isAtRest(_ turns: StoreTurns) throws(StorageError) -> Bool {
    guard let meta = try newestMeta() else { return false }
    if let position {
      // A log is begun before the meta page that demands it.
      guard position.version == LogFormat.version, meta.epoch == position.epoch, !meta.isClean
      else { return false }
      return try !LogTurn.isBusy(in: position.file)
    }
    // Closing removes the log after the meta page that makes it needless.
    guard meta.isClean else { return false }
    return try fileSystem.identifier(of: StoreFile.logPath(of: path)) == nil
  }

  /// What this process leaves at the end of its turn.
  func endTurn(_ storage: StoreFile, _ core: StoreCore) {
    // The closure throws nothing, so nothing is.
    do throws(StorageError) {
      try alone { () throws(StorageError) in
        file = storage.file
        if let log = storage.log {
          let isOther = position?.epoch != log.epoch
          if isOther { records = LiveRecords() }
          records.append(log.takeRecordsOfTurn())
          span = log.span
          records.remove(through: storage.meta.lastCommit)
          position = LogPosition(
            file: log.file, path: StoreFile.logPath(of: path), version: LogFormat.version,
            epoch: log.epoch, isSealed: log.seals, offset: log.tail.offset, chain: log.tail.chain)
        } else {
          position = nil
          records = LiveRecords()
        }
        logIdentifier = nil
        isForgotten = !note(of: storage)
        left = (moment, position?.file.identifier, position?.chain)
      }
    } catch {}
  }

  /// Looks at what is there now, to tell later whether anything has changed.
  private func note(of storage: StoreFile) -> Bool {
    do throws(StorageError) {
      if moment.newestSequence != storage.meta.sequence || !moment.isOf(file) {
        moment = try Recovery.Moment(file, pageSize: geometry.pageSize)
      }
      var next = Look(
        file: file, moment: moment, deadline: .now + StoreFollower.nameInterval)
      if let position { next.log = try Mark(position) }
      look.withLock { $0 = next }
      return true
    } catch {
      look.withLock { $0 = Look() }
      return false
    }
  }

  /// What this process has written last does not count.
  func forget() {
    do throws(StorageError) {
      try alone { () throws(StorageError) in forgetLast() }
    } catch {}
  }

  private func forgetLast() {
    isForgotten = true
    left = nil
    look.withLock { $0 = Look() }
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

  // MARK: Coming nearer

  /// Goes on to what a log has, from the checkpoint where it begins, which is shown.
  ///
  /// - Returns: whether everything is shown that was visible when this was called.
  func followFromCheckpoint(_ meta: MetaPage, _ core: StoreCore) throws(StorageError) -> Bool {
    guard !meta.isClean else { return false }
    let logPath = StoreFile.logPath(of: path)
    let log = try fileSystem.open(logPath, .read)
    let byteCount = try log.byteCount()
    let window = LogWindow(log, path: logPath, byteCount: byteCount, step: 4096)
    guard let header = try LogHeader(window, fileByteCount: byteCount, checksum),
      header.pageSize == geometry.pageSize, header.epoch == meta.epoch,
      header.version == LogFormat.version, let offset = Int(exactly: meta.logOffset),
      offset % LogFormat.Record.alignment == 0
    else { return false }
    return try alone { () throws(StorageError) in
      position = LogPosition(
        file: log, path: logPath, version: header.version, epoch: header.epoch,
        isSealed: header.isSealed, offset: offset, chain: meta.logChain)
      logIdentifier = nil
      return try bringUpToDate(core) != .behind
    }
  }

  /// How far the newest version has come.
  private enum Outcome {
    /// Nothing was committed after it when this was looked at.
    case upToDate
    /// It shows all that there was when it was begun; there may be more by now.
    case advanced
    /// What comes after it is not known to be on disk, or not whole.
    case unfinished
    case behind
  }

  private func bringUpToDate(_ core: StoreCore) throws(StorageError) -> Outcome {
    look.withLock { $0 = Look() }
    if isForgotten, try !beginAgain(core) { return .behind }
    for _ in 0..<StoreFollower.roundLimit {
      let now = ContinuousClock.now
      // Whatever changes after it was looked at is found by the next look.
      let seen = try Recovery.Moment(file, pageSize: geometry.pageSize)
      // Closing changes the meta pages before the log goes.
      if seen != moment { nextNameCheck = now }
      if try isOtherFile() {
        guard try beginAgain(core) else { return .behind }
        continue
      }
      var look = Look(
        file: file, moment: seen, foreignLog: logIdentifier,
        deadline: now + StoreFollower.nameInterval)
      if let position { look.log = try Mark(position) }
      // First what the log has, so that the version has come as far as the checkpoint.
      let progress = try advance(core, seen)
      if progress == .impossible {
        guard try beginAgain(core) else { return .behind }
        continue
      }
      if seen != moment {
        if try relieve(core, seen) {
          moment = seen
        } else {
          // The log may have been written over as far as the checkpoint has come.
          if progress != .advanced, try !beginAgain(core) { return .behind }
          continue
        }
      }
      switch progress {
      case .impossible: continue
      // What came since is looked for next time.
      case .advanced: return .advanced
      case .unfinished: return .unfinished
      case .nothing:
        // The end of the log may have been written over since the meta pages were read.
        guard try Recovery.Moment(file, pageSize: geometry.pageSize) == seen else { continue }
        self.look.withLock { $0 = look }
        return .upToDate
      }
    }
    return .behind
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
    if let position {
      let now = ContinuousClock.now
      if now < nextNameCheck, try !LogTurn.isReplaced(position.file) { return false }
      nextNameCheck = now + StoreFollower.nameInterval
      return try position.file.currentNameCount() == 0
    }
    return try hasOtherLog(logIdentifier)
  }

  private func hasOtherLog(_ known: FileIdentifier?) throws(StorageError) -> Bool {
    let log = try fileSystem.identifier(of: StoreFile.logPath(of: path))
    return log != nil && log != known
  }
}
