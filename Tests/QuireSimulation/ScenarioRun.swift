import QuireStorage

/// Runs a scenario's steps in a store and tells the oracle what the store promised.
package final class ScenarioRun {
  package let scenario: Scenario
  package let disk: SimulatedDisk
  package let oracle: SharedOracle
  package let options: PageStoreOptions
  package private(set) var store: PageStore?
  private var transaction: WriteTransaction?
  /// The content as the open transaction sees it.
  private var working = StoreModel()
  /// Oldest first.
  private var held: [(snapshot: Snapshot, digest: ContentDigest)] = []
  private static let mostHeld = 3
  /// How often a held snapshot was found to have expired.
  package private(set) var expiredCount = 0
  /// The number of the version that a checkpoint was begun for, while nobody can have failed to
  /// write it.
  private var checkpointed: Int?
  /// What is to be done beside a checkpoint, and how that failed.
  private var besides: ArraySlice<Step> = []
  private var isBeside = false
  private var failureBeside: (any Error)?
  /// Whether a commit threw and nobody has decided what that means.
  private(set) var isCommitOpen = false

  package init(_ scenario: Scenario, on disk: SimulatedDisk, from oracle: Oracle? = nil) {
    self.scenario = scenario
    self.disk = disk
    self.oracle = SharedOracle(oracle ?? Oracle(durability: scenario.durability))
    if scenario.beginsInFormat1 { self.oracle.change { $0.isCreated = true } }
    options = scenario.options
  }

  /// Opens the store and performs every step; the first error ends it.
  package func run() throws {
    try open(processOnly: true)
    for step in scenario.steps { try perform(step) }
    try releaseSnapshots()
    try verify()
  }

  /// Drops everything, as the end of a process would.
  package func die() {
    transaction = nil
    held = []
    store = nil
  }

  // MARK: Opening

  /// - Parameter processOnly: whether the system has lived on, so that nothing can be lost.
  package func open(processOnly: Bool, isClosed: Bool = false) throws {
    let isNew = disk.state.files[Scenario.path] == nil
    let store = try PageStore.open(Scenario.path, options: options, in: disk)
    self.store = store
    checkpointed = nil
    // A store that another process made, and died before its name was durable, promises nothing
    // before its first commit.
    if isNew { oracle.change { $0.isCreated = true } }
    let digest = try ContentDigest(of: try store.snapshot())
    let oracle = oracle.value
    guard let version = oracle.match(digest, processOnly: processOnly) else {
      throw Violation("opened, " + oracle.mismatch(digest, processOnly: processOnly))
    }
    self.oracle.change { $0.settle(on: version, isDurable: isClosed) }
    working = version.model
  }

  /// Closes the store whatever that answers, as far as it is open.
  package func closeIgnoringErrors() {
    abort()
    held = []
    try? store?.close()
    store = nil
  }

  // MARK: Steps

  package func perform(_ step: Step) throws {
    switch step {
    case .put, .remove, .drop, .rename, .build, .flip:
      guard let store else { return }
      let transaction = try self.transaction ?? store.beginWrite()
      self.transaction = transaction
      try step.perform(in: transaction)
      working.apply(step)
    case .commit: try commit()
    case .abort: forgetChanges()
    case .checkpoint:
      try commit()
      try store?.checkpoint()
      oracle.change { $0.makeDurable() }
      try verifyHeld()
    case .beginCheckpoint:
      try commit()
      checkpointed = nil
      try store?.beginCheckpoint()
      checkpointed = oracle.value.newest.number
    case .writeCheckpoint:
      try commit()
      try writeCheckpoint()
      try verifyHeld()
    case .completeCheckpoint:
      try commit()
      checkpointed = nil
      try store?.completeCheckpoint()
      try verifyHeld()
    case .overlap(let steps): try overlap(steps)
    case .compact:
      try commit()
      try store?.compact()
      // A commit that changes nothing but the number.
      let commit = store?.statistics.commitNumber
      oracle.change {
        $0.makeDurable()
        $0.leastCommit = commit
      }
      try verifyHeld()
    case .removeLog:
      try commit()
      try store?.removeLog()
      oracle.change { $0.makeDurable() }
      try verifyHeld()
    case .backUp(let number):
      try commit()
      try backUp(to: Scenario.backupPath(number))
    case .reopen:
      try commit()
      try releaseSnapshots()
      let closing = store
      store = nil
      try closing?.close()
      oracle.change { $0.makeDurable() }
      try open(processOnly: true, isClosed: true)
    case .die:
      try commit()
      try releaseSnapshots()
      die()
      try open(processOnly: true)
    case .hold:
      try commit()
      if held.count == Self.mostHeld { try releaseSnapshot() }
      if let store { held.append((try store.snapshot(), oracle.value.newest.digest)) }
    case .release: try releaseSnapshot()
    case .fork:
      try IntrudingChild(store: store, transaction: transaction, snapshot: held.first?.snapshot)
        .intrude(on: disk)
    }
  }

  private func commit() throws {
    guard let transaction else { return }
    self.transaction = nil
    oracle.change { $0.begin(working) }
    isCommitOpen = true
    try transaction.commit()
    isCommitOpen = false
    oracle.change { $0.acknowledge() }
  }

  package func abort() {
    checkpointed = nil
    forgetChanges()
  }

  private func forgetChanges() {
    transaction?.abort()
    transaction = nil
    working = oracle.value.newest.model
  }

  private func backUp(to path: String) throws {
    guard let store, disk.state.files[path] == nil else { return }
    oracle.change { $0.beginBackup(path) }
    try store.backUp(to: path, in: disk)
    oracle.change { $0.completeBackup(path) }
  }

  // MARK: Checkpoints

  private func writeCheckpoint() throws {
    let number = checkpointed
    checkpointed = nil
    try store?.writeCheckpoint()
    // If somebody else wrote it, that is true as well.
    if let number { oracle.change { $0.makeDurable(through: number) } }
  }

  private func overlap(_ steps: [Step]) throws {
    // Nothing in the log is needed then, and it begins at its start. So it has no need to go round,
    // for which a commit would wait for the very checkpoint that waits for it.
    try perform(.checkpoint)
    besides = steps.filter(\.goesBesideCheckpoint)[...]
    // Something to write.
    while let step = besides.popFirst() {
      try perform(step)
      if step == .commit { break }
    }
    try perform(.beginCheckpoint)
    // It is called on this very thread.
    nonisolated(unsafe) let run = self
    disk.interpose { run.performBeside() }
    defer { disk.interpose(nil) }
    failureBeside = nil
    do {
      try writeCheckpoint()
    } catch {
      if failureBeside == nil {
        abort()
        throw error
      }
    }
    disk.interpose(nil)
    if let failureBeside { throw failureBeside }
    while let step = besides.popFirst() { try perform(step) }
    try perform(.completeCheckpoint)
  }

  private func performBeside() {
    // A commit without room waits for the checkpoint, which is this very thread's.
    if besides.first == .commit, disk.mayLackRoom { return }
    guard !isBeside, failureBeside == nil, let step = besides.popFirst() else { return }
    isBeside = true
    defer { isBeside = false }
    do {
      try perform(step)
      if step == .commit { try verifyHeld() }
    } catch {
      failureBeside = error
    }
  }

  // MARK: Snapshots

  private func releaseSnapshot() throws {
    guard !held.isEmpty else { return }
    try verify(held.removeFirst())
  }

  private func releaseSnapshots() throws {
    while !held.isEmpty { try releaseSnapshot() }
  }

  private func verifyHeld() throws {
    for held in held { try verify(held) }
  }

  private func verify(_ held: (snapshot: Snapshot, digest: ContentDigest)) throws {
    do {
      let digest = try ContentDigest(of: held.snapshot)
      guard digest == held.digest else {
        throw Violation("a snapshot that was held shows \(digest), not \(held.digest)")
      }
    } catch StorageError.snapshotExpired {
      guard scenario.retainedByteLimit < 256 << 20 else {
        throw Violation("a snapshot expired, with \(scenario.retainedByteLimit) bytes for it")
      }
      expiredCount += 1
    }
  }

  /// The store shows the newest version and is sound.
  package func verify() throws {
    guard let store, transaction == nil else { return }
    let digest = try ContentDigest(of: try store.snapshot())
    let newest = oracle.value.newest
    guard digest == newest.digest else {
      throw Violation("it shows \(digest), not version \(newest.number) \(newest.digest)")
    }
    let report = try store.check()
    guard report.isSound else { throw Violation("not sound: \(report)") }
  }

  /// What becomes of a commit that threw.
  func settleFailedCommit(isAborted: Bool) {
    isCommitOpen = false
    checkpointed = nil
    if isAborted { oracle.change { $0.retract() } }
    working = oracle.value.newest.model
  }
}

