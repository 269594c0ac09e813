/// Ships the commits of a store to a folder, while other processes write it.
///
/// It reads as a follower does: no lock is taken, nothing is written to the store, nobody knows. A
/// commit is what its record in the log says, and what it wrote around the log, which is taken from
/// the file by the stamps in the page maps. When the log cannot tell, because it was not read in
/// time, what differs is found by the stamps as well, and shipped as one commit: those between are
/// not in the folder. When nothing tells that the store goes on from the last commit shipped, all
/// of it is shipped anew: a generation begins.
///
/// Not for several threads at once.
package final class CommitShipper {
  /// How commits are shipped.
  package struct Options: Sendable {
    /// The age of a base, in microseconds, after which another one is made.
    package var baseInterval: Int64 = 24 * 3_600_000_000
    /// How long a moment can be restored at least, in microseconds; `nil` for ever.
    package var retention: Int64?
    /// The bytes of segments for which another base is made, if the last one is no larger.
    package var leastByteCount = 64 << 20
    /// How many segments are put together to one.
    package var mergeCount = 64
    /// Where copies are made before they are shipped: a path that others begin with.
    package var temporaryPath = "/tmp/quire-ship"
    package var cacheByteLimit = 8 << 20

    package init() {}
  }

  let source: String
  let folder: ShippingFolder
  let fileSystem: any FileSystem
  let options: Options
  let now: () -> Int64
  let notice: (ShippingNotice) -> Void
  var state: State?

  /// Where shipping is.
  struct State {
    let store: ShippedStore
    let geometry: PageGeometry
    /// The store's file, and what its meta pages said.
    var file: any File
    var moment: Recovery.Moment
    var position: LogPosition?
    /// The file that has the log's name although the store has no log.
    var foreignLog: FileIdentifier?
    /// The maps after the last commit, which may be in no segment yet.
    var maps: ShippedMaps
    var newest: ShippedCommit
    var generation: UInt32
    /// The number of the next segment.
    var sequence: UInt32
    /// The checksum of the last frame.
    var last: UInt64
    var writer: SegmentWriter?
    var base: ShippedCommit
    var baseByteCount: Int
    var segmentByteCount = 0
    /// The last segments that are one number each.
    var single: [Segment] = []
  }

  /// - Parameters:
  ///   - source: the store, which may not be there yet.
  ///   - folder: the folder, which is there.
  ///   - now: the time, in microseconds since 1970.
  ///   - notice: is told what is not as usual.
  package init(
    of source: String, to folder: String, in fileSystem: any FileSystem = DiskFileSystem(),
    options: Options = Options(), now: @escaping () -> Int64,
    notice: @escaping (ShippingNotice) -> Void = { _ in }
  ) {
    self.source = fileSystem.destination(of: source)
    self.folder = ShippingFolder(folder, in: fileSystem)
    self.fileSystem = fileSystem
    self.options = options
    self.now = now
    self.notice = notice
  }

  /// Ships what there is.
  ///
  /// - Returns: the last commit in the folder.
  @discardableResult
  package func ship() throws(StorageError) -> ShippedCommit {
    try collect()
    return try publish()
  }

  /// How often the store is read that changes each time.
  private static let roundLimit = 20

  /// Reads what has been committed since the last call. Call it often: the log is a ring.
  package func collect() throws(StorageError) {
    if state == nil { try begin() }
    for _ in 0..<CommitShipper.roundLimit {
      let count = try takeRecords()
      if let count, count > 0 { continue }
      if count != nil, try isUnchanged() { return }
      try goOn(isOverwritten: count == nil)
    }
  }

  /// Whether nothing but the log's end can have changed.
  private func isUnchanged() throws(StorageError) -> Bool {
    guard let state else { return false }
    let named = try fileSystem.identifier(of: source)
    guard named == nil || named == state.file.identifier,
      try Recovery.Moment(state.file, pageSize: state.store.pageSize) == state.moment
    else { return false }
    if let log = state.position?.file {
      if try LogTurn.isReplaced(log) { return false }
      return try log.currentNameCount() > 0
    }
    let log = try fileSystem.identifier(of: StoreFile.logPath(of: source))
    return log == nil || log == state.foreignLog
  }

  // MARK: Records

  /// Ships the records that the log has got.
  ///
  /// - Returns: their number; `nil` if what one of them wrote around the log is overwritten.
  private func takeRecords() throws(StorageError) -> Int? {
    guard let state, let position = state.position else { return 0 }
    let byteCount = try position.file.byteCount()
    let window = LogWindow(position.file, path: position.path, byteCount: byteCount, step: 65_536)
    var found = LogRecords(
      state.store.checksum, position.version, epoch: position.epoch, fileByteCount: byteCount)
    let chain = try found.chain(
      from: position.offset, chain: position.chain, after: state.newest.commit, in: window)
    let visible = chain.visible(after: state.newest.commit, isSealed: position.isSealed)
    for (index, record) in visible.enumerated() {
      guard try take(record, found.trailerByteCount, in: window) else {
        return index == 0 ? nil : index
      }
    }
    return visible.count
  }

  /// Ships a record.
  ///
  /// - Returns: whether all of the commit could be had.
  private func take(
    _ record: LogRecord, _ trailerByteCount: Int, in window: LogWindow
  ) throws(StorageError) -> Bool {
    guard var state else { return false }
    guard record.isPossible,
      let start = try window.bytes(at: record.offset, count: record.byteCount)
    else { return false }
    // It may have been overwritten since it was found.
    let checked = record.byteCount - trailerByteCount
    let sum = state.store.checksum.ofLog(
      UnsafeRawBufferPointer(start: start, count: checked), epoch: record.epoch)
    guard sum == record.checksum else { return false }
    let header = LogFormat.Record.headerByteCount
    let entries = UnsafeRawBufferPointer(start: start + header, count: checked - header)
    let damage = StorageError.logDamaged(
      path: state.position?.path ?? source, firstLost: record.commit, lastLost: record.commit)

    let stamp = PageMap.stamp(of: record.commit)
    var (maps, changed): (ShippedMaps, [PageID]) = (state.maps, [])
    var logged: Set<PageID> = []
    // Pages that the transaction itself had written around the log before.
    var direct: [PageID] = []
    var (end, isSound) = (0, true)
    try entries.forEachEntry(record.pageEntryCount, pageSize: state.geometry.pageSize) {
      entry throws(StorageError) in
      end += entry.byteCount
      logged.insert(entry.id)
      if state.geometry.isMap(entry.id) {
        isSound = maps.apply(entry) && isSound
        changed.append(entry.id)
      } else if !entry.isWhole, entry.base == stamp {
        direct.append(entry.id)
      }
    } orThrow: {
      damage
    }
    guard isSound else { return false }
    for map in changed {
      for (page, new) in maps.changes(of: map, since: state.maps)
      where new != 0 && !logged.contains(page) {
        guard new == stamp else { return false }
        direct.append(page)
      }
    }
    let commit = ShippedCommit(
      commit: record.commit, commitBefore: state.newest.commit, time: time(after: state.newest),
      pageCount: record.pageCount, freePageCount: record.freePageCount, logEpoch: record.epoch,
      logChain: record.checksum, mapChecksum: maps.checksum(state.store.checksum))
    var writer = try segment(of: state)
    self.state?.writer = writer
    let mark = writer.begin()
    let page = PageMemory(byteCount: state.geometry.pageSize)
    for id in direct.sorted() {
      guard try read(id, of: record.commit, into: page, state) else {
        writer.goBack(to: mark)
        self.state?.writer = writer
        return false
      }
      try writer.add(Page(page.base), at: id, of: commit)
    }
    withExtendedLifetime(page) {}
    writer.add(UnsafeRawBufferPointer(rebasing: entries[..<end]), entryCount: logged.count)
    try writer.finish(commit)
    state.writer = writer
    state.maps = maps
    state.newest = commit
    state.position?.offset = record.end
    state.position?.chain = record.checksum
    self.state = state
    return true
  }

  /// Reads a page that a commit wrote around the log.
  ///
  /// - Returns: whether the file still has it.
  private func read(
    _ id: PageID, of commit: CommitNumber, into memory: PageMemory, _ state: State
  ) throws(StorageError) -> Bool {
    let count = try memory.withBytes { bytes throws(StorageError) in
      try state.file.read(at: Int(id.rawValue) * bytes.count, into: bytes)
    }
    let page = Page(memory.base)
    return count == memory.byteCount && page.commit == commit
      && page.checksum == state.store.checksum.ofPage(id, page, pageSize: memory.byteCount)
  }

  /// The time of a commit that is seen now: later than that of the one before, so that each has its
  /// own.
  func time(after commit: ShippedCommit) -> Int64 { max(now(), commit.time + 1) }

  /// The segment that is being written.
  func segment(of state: State) throws(StorageError) -> SegmentWriter {
    if let writer = state.writer { return writer }
    return try SegmentWriter(
      state.store, to: folder, generation: state.generation, sequence: state.sequence,
      after: state.last)
  }

  // MARK: Publishing

  /// Writes what was read to the folder.
  ///
  /// - Returns: the last commit in the folder.
  @discardableResult
  package func publish() throws(StorageError) -> ShippedCommit {
    guard let writer = state?.writer, !writer.isEmpty else {
      if state == nil { try begin() }
      guard let newest = state?.newest else { throw .closed }
      return newest
    }
    state?.writer = nil
    let segment: Segment
    do throws(StorageError) {
      segment = try writer.publish()
    } catch {
      // What the folder has is read again before anything else goes there.
      state = nil
      throw error
    }
    state?.sequence += 1
    state?.last = segment.last
    state?.segmentByteCount += segment.byteCount
    state?.single.append(segment)
    do throws(StorageError) {
      try tidy()
    } catch {
      // It may have been half done.
      state = nil
      throw error
    }
    guard let newest = state?.newest else { throw .closed }
    return newest
  }

  /// Puts segments together, makes another base, and removes what is older than is kept.
  private func tidy() throws(StorageError) {
    guard let state else { return }
    if state.single.count >= options.mergeCount {
      _ = try folder.merge(state.single)
      self.state?.single = []
    }
    let isLarge = state.segmentByteCount > max(options.leastByteCount, state.baseByteCount)
    if isLarge || state.newest.time - state.base.time >= options.baseInterval {
      try beginGeneration(.old)
    }
    try removeOld()
  }

  private func removeOld() throws(StorageError) {
    guard let retention = options.retention else { return }
    let oldest = now() - retention
    let generations = try folder.generations()
    for (generation, next) in zip(generations, generations.dropFirst()) {
      guard let name = next.segments.first, generation.number != state?.generation else { return }
      let segment = try Segment(name, at: folder.path(of: name), in: fileSystem)
      guard segment.firstTime <= oldest else { return }
      try folder.remove(generation)
      notice(.removed(generation: generation.number))
    }
  }
}

