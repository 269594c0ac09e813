import QuireModel
import QuireStorage

/// The execution of one batch request: it chooses stores, writes to them, commits, and notifies.
///
/// Changes are written by the ``StoreWriter`` that saves use, so that the rules for rows, links,
/// indexes and derived attributes are the same. But no objects are made: a batch reads from rows
/// what a save finds in objects.
final class BatchExecution {
  let context: ManagedObjectContext
  private let resultType: BatchResultType
  private let progress: BatchProgress?
  private var doneCount = 0
  private var unreportedCount = 0

  private static let reportCount = 1024

  init(
    _ context: ManagedObjectContext, _ resultType: BatchResultType, _ progress: BatchProgress?
  ) throws {
    try context.requireIdle(for: "execute(_:)")
    self.context = context
    self.resultType = resultType
    self.progress = progress
  }

  /// Counts one more object as done.
  ///
  /// - Throws: `CancellationError` if the request's progress handler ends it, or its task is
  ///   cancelled.
  func advance() throws {
    unreportedCount += 1
    if unreportedCount == BatchExecution.reportCount { try report() }
  }

  @inline(never)
  private func report() throws {
    doneCount += unreportedCount
    unreportedCount = 0
    if let progress, !progress(doneCount) { throw CancellationError() }
    try Task.checkCancellation()
  }

  // MARK: Stores

  /// The sessions of the stores that have an entity, or one of its descendants.
  ///
  /// - Parameter stores: the stores to choose from; `nil` for all.
  /// - Throws: an error if there is none, or one that cannot be written.
  func sessions(
    of stores: [PersistentStore]?, with entity: EntityBinding, includingSubentities: Bool = true
  ) throws -> [StoreSession] {
    let family = family(of: entity, includingSubentities: includingSubentities)
    let sessions = try context.sessions(of: stores).filter { session in
      family.contains { session.entities.byIndex[$0.index] != nil }
    }
    if sessions.isEmpty, !family.allSatisfy(\.entity.isAbstract) {
      var error = PersistenceError(
        .persistentStoreOperation,
        "no store that the batch request is for has the entity \(entity.entity.name) in its "
          + "configuration")
      error.entityName = entity.entity.name
      throw error
    }
    for session in sessions { try checkWritable(session.store) }
    return sessions
  }

  /// An entity, with its descendants if they are included.
  func family(of entity: EntityBinding, includingSubentities: Bool) -> [EntityBinding] {
    guard includingSubentities, let model = context.modelBinding else { return [entity] }
    return model.model.family(of: entity.entity).compactMap { model.entity(named: $0.name) }
  }

