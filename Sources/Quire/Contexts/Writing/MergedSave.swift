import QuireModel
import QuireStorage

/// A save that has met conflicts: merged with what others have saved, and written.
final class MergedSave {
  /// The number of times that a save calls its policy. Beyond that, hooks of objects change them in
  /// ways that make new conflicts each time.
  static let limit = 10

  private let context: ManagedObjectContext
  /// The context as it was, to be restored when the save fails; `nil` until something is changed.
  private var memento: ContextMemento?

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Puts the changes of a save on rows that others have written meanwhile, lets the policy resolve
  /// what is disputed, and writes the result. The stores are locked for other writers meanwhile, so
  /// that no new conflicts arise.
  ///
  /// All stores are locked, as a policy may change any object.
  ///
  /// - Returns: what was written, with the new states of the stores; `nil` when nothing was left to
  ///   save.
  /// - Throws: what the policy, validation or the engine throw. The context is then as it was.
  func commit(_ save: ContextSave) throws -> ContextSave.Outcome? {
    let transactions = try ContextSave.beginWrites(
      in: context.presentSessions().filter { !$0.store.isReadOnly })
    defer { transactions.values.forEach { $0.abort() } }
    // Conflicts are searched in the states that stores show, which must be those that are written
    // to.
    do {
      for transaction in transactions.values { try transaction.waitUntilBaseIsShown() }
    } catch {
      throw PersistenceError(
        .persistentStoreSave, "the changes could not be written", underlying: error)
    }
    if context.mergePolicy.mayResolve { memento = ContextMemento(context) }
    // The merge is with the newest states of the stores; a save moves a query generation on.
    let generation = StoreViews(context.sessions) { $0.pinnedView }
    for session in context.sessions { session.pinnedView = nil }
    do {
      let merged = try merged(save)
      let outcome = try merged?.write(in: transactions, settling: true)
      for session in context.sessions where generation[session] != nil {
        session.pinnedView = session.view ?? generation[session]
      }
      return outcome
    } catch {
      for session in context.sessions { session.pinnedView = generation[session] }
      context.merge = nil
      memento?.restore(context)
      if error is ConflictFound {
        // A writer to an incremental store, which our locks do not keep out, was faster again.
        assert(
          save.parts.contains { $0.store.incremental != nil },
          "a save meets a conflict that a search for conflicts does not find")
        throw context.mergeError((try? remainingConflicts().map(\.report)) ?? [])
      }
      if error is SaveOperation.Duplicates { throw context.constraintError([]) }
      throw error
    }
  }

  /// - Returns: the save as it is to be written; `nil` when nothing is left to save.
  private func merged(_ save: ContextSave) throws -> ContextSave? {
    var told: Set<ManagedObject> = []
    save.forEachObject { told.insert($0) }
    var latest: [MergeConflict] = []
    var latestDuplicates: [ConstraintConflict] = []
    for _ in 1...Self.limit {
      latest = try remainingConflicts()
      if !latest.isEmpty {
        let open = latest.filter(\.isOpen)
        if memento == nil, open.isEmpty || context.mergePolicy.mayResolve {
          memento = ContextMemento(context)
        }
        try open.isEmpty ? rebase(latest) : resolve(open)
        try context.throwKeptErrors()
      }
      let duplicates = try remainingConstraintConflicts()
      if !duplicates.isEmpty {
        try resolve(duplicates)
        try context.throwKeptErrors()
      }
      guard context.hasChanges else { return nil }
      let merged = try context.prepareSave(without: told, asMerged: true)
      merged.forEachObject { told.insert($0) }
      guard context.hasChanges else { return nil }
      if try remainingConflicts().isEmpty {
        let left = try remainingConstraintConflicts()
        if left.isEmpty { return merged }
        latestDuplicates = left
        if left.map(\.report) == duplicates.map(\.report) {
          throw context.constraintError(left.map(\.report))
        }
      }
    }
    throw Self.unresolvedConflicts(latest.map(\.report), latestDuplicates.map(\.report))
  }

  /// The error when there are conflicts after ``limit`` calls of the policy.
  static func unresolvedConflicts(
    _ conflicts: [MergeConflict.Report], _ duplicates: [ConstraintConflict.Report] = []
  ) -> PersistenceError {
    let texts = conflicts.map(\.description) + duplicates.map(\.description)
    var error = PersistenceError(
      .persistentStoreSaveConflicts,
      "the merge policy was asked \(limit) times, and what it and hooks of objects did led "
        + "to new conflicts each time: \(texts.joined(separator: "; "))")
    error.conflicts = conflicts
    error.constraintConflicts = duplicates
    return error
  }

  private func remainingConflicts() throws -> [MergeConflict] {
    // With the newest states of the stores, even if the context is pinned to a query generation.
    try context.conflicts(against: StoreViews(context.requiredSessions()) { try $0.newestState() })
  }

  private func remainingConstraintConflicts() throws -> [ConstraintConflict] {
    try context.constraintConflicts(
      against: StoreViews(context.requiredSessions()) { try $0.newestState() })
  }

  private func resolve(_ conflicts: [ConstraintConflict]) throws {
    // From now on the context reads the states that values are compared with.
    for session in try context.requiredSessions() {
      session.leaveState()
      _ = try session.newestView()
    }
    try context.mergePolicy.resolve(constraintConflicts: conflicts)
    context.processPendingChanges()
    let left = try remainingConstraintConflicts().map(\.report)
    if left == conflicts.map(\.report) { throw context.constraintError(left) }
  }

  /// Puts changes that nobody disputes on the rows that others have written.
  private func rebase(_ conflicts: [MergeConflict]) throws {
    try Merge(context, conflicts).resolve(conflicts, by: .mergeByPropertyObjectTrumpMergePolicyType)
  }

  private func resolve(_ conflicts: [MergeConflict]) throws {
    let merge = try Merge(context, conflicts)
    context.merge = merge
    defer { context.merge = nil }
    try context.mergePolicy.resolve(optimisticLockingConflicts: conflicts)
    context.processPendingChanges()
    let left = try remainingConflicts()
    if !left.isEmpty { try merge.resolve(left, by: .mergeByPropertyObjectTrumpMergePolicyType) }
  }
}
