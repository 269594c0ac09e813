import QuireModel
import QuireStorage

/// The part of a save for one store: writes the changed objects of a context as rows and links, in
/// a transaction.
///
/// Order matters, and is the order of the code in ``write(to:watching:)``: conflicts are searched
/// before anything is written, and after that nothing is compared any more; new objects get their
/// references before anything refers to them; links of removed foreign keys are removed before
/// those of deleted owners; orders are written last, as each has all of its members.
final class SaveOperation {
  /// A new object. There may be many, each read many times, so it is not retained for a read.
  struct Insertion {
    // Sound: the save retains its new objects, and the entities of its store.
    fileprivate let uncounted: Unmanaged<ManagedObject>
    fileprivate let uncountedStorage: Unmanaged<EntityStorage>
    var reference: Reference

    var object: ManagedObject { uncounted.takeUnretainedValue() }
    var storage: EntityStorage { uncountedStorage.takeUnretainedValue() }

    /// Whether the entity is that of another item.
    func hasStorage(of other: Insertion) -> Bool {
      uncountedStorage.toOpaque() == other.uncountedStorage.toOpaque()
    }

    func ofObject<Result>(_ body: (ManagedObject) throws -> Result) rethrows -> Result {
      try uncounted._withUnsafeGuaranteedRef(body)
    }
  }

  let session: StoreSession
  let store: PersistentStore
  let entities: StoreEntities
  private let promisedIDs: PromisedIDs
  // Unchecked: changed by this object alone, which nothing that it calls uses.
  @exclusivity(unchecked) private(set) var inserted: [Insertion] = []
  /// The inserted objects, which this retains.
  let new: [ManagedObject]
  /// Whether among the inserted objects are some whose deletion was undone.
  let hasReturned: Bool
  /// Found at the first use, when ``ManagedObject/willSave()`` was called of all objects.
  private(set) lazy var updated = Uncounted(touched).compactMap { PendingUpdate($0) }
  /// All objects marked as updated, also those that equal their rows.
  let touched: [ManagedObject]
  let deleted: [ManagedObject]
  /// The number of this save's transaction in the history, when the store keeps one.
  var historyNumber: Int64?
  /// The commit that the operation makes, if it changes anything.
  var commit: CommitNumber?
  /// The changes to write, for an incremental store.
  var incrementalWrite: IncrementalWrite?
  /// By the index of the entity in its model, made when they are needed.
  @exclusivity(unchecked) var rowWriters: [RowWriter?]

  /// - Parameters: the objects of the store, in the order of their references.
  init(
    _ session: StoreSession, inserted new: [ManagedObject], updated touched: [ManagedObject],
    deleted: [ManagedObject]
  ) {
    self.session = session
    store = session.store
    entities = store.entities
    promisedIDs = session.context.promisedIDs
    rowWriters = Array(repeating: nil, count: session.entities.byIndex.count)
    self.touched = touched
    self.deleted = deleted
    self.new = new
    let entities = entities
    var inserted: [Insertion] = []
    inserted.reserveCapacity(new.count)
    var hasReturned = false
    // Usually that of the object before.
    var (entity, storage) = (-1, nil as Unmanaged<EntityStorage>?)
    for object in Uncounted(new) {
      let (index, reference, isPersistent) = object._withUnsafeGuaranteedRef {
        ($0.ofArena { $0.binding.index }, $0.reference, $0.isPersistent)
      }
      if isPersistent { hasReturned = true }
      if index != entity {
        (entity, storage) = (index, entities.byIndex[index].map { .passUnretained($0) })
      }
      guard let storage else { continue }
      inserted.append(
        Insertion(uncounted: object, uncountedStorage: storage, reference: reference))
    }
    self.inserted = inserted
    self.hasReturned = hasReturned
  }

  /// The number of objects that are inserted, marked as changed, or deleted.
  var objectCount: Int { new.count + touched.count + deleted.count }

  /// Calls `body` with each object of the save: inserted ones, changed ones, deleted ones.
  func forEachObject(_ body: (ManagedObject) -> Void) {
    for item in inserted { item.ofObject(body) }
    for object in Uncounted(touched) { object._withUnsafeGuaranteedRef(body) }
    for object in deleted { body(object) }
  }

  /// Gives new objects the references that they were promised, and the others those of `take`.
  func giveReferences(_ take: ([ManagedObject]) throws -> [Reference]) throws {
    var open: [Int] = []
    for index in inserted.indices where !inserted[index].object.isPersistent {
      if let promised = promisedIDs.reference(of: inserted[index].object.reference) {
        inserted[index].reference = promised.reference
      } else {
        open.append(index)
      }
    }
    let references = try take(open.map { inserted[$0].object })
    for (index, reference) in zip(open, references) { inserted[index].reference = reference }
  }

  func validate(_ validation: inout Validation) throws {
    for object in deleted {
      try validation.collect(object) { try object.validateForDelete() }
      try validation.requireDenyRules(of: object)
    }
    for item in inserted {
      try item.ofObject { object in
        try validation.collect(object) { try object.validateForInsert() }
      }
    }
    for update in updated {
      try update.ofObject { object in
        try validation.collect(object) { try object.validateForUpdate() }
      }
    }
  }

  /// - Parameter watched: other objects that must not have changed since they were read.
  /// - Throws: ``ConflictFound`` if there are conflicts, ``Duplicates`` if a constraint is broken;
  ///   the transaction is then incomplete.
  func write(to writer: StoreWriter, watching watched: Set<ManagedObject> = []) throws {
    try throwIfOutdated(writer, watching: watched)
    let derived = try beginDerivedValues(writer)
    for index in inserted.indices {
      let (number, keySpace) = inserted[index].uncountedStorage._withUnsafeGuaranteedRef {
        ($0.stored.number, $0.stored.keySpace)
      }
      if inserted[index].ofObject(\.isPersistent) {
        try writer.recordKey(inserted[index].reference.key, in: keySpace)
        continue
      }
      inserted[index].reference =
        try promisedIDs.reference(of: inserted[index].reference)?.reference
        ?? Reference(entity: number, key: writer.takeKey(in: keySpace))
    }
    reserveOrders(writer)
    if !updated.isEmpty || !deleted.isEmpty {
      try writer.gatheringRemovals {
        for update in updated {
          try update.ofObject { try removeForeignLinks(of: $0, update.changedSlots, writer) }
        }
        for object in deleted {
          try removeForeignLinks(of: object, object.binding.relationshipSlots, writer)
        }
      }
    }
    if !deleted.isEmpty { try removeRows(writer) }
    try writeInsertedRows(writer)
    for update in updated {
      try update.ofObject { try writeUpdatedRow(of: $0, update, writer) }
    }
    assert(otherEndsAgree(writer), "a one-to-one relationship was found to agree, and does not")
    // All relationships of new objects, which have no former rows to compare with.
    try writer.gatheringLinks {
      for item in inserted { try item.ofObject { try writeLinks(of: $0, item, writer) } }
    }
    if hasReturned {
      for item in inserted where item.object.isPersistent { try writeLinksOfOthers(item, writer) }
    }
    for update in updated {
      try update.ofObject { object in
        guard let storage = object.storage else { return }
        try writeLinks(object, update.changedSlots, storage, object.reference, writer)
      }
    }
    try writeOrders(writer)
    try checkCounts(writer)
    try writeDerivedValues(derived)
    if try writer.hasDuplicates() { throw Duplicates() }
    try writer.writeKeys()
  }
}
