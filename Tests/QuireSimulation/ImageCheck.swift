import QuireStorage

/// Whether a store may be what a crash left.
package struct ImageCheck {
  private let image: CrashImage
  private let oracle: Oracle
  private let options: PageStoreOptions
  private let reservesRoom: Bool
  /// What a reader in another process may have seen before the crash.
  private let visible: UInt64
  private var generator: SeededGenerator

  /// - Parameter log: as the dead process had it, if there was one.
  package init(
    _ image: CrashImage, _ oracle: Oracle, _ scenario: Scenario, log: FileContent? = nil,
    seed: UInt64
  ) {
    self.image = image
    visible = log.map { ImageCheck.visibleCommit(in: $0.bytes) } ?? 0
    self.oracle = oracle
    reservesRoom = scenario.reservesRoom
    var options = scenario.options
    // Should the store be gone, a new one would be another one.
    options.identity = ImageCheck.otherIdentity
    self.options = options
    generator = SeededGenerator(seed: seed)
  }

  /// The last commit of a log whose record is sealed, by the format; 0 where there is none.
  private static func visibleCommit(in log: [UInt8]) -> UInt64 {
    let mark = Array("Qcommit1".utf8)
    var visible: UInt64 = 0
    for offset in stride(from: 4096, to: log.count - 80, by: 8)
    where log[offset] == mark[0] && log[offset..<offset + 8].elementsEqual(mark) {
      guard let byteCount = Int(exactly: log.number(at: offset + 32)), byteCount >= 80,
        byteCount <= log.count - offset
      else { continue }
      let (sum, seal) = (offset + byteCount - 16, offset + byteCount - 8)
      guard log.number(at: sum) == log.number(at: seal), log.number(at: sum) != 0 else { continue }
      visible = max(visible, log.number(at: offset + 16))
    }
    return visible
  }

  private static let otherIdentity = StoreIdentity(high: 99, low: 99)

  /// - Returns: the version that the store shows.
  /// - Throws: a ``Violation``.
  package mutating func run() throws -> Oracle.Version {
    do {
      return try check()
    } catch let error as StorageError {
      throw Violation("it does not open or read: \(error)")
    }
  }

  private mutating func check() throws -> Oracle.Version {
    let disk = SimulatedDisk(image)
    disk.reservesRoom = reservesRoom
    if image.files[Scenario.path] != nil, isExhaustive || generator.below(8) == 0 {
      try checkReadOnly(disk)
    }
    var store: PageStore? = try PageStore.open(Scenario.path, options: options, in: disk)
    if oracle.isCreated, store?.identity != Scenario.identity {
      throw Violation("the store is gone")
    }
    let version = try match(store, "opened")
    if let commit = store?.statistics.commitNumber.rawValue, commit < visible {
      throw Violation("commit \(visible) was visible to other processes, and it shows \(commit)")
    }
    if let report = try store?.check(), !report.isSound { throw Violation("not sound: \(report)") }
    try checkBackups(disk)
    // What recovery left must do, closed or not.
    if generator.below(2) == 0 { try store?.close() }
    store = nil
    store = try PageStore.open(Scenario.path, options: options, in: disk)
    let again = try match(store, "opened again")
    guard again.number == version.number || again.digest == version.digest else {
      throw Violation("it showed version \(version.number), opened again \(again.number)")
    }
    if isExhaustive, let report = try store?.check(), !report.isSound {
      throw Violation("opened again, not sound: \(report)")
    }
    try store?.close()
    return version
  }

  /// Reading alone shows the same and writes nothing.
  private func checkReadOnly(_ disk: SimulatedDisk) throws {
    var options = options
    options.isReadOnly = true
    let store = try PageStore.open(Scenario.path, options: options, in: disk)
    _ = try match(store, "opened read-only")
    try store.close()
    if disk.operationCount != 0 { throw Violation("opened read-only, it was written to") }
  }

  /// A backup that has its name is whole, and one that returned has it.
  private mutating func checkBackups(_ disk: SimulatedDisk) throws {
    for (path, backup) in oracle.backups {
      guard image.files[path] != nil else {
        if backup.isComplete { throw Violation("\(path) is gone") }
        continue
      }
      // It stays what it is; so in the crashes that come later it is looked at now and then.
      if backup.isComplete, !isExhaustive, generator.below(6) != 0 { continue }
      var options = options
      options.isReadOnly = true
      let store = try PageStore.open(path, options: options, in: disk)
      let digest = try ContentDigest(of: try store.snapshot())
      guard backup.digests.contains(digest) else {
        throw Violation("\(path) holds \(digest), not what was backed up: \(backup.digests)")
      }
      let report = try store.check()
      guard report.isSound else { throw Violation("\(path) is not sound: \(report)") }
      try store.close()
    }
  }

  private func match(_ store: PageStore?, _ what: String) throws -> Oracle.Version {
    guard let store else { throw Violation("there is no store") }
    let snapshot = try store.snapshot()
    if let least = oracle.leastCommit, snapshot.commitNumber < least {
      throw Violation("\(what), it is at commit \(snapshot.commitNumber), but \(least) returned")
    }
    let digest = try ContentDigest(of: snapshot)
    guard let version = oracle.match(digest, processOnly: image.isComplete) else {
      throw Violation(what + ", " + oracle.mismatch(digest, processOnly: image.isComplete))
    }
    return version
  }
}
