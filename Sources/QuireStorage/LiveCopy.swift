/// Who may change a store's files at any moment.
package enum StoreWriter: Sendable, CustomStringConvertible {
  /// The process that has it open for writing, or whose turn it is.
  case process(LockOwner)
  /// Any of those that write it in turn; at the moment none does.
  case nextInTurn

  package var description: String {
    switch self {
    case .process(let owner): "in use by \(owner)"
    case .nextInTurn: "shared by processes that write it in turn"
    }
  }
}

extension PageStore {
  /// Who may change the files of a store at any moment; `nil` if nobody has it open for writing.
  ///
  /// A store that is shared has no lock between turns, and reading it under one would keep the
  /// others' turns from coming.
  package static func writer(
    of path: String, in fileSystem: any FileSystem = DiskFileSystem()
  ) throws(StorageError) -> StoreWriter? {
    let path = fileSystem.destination(of: path)
    let file = try fileSystem.open(path, .read)
    if try file.isBeingWritten() {
      return .process(StoreFile.readOwnerNote(of: path, in: fileSystem))
    }
    if (try? IdentityPage.read(from: file, path: path))?.features.isShared == true {
      return .nextInTurn
    }
    // A release that knows format 1 alone does not say so where it can be asked.
    guard try file.lock(.shared) else {
      return .process(StoreFile.readOwnerNote(of: path, in: fileSystem))
    }
    file.unlock()
    return nil
  }
}

