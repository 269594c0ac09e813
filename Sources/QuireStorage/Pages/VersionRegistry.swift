import Synchronization

/// Memory that a newer version replaced, and an older one may still show.
struct RetiredMemory {
  private let address: UInt
  private let birthAndKind: UInt64

  /// - Parameter word: a page of an overlay, whose reference passes over.
  init(_ word: PageWord) {
    address = word.bits
    birthAndKind = word.commit.rawValue << 1
  }

  init(_ chunk: PageOverlay.Chunk) {
    address = UInt(bitPattern: UnsafeRawPointer(chunk.words))
    birthAndKind = chunk.commit.rawValue << 1 | 1
  }

  private var isChunk: Bool { birthAndKind & 1 != 0 }

  /// No version before this one shows it.
  var birth: CommitNumber { CommitNumber(rawValue: birthAndKind >> 1) }

  func byteCount(pageSize: Int) -> Int {
    isChunk ? (PageOverlay.chunkCount + 1) * MemoryLayout<UInt>.size : pageSize
  }

  func free() {
    if isChunk {
      UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    } else {
      PageWord(bits: address).release()
    }
  }

  /// Frees the memory when no operation can be using it any more.
  func free(after reclaimer: Reclaimer) {
    if isChunk {
      reclaimer.release(Unmanaged<AnyObject>.passRetained(DeferredMemory(self)))
    } else {
      reclaimer.release(PageWord(bits: address))
    }
  }
}

/// An object that owns raw memory.
private final class DeferredMemory {
  private let memory: RetiredMemory
  init(_ memory: RetiredMemory) { self.memory = memory }
  deinit { memory.free() }
}

/// The location in the code where a snapshot was taken.
struct SnapshotHolder: Sendable, CustomStringConvertible {
  var file: StaticString
  var line: UInt

  var description: String { "\(file):\(line)" }
}

/// A version among the living.
///
/// `@unchecked Sendable`: `retired` and the counts are touched under the registry's mutex only; the
/// rest is constant or atomic.
final class VersionRecord: @unchecked Sendable {
  let commit: CommitNumber
  let overlay: PageOverlay
  let pageCount: UInt32
  /// The file the version reads.
  let source: PageCache?
  /// The memory that this version is the newest living one to show.
  fileprivate var retired: [RetiredMemory] = []
  fileprivate var retainedByteCount = 0
  /// The number of operations that use the overlay without holding the version.
  fileprivate var pinCount = 0
  fileprivate var hasEnded = false
  /// Whether the version has an ``OwnedVersion``.
  private let isOwnedFlag = Atomic(true)
  /// Whoever took the first snapshot of the version.
  fileprivate var holder: SnapshotHolder? {
    didSet { hasHolderFlag.store(true, ordering: .relaxed) }
  }
  /// Known without the mutex, as each snapshot asks.
  private let hasHolderFlag = Atomic(false)
  fileprivate var hasHolder: Bool { hasHolderFlag.load(ordering: .relaxed) }
  fileprivate var expiry: StorageError?
  private let endingCode = Atomic<UInt8>(0)

  init(commit: CommitNumber, overlay: PageOverlay, pageCount: UInt32, source: PageCache?) {
    self.commit = commit
    self.overlay = overlay
    self.pageCount = pageCount
    self.source = source
  }

  /// Why the version cannot be read any more; `nil` as long as it can.
  var ending: StorageError? {
    switch endingCode.load(ordering: .sequentiallyConsistent) {
    case 0: nil
    case 1: expiry
    default: .closed
    }
  }

  fileprivate func expire(_ error: StorageError) {
    expiry = error
    endingCode.store(1, ordering: .sequentiallyConsistent)
  }

  fileprivate func close() { endingCode.store(2, ordering: .sequentiallyConsistent) }
  /// Whether the version can be read. An operation that has entered the reclaimer before it looks
  /// here may use the version's pages until it leaves.
  var canBeRead: Bool { endingCode.load(ordering: .sequentiallyConsistent) == 0 }

  /// From now on snapshots alone hold the version; it is never owned again.
  func disown() { isOwnedFlag.store(false, ordering: .releasing) }
  fileprivate var isOwned: Bool { isOwnedFlag.load(ordering: .acquiring) }
}