/// What happens to shipped commits that is not as usual.
package enum ShippingNotice: Hashable, Sendable {
  /// A generation begins with a new base.
  case began(generation: UInt32, commit: CommitNumber, reason: NewBaseReason)
  /// The commits between could not be had.
  case jumped(from: CommitNumber, to: CommitNumber)
  /// A generation was older than is kept.
  case removed(generation: UInt32)
}

/// Why all of a store is shipped anew.
package enum NewBaseReason: Hashable, Sendable {
  /// The folder has nothing yet.
  case first
  /// The last base is as old, or the segments after it are as large, as they may be.
  case old
  /// Another file has the store's name: it was compacted, migrated, or restored.
  case replaced
  /// The store does not go on from what was shipped.
  case otherHistory
  /// The store was written meanwhile, and its log of that time is gone.
  case notFollowed
  /// The folder does not have all of its last generation.
  case damaged(StorageError)
}

extension NewBaseReason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .first: "the folder had nothing yet"
    case .old: "the last base was as old, or what followed it as large, as it may be"
    case .replaced: "another file has the store's name, as after a compaction or a migration"
    case .otherHistory: "the store is not what was shipped and went on, as after a restoration"
    case .notFollowed: "the store was written while nobody shipped it, and its log is gone"
    case .damaged(let error): error.description
    }
  }
}