/// Copies a store that another process has open, and writes to.
///
/// Nothing is held back and nothing is written there. The pages of one commit are copied; those
/// that a checkpoint has overwritten before they were reached are taken from a later commit, with
/// all that changed until then, and so on: each pass has less to copy, as a page whose stamp is the
/// same is the same page. The copy is one commit when a pass misses nothing, and a closed store.
package struct LiveCopy {
  private let source: String
  private let fileSystem: any FileSystem
  private let options: PageStoreOptions
  /// The stamps of the pages that are in the copy, or that are not wanted again.
  private(set) var copied: [UInt32] = []
  private var identifier: FileIdentifier?
  /// In how many passes the same page was not as it must be, of those that expected the same.
  private var failures: [Failure: Int] = [:]

  private struct Failure: Hashable {
    let page: PageID
    let stamp: UInt32
  }

  private static let passLimit = 200
  private static let damageLimit = 12

  /// Makes the copy, with the identity of the store.
  ///
  /// - Parameter options: with the durability that the copy is to have.
  /// - Returns: the commit that it shows.
  /// - Throws: ``StorageError/alreadyExists(path:)`` if there is something at `target`;
  ///   ``StorageError/damaged(page:reason:)`` if a page is damaged that every commit needs; as
  ///   ``StorageError/snapshotTooOld(tries:)`` if the store changes faster than it is read.
  @discardableResult
  package static func make(
    of source: String, at target: String, in fileSystem: any FileSystem = DiskFileSystem(),
    options: PageStoreOptions = PageStoreOptions()
  ) throws(StorageError) -> CommitNumber {
    var copy = LiveCopy(
      source: fileSystem.destination(of: source), fileSystem: fileSystem, options: options)
    let new = try NewFile(for: target, in: fileSystem)
    do throws(StorageError) {
      let commit = try copy.write(to: new.file)
      if options.durability != .none { try new.file.makeDurable(for: .backup) }
      try new.publish()
      new.file.unlock()
      if options.durability != .none { try fileSystem.confirmName(target, for: .backupFolder) }
      return commit
    } catch {
      new.discard()
      throw error
    }
  }

  init(source: String, fileSystem: any FileSystem, options: PageStoreOptions) {
    self.source = source
    self.fileSystem = fileSystem
    self.options = options
  }

  /// Leaves out the pages of a file that have these stamps.
  mutating func leaveOut(_ stamps: [UInt32], of file: FileIdentifier) {
    (copied, identifier) = (stamps, file)
  }

  /// What a copy shows, and where it was taken.
  struct Outcome {
    let commit: CommitNumber
    let pageCount: UInt32
    let freePageCount: UInt32
    let identity: IdentityPage
    let file: any File
    let moment: Recovery.Moment
    /// Where the log goes on; `nil` if there is none.
    let position: LogPosition?
    /// That log, and its last record; those of the last log where there is none.
    let logEpoch: UInt64
    let logChain: UInt64
  }

  private mutating func write(to target: any File) throws(StorageError) -> CommitNumber {
    try copy(to: target).commit
  }

  /// Writes the pages to a file, and identity and meta pages as of a closed store.
  mutating func copy(to target: any File) throws(StorageError) -> Outcome {
    for _ in 0..<LiveCopy.passLimit {
      let (recovery, file, moment) = try Recovery.reading(
        source, in: fileSystem, options: options, validation: .ofTrees, always: true)
      if file.identifier != identifier {
        // Another file has the name: compacted, restored, or replaced.
        identifier = file.identifier
        (copied, failures) = ([], [:])
      }
      let core = StoreCore(recovery, file, nil, options: options)
      let version = try core.newestVersion()
      defer { withExtendedLifetime((core, version)) {} }
      let missed = try pass(version, recovery.identity, to: target)
      if missed.isEmpty {
        let (space, end) = (version.space, recovery.log?.end)
        return Outcome(
          commit: space.commit, pageCount: space.pageCount,
          freePageCount: UInt32(space.freePageCount), identity: recovery.page, file: file,
          moment: moment, position: end, logEpoch: end?.epoch ?? recovery.meta.epoch,
          logChain: end?.chain ?? recovery.meta.logChain)
      }
      for (failure, error) in missed {
        failures[failure, default: 0] += 1
        if failures[failure] == LiveCopy.damageLimit { throw error }
      }
      // A checkpoint under way is given time to end.
      Posix.pause(milliseconds: 1)
    }
    throw .snapshotTooOld(tries: LiveCopy.passLimit)
  }

  /// Copies what is not in the copy yet.
  ///
  /// - Returns: what is missing of the version, and why: nothing if all of it is in the copy.
  private mutating func pass(
    _ version: OwnedVersion, _ identity: StoreIdentity, to target: any File
  ) throws(StorageError) -> [Failure: StorageError] {
    let space = version.space
    let (copy, checksum) = (StoreCopy(version, identity: identity), Checksum(identity))
    let room = PageMemory(byteCount: 3 * space.pageSize)
    let missing = Int(space.pageCount) - copied.count
    if missing > 0 { copied += repeatElement(0, count: missing) }
    var missed: [Failure: StorageError] = [:]
    for number in PageID.firstMap.rawValue..<space.pageCount {
      let id = PageID(number)
      do throws(StorageError) {
        let stamp = try stamp(of: id, in: space)
        if stamp == 0 || copied[Int(number)] == stamp { continue }
        try copy.encode(id, checksum, in: room.base)
        try target.write(room, byteCount: space.pageSize, at: Int(number) * space.pageSize)
        copied[Int(number)] = stamp
      } catch .damaged(let page, let reason) {
        // It, or a map, which each page of its group asks for: once a pass.
        let expected = (try? self.stamp(of: page, in: space)) ?? 0
        missed[Failure(page: page, stamp: expected)] = .damaged(page: page, reason: reason)
      }
    }
    guard missed.isEmpty else { return missed }
    for id in [PageID.identity, .metaA, .metaB] {
      try copy.encode(id, checksum, in: room.base + Int(id.rawValue) * space.pageSize)
    }
    try target.write(room, at: 0)
    let byteCount = Int(space.pageCount) * space.pageSize
    if try target.byteCount() > byteCount { try target.truncate(to: byteCount) }
    return [:]
  }

  /// The stamp of a page in use; 0 if it is free.
  private func stamp(of id: PageID, in space: PageSpace) throws(StorageError) -> UInt32 {
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    if id == .firstMap { return PageMap.stamp(of: try space.page(id).commit) }
    guard let (map, index) = space.geometry.stampLocation(of: id) else { return 0 }
    return PageMap.entry(index, in: try space.page(map))
  }
}