/// The living versions of a store, oldest first, and what each keeps in memory.
///
/// When a commit replaces a page, the old one goes to the version before it; when that version
/// ends, to the next older one that shows it, or else it is freed. So a page version lives exactly
/// as long as a version that shows it: one snapshot held for long costs at most one version of each
/// page, however many commits follow.
///
/// Beyond a limit of what is kept, versions expire, oldest first: what they keep is freed as soon
/// as no operation is at it. Only versions that snapshots alone hold can; all others have an
/// ``OwnedVersion``. A version that has expired, or was closed, is still held, and an operation
/// that began before may be reading it: until it ends, all memory that is given up passes through
/// the ``Reclaimer``.
///
/// In a child made by `fork` the parent's versions stay as they are, whatever is dropped there.
final class VersionRegistry: Sendable {
  let reclaimer = Reclaimer()
  /// The process whose store it is.
  let process: ProcessMark
  private let pageSize: Int
  private let retainedByteLimit: Int
  private let state = Mutex(State())
  /// What all versions keep. It changes under the mutex only, and each commit looks at it.
  private let keptByteCount = Atomic(0)

  private struct State {
    var versions: [VersionRecord] = []
    /// The number of versions that cannot be read any more, and are held.
    var unreadableCount = 0
    var isClosed = false
  }

  init(pageSize: Int, retainedByteLimit: Int, process: ProcessMark) {
    self.process = process
    self.pageSize = pageSize
    self.retainedByteLimit = retainedByteLimit
  }

  /// Enters a version, which is newer than all others.
  ///
  /// - Parameters:
  ///   - memory: what it no longer shows.
  ///   - last: the last version that shows that, held by the caller.
  func begin(
    _ record: VersionRecord, retiring memory: [RetiredMemory] = [],
    shownBy last: VersionRecord? = nil
  ) {
    state.withLock { state in
      if state.isClosed {
        record.close()
        state.unreadableCount += 1
      }
      state.versions.append(record)
      if let last { keep(memory, by: last, &state) }
    }
  }

  /// Records that a version is no longer held.
  func end(_ record: VersionRecord) {
    guard process.isCurrent else { return }
    free(
      state.withLock { state in
        record.hasEnded = true
        guard record.pinCount == 0 else { return .none }
        return remove(record, from: &state)
      })
  }

  /// Memory that no version shows which can be read.
  private struct Unshown {
    var memory: [RetiredMemory] = []
    /// Whether an operation on a version that cannot be read any more may be using it.
    var mayBeInUse = false

    static var none: Unshown { Unshown() }
  }

  private func free(_ unshown: Unshown) {
    for memory in unshown.memory {
      if unshown.mayBeInUse { memory.free(after: reclaimer) } else { memory.free() }
    }
  }

  /// Hands on what the version kept, and forgets it.
  private func remove(_ record: VersionRecord, from state: inout State) -> Unshown {
    guard let index = state.versions.lastIndex(where: { $0 === record }) else { return .none }
    state.versions.remove(at: index)
    record.overlay.deallocate()
    if !record.canBeRead { state.unreadableCount -= 1 }
    let unshown = handOn(from: record, to: state.versions[..<index], &state)
    return Unshown(memory: unshown, mayBeInUse: state.unreadableCount > 0)
  }

  /// Gives what a version kept to the next older one that shows it.
  ///
  /// - Parameter older: the versions before it.
  /// - Returns: what none of them shows.
  private func handOn(
    from record: VersionRecord, to older: ArraySlice<VersionRecord>, _ state: inout State
  ) -> [RetiredMemory] {
    let retired = record.retired
    record.retired = []
    noteKept(-record.retainedByteCount)
    record.retainedByteCount = 0
    // Versions of different files have no memory in common.
    guard let heir = older.last(where: { $0.canBeRead && $0.source === record.source }) else {
      return retired
    }
    var unshown: [RetiredMemory] = []
    for memory in retired {
      if memory.birth <= heir.commit {
        keep(memory, by: heir, &state)
      } else {
        unshown.append(memory)
      }
    }
    return unshown
  }

  private func keep(_ memory: [RetiredMemory], by record: VersionRecord, _ state: inout State) {
    let byteCount = memory.reduce(0) { $0 + $1.byteCount(pageSize: pageSize) }
    if record.retired.isEmpty { record.retired = memory } else { record.retired += memory }
    record.retainedByteCount += byteCount
    noteKept(byteCount)
  }

  private func keep(_ memory: RetiredMemory, by record: VersionRecord, _ state: inout State) {
    let byteCount = memory.byteCount(pageSize: pageSize)
    record.retired.append(memory)
    record.retainedByteCount += byteCount
    noteKept(byteCount)
  }

  /// The mutex is held.
  private func noteKept(_ byteCount: Int) {
    keptByteCount.store(retainedByteCount + byteCount, ordering: .relaxed)
  }

