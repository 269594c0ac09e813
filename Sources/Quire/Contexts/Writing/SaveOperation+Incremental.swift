import QuireModel
import QuireStorage

/// The changes that a save writes to an incremental store, collected while the store is locked for
/// other writers of this process.
struct IncrementalWrite {
  var request: IncrementalStoreSave
  /// The rows that were compared, to which the new rows are added.
  let rows: IncrementalRows
  var newRows: [(reference: Reference, row: Row)] = []
  /// The rows that the store has written differently.
  var answered: Set<Reference> = []
}

// Saves to incremental stores. The order is that of `write(to:)`, but all changes are collected
// first, and passed to the store in one call.
extension SaveOperation {
  /// Compares the versions of the save's objects with the store's, and collects the changes to
  /// write.
  ///
  /// - Throws: ``ConflictFound`` if there are conflicts; what the store throws.
  func prepareWrite(to source: IncrementalSource) throws {
    let state = try session.newestState()
    guard let rows = state.incremental else { return }
    try rows.read(comparedReferences)
    // Also of those that nobody disputes: the changes are put on the newest rows first.
    var search = ConflictSearch(StateToWrite(session: session, state: state))
    try search.search(
      inserted: new, updated: updated, deleted: deleted, watched: watched)
    for item in inserted where item.object.isPersistent {
      guard let row = try rows.row(item.reference) else { continue }
      throw referenceTaken(item.object, row.version)
    }
    try giveReferences { try source.takeReferences(for: $0) }
    if source.takesObjects { promiseReferences() }
    var write = IncrementalWrite(request: IncrementalStoreSave(), rows: rows)
    write.request.author = session.context.transactionAuthor
    for item in inserted { try add(item, to: &write, source) }
    for update in updated { try add(update, to: &write, source) }
    for object in deleted {
      write.request.deleted.append(try expectation(of: object, source))
    }
    for object in watched where !object.hasChanges {
      write.request.unchanged.append(try expectation(of: object, source))
    }
    incrementalWrite = write
  }

  /// Lets new objects show their permanent IDs to a store that is about to work on them. They keep
  /// these IDs if the save fails.
  private func promiseReferences() {
    for item in inserted where item.object.reference.isTemporary {
      session.context.promisedIDs.promise(
        item.reference, to: item.object.reference, in: store.identity)
    }
  }

  /// Objects of this store that must not have changed since they were read.
  private var watched: [ManagedObject] {
    session.context.watched.filter { $0.session === session }.sorted { $0.reference < $1.reference }
  }

  /// The objects whose rows are needed before a save, to be read together.
  private var comparedReferences: Set<Reference> {
    var references = Set((touched + deleted + watched).lazy.map(\.reference))
    for object in inserted.map(\.object) + touched {
      if object.isPersistent { references.insert(object.reference) }
      for slot in object.slots {
        let destinations: [ManagedObject] =
          switch slot {
          case .unchanged, .value: []
          case .one(let destination): destination.map { [$0] } ?? []
          case .many(let pending): pending.order ?? pending.added
          }
        for object in destinations where object.isPersistent && object.session === session {
          references.insert(object.reference)
        }
      }
    }
    return references
  }

  private func expectation(
    of object: ManagedObject, _ source: IncrementalSource
  ) throws -> IncrementalStoreSave.Expectation {
    .init(
      key: try source.key(of: object.reference),
      version: object.row == nil ? nil : object.version)
  }

  // MARK: Rows

  private func add(
    _ item: Insertion, to write: inout IncrementalWrite, _ source: IncrementalSource
  ) throws {
    let row = try newRow(of: item.object, item.storage, item.reference)
    write.newRows.append((item.reference, row))
    write.request.inserted.append(
      .init(
        node: try source.node(of: row, at: item.reference),
        members: try memberChanges(
          of: item.object, item.object.binding.storedRelationshipSlots, source)))
  }

