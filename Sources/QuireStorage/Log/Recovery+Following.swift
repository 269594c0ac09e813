// Reading beside a process that writes, without a lock and without its knowledge.
//
// Whatever is read may be of another moment than what was read before it: a meta page, a log whose
// ring has turned, images, pages that a checkpoint overwrites. Stamps and checks tell: what is put
// together is one commit, or provably not, and is read again.
extension Recovery {
  /// The number of times that a store is read which changes each time.
  private static let tryLimit = 60
  /// The number of times that the same must be found before it is damage.
  private static let damageLimit = 8

  /// A store for a reader: as it is if nobody writes to it, or else a commit that no crash takes
  /// back.
  ///
  /// Takes no lock and writes nothing. Pages that are read from its version later may have been
  /// overwritten by then, which is told as damage: whoever reads them looks whether it is
  /// (``PageWitness``), or does all of it again.
  ///
  /// - Parameters:
  ///   - always: whether a writer is expected, whoever has the lock.
  ///   - registry: as for ``init(_:path:in:options:validation:registry:follows:)``.
  /// - Throws: ``StorageError/snapshotTooOld(tries:)`` if the store changed during each of many
  ///   tries; ``StorageError/locked(_:)`` if a release of format 1 has it open, which does not say
  ///   what a crash may take; what is wrong with the store if it did not change.
  static func reading(
    _ path: String, in fileSystem: any FileSystem, options: PageStoreOptions,
    validation: PageValidation, always: Bool = false, registry: VersionRegistry? = nil
  ) throws(StorageError) -> (recovery: Recovery, file: any File, moment: Moment) {
    var options = options
    options.isReadOnly = true
    var last: (error: StorageError, moment: Moment?)?
    var sameCount = 0
    for number in 0..<tryLimit {
      if number > 2 { Posix.pause(milliseconds: UInt32(min(number, 10))) }
      let file = try fileSystem.open(path, .read)
      let moment = try? Moment(file)
      let follows = always ? true : try file.isBeingWritten()
      func isUnchanged() throws(StorageError) -> Bool {
        // Log and images are found by their names.
        guard try fileSystem.identifier(of: path) == file.identifier,
          try Moment(file) == moment
        else { return false }
        return follows ? true : try !file.isBeingWritten()
      }
      do throws(StorageError) {
        let recovery = try Recovery(
          file, path: path, in: fileSystem, options: options, validation: validation,
          registry: registry, follows: follows)
        let lost = follows ? recovery.log?.lost.min { $0.rawValue < $1.rawValue } : nil
        // Only while a meta page counts, the log has all that follows it: without the end of the
        // chain an earlier commit would be shown than one that was visible before.
        if lost == nil, let moment, try isUnchanged() {
          if !follows, !recovery.page.isCurrent { try file.checkUnlocked(path, fileSystem) }
          return (recovery, file, moment)
        }
        recovery.space.retireEverything()
        guard let lost else {
          last = nil
          continue
        }
        throw .damaged(page: lost, reason: "the log changes it, and nothing has it as it was")
      } catch {
        switch error {
        case .unsupportedFormat, .unsupportedFeature, .forked, .invalidArgument, .locked:
          throw error
        default: break
        }
        if !follows {
          guard try isUnchanged() else { continue }
          // A release of format 1 does not say that it writes.
          try file.checkUnlocked(path, fileSystem)
          throw error
        }
        let isSame = last?.error == error && moment != nil && last?.moment == moment
        sameCount = isSame ? sameCount + 1 : 0
        if sameCount == damageLimit { throw error }
        last = (error, moment)
      }
    }
    throw .snapshotTooOld(tries: tryLimit)
  }

  /// What tells whether a store has changed: which file it is, and its meta pages.
  struct Moment: Equatable {
    private let identifier: FileIdentifier
    private let sequences: [UInt64]
    var newestSequence: UInt64 { sequences.max() ?? 0 }

    func isOf(_ file: any File) -> Bool { identifier == file.identifier }

    /// Whether a file is still as it was. O(1): the meta pages are written in turn, so that the
    /// older one is the next to change.
    func isStill(in file: any File, pageSize: Int) throws(StorageError) -> Bool {
      guard sequences.count == 2 else { return false }
      let (older, id) =
        sequences[0] < sequences[1]
        ? (sequences[0], PageID.metaA) : (sequences[1], PageID.metaB)
      return try file.word(at: Moment.offset(of: id, pageSize)) ?? 0 == older
    }

    private static func offset(of id: PageID, _ pageSize: Int) -> Int {
      Int(id.rawValue) * pageSize + MetaPage.sequenceOffset
    }

    init(_ file: any File) throws(StorageError) {
      // As opening finds it, damaged or not.
      let page = try? IdentityPage.read(from: file, path: "")
      try self.init(file, pageSize: page?.pageSize ?? 0)
    }

    init(_ file: any File, pageSize: Int) throws(StorageError) {
      identifier = file.identifier
      guard PageGeometry.isLegal(pageSize: pageSize) else {
        sequences = []
        return
      }
      var sequences: [UInt64] = []
      for id in [PageID.metaA, .metaB] {
        sequences.append(try file.word(at: Moment.offset(of: id, pageSize)) ?? 0)
      }
      self.sequences = sequences
    }
  }
}

extension File {
  /// Eight bytes; `nil` if the file ends before.
  func word(at offset: Int) throws(StorageError) -> UInt64? {
    var word: UInt64 = 0
    let count = try withUnsafeMutableBytes(of: &word) { bytes throws(StorageError) in
      try read(at: offset, into: bytes)
    }
    return count == 8 ? UInt64(littleEndian: word) : nil
  }

  /// Whether another process, or this one, has the store of this file open for writing. A release
  /// that knows format 1 alone does not say so where it can be asked.
  func isBeingWritten() throws(StorageError) -> Bool {
    if let hasWriter = try hasWriter() { return hasWriter }
    guard try lock(.shared) else { return true }
    unlock()
    return false
  }

  /// - Throws: ``StorageError/locked(_:)`` if somebody has the store open for writing.
  fileprivate func checkUnlocked(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(StorageError) {
    guard try lock(.shared) else {
      throw .locked(StoreFile.readOwnerNote(of: path, in: fileSystem))
    }
    unlock()
  }
}
