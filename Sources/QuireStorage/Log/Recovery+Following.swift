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

  /// A commit of a store that another process may be writing, which no crash takes back.
  ///
  /// Takes no lock and writes nothing. Pages that are read from its version later may have been
  /// overwritten by then, which is told as damage: whoever reads them does all of it again.
  ///
  /// - Throws: ``StorageError/snapshotTooOld(tries:)`` if the store changed during each of many
  ///   tries; what is wrong with it if it did not.
  static func following(
    _ path: String, in fileSystem: any FileSystem, options: PageStoreOptions,
    validation: PageValidation
  ) throws(StorageError) -> (recovery: Recovery, file: any File) {
    var options = options
    options.isReadOnly = true
    var last: (error: StorageError, moment: Moment?)?
    var sameCount = 0
    for number in 0..<tryLimit {
      if number > 2 { Posix.pause(milliseconds: UInt32(min(number, 10))) }
      let file = try fileSystem.open(path, .read)
      let moment = try? Moment(file)
      do throws(StorageError) {
        let recovery = try Recovery(
          file, path: path, in: fileSystem, options: options, validation: validation, follows: true)
        let lost = recovery.log?.lost.min { $0.rawValue < $1.rawValue }
        // Only while a meta page counts, the log has all that follows it: without the end of the
        // chain an earlier commit would be shown than one that was visible before.
        if lost == nil, try Moment(file) == moment { return (recovery, file) }
        recovery.space.retireEverything()
        guard let lost else {
          last = nil
          continue
        }
        throw .damaged(page: lost, reason: "the log changes it, and nothing has it as it was")
      } catch {
        switch error {
        case .unsupportedFormat, .unsupportedFeature, .forked, .invalidArgument: throw error
        default: break
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

    init(_ file: any File) throws(StorageError) {
      identifier = file.identifier
      let head = PageMemory(byteCount: IdentityPage.largestByteCount)
      defer { withExtendedLifetime(head) {} }
      guard try file.readAll(into: head) == head.byteCount else {
        sequences = []
        return
      }
      let pageSize = IdentityPage(unchecked: UnsafeRawPointer(head.base)).pageSize
      guard PageGeometry.isLegal(pageSize: pageSize) else {
        sequences = []
        return
      }
      var sequences: [UInt64] = []
      for id in [PageID.metaA, .metaB] {
        let start = PageMemory(byteCount: 16)
        let count = try start.withBytes { bytes throws(StorageError) in
          try file.read(at: Int(id.rawValue) * pageSize, into: bytes)
        }
        let base = UnsafeRawPointer(start.base)
        sequences.append(count == 16 ? base.u64(at: MetaPage.sequenceOffset) : 0)
        withExtendedLifetime(start) {}
      }
      self.sequences = sequences
    }
  }
}
