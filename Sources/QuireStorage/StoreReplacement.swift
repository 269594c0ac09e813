/// Writes a version of a store where a file may exist: a backup over an older one, or over the
/// store itself to restore it; or any store in place of another.
///
/// The existing file may be intact, cut short by a crash, or damaged; its identity page must be
/// readable, unless any file may be replaced, and it must not be open. In one step its name passes
/// to the new file, which is a closed store; a crash leaves one or the other, each with the files
/// that belong to it. Remains of the old one's log are ignored from then on, as the new file has a
/// later epoch, or another identity.
struct StoreReplacement {
  let path: String
  let fileSystem: any FileSystem
  let identity: StoreIdentity
  /// The file that is there, locked; `nil` when there is none.
  private let old: (any File)?
  /// Whether that is a file of the same store.
  private let isOfSameStore: Bool
  /// Whether processes write it in turn: those that have it open go on so.
  private let isShared: Bool

  /// The kind of file that may be replaced.
  enum Prey {
    case sameStore
    case anyStore
    case anything
  }

  /// - Throws: ``StorageError/locked(_:)`` if the file is open;
  ///   ``StorageError/invalidArgument(_:)`` if it is another store;
  ///   ``StorageError/notAStore(path:reason:)`` or ``StorageError/damaged(page:reason:)`` if its
  ///   identity cannot be read.
  init(
    of path: String, _ identity: StoreIdentity, takes prey: Prey = .sameStore,
    in fileSystem: any FileSystem
  ) throws(StorageError) {
    let path = fileSystem.destination(of: path)
    self.path = path
    self.fileSystem = fileSystem
    self.identity = identity
    old = try StoreReplacement.lockedFile(path, fileSystem)
    guard let old else {
      isOfSameStore = false
      isShared = false
      return
    }
    let found: IdentityPage?
    do throws(StorageError) {
      found = try IdentityPage.read(from: old, path: path)
    } catch {
      guard prey == .anything else { throw error }
      found = nil
    }
    isOfSameStore = found?.identity == identity
    isShared = found?.features.isShared ?? false
    if prey == .sameStore, let found = found?.identity, found != identity {
      throw .invalidArgument(
        "\(path) is another store: its identity is \(found), not \(identity); move it away first")
    }
  }

  private static func lockedFile(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(StorageError) -> (any File)? {
    let file: any File
    do throws(StorageError) {
      file = try fileSystem.open(path, .write)
    } catch .notFound {
      return nil
    }
    guard try file.lock(.exclusive) else {
      // Readers leave no note: one that is there is of a writer that died.
      if try file.lock(.shared) { throw .locked(.readers) }
      throw .locked(StoreFile.readOwnerNote(of: path, in: fileSystem))
    }
    guard try fileSystem.identifier(of: path) == file.identifier else {
      // Another process has just replaced it, and may be about to open it.
      throw .locked(.unknown)
    }
    return file
  }

  /// - Parameters:
  ///   - syncs: the purposes of the syncs of the file and of its name.
  ///   - progress: called with the bytes written and the total; returns `false` to end it.
  func write(
    _ version: OwnedVersion, syncs: (file: SyncReason, folder: SyncReason),
    progress: (Int, Int) throws -> Bool
  ) throws {
    let copy = StoreCopy(
      version, identity: identity, epoch: try lastEpoch().map { $0 + 1 } ?? 0, isShared: isShared)
    let new = try NewFile(for: path, in: fileSystem)
    do {
      try copy.write(to: new.file, progress: progress)
      try new.file.makeDurable(for: syncs.file)
      if let old { try new.replace(old) } else { try new.publish() }
    } catch {
      new.discard()
      throw error
    }
    try fileSystem.confirmName(path, for: syncs.folder)
    // The new file cannot be opened before its lock is released, so as long as it has the name,
    // these are the old one's. They are ignored from now on: it does not matter if one remains.
    for leftover in StoreFile.companionPaths(of: path) {
      do throws(StorageError) {
        try new.file.checkName(path, in: fileSystem)
        try fileSystem.remove(leftover)
      } catch {}
    }
    Leftovers(fileSystem: fileSystem, path: path).remove(copiesOf: identity, beside: new.file)
    withExtendedLifetime((new.file, old)) {}
  }

  // MARK: Epoch

  /// The highest epoch of which there are traces: of the log that lies beside the file nothing may
  /// count for the new one.
  private func lastEpoch() throws(StorageError) -> UInt64? {
    let checksum = Checksum(identity)
    var epochs: [UInt64] = []
    if let old, isOfSameStore {
      let head = PageMemory(byteCount: min(try old.byteCount(), 3 * 32_768))
      try head.withBytes { bytes throws(StorageError) in
        try old.readFully(at: 0, into: bytes, path: path)
      }
      let bytes = UnsafeRawBufferPointer(head.bytes)
      let pageSize = try IdentityPage.read(from: old, path: path).pageSize
      if let (newest, other) = MetaPage.both(in: bytes, checksum, pageSize: pageSize) {
        epochs = [newest.epoch] + (other.map { [$0.epoch] } ?? [])
      }
      withExtendedLifetime(head) {}
    }
    do throws(StorageError) {
      let log = try fileSystem.open(StoreFile.logPath(of: path), .read)
      let header = PageMemory(byteCount: LogFormat.Header.byteCount)
      if try log.readAll(into: header) == header.byteCount {
        let base = UnsafeRawPointer(header.base)
        let checked = UnsafeRawBufferPointer(start: base, count: LogFormat.Header.checksum)
        if base.u64(at: LogFormat.Header.checksum) == checksum.ofLog(checked, epoch: 0) {
          epochs.append(base.u64(at: LogFormat.Header.epoch))
        }
      }
      withExtendedLifetime(header) {}
    } catch .notFound {}
    if let last = epochs.max(), !StoreLimits.allowsWriting(after: last) {
      throw .damaged(page: .metaA, reason: "there are traces of a log of epoch \(last)")
    }
    return epochs.max()
  }
}

extension PageStore {
  /// Like ``backUp(to:in:progress:)``, but replaces an older backup of this store, which is kept
  /// until the new one is complete.
  ///
  /// - Throws: also ``StorageError/locked(_:)`` if the older backup is open;
  ///   ``StorageError/invalidArgument(_:)`` if the existing file is another store, or this one;
  ///   ``StorageError/notAStore(path:reason:)`` if it is no store.
  package func backUp(
    replacing path: String, in fileSystem: any FileSystem = DiskFileSystem(),
    progress: (_ done: Int, _ total: Int) throws -> Bool = { _, _ in true }
  ) throws {
    if let own = self.path, let found = try fileSystem.identifier(of: path),
      try fileSystem.identifier(of: own) == found
    {
      throw StorageError.invalidArgument("\(path) is the store itself, which is no backup")
    }
    try steadily {
      let version = try newestVersion()
      let replacement = try StoreReplacement(of: path, identity, in: fileSystem)
      try replacement.write(version, syncs: (.backup, .backupFolder), progress: progress)
    }
  }

