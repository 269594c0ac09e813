import QuireModel
import QuireStorage

/// One save of a context, with a part for each of its stores.
///
/// Most contexts have one store, and their saves one part.
final class ContextSave {
  private let context: ManagedObjectContext
  /// In the order of their commits; stores without changes are left out.
  let parts: [SaveOperation]
  /// The error for a new object that no store takes.
  private let failure: (any Error)?

  init(_ context: ManagedObjectContext) {
    self.context = context
    let changes = context.changes
    let (inserted, updated, deleted) =
      (changes.inserted.sorted, changes.updated.sorted, changes.deleted.sorted)
    let sessions = context.presentSessions()
    if !context.hasSeveralStores, let session = sessions.first, !session.store.isReadOnly,
      inserted.allSatisfy(session.takes)
    {
      parts = [
        SaveOperation(session, inserted: inserted, updated: updated, deleted: deleted)
      ]
      failure = nil
      return
    }
    var failure: (any Error)?
    var targets: [ObjectIdentifier: [ManagedObject]] = [:]
    for object in inserted {
      do {
        targets[ObjectIdentifier(try context.targetSession(of: object)), default: []].append(object)
      } catch {
        failure = failure ?? error
      }
    }
    self.failure = failure
    // Incremental stores first: they are more likely to fail, and nothing is saved then.
    let order =
      sessions.filter { $0.store.incremental != nil }
      + sessions.filter { $0.store.incremental == nil }
    parts = order.compactMap { session in
      let inserted = targets[ObjectIdentifier(session)] ?? []
      let updated = updated.filter { $0.session === session }
      let deleted = deleted.filter { $0.session === session }
      if inserted.isEmpty, updated.isEmpty, deleted.isEmpty { return nil }
      return SaveOperation(session, inserted: inserted, updated: updated, deleted: deleted)
    }
  }

  /// Calls `body` with each object of the save: store by store inserted ones, changed ones, deleted
  /// ones.
  func forEachObject(_ body: (ManagedObject) -> Void) {
    for part in parts { part.forEachObject(body) }
  }

  /// - Throws: the validation errors of all objects, or an error of the engine.
  func validate() throws {
    var validation = Validation()
    for part in parts { try part.validate(&validation) }
    try validation.finishSave()
  }

  // MARK: Stores

  /// - Throws: when no store takes an object, a store is read-only, or a relationship leads from
  ///   one store to another.
  func checkStores() throws {
    if let failure { throw failure }
    for part in parts where part.store.isReadOnly {
      throw PersistenceError(
        .persistentStoreSave, "the store was opened read-only: open it for writing to save")
    }
    guard context.hasSeveralStores else { return }
    for part in parts {
      for item in part.inserted {
        try checkDestinations(of: item.object, item.object.binding.storedRelationshipSlots, part)
      }
      for update in part.updated {
        try checkDestinations(of: update.object, update.changedSlots, part)
      }
    }
  }

  private func checkDestinations(
    of object: ManagedObject, _ slots: some Sequence<Int>, _ part: SaveOperation
  ) throws {
    guard !object.slots.isEmpty else { return }
    for slot in slots {
      let destinations: [ManagedObject] =
        switch object.slots[slot] {
        case .unchanged, .value: []
        case .one(let destination): destination.map { [$0] } ?? []
        case .many(let pending): pending.order ?? pending.added
        }
      for destination in destinations where destination.isLive {
        guard try context.targetSession(of: destination) === part.session else {
          throw object.leadsToOtherStore(object.binding.relationship(slot), destination)
        }
      }
    }
  }
}

// MARK: - Writing

extension ContextSave {
  /// The parts of a save that are durable.
  struct Outcome {
    let save: ContextSave
    /// The states of the stores after the save, of the durable parts, which are the first.
    var views: [StoreView] = []
    /// The error by which the other parts were not saved.
    var failure: PersistenceError?
    /// The commit of the save's one part, when it is written and not known to be durable. There are
    /// no views then.
    var waiting: PersistentStore.WrittenSave?

    var parts: ArraySlice<SaveOperation> { save.parts.prefix(views.count) }
  }

  typealias Transactions = [ObjectIdentifier: WriteTransaction]

  /// Opens a transaction in each store.
  ///
  /// All contexts of the process lock stores in the same order, so that no two of them wait for
  /// each other.
  static func beginWrites(in sessions: [StoreSession]) throws -> Transactions {
    try beginWrites(in: inOrder(sessions)) { try $0.store.pages.beginWrite() } ?? [:]
  }

  /// The same for an asynchronous function that has waited for the first of the stores.
  ///
  /// The others are waited for by the thread: functions that wait for two turns without one would
  /// have to give up the first for the second.
  ///
  /// - Returns: `nil` if it is not the function's turn.
  static func beginWritesIfFree(
    in sessions: [StoreSession], _ turn: WriterTurn
  ) throws -> Transactions? {
    let first = inOrder(sessions).first
    return try beginWrites(in: inOrder(sessions)) { session in
      session === first
        ? try session.store.pages.beginWriteIfFree(turn) : try session.store.pages.beginWrite()
    }
  }

  /// The sessions in the order in which their stores are locked.
  static func inOrder(_ sessions: [StoreSession]) -> [StoreSession] {
    sessions.sorted { $0.identity.precedes($1.identity) }
  }