  private func add(
    _ update: PendingUpdate, to write: inout IncrementalWrite, _ source: IncrementalSource
  ) throws {
    let object = update.object
    guard let storage = object.storage else { return }
    guard update.hasOwnChange else {
      write.request.unchanged.append(
        .init(key: try source.key(of: object.reference), version: nil))
      return
    }
    let row = try newRow(of: object, storage, object.reference)
    write.newRows.append((object.reference, row))
    let traits = object.binding.traits
    let slots = update.changedSlots.filter {
      !(traits[$0].isToMany && traits[$0].isForeignKeyOfOthers)
    }
    let names = (slots + object.binding.derivations.map(\.slot)).map(object.binding.name(of:))
    write.request.updated.append(
      .init(
        node: try source.node(of: row, at: object.reference), formerVersion: object.version,
        changedProperties: Set(names), members: try memberChanges(of: object, slots, source)))
  }

  private func newRow(
    of object: ManagedObject, _ storage: EntityStorage, _ reference: Reference
  ) throws -> Row {
    let writer = RowWriter(storage.layout)
    let version = newVersion(of: object, at: reference, nil)
    let derived = try derivedValues(of: object, storage, nil)
    if let old = object.row {
      try old.withReader { reader in
        try writer.write(version: version) { try content(of: $0, object, storage, reader, derived) }
      }
    } else {
      try writer.write(version: version) { try content(of: $0, object, storage, nil, derived) }
    }
    return try writer.withBytes {
      try Row(EncodedRow($0, isSaved: true), layout: storage.layout)
    }
  }

  // MARK: Members

  private func memberChanges(
    of object: ManagedObject, _ slots: [Int], _ source: IncrementalSource
  ) throws -> [String: IncrementalStoreSave.MemberChange] {
    guard !object.slots.isEmpty else { return [:] }
    var changes: [String: IncrementalStoreSave.MemberChange] = [:]
    for slot in slots where !object.binding.traits[slot].isForeignKeyOfOthers {
      guard case .many(let pending) = object.slots[slot] else { continue }
      func keys(_ objects: [ManagedObject]) throws -> [IncrementalStoreKey] {
        // An object that refers to itself is added by both sides.
        var seen: Set<ManagedObject> = []
        return try objects.filter { $0.isLive && seen.insert($0).inserted }
          .map { try source.key(of: finalReference($0)) }
      }
      changes[object.binding.name(of: slot)] = .init(
        added: try keys(pending.added),
        removed: try pending.removed.sorted().filter { !$0.isTemporary }.map(source.key(of:)),
        order: try pending.order.map(keys))
    }
    return changes
  }
}

// MARK: - Writing

extension SaveOperation {
  /// Commits the save.
  ///
  /// - Returns: the state of the store after it.
  /// - Throws: ``ConflictFound`` when an incremental store has found that its objects were changed
  ///   by another writer meanwhile.
  func commit(_ transaction: WriteTransaction) throws -> StoreView {
    guard let write = incrementalWrite, let source = session.incremental else {
      return StoreView(entities, try store.commit(transaction))
    }
    var answer: [IncrementalStoreNode] = []
    let snapshot = try store.commit(transaction) { metadata in
      var request = write.request
      request.metadata = metadata
      do {
        answer = try source.asking(.persistentStoreSave, to: "write the changes") {
          try $0.execute(request)
        }
      } catch let error as PersistenceError where error.underlying is IncrementalStoreConflict {
        throw ConflictFound()
      }
    }
    write.rows.forgetMembers()
    for object in deleted { write.rows.record(nil, at: object.reference) }
    for item in write.newRows { write.rows.record(item.row, at: item.reference) }
    // The save has happened: nodes of the answer that are invalid are read again when needed, and
    // errors are reported then.
    for node in answer {
      guard let reference = try? source.reference(of: node.key) else { continue }
      incrementalWrite?.answered.insert(reference)
      if let row = try? source.row(of: node).row {
        write.rows.record(row, at: reference)
      } else {
        write.rows.forget(reference)
      }
    }
    return StoreView(entities, snapshot, nil, write.rows)
  }
}
