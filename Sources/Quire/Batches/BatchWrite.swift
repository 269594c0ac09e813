import QuireModel
import QuireStorage

/// The changes of a batch request in one store, in one transaction.
final class BatchWrite {
  let session: StoreSession
  let store: PersistentStore
  let entities: StoreEntities
  /// The state of the store with which the transaction began.
  let state: StoreView
  let writer: StoreWriter
  /// `nil` if the model has no derived attributes.
  let derived: DerivedValues?
  var history: HistoryRecording?
  var changes: BatchChanges
  var validation = Validation()
  private let transaction: WriteTransaction
  /// By the index of the entity in its model; filled on demand.
  private var rowWriters: [RowWriter?]
  private var historyNumber: Int64?
  private var commitNumber: CommitNumber?

  /// - Parameter keepsUnchanged: whether the IDs of all objects that an update finds are needed.
  init(
    _ session: StoreSession, _ transaction: WriteTransaction, keepsUnchanged: Bool
  ) throws {
    changes = BatchChanges(keepsUnchanged: keepsUnchanged)
    self.session = session
    self.transaction = transaction
    store = session.store
    entities = store.entities
    try session.checkVersion(of: transaction)
    // Searches read the state that the store shows, which must be the base of the transaction.
    try transaction.waitUntilBaseIsShown()
    state = try session.newestState()
    let writer = StoreWriter(transaction, entities)
    self.writer = writer
    derived = entities.derivations.map { DerivedValues($0, writer) }
    history = try HistoryRecording(
      author: session.context.root.transactionAuthor, contextName: session.context.root.name,
      to: store,
      writer)
    rowWriters = Array(repeating: nil, count: entities.byIndex.count)
  }

  func rowWriter(for storage: EntityStorage) -> RowWriter {
    if let writer = rowWriters[storage.index] { return writer }
    let writer = RowWriter(storage.layout)
    rowWriters[storage.index] = writer
    return writer
  }

  func storage(of reference: Reference) throws -> EntityStorage {
    guard let storage = entities.storage(of: reference) else {
      throw StoreSchema.damaged("has no entity number \(reference.entity), which a row refers to")
    }
    return storage
  }

  // MARK: The end

  /// Writes everything that depends on all rows and links: derived values, history, keys of
  /// indexes.
  ///
  /// - Throws: the validation errors of all objects;
  ///   ``PersistenceError/Code/managedObjectConstraintMerge`` if two objects have the same values
  ///   of a constraint.
  func finish() throws {
    try checkCounts()
    try validation.finish()
    try derived?.write()
    try requireUniqueness()
    historyNumber = try history?.write(
      inserted: changes.inserted, updated: changes.updated, deleted: changes.deleted)
    try writer.writeKeys()
    transaction.isForRemoval = changes.isRemoval
  }

  private func requireUniqueness() throws {
    guard let (index, objects) = try writer.firstDuplicates(), let first = objects.first else {
      return
    }
    throw constraintError(index, first, objects)
  }

  func commit() throws { commitNumber = try store.commit(transaction).commitNumber }

  /// The changes of the commit; `nil` before it.
  func savedChanges() -> SavedChanges? {
    commitNumber.map {
      SavedChanges(
        entities: entities, commit: $0, inserted: Array(changes.inserted),
        updated: changes.updated, deleted: changes.deleted, historyNumber: historyNumber)
    }
  }

  // MARK: Objects at other ends

  /// Checks the numbers of destinations of objects that lost or got some at the other end.
  private func checkCounts() throws {
    for reference in changes.others.keys.sorted() {
      // A changed object may have been deleted, by another object of the request.
      guard let slots = changes.others[reference], try writer.contains(reference) else { continue }
      let storage = try storage(of: reference)
      for slot in slots where storage.binding.traits[slot].limitsCount {
        let relationship = storage.binding.relationship(slot)
        if let link = storage.link(slot) {
          let count = try writer.linkKeys(link, of: reference.key).count
          validation.checkCount(count, relationship, subject(reference, storage))
        } else if storage.fieldBySlot[slot] >= 0,
          try writer.withRow(reference, { $0.reference(storage.fieldBySlot[slot]) }) == .some(nil)
        {
          validation.fail(
            .validationMissingMandatoryProperty, subject(reference, storage), relationship.name,
            "has no destination")
        }
      }
      try stopAtManyErrors()
    }
  }

  func subject(_ reference: Reference, _ storage: EntityStorage) -> Validation.Subject {
    Validation.Subject(
      entityName: storage.binding.entity.name, objectID: session.permanentID(of: reference))
  }

  /// Writes the row of an object that has changed at the other end of a relationship, with a new
  /// version. An object whose links are stored in the rows of others is not written.
  ///
  /// - Parameter destination: the new destination, if the slot is a field of the row.
  func writeOther(_ slot: Int, at reference: Reference, to destination: Reference? = nil) throws {
    changes.recordOther(slot, at: reference)
    let storage = try storage(of: reference)
    let (trait, field) = (storage.binding.traits[slot], storage.fieldBySlot[slot])
    if trait.isToMany, trait.isForeignKeyOfOthers { return }
    let version = try newVersion(at: reference)
    let row = rowWriter(for: storage)
    let isWritten = try writer.withRow(reference) { reader in
      // The version increases once in a transaction.
      if field < 0, reader.version == version { return false }
      try row.write(version: version) { index in
        if index == field { return destination.map { .reference($0) } }
        return reader.isNil(index) ? nil : .copy(of: index, in: reader)
      }
      return true
    }
    if isWritten == true { try writer.putRow(row, at: reference, in: storage) }
  }

  /// The version of a row after this transaction, if that writes it.
  func newVersion(at reference: Reference) throws -> UInt32 {
    try state.row(reference).map { BatchWrite.version(after: $0.version) } ?? 1
  }

  static func version(after former: UInt32) -> UInt32 { former < .max ? former + 1 : 1 }

  /// - Throws: the collected errors if there are a hundred; a request collects no more.
  func stopAtManyErrors() throws {
    if validation.errors.count >= 100 { try validation.finish() }
  }
}