  private static func beginWrites(
    in sessions: [StoreSession], _ begin: (StoreSession) throws -> WriteTransaction?
  ) throws -> Transactions? {
    var transactions: Transactions = [:]
    do {
      for session in sessions {
        guard let transaction = try begin(session) else { return nil }
        transactions[ObjectIdentifier(session)] = transaction
      }
    } catch {
      transactions.values.forEach { $0.abort() }
      if case StorageError.locked(let owner) = error {
        throw PersistenceError(
          .persistentStoreTimeout,
          "the store cannot be written: it is the turn of \(owner), which did not end in time; the "
            + "changes are still unsaved here, save again",
          underlying: error)
      }
      throw PersistenceError(
        .persistentStoreSave, "the store cannot be written", underlying: error)
    }
    return transactions
  }

  /// Writes all parts, and commits them one after the other when all of them are written.
  ///
  /// - Parameters:
  ///   - transactions: one for each part at least. All have ended when this returns or throws.
  ///   - settling: whether deferred links are written to their trees.
  ///   - waits: whether the thread waits until the commits are durable. If not, that of a save to
  ///     one store may be left to ``finish(_:_:)``.
  /// - Returns: the durable parts: all, or the first ones.
  /// - Throws: if nothing was saved; ``ConflictFound`` if there are conflicts.
  func write(
    in transactions: Transactions, settling: Bool, waits: Bool = true
  ) throws -> Outcome {
    var outcome = Outcome(save: self)
    // Committed ones have ended already, and are not affected.
    defer { transactions.values.forEach { $0.abort() } }
    do {
      try checkWatchedObjects()
      for part in parts {
        guard let transaction = transactions[ObjectIdentifier(part.session)] else {
          throw PersistenceError(
            .persistentStoreSave,
            "the context was given other stores while its policy was asked: save again")
        }
        try part.session.checkVersion(of: transaction)
        part.commit = transaction.commitNumber
        transaction.isForRemoval = part.inserted.isEmpty && !part.deleted.isEmpty
        if let incremental = part.session.incremental {
          try part.prepareWrite(to: incremental)
          continue
        }
        let writer = StoreWriter(
          transaction, part.entities, deferring: context.migration?.links)
        var history = try HistoryRecording(
          author: context.transactionAuthor, contextName: context.name, to: part.store, writer)
        try history?.keepTombstones(of: part.deleted.lazy.map(\.reference))
        try part.write(to: writer, watching: context.watched)
        part.historyNumber = try history?.write(
          inserted: part.inserted.lazy.map(\.reference), updated: part.updateList,
          deleted: part.deleted.lazy.map(\.reference))
        if settling { try writer.writeDeferredLinks() }
      }
      for part in parts {
        guard let transaction = transactions[ObjectIdentifier(part.session)] else { continue }
        if !waits, parts.count == 1, part.session.incremental == nil {
          outcome.waiting = try part.store.write(transaction)
          break
        }
        outcome.views.append(try part.commit(transaction))
      }
    } catch {
      guard outcome.views.isEmpty else {
        outcome.failure = incompleteSave(outcome.views.count, error)
        return outcome
      }
      throw (error as? StorageError).map(unwritten) ?? error
    }
    return outcome
  }

  /// Completes a save to one store whose commit was waited for.
  ///
  /// - Parameter error: why the commit did not become durable.
  func finish(_ outcome: Outcome, _ error: StorageError?) throws -> Outcome {
    if let error { throw unwritten(error) }
    guard let waiting = outcome.waiting, let part = parts.first else { return outcome }
    var outcome = outcome
    outcome.waiting = nil
    outcome.views.append(StoreView(part.entities, part.store.finish(waiting)))
    return outcome
  }

  private func unwritten(_ error: StorageError) -> any Error {
    PersistenceError(
      .persistentStoreSave, "the changes could not be written",
      orUnknown: "whether the changes are saved", error)
  }

  /// Checks that watched objects are unchanged in stores that this save does not write to.
  private func checkWatchedObjects() throws {
    guard context.hasSeveralStores, !context.watched.isEmpty else { return }
    for session in context.sessions where !parts.contains(where: { $0.session === session }) {
      let watched = context.watched.filter { $0.session === session && !$0.hasChanges }
      guard !watched.isEmpty else { continue }
      var search = ConflictSearch(
        StateToWrite(session: session, state: try session.newestState()))
      try search.search(inserted: [], updated: [], deleted: [], watched: watched)
    }
  }

  private func incompleteSave(_ count: Int, _ error: any Error) -> PersistenceError {
    func names(_ parts: some Sequence<SaveOperation>) -> String {
      parts.map { $0.store.name }.joined(separator: ", ")
    }
    let saved = "the changes in \(names(parts.prefix(count))) are saved, "
    let others = names(parts.dropFirst(count))
    if case .outcomeUnknown? = error as? StorageError {
      return PersistenceError(
        .persistentStoreIncompleteSave,
        saved + "of those in \(others) it is unknown: look before you save again",
        underlying: error)
    }
    return PersistenceError(
      .persistentStoreIncompleteSave,
      saved + "those in \(others) are not: they are still unsaved here, save again",
      underlying: error)
  }
}

extension StoreIdentity {
  fileprivate func precedes(_ other: StoreIdentity) -> Bool {
    (high, low) < (other.high, other.low)
  }
}