  /// Replaces a store with the newest commit of this store, which is a backup of it.
  ///
  /// Every page is verified when it is copied. The replaced store may be damaged, if its first page
  /// has its identity, or be missing. It is unchanged until it has the backup's content, in one
  /// step.
  ///
  /// - Throws: ``StorageError/locked(_:)`` if the store is open in this process or another;
  ///   ``StorageError/invalidArgument(_:)`` if it is another store, or this one;
  ///   ``StorageError/notAStore(path:reason:)`` or ``StorageError/damaged(page:reason:)`` if its
  ///   identity cannot be read, or if a page of the backup is damaged.
  package func restore(
    to path: String, in fileSystem: any FileSystem = DiskFileSystem(),
    progress: (_ done: Int, _ total: Int) throws -> Bool = { _, _ in true }
  ) throws {
    let version = try newestVersion()
    if let own = self.path, let found = try fileSystem.identifier(of: path),
      try fileSystem.identifier(of: own) == found
    {
      throw StorageError.invalidArgument("\(path) is the backup itself")
    }
    let replacement = try StoreReplacement(of: path, identity, in: fileSystem)
    try replacement.write(
      version, syncs: (.replacement, .replacementFolder), progress: progress)
  }

  /// Puts the newest commit of this store in the place of whatever store is there, in one step.
  /// This one may be in use meanwhile, and what is committed then is not in the copy.
  ///
  /// - Parameters:
  ///   - identity: the copy's; `nil` for that of this store.
  ///   - isForced: whether a file that is no store may go.
  /// - Throws: as ``restore(to:in:progress:)``, but that the store there may be another.
  package func replace(
    _ path: String, identity: StoreIdentity? = nil, isForced: Bool = false,
    in fileSystem: any FileSystem = DiskFileSystem()
  ) throws {
    let version = try newestVersion()
    if let own = self.path, let found = try fileSystem.identifier(of: path),
      try fileSystem.identifier(of: own) == found
    {
      throw StorageError.invalidArgument("\(path) is the store itself")
    }
    let replacement = try StoreReplacement(
      of: path, identity ?? self.identity, takes: isForced ? .anything : .anyStore,
      in: fileSystem)
    try replacement.write(version, syncs: (.replacement, .replacementFolder)) { _, _ in true
    }
  }
}