  /// Leaves what a newer version replaced with the last version that shows it.
  ///
  /// - Parameter record: a version that is held by the caller.
  func retire(_ memory: [RetiredMemory], shownBy record: VersionRecord) {
    guard process.isCurrent else { return }
    state.withLock { keep(memory, by: record, &$0) }
  }

  /// Records the holder of a version, for an error message: only the first one.
  func note(_ holder: SnapshotHolder, of record: VersionRecord) {
    guard !record.hasHolder else { return }
    state.withLock { _ in
      if record.holder == nil { record.holder = holder }
    }
  }

  /// Ends the oldest versions that snapshots alone hold, until what such versions keep is within
  /// the limit.
  func enforceLimit() {
    guard retainedByteCount > retainedByteLimit else { return }
    let free: [RetiredMemory] = state.withLock { state in
      var byteCount = 0
      for record in state.versions where !record.isOwned { byteCount += record.retainedByteCount }
      var free: [RetiredMemory] = []
      for (index, record) in state.versions.enumerated()
      where byteCount > retainedByteLimit && !record.isOwned && record.canBeRead {
        record.expire(
          .snapshotExpired(
            holder: record.holder?.description ?? "unknown", commit: record.commit,
            retainedByteCount: byteCount, limit: retainedByteLimit))
        state.unreadableCount += 1
        byteCount -= record.retainedByteCount
        // An older one may be owned, and show some of it.
        free += handOn(from: record, to: state.versions[..<index], &state)
      }
      return free
    }
    // Its readers may be in the middle of an operation.
    self.free(Unshown(memory: free, mayBeInUse: true))
  }

  /// The most pages that a living version of a file has.
  func largestPageCount(in source: PageCache?) -> UInt32 {
    state.withLock { state in
      state.versions.lazy.filter { $0.source === source }.map(\.pageCount).max() ?? 0
    }
  }

  /// Whether a version of a file before `commit` is alive.
  func hasVersions(of source: PageCache, before commit: CommitNumber) -> Bool {
    state.withLock { state in
      state.versions.contains { $0.source === source && $0.commit < commit && $0.canBeRead }
    }
  }

  /// Bytes of replaced pages that snapshots keep in memory.
  var retainedByteCount: Int { keptByteCount.load(ordering: .relaxed) }

  /// No version can be read from now on.
  func close() {
    state.withLock { state in
      state.isClosed = true
      for record in state.versions { record.close() }
      state.unreadableCount = state.versions.count
    }
  }

  // MARK: Checkpoint

  /// Calls `body` with every version of a file before `commit` that can be read, oldest first.
  ///
  /// Their overlays stay for as long as it runs. But a version may expire meanwhile: its pages may
  /// be used by an operation that has entered the reclaimer and then seen that it can be read.
  func withVersions(
    of source: PageCache, before commit: CommitNumber,
    _ body: ([VersionRecord]) throws(StorageError) -> Void
  ) throws(StorageError) {
    let pinned = state.withLock { state in
      let older = state.versions.filter {
        $0.source === source && $0.commit < commit && $0.canBeRead && !$0.hasEnded
      }
      for record in older { record.pinCount += 1 }
      return older
    }
    defer {
      for record in pinned {
        free(
          state.withLock { state in
            record.pinCount -= 1
            guard record.pinCount == 0, record.hasEnded else { return .none }
            return remove(record, from: &state)
          })
      }
    }
    try body(pinned)
  }

  /// Puts a page's old content, which is about to be overwritten in the file, into the versions
  /// that see it there.
  ///
  /// - Parameter versions: oldest first, pinned; the caller has entered the reclaimer.
  func preserve(_ word: PageWord, at id: PageID, in versions: [VersionRecord]) {
    state.withLock { state in
      var newest: VersionRecord?
      for record in versions
      where record.canBeRead && id.rawValue < record.pageCount
        && word.page.commit <= record.commit
      {
        let shown = record.overlay[id]
        // Versions share chunks: an older one may have brought it here already.
        if shown.showsSame(as: word) { newest = record }
        guard shown.isAbsent else { continue }
        let index = Int(id.rawValue >> PageOverlay.chunkShift)
        let chunk: PageOverlay.Chunk
        if let shared = record.overlay.chunk(index) {
          chunk = shared
        } else {
          // It belongs to this version's directory alone, and is freed with it.
          chunk = PageOverlay.Chunk(commit: record.commit)
          record.overlay.setChunk(index, to: chunk)
          keep(RetiredMemory(chunk), by: record, &state)
        }
        chunk[PageOverlay.slot(of: id)] = word
        newest = record
      }
      guard let newest else { return }
      word.retain()
      keep(RetiredMemory(word), by: newest, &state)
    }
  }
}
