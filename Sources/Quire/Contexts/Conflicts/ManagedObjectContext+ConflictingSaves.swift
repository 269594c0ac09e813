import QuireModel
import QuireStorage

// What a save does when it has met conflicts.
extension ManagedObjectContext {
  /// How often a save asks its policy: beyond that the objects are changed, by those who are told
  /// of a merge, in ways that make new conflicts.
  static var mergeLimit: Int { 10 }

  /// Lets the policy resolve the conflicts of a save, and writes what is then to be written, while
  /// nobody else can write: so what was resolved stays resolved.
  ///
  /// - Returns: what was written and the store as it then was; `nil` when nothing was left to save.
  /// - Throws: what the policy, validation or the engine throw. Everything here is as it was then.
  ///
  /// All stores are kept from other writers, as a policy may change any object.
  final func commitMerged(_ save: ContextSave) throws -> ContextSave.Outcome? {
    let transactions = try ContextSave.beginWrites(
      in: presentSessions().filter { !$0.store.isReadOnly })
    defer { transactions.values.forEach { $0.abort() } }
    // Conflicts are looked for in what the stores show, which has to be what is written upon.
    do {
      for transaction in transactions.values { try transaction.waitUntilBaseIsShown() }
    } catch {
      throw PersistenceError(
        .persistentStoreSave, "the changes could not be written", underlying: error)
    }
    let memento = isMerging ? ContextMemento(self) : nil
    // What is merged with is what the stores have; a save moves a query generation on.
    let generation = StoreViews(sessions) { $0.pinnedView }
    for session in sessions { session.pinnedView = nil }
    do {
      let merged = try mergedSave(save)
      if let merged { undoRecording?.willCommit(merged, asMerged: true) }
      let outcome = try merged?.write(in: transactions, settling: true)
      for session in sessions where generation[session] != nil {
        session.pinnedView = session.view ?? generation[session]
      }
      return outcome
    } catch {
      for session in sessions { session.pinnedView = generation[session] }
      merge = nil
      memento?.restore(self)
      if error is SaveOperation.Outdated {
        // Somebody who knows no lock of ours was faster again.
        throw mergeError((try? remainingConflicts().map(\.report)) ?? [])
      }
      if error is SaveOperation.Duplicates { throw constraintError([]) }
      throw error
    }
  }

  /// Whether the policy may change anything here.
  final var isMerging: Bool {
    type(of: mergePolicy) != MergePolicy.self || mergePolicy.mergeType != .errorMergePolicyType
  }

  private func mergedSave(_ save: ContextSave) throws -> ContextSave? {
    var told: Set<ManagedObject> = []
    save.forEachObject { told.insert($0) }
    var latest: [MergeConflict] = []
    var latestDuplicates: [ConstraintConflict] = []
    for _ in 1...Self.mergeLimit {
      latest = try remainingConflicts()
      if !latest.isEmpty {
        try resolve(latest)
        try throwKeptErrors()
      }
      let duplicates = try remainingConstraintConflicts()
      if !duplicates.isEmpty {
        try resolve(duplicates)
        try throwKeptErrors()
      }
      guard hasChanges else { return nil }
      let merged = try prepareSave(without: told)
      merged.forEachObject { told.insert($0) }
      guard hasChanges else { return nil }
      if try remainingConflicts().isEmpty {
        let left = try remainingConstraintConflicts()
        if left.isEmpty { return merged }
        latestDuplicates = left
        if left.map(\.report) == duplicates.map(\.report) {
          throw constraintError(left.map(\.report))
        }
      }
    }
    throw unresolvedConflicts(latest.map(\.report), latestDuplicates.map(\.report))
  }

  /// The policy was asked as often as it may be, and there are conflicts all the same.
  final func unresolvedConflicts(
    _ conflicts: [MergeConflict.Report], _ duplicates: [ConstraintConflict.Report] = []
  ) -> PersistenceError {
    let texts = conflicts.map(\.description) + duplicates.map(\.description)
    var error = PersistenceError(
      .persistentStoreSaveConflicts,
      "the merge policy was asked \(Self.mergeLimit) times, and what it and hooks of objects did led "
        + "to new conflicts each time: \(texts.joined(separator: "; "))")
    error.conflicts = conflicts
    error.constraintConflicts = duplicates
    return error
  }

  private func remainingConflicts() throws -> [MergeConflict] {
    // Of the stores themselves, whatever a query generation shows.
    try conflicts(against: StoreViews(requiredSessions()) { try $0.newestState() })
  }

  private func remainingConstraintConflicts() throws -> [ConstraintConflict] {
    try constraintConflicts(against: StoreViews(requiredSessions()) { try $0.newestState() })
  }

  private func resolve(_ conflicts: [ConstraintConflict]) throws {
    // What is read from now on is what the values are compared with.
    for session in try requiredSessions() {
      session.leaveState()
      _ = try session.newestView()
    }
    try mergePolicy.resolve(constraintConflicts: conflicts)
    processPendingChanges()
    let left = try remainingConstraintConflicts().map(\.report)
    if left == conflicts.map(\.report) { throw constraintError(left) }
  }

  private func resolve(_ conflicts: [MergeConflict]) throws {
    let merge = try Merge(self, conflicts)
    self.merge = merge
    defer { self.merge = nil }
    try mergePolicy.resolve(optimisticLockingConflicts: conflicts)
    processPendingChanges()
    let left = try remainingConflicts()
    if !left.isEmpty { try merge.resolve(left, by: .mergeByPropertyObjectTrumpMergePolicyType) }
  }
}
