import QuireModel
import QuireStorage

/// One save, from the changed objects of a context to rows and links in a transaction.
///
/// Order matters, and is the order of the code in ``write(to:)``: conflicts are looked for before
/// anything is written; links of foreign keys that go are removed before deleted owners are looked
/// at, so that a link which is left then was made by somebody else; destinations are looked up
/// last, when all rows that this save adds and removes are known.
final class SaveOperation {
  struct Insertion {
    let object: ManagedObject
    let storage: EntityStorage
    var reference: Reference
  }

  private let identity: StoreIdentity
  private let entities: StoreEntities
  // What a save changes as it goes belongs to this object alone: nothing it calls comes back here.
  @exclusivity(unchecked) private(set) var inserted: [Insertion] = []
  /// A changed object whose row or links a save has to write.
  private struct Update {
    let object: ManagedObject
    /// What differs from its row: found once, as that takes a look at every value.
    let changedSlots: [Int]
  }

  private let updated: [Update]
  /// All objects marked as changed, also those that are as they were.
  let touched: [ManagedObject]
  let deleted: [ManagedObject]
  private var conflicts: [MergeConflict] = []
  /// By the index of the entity in its model, as far as they were needed.
  @exclusivity(unchecked) private var rowWriters: [RowWriter?]

  init(_ context: ManagedObjectContext, _ store: PersistentStore) throws {
    identity = store.identity
    entities = store.entities
    rowWriters = Array(repeating: nil, count: entities.byIndex.count)
    let new = context.changes.inserted.sorted
    inserted.reserveCapacity(new.count)
    for object in new {
      guard let storage = entities.byIndex[object.binding.index] else { continue }
      inserted.append(Insertion(object: object, storage: storage, reference: object.reference))
    }
    touched = context.changes.updated.sorted
    updated = touched.map { Update(object: $0, changedSlots: $0.changedSlots) }
      .filter { !$0.changedSlots.isEmpty }
    deleted = context.changes.deleted.sorted
  }

  func validate(in context: ManagedObjectContext) throws {
    var validation = Validation()
    for object in deleted { try validation.validateForDelete(object, in: context) }
    for item in inserted { try validation.validateForSave(item.object) }
    for update in updated { try validation.validateForSave(update.object) }
    try validation.finish()
  }

  func write(to writer: StoreWriter) throws {
    for update in updated { try checkVersion(of: update.object, writer) }
    for object in deleted { try checkVersion(of: object, writer) }
    try throwConflicts()
    for index in inserted.indices {
      let storage = inserted[index].storage
      let reference = Reference(
        entity: storage.stored.number, key: try writer.takeKey(in: storage.stored.keySpace))
      inserted[index].reference = reference
    }
    for update in updated {
      try removeForeignLinks(of: update.object, update.changedSlots, writer)
    }
    for object in deleted {
      try removeForeignLinks(of: object, Array(object.binding.relationshipSlots), writer)
    }
    for object in deleted { try removeRow(of: object, writer) }
    try throwConflicts()
    for item in inserted { try writeRow(item.object, item.storage, item.reference, writer) }
    for update in updated { try writeUpdatedRow(update, writer) }
    // All relationships of a new object: there is no row that they could be equal to.
    for item in inserted {
      try writeLinks(
        item.object, item.object.binding.storedRelationshipSlots, item.storage, item.reference,
        writer)
    }
    for update in updated {
      let object = update.object
      guard let storage = object.storage else { continue }
      try writeLinks(object, update.changedSlots, storage, object.reference, writer)
    }
    try writeOrders(writer)
    try throwConflicts()
    try writer.writeKeys()
  }

  // MARK: Conflicts

  private func checkVersion(of object: ManagedObject, _ writer: StoreWriter) throws {
    let current = try writer.withRow(object.reference) { $0.version } ?? 0
    // A deleted object whose row was never read has no version that could be outdated.
    let known = object.row == nil && object.isDeleted && current > 0 ? current : object.version
    if current == 0 || current != known {
      conflicts.append(
        MergeConflict(
          objectID: object.objectID, oldVersion: Int(object.version), newVersion: Int(current)))
    }
  }

