import Synchronization

/// The lock of a store that several processes write in turn.
///
/// A process holds it from the beginning of a transaction until its commit is on disk, and a little
/// longer while no other waits, as taking it means looking for what others have done. The kernel
/// gives it back when the process dies; what may have been left in the middle then, the next one
/// finds and recovers (``StoreCore/takeTurn()``).
///
/// Who waits looks again and again, and says so by a lock of its own, shared with all that wait.
/// Who gives the turn up for a waiter does not take it again before one has come.
///
/// `@unchecked Sendable`: the variables are accessed only by the thread that has passed the store's
/// turnstile; `isHeld` is atomic.
final class StoreTurns: @unchecked Sendable {
  let path: String
  let fileSystem: any FileSystem
  private let waitLimit: Duration
  let keepInterval: Duration
  /// This process, for others' errors.
  let process: LockOwner
  /// The file that is locked, opened for writing. Another one has the store's name after a
  /// compaction.
  private(set) var file: any File
  private let held = Atomic(false)
  private let suspended = Atomic(false)
  /// Whether it has been this process's turn, but for opening the store.
  private(set) var isUsed = false
  private var start = ContinuousClock.now
  /// The number of turns, and of transactions in one that was kept.
  private(set) var useCount = 0
  /// Whether a thread gives the turn back when it is not used.
  var isWatched = false
  /// Whether the turn was given up for one who waits.
  private var isOwed = false
  /// How often in a row nobody came who was waited for: a process may be suspended in the queue.
  private var vainCount = 0
  private var ignoresQueueUntil = ContinuousClock.now

  /// How long a process that has given its turn to another waits for it to come.
  private static let handOverLimit = Duration.milliseconds(10)
  private static let shortestPause = Duration.microseconds(20)
  private static let longestPause = Duration.microseconds(250)
  /// How long a process may use a turn that another waits for: to begin one takes as long as some
  /// hundred small commits.
  private static let longestTurn = Duration.milliseconds(6)

  init(_ file: any File, path: String, in fileSystem: any FileSystem, _ options: PageStoreOptions) {
    self.file = file
    self.path = path
    self.fileSystem = fileSystem
    waitLimit = options.turnWaitLimit
    keepInterval = options.turnKeepInterval
    process = fileSystem.currentOwner()
  }

  /// Whether it is this process's turn. Readers ask without having passed the turnstile: as long as
  /// it is, nobody else changes the store.
  var isHeld: Bool { held.load(ordering: .acquiring) }

  /// Whether this process takes no turn, and waits for none. Set by any thread.
  var isSuspended: Bool {
    get { suspended.load(ordering: .acquiring) }
    set { suspended.store(newValue, ordering: .releasing) }
  }

  /// It is this process's turn, and it knows what others have done.
  func noteHeld() {
    isUsed = true
    start = .now
    held.store(true, ordering: .releasing)
  }

  func noteUse() { useCount += 1 }

  // MARK: Taking and giving back

  /// Waits for the lock of the file that has the store's name.
  ///
  /// - Parameter wait: is called each time that another has it.
  /// - Throws: ``StorageError/locked(_:)`` after ``PageStoreOptions/turnWaitLimit``;
  ///   ``StorageError/nameLost(path:)`` if no file has the name; ``StorageError/suspended``.
  func lock(
    limit: Duration? = nil, whileWaiting wait: () -> Void = {}
  ) throws(StorageError) {
    let deadline = ContinuousClock.now + (limit ?? waitLimit)
    if isOwed, !isSuspended { letOthersCome() }
    var pause = StoreTurns.shortestPause
    var isWaiting = false
    defer { if isWaiting { file.wait(false) } }
    while true {
      if isSuspended { throw .suspended }
      if try file.lock(.turn) {
        let named = try identifierOfName()
        if named == file.identifier { return }
        file.unlock()
        if isWaiting { file.wait(false) }
        isWaiting = false
        guard named != nil else { throw .nameLost(path: path) }
        do throws(StorageError) { file = try fileSystem.open(path, .write) } catch .notFound {}
        continue
      }
      guard ContinuousClock.now < deadline else {
        throw .locked(StoreFile.readOwnerNote(of: path, in: fileSystem))
      }
      if !isWaiting { file.wait(true) }
      isWaiting = true
      wait()
      Threads.sleep(for: pause)
      pause = min(pause * 2, StoreTurns.longestPause)
    }
  }

  private func identifierOfName() throws(StorageError) -> FileIdentifier? {
    do throws(StorageError) {
      return try fileSystem.identifier(of: path)
    } catch {
      file.unlock()
      throw error
    }
  }

  private func letOthersCome() {
    isOwed = false
    let deadline = ContinuousClock.now + StoreTurns.handOverLimit
    while hasWaiter {
      if (try? file.hasWriter()) ?? true {
        vainCount = 0
        return
      }
      guard ContinuousClock.now < deadline else {
        vainCount = min(vainCount + 1, 50)
        ignoresQueueUntil = ContinuousClock.now + StoreTurns.handOverLimit * vainCount
        return
      }
      Threads.sleep(for: StoreTurns.shortestPause)
    }
  }

  private var hasWaiter: Bool { (try? file.hasWaiter()) ?? false }

  /// Whether somebody else wants the turn.
  var isWanted: Bool {
    guard hasWaiter else { return false }
    return vainCount == 0 || ContinuousClock.now >= ignoresQueueUntil
  }

  /// Whether somebody else wants the turn, and has waited for it long enough.
  var isOver: Bool { isWanted && ContinuousClock.now - start > StoreTurns.longestTurn }

  /// Gives the lock back.
  func unlock() {
    isOwed = hasWaiter
    held.store(false, ordering: .releasing)
    file.unlock()
  }

  /// Goes on with another file, which is locked, and has the store's name. Who waits for the former
  /// one finds that out as soon as it gets it.
  func take(_ file: any File) {
    self.file.unlock()
    self.file = file
  }
}