  func checkWritable(_ store: PersistentStore) throws {
    if store.incremental != nil {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "a store of type \(store.type.rawValue) takes no batch requests: insert, change or delete "
          + "objects there and save, or name other stores in affectedStores")
    }
    if store.isReadOnly {
      throw PersistenceError(
        .persistentStoreSave,
        "the store \(store.name) was opened read-only: open it for writing, or name others in "
          + "affectedStores")
    }
  }

  // MARK: References

  /// The references of objects by their stores: sorted, and each once.
  func references(
    of ids: [ManagedObjectID], in stores: [PersistentStore]?
  ) throws -> [(session: StoreSession, references: [Reference])] {
    let sessions = try context.sessions(of: stores)
    var references: [ObjectIdentifier: [Reference]] = [:]
    for id in ids {
      guard let found = context.reference(for: id),
        sessions.contains(where: { $0 === found.session })
      else { throw noObject(of: id) }
      references[ObjectIdentifier(found.session), default: []].append(found.reference)
    }
    return try sessions.compactMap { session in
      guard var found = references[ObjectIdentifier(session)] else { return nil }
      try checkWritable(session.store)
      found.sort()
      var last: Reference?
      found.removeAll { reference in
        defer { last = reference }
        return reference == last
      }
      return (session, found)
    }
  }

  private func noObject(of id: ManagedObjectID) -> PersistenceError {
    var error = PersistenceError(
      .persistentStoreOperation,
      id.permanent.isTemporaryID
        ? "\(id) was never saved, and a batch request is about objects of stores: save it first"
        : "\(id) is of no store that the batch request is for")
    error.objectID = id
    error.entityName = id.entity.name
    return error
  }

  /// The references, sorted, of the objects that a request finds in the states with which the
  /// transactions began.
  func references(
    of request: FetchRequest<ManagedObject>, _ writes: [BatchWrite]
  ) throws -> [(BatchWrite, [Reference])] {
    var request = request
    request.affectedStores = writes.map(\.store)
    var found = try FetchExecution(request, in: context) { session in
      writes.first { $0.session === session }?.state
    }.references()
    var references = [[Reference]](repeating: [], count: writes.count)
    if writes.count == 1 {
      references[0] = found.takeReferences()
    } else {
      for (index, reference) in found.references.enumerated() {
        references[found.store(at: index)].append(reference)
      }
    }
    for index in references.indices { references[index].sort() }
    return Array(zip(writes, references))
  }

  // MARK: Writing

  /// Writes to stores, and commits when all of them are written.
  ///
  /// - Parameter body: called with the writes to the stores, in their order.
  func run(
    in sessions: [StoreSession], _ body: ([BatchWrite]) throws -> Void
  ) throws -> BatchResult {
    for session in sessions { try session.writeDeferredLinks() }
    let transactions = try ContextSave.beginWrites(in: sessions)
    // Has no effect on transactions that were committed.
    defer { transactions.values.forEach { $0.abort() } }
    do {
      let writes = try sessions.compactMap { session in
        try transactions[ObjectIdentifier(session)].map {
          try BatchWrite(session, $0, keepsUnchanged: resultType == .objectIDs)
        }
      }
      try write(writes, body)
      try commit(writes)
      return result(of: writes)
    } catch let error as StorageError {
      throw PersistenceError(
        .persistentStoreSave, "the batch request could not be written",
        orUnknown: "whether the batch request is done", error)
    }
  }

  private func write(_ writes: [BatchWrite], _ body: ([BatchWrite]) throws -> Void) throws {
    // A write by a handler would wait for this request, and this request for the handler.
    try context.during(.runningBatch) {
      try body(writes)
      for write in writes { try write.finish() }
      try report()
    }
  }

  private func commit(_ writes: [BatchWrite]) throws {
    for (count, write) in writes.enumerated() {
      do {
        try write.commit()
      } catch {
        guard count > 0 else { throw error }
        notifyListeners(writes.prefix(count))
        let names = { (writes: ArraySlice<BatchWrite>) in
          writes.map(\.store.name).joined(separator: ", ")
        }
        let done = "the batch request is done in \(names(writes[..<count])), "
        let others = names(writes[count...])
        if case .outcomeUnknown? = error as? StorageError {
          throw PersistenceError(
            .persistentStoreIncompleteSave,
            done + "and of \(others) it is unknown: look before you run it again for these",
            underlying: error)
        }
        throw PersistenceError(
          .persistentStoreIncompleteSave,
          done + "and not in \(others): run it again for these", underlying: error)
      }
    }
    notifyListeners(writes[...])
  }

  /// Notifies the listeners of stores of committed changes. The request's own context is among
  /// them, as its objects do not reflect the changes either.
  private func notifyListeners(_ writes: ArraySlice<BatchWrite>) {
    for write in writes where write.store.hub.isListened {
      guard let changes = write.savedChanges(), !changes.isEmpty else { continue }
      write.store.hub.publish(
        CommitNotice(
          changes: changes, author: context.root.transactionAuthor,
          contextName: context.root.name, origin: nil))
    }
  }

  private func result(of writes: [BatchWrite]) -> BatchResult {
    let count = writes.reduce(0) { $0 + $1.changes.count }
    var notice = ObjectIDNotice(
      .didSaveObjectIDs, contextName: context.root.name, author: context.root.transactionAuthor)
    guard resultType == .objectIDs else {
      return BatchResult(resultType, count: count, objectIDs: [], notice)
    }
    var ids: [ManagedObjectID] = []
    for write in writes {
      ids.reserveCapacity(ids.count + write.changes.count)
      ids += write.changes.primary.lazy.compactMap(write.session.permanentID)
      guard let changes = write.savedChanges() else { continue }
      // The union with an empty set copies none.
      notice.insertedObjectIDs = changes.insertedIDs.union(notice.insertedObjectIDs)
      notice.deletedObjectIDs = changes.deletedIDs.union(notice.deletedObjectIDs)
      for (id, names) in changes.updatedProperties {
        notice.updatedObjectIDs.insert(id)
        notice.changedProperties[id] = Set(names)
      }
      if writes.count == 1 { notice.commitNumber = changes.commitNumber.rawValue }
    }
    return BatchResult(resultType, count: count, objectIDs: ids, notice)
  }
}