  private func throwConflicts() throws(PersistenceError) {
    guard !conflicts.isEmpty else { return }
    var error = PersistenceError(
      .managedObjectMerge,
      "\(conflicts.count == 1 ? "an object" : "\(conflicts.count) objects") of this save changed in "
        + "the store since it was read: \(conflicts.map(\.description).joined(separator: "; "))")
    error.conflicts = conflicts
    throw error
  }

  private func conflictOfGone(_ reference: Reference) {
    guard let storage = entities.storage(of: reference) else { return }
    conflicts.append(
      MergeConflict(
        objectID: ManagedObjectID(
          entity: storage.binding.entity, store: identity, key: reference.key),
        oldVersion: 1, newVersion: 0))
  }

  // MARK: Rows

  /// Whether a destination is there after this save. Where it is not, a relationship that nobody
  /// told (it has no inverse, or the deletion takes no action) is written as if it had been.
  private func remains(_ destination: ManagedObject) -> Bool {
    !destination.isDeleted && destination.context != nil
  }

  /// Of an object that this save inserts, the place that it has been given.
  private func finalReference(_ object: ManagedObject) -> Reference {
    guard !object.isPersistent else { return object.reference }
    // They are in the order of their temporary references.
    var (low, high) = (0, inserted.count)
    while low < high {
      let middle = (low + high) / 2
      if inserted[middle].object.reference < object.reference {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < inserted.count, inserted[low].object === object else { return object.reference }
    return inserted[low].reference
  }

  private func writeRow(
    _ object: ManagedObject, _ storage: EntityStorage, _ reference: Reference, _ writer: StoreWriter
  ) throws {
    let row = rowWriter(for: storage)
    // After four thousand million saves, or an import of as high a number, counting starts again.
    let isNew = reference != object.reference || object.version == .max
    let version = isNew ? 1 : object.version + 1
    if let old = object.row {
      try old.withReader { reader in
        try row.write(version: version) { content(of: $0, object, storage, reader) }
      }
    } else {
      try row.write(version: version) { content(of: $0, object, storage, nil) }
    }
    let rows = try writer.rows(of: storage.stored)
    _ = try row.withBytes { try rows.put($0, for: reference.key) }
  }

  private func rowWriter(for storage: EntityStorage) -> RowWriter {
    let index = storage.binding.index
    if let writer = rowWriters[index] { return writer }
    let writer = RowWriter(storage.layout)
    rowWriters[index] = writer
    return writer
  }

  /// What a field of an object's new row holds.
  private func content(
    of field: Int, _ object: ManagedObject, _ storage: EntityStorage, _ old: RowReader?
  ) -> RowWriter.Field? {
    let slot = storage.slotByField[field]
    guard slot >= 0, !object.slots.isEmpty else { return nil }
    switch object.slots[slot] {
    case .value(let value): return value.map(RowWriter.Field.value)
    case .one(let destination):
      return destination.flatMap { remains($0) ? .reference(finalReference($0)) : nil }
    case .many: return nil
    case .unchanged:
      guard let old, !old.isNil(field) else { return nil }
      return .copy(of: field, in: old)
    }
  }

  /// Writes the row of a changed object, unless all that changed are the foreign keys of others.
  private func writeUpdatedRow(_ update: Update, _ writer: StoreWriter) throws {
    let object = update.object
    guard let storage = object.storage else { return }
    let isOwnChange = update.changedSlots.contains { slot in
      let trait = object.binding.traits[slot]
      return trait.attributeType != nil || !trait.isToMany || !trait.isForeignKeyOfOthers
    }
    if isOwnChange { try writeRow(object, storage, object.reference, writer) }
  }

  private func removeRow(of object: ManagedObject, _ writer: StoreWriter) throws {
    guard let storage = object.storage else { return }
    for slot in object.binding.relationshipSlots {
      guard let link = storage.link(slot) else { continue }
      let relationship = object.binding.relationship(slot)
      for key in try writer.linkKeys(link, of: object.reference.key) {
        try removeBacklink(of: relationship, from: object, to: key.member, writer)
      }
      try writer.removeLinks(link, of: object.reference.key)
    }
    _ = try writer.rows(of: storage.stored).remove(object.reference.key)
  }

  /// A deleted object still has this destination in the store.
  private func removeBacklink(
    of relationship: RelationshipDescription, from object: ManagedObject, to member: Reference,
    _ writer: StoreWriter
  ) throws {
    guard let storage = entities.storage(of: member), let inverse = relationship.inverse,
      let slot = storage.binding.slot(named: inverse)
    else { return }
    if let link = storage.link(slot) {
      try writer.removeLink(link, from: member.key, to: object.reference)
    } else if relationship.deleteRule != .noAction,
      try writer.contains(member), !deleted.contains(where: { $0.reference == member })
    {
      // Its foreign key leads here and nobody in this save knows of it: another save made it.
      conflictOfGone(object.reference)
    }
  }

  // MARK: Links

  /// Removes the entries that an object's stored foreign keys have in the trees of their owners.
  private func removeForeignLinks(
    of object: ManagedObject, _ slots: [Int], _ writer: StoreWriter
  ) throws {
    guard let storage = object.storage else { return }
    for slot in slots where object.binding.relationshipSlots.contains(slot) {
      let field = storage.fieldBySlot[slot]
      guard field >= 0,
        // The row at hand is the transaction's, as its version is.
        let owner = object.row != nil
          ? object.storedReference(slot)
          : try writer.withRow(object.reference, { $0.reference(field) }) ?? nil,
        let link = ownersLink(of: object.binding.relationship(slot), owner)
      else { continue }
      try writer.removeLink(link, from: owner.key, to: object.reference)
    }
  }

  /// The link tree in which the destination of a to-one relationship lists those that lead to it.
  private func ownersLink(
    of relationship: RelationshipDescription, _ owner: Reference
  ) -> StoredEntity.Link? {
    guard let inverse = relationship.inverse, let storage = entities.storage(of: owner),
      let slot = storage.binding.slot(named: inverse)
    else { return nil }
    return storage.link(slot)
  }

  private func writeLinks(
    _ object: ManagedObject, _ slots: [Int], _ storage: EntityStorage, _ reference: Reference,
    _ writer: StoreWriter
  ) throws {
    for slot in slots {
      switch object.slots[slot] {
      case .unchanged, .value: continue
      case .one(let destination):
        guard let destination, remains(destination) else { continue }
        let owner = finalReference(destination)
        guard try writer.contains(owner) else {
          conflictOfGone(owner)
          continue
        }
        if let link = ownersLink(of: object.binding.relationship(slot), owner) {
          try writer.addLink(link, from: owner.key, to: reference)
        }
      case .many(let pending):
        guard let link = storage.link(slot), !link.isOrdered,
          !object.binding.traits[slot].isForeignKeyOfOthers
        else { continue }
        for member in pending.removed {
          try writer.removeLink(link, from: reference.key, to: member)
        }
        for member in pending.added.filter(remains).map(finalReference) {
          guard try writer.contains(member) else {
            conflictOfGone(member)
            continue
          }
          try writer.addLink(link, from: reference.key, to: member)
        }
      }
    }
  }

  /// Writes ordered relationships anew where they changed: when all links exist, so that the order
  /// of the context wins over the order in which links were made.
  private func writeOrders(_ writer: StoreWriter) throws {
    for item in inserted {
      try writeOrders(
        item.object, item.object.binding.storedRelationshipSlots, item.storage, item.reference,
        writer)
    }
    for update in updated {
      let object = update.object
      guard let storage = object.storage else { continue }
      try writeOrders(object, update.changedSlots, storage, object.reference, writer)
    }
  }

  private func writeOrders(
    _ object: ManagedObject, _ slots: [Int], _ storage: EntityStorage, _ reference: Reference,
    _ writer: StoreWriter
  ) throws {
    for slot in slots {
      guard let link = storage.link(slot), link.isOrdered,
        case .many(let pending) = object.slots[slot], let order = pending.order
      else { continue }
      var members: [Reference] = []
      for member in order.filter(remains).map(finalReference) {
        if try writer.contains(member) {
          members.append(member)
        } else {
          conflictOfGone(member)
        }
      }
      try writer.setLinks(link, from: reference.key, to: members)
    }
  }
}
