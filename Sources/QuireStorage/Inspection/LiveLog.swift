/// The log of a store that another process may be writing, as it was at one moment.
///
/// No lock is taken. Records are checked one by one and chained to a meta page, so those that count
/// are right whenever they were read; that the meta page was the newest meanwhile is looked at
/// afterwards. A log that is replaced changes it, too.
///
/// After the last record there may be anything: one that is being written, one that was read before
/// its predecessor was written. The next reading tells that from damage: the log of a process that
/// goes on has become longer, and a damaged one ends at the same record.
package struct LiveLog {
  /// The file of the log.
  package let path: String
  /// The last commit that the store has for readers.
  package let commit: CommitNumber
  /// `nil` when there is no log.
  package let log: LogAnatomy?
  /// The errors found.
  package let findings: [StoreAnatomy.Finding]

  private static let tryLimit = 60
  /// The number of times that the same must be found before it is damage.
  private static let damageLimit = 8

  /// Reads the log of a store.
  ///
  /// - Throws: ``StorageError/snapshotTooOld(tries:)`` if the store changed during each of many
  ///   tries; ``StorageError/notAStore(path:reason:)``; an error of the files. Damage is a finding.
  package init(
    of path: String, in fileSystem: any FileSystem = DiskFileSystem()
  ) throws(StorageError) {
    let path = fileSystem.destination(of: path)
    var doubtful: (read: Reading, count: Int)?
    for number in 0..<LiveLog.tryLimit {
      if number > 2 { Posix.pause(milliseconds: UInt32(min(number, 10))) }
      guard let read = try Reading(path, in: fileSystem) else { continue }
      if read.findings.isEmpty {
        self.init(read, isDamaged: false)
        return
      }
      if let (former, count) = doubtful, former.isSame(as: read) {
        if count == LiveLog.damageLimit {
          self.init(read, isDamaged: true)
          return
        }
        doubtful = (read, count + 1)
      } else if let (former, _) = doubtful, former.isContinued(by: read) {
        // What it seemed to lack was on its way: all that it has counts.
        self.init(former, isDamaged: false)
        return
      } else {
        doubtful = (read, 1)
      }
    }
    throw .snapshotTooOld(tries: LiveLog.tryLimit)
  }

  private init(_ read: Reading, isDamaged: Bool) {
    path = read.path
    commit = read.log?.visibleThrough ?? read.metaCommit
    findings = isDamaged ? read.findings : []
    log = isDamaged ? read.log : read.log?.visible
  }

  /// What one reading has found.
  private struct Reading {
    let path: String
    private let file: FileIdentifier
    private let moment: Recovery.Moment
    let metaCommit: CommitNumber
    let log: LogAnatomy?
    let findings: [StoreAnatomy.Finding]

    /// - Returns: `nil` if the store has changed meanwhile.
    init?(_ path: String, in fileSystem: any FileSystem) throws(StorageError) {
      let file = try fileSystem.open(path, .read)
      let page = try IdentityPage.read(from: file, path: path)
      let (pageSize, checksum) = (page.pageSize, Checksum(page.identity))
      let moment = try Recovery.Moment(file, pageSize: pageSize)
      let meta = try Reading.newestMeta(in: file, checksum, pageSize)
      let logPath = StoreFile.logPath(of: path)
      var logFile: (any File)?
      do throws(StorageError) { logFile = try fileSystem.open(logPath, .read) } catch .notFound {}
      var log: LogAnatomy?
      var findings: [StoreAnatomy.Finding] = []
      if let logFile {
        let found = try LogAnatomy(
          logFile, path: logPath, meta: meta, checksum, pageSize: pageSize)
        (log, findings) = (found, found.findings)
      } else if meta?.isClean == false {
        findings.append(.init(message: "\(StorageError.logMissing(path: logPath))"))
      }
      if meta == nil {
        let reason = MetaPage.defectOfBoth(
          fileByteCount: try file.byteCount(), pageSize: pageSize)
        findings.append(.init(page: .metaA, message: reason))
      }
      guard try fileSystem.identifier(of: path) == file.identifier,
        try Recovery.Moment(file, pageSize: pageSize) == moment
      else { return nil }
      (self.path, self.file, self.moment) = (logPath, file.identifier, moment)
      (self.log, self.findings) = (log, findings)
      metaCommit = meta?.lastCommit ?? .creation
    }

    private static func newestMeta(
      in file: any File, _ checksum: Checksum, _ pageSize: Int
    ) throws(StorageError) -> StoreAnatomy.Meta? {
      var newest: StoreAnatomy.Meta?
      for id in [PageID.metaA, .metaB] {
        let memory = PageMemory(byteCount: pageSize)
        defer { withExtendedLifetime(memory) {} }
        memory.base.initializeMemory(as: UInt8.self, repeating: 0, count: pageSize)
        _ = try memory.withBytes { bytes throws(StorageError) in
          try file.read(at: Int(id.rawValue) * pageSize, into: bytes)
        }
        let meta = StoreAnatomy.Meta(Page(memory.base), at: id, checksum, pageSize: pageSize)
        if meta.isWhole, newest.map({ $0.sequence < meta.sequence }) ?? true { newest = meta }
      }
      return newest
    }

    /// The last commit that the log leads to, whether readers see it or not.
    private var lastCommit: CommitNumber {
      log?.records.last { $0.state == .counts }?.commit ?? metaCommit
    }

    func isSame(as other: Reading) -> Bool {
      moment == other.moment && lastCommit == other.lastCommit
        && findings.map(\.message) == other.findings.map(\.message)
    }

    /// Whether the same store has gone on where the log ended here.
    func isContinued(by other: Reading) -> Bool {
      file == other.file && other.lastCommit > lastCommit
    }
  }
}