extension Scenario {
  package static let path = "store"
  package static func backupPath(_ number: Int) -> String { "backup-\(number)" }
  package static let identity = StoreIdentity(high: 17, low: 4)

  /// What is on the disk at first.
  var files: [String: [UInt8]] {
    get throws {
      guard beginsInFormat1 else { return [:] }
      let files = MemoryFileSystem()
      try PageStore.open(Scenario.path, options: options, in: files).close()
      let store = files.bytes(of: Scenario.path).flatMap(StoreForgery.inFormat1)
      guard let store else { throw Violation("no store of format 1 could be made") }
      return [Scenario.path: store]
    }
  }

  package var options: PageStoreOptions {
    var options = PageStoreOptions()
    options.pageSize = pageSize
    options.tailByteCount = tailByteCount
    options.checkpointByteLimit = checkpointByteLimit
    options.durability = durability
    options.cacheByteLimit = cacheByteLimit
    options.transactionByteLimit = transactionByteLimit
    options.retainedByteLimit = retainedByteLimit
    options.checkpointsInBackground = false
    // So that checkpoints write images of their own in some scenarios, and not in others.
    options.imageByteLimit = [0, 2 * pageSize, 1 << 20][Int(seed % 3)]
    options.identity = Scenario.identity
    return options
  }
}
