import QuireStorage

// A program that meets errors of its disk: it aborts, tries whether the store still takes changes,
// and opens it again if not, as the documentation tells it to. Whatever the disk does, the store
// must keep to what it said.

extension ScenarioRun {
  /// What the errors of a run led to.
  package struct FaultOutcome: Sendable {
    package var errorCount = 0
    package var poisonedCount = 0
    package var abortedCommitCount = 0
    /// Openings that failed until the disk was healed.
    package var refusedOpeningCount = 0
    package var images = 0

    package init() {}

    package static func += (sum: inout FaultOutcome, more: FaultOutcome) {
      sum.errorCount += more.errorCount
      sum.poisonedCount += more.poisonedCount
      sum.abortedCommitCount += more.abortedCommitCount
      sum.refusedOpeningCount += more.refusedOpeningCount
      sum.images += more.images
    }
  }

  /// Performs every step, whatever errors come, and at the end opens the store on a healed disk.
  ///
  /// - Parameters:
  ///   - evicts: whether memory is short before the store is opened again.
  ///   - expects: whether an error is one that the fault can cause.
  ///   - crash: checks what a crash right after an error may leave, and at the end again; returns
  ///     the number of images.
  /// - Throws: a ``Violation`` when the store breaks its word, or an error that it had no reason
  ///   for.
  package func runThroughFaults(
    evicts: Bool = false, expects: (StorageError) -> Bool = { _ in true },
    crash: (DiskState, Oracle) throws -> Int
  ) throws -> FaultOutcome {
    var outcome = FaultOutcome()
    do {
      try open(processOnly: true)
    } catch let error as StorageError {
      guard expects(error) else { throw error }
      outcome.errorCount += 1
      try openAgain(after: error, &outcome)
    }
    for step in scenario.steps {
      do {
        try perform(step)
      } catch let error as StorageError {
        guard expects(error) else { throw error }
        outcome.errorCount += 1
        if evicts { disk.evict() }
        outcome.images += try crash(disk.state, oracle.value)
        try goOn(after: error, &outcome)
      }
    }
    outcome.images += try crash(disk.state, oracle.value)
    closeIgnoringErrors()
    disk.heal()
    try open(processOnly: true)
    try verify()
    // What was shown now must last, wherever it came from.
    outcome.images += try crash(disk.state, oracle.value)
    try perform(.put(.records, keys: 70..<73, byteCount: 20, version: 70))
    try perform(.reopen)
    try verify()
    return outcome
  }

  private func goOn(after error: StorageError, _ outcome: inout FaultOutcome) throws {
    let wasCommit = isCommitOpen
    if !wasCommit { abort() }
    guard let store else { return try openAgain(after: error, &outcome) }
    guard let refusal = refusal(of: store) else {
      // It takes changes, so the commit has not happened.
      if wasCommit {
        guard !disk.failedSyncs.contains(.commit), !error.leavesOutcomeOpen else {
          throw Violation("after a failed sync of a commit (\(error)) the store takes changes")
        }
        outcome.abortedCommitCount += 1
        settleFailedCommit(isAborted: true)
      }
      return try verifyReadable()
    }
    // Of a commit one error alone leaves open whether it is there; after any other it is not.
    if wasCommit { settleFailedCommit(isAborted: !error.leavesOutcomeOpen) }
    if case .poisoned = refusal {
      outcome.poisonedCount += 1
      try verifyPoison(of: store)
    }
    closeIgnoringErrors()
    try openAgain(after: refusal, &outcome)
  }

  /// Why the store takes no changes, if it takes none.
  private func refusal(of store: PageStore) -> StorageError? {
    do throws(StorageError) {
      try store.beginWrite().abort()
      return nil
    } catch {
      return error
    }
  }

  /// A poisoned store reads on, and acknowledges nothing.
  private func verifyPoison(of store: PageStore) throws {
    var answer: StorageError?
    do throws(StorageError) { try store.checkpoint() } catch { answer = error }
    guard case .poisoned = answer else {
      throw Violation(
        "a poisoned store was asked to checkpoint: \(answer.map { "\($0)" } ?? "it did")")
    }
    try verifyReadable()
  }

  /// What was acknowledged last is what the store shows, if it can be read.
  private func verifyReadable() throws {
    guard let store else { return }
    let digest: ContentDigest
    do throws(StorageError) {
      digest = try ContentDigest(of: try store.snapshot())
    } catch {
      // The disk may refuse to read as well.
      return
    }
    let newest = oracle.value.newest
    if digest != newest.digest {
      throw Violation("after an error it shows \(digest), not \(newest.digest)")
    }
  }

  /// Once as it is, since a fault may have passed; then read-only; then with the disk healed.
  private func openAgain(after error: StorageError, _ outcome: inout FaultOutcome) throws {
    do {
      return try open(processOnly: !disk.isShutDown)
    } catch let again as StorageError {
      try readOnly(after: again)
    }
    do {
      return try open(processOnly: !disk.isShutDown)
    } catch is StorageError {
      outcome.refusedOpeningCount += 1
    }
    let wasShutDown = disk.isShutDown
    disk.heal()
    do {
      try open(processOnly: !wasShutDown)
    } catch let last as StorageError {
      throw Violation("after \(error) it does not open on a disk that works again: \(last)")
    }
  }

  /// A disk that is full does not keep anybody from reading.
  private func readOnly(after error: StorageError) throws {
    guard case .noSpaceLeft = error, oracle.value.isCreated else { return }
    var options = options
    options.isReadOnly = true
    let store = try PageStore.open(Scenario.path, options: options, in: disk)
    let digest = try ContentDigest(of: try store.snapshot())
    guard oracle.value.match(digest, processOnly: true) != nil else {
      throw Violation(
        "read-only on a full disk, "
          + oracle.value.mismatch(digest, processOnly: true))
    }
    try store.close()
  }
}

extension StorageError {
  fileprivate var leavesOutcomeOpen: Bool {
    if case .outcomeUnknown = self { true } else { false }
  }
}
