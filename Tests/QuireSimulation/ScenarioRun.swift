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
  private var held: (snapshot: Snapshot, digest: ContentDigest)?
  /// Whether a commit threw and nobody has decided what that means.
  private(set) var isCommitOpen = false

  package init(_ scenario: Scenario, on disk: SimulatedDisk, from oracle: Oracle? = nil) {
    self.scenario = scenario
    self.disk = disk
    self.oracle = SharedOracle(oracle ?? Oracle(durability: scenario.durability))
    options = scenario.options
  }

  /// Opens the store and performs every step; the first error ends it.
  package func run() throws {
    try open(processOnly: true)
    for step in scenario.steps { try perform(step) }
    try releaseSnapshot()
    try verify()
  }

  /// Drops everything, as the end of a process would.
  package func die() {
    transaction = nil
    held = nil
    store = nil
  }

  // MARK: Opening

  /// - Parameter processOnly: whether the system has lived on, so that nothing can be lost.
  package func open(processOnly: Bool, isClosed: Bool = false) throws {
    let isNew = disk.state.files[Scenario.path] == nil
    let store = try PageStore.open(Scenario.path, options: options, in: disk)
    self.store = store
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
    held = nil
    try? store?.close()
    store = nil
  }

  // MARK: Steps

  package func perform(_ step: Step) throws {
    switch step {
    case .put, .remove, .drop, .rename:
      guard let store else { return }
      let transaction = try self.transaction ?? store.beginWrite()
      self.transaction = transaction
      try step.perform(in: transaction)
      working.apply(step)
    case .commit: try commit()
    case .abort: abort()
    case .checkpoint:
      try commit()
      try store?.checkpoint()
      oracle.change { $0.makeDurable() }
    case .reopen:
      try commit()
      try releaseSnapshot()
      let closing = store
      store = nil
      try closing?.close()
      oracle.change { $0.makeDurable() }
      try open(processOnly: true, isClosed: true)
    case .die:
      try commit()
      try releaseSnapshot()
      die()
      try open(processOnly: true)
    case .hold:
      try commit()
      try releaseSnapshot()
      if let store { held = (try store.snapshot(), oracle.value.newest.digest) }
    case .release: try releaseSnapshot()
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
    transaction?.abort()
    transaction = nil
    working = oracle.value.newest.model
  }

  private func releaseSnapshot() throws {
    guard let (snapshot, expected) = held else { return }
    held = nil
    let digest = try ContentDigest(of: snapshot)
    guard digest == expected else {
      throw Violation("a snapshot that was held shows \(digest), not \(expected)")
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
    if isAborted { oracle.change { $0.retract() } }
    working = oracle.value.newest.model
  }
}

extension Scenario {
  package static let path = "store"
  package static let identity = StoreIdentity(high: 17, low: 4)

  package var options: PageStoreOptions {
    var options = PageStoreOptions()
    options.pageSize = pageSize
    options.checkpointByteLimit = checkpointByteLimit
    options.durability = durability
    options.checkpointsInBackground = false
    // So that checkpoints write images of their own in some scenarios, and not in others.
    options.imageByteLimit = [0, 2 * pageSize, 1 << 20][Int(seed % 3)]
    options.identity = Scenario.identity
    return options
  }
}
