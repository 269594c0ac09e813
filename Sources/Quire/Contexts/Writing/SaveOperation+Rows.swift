import QuireModel
import QuireStorage

// Writing and removing of rows.
//
// A relationship to an object that is deleted, or has left, is written as cleared, also where the
// deletion did not clear it (without an inverse, or with the rule to take no action).
extension SaveOperation {
  /// The permanent reference of an object, also if this save inserts it.
  func finalReference(_ object: ManagedObject) -> Reference {
    guard !object.isPersistent else { return object.reference }
    // Inserted objects are ordered by their temporary references.
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

  func writeRow(
    _ object: ManagedObject, _ storage: EntityStorage, _ reference: Reference, _ writer: StoreWriter
  ) throws {
    let row = rowWriter(for: storage)
    let version = newVersion(of: object, at: reference, writer.transaction.commitNumber)
    if let old = object.row {
      try old.withReader { try write(object, storage, to: row, version, over: $0, writer) }
    } else {
      try write(object, storage, to: row, version, over: nil, writer)
    }
    try writer.putRow(row, at: reference, isNew: reference != object.reference, in: storage)
  }

  /// - Parameter commit: the one that the save is to be; `nil` in a store of another make.
  func newVersion(
    of object: ManagedObject, at reference: Reference, _ commit: CommitNumber?
  ) -> UInt32 {
    // After four thousand million saves, or an import of as high a number, counting starts again.
    let isNew = reference != object.reference || object.version == .max
    let version = isNew ? 1 : object.version + 1
    // One that is inserted again may have had more versions than its context has seen. No version
    // may come twice, as whoever has read the former row would take the new one for it. A save
    // raises a version by one: a row has had no more of them than its store has had commits, unless
    // a batch has merged into it more than once, or it came from another file.
    guard !isNew, object.state.contains(.returning), let commit else { return version }
    return max(version, UInt32(clamping: commit.rawValue))
  }

  private func write(
    _ object: ManagedObject, _ storage: EntityStorage, to row: RowWriter, _ version: UInt32,
    over old: RowReader?, _ writer: StoreWriter
  ) throws {
    let binding = storage.binding
    let derived = try derivedValues(of: object, storage, writer)
    try row.write(
      version: version,
      putting: { field in
        let slot = storage.slotByField[field]
        // The most common case: a value that is never stored outside of the row.
        if old == nil, slot >= 0, !object.slots.isEmpty, !binding.traits[slot].isDerived,
          !binding.traits[slot].isExternal, case .value(let value?) = object.slots[slot]
        {
          try row.put(value, in: field)
          return true
        }
        let content = try content(of: field, object, storage, old, derived)
        guard let content = try writer.placing(content, field, storage) else { return false }
        try row.put(content, field)
        return true
      })
  }

  func rowWriter(for storage: EntityStorage) -> RowWriter {
    let index = storage.binding.index
    if let writer = rowWriters[index] { return writer }
    let writer = RowWriter(storage.layout)
    rowWriters[index] = writer
    return writer
  }

  /// The content of a field of an object's new row.
  ///
  /// - Parameter derived: the object's ``derivedValues(of:_:_:)``.
  func content(
    of field: Int, _ object: ManagedObject, _ storage: EntityStorage, _ old: RowReader?,
    _ derived: [Int: AttributeValue?]
  ) throws -> RowWriter.Field? {
    let slot = storage.slotByField[field]
    guard slot >= 0, !object.slots.isEmpty else { return nil }
    if storage.binding.traits[slot].isDerived {
      return derived[slot].flatMap { $0.map(RowWriter.Field.value) }
    }
    switch object.slots[slot] {
    case .value(let value):
      // A large value that was set to an equal one is not written again.
      if let old, old.external(field) != nil, !object.isChanged(slot) {
        return .copy(of: field, in: old)
      }
      return value.map(RowWriter.Field.value)
    case .one(let destination):
      return destination.flatMap { $0.isLive ? .reference(finalReference($0)) : nil }
    case .many: return nil
    case .unchanged:
      guard let old, !old.isNil(field) else { return nil }
      return .copy(of: field, in: old)
    }
  }

  /// Writes the row of a changed object, unless only foreign keys of other objects have changed.
  func writeUpdatedRow(
    of object: ManagedObject, _ update: PendingUpdate, _ writer: StoreWriter
  ) throws {
    guard let storage = object.storage else { return }
    if !update.hasOwnChange { return }
    if try patchRow(of: object, update.changedSlots, storage, writer) { return }
    try writeRow(object, storage, object.reference, writer)
  }

  /// Removes the rows of deleted objects, those of one entity together, as they are sorted.
  func removeRows(_ writer: StoreWriter) throws {
    try writer.gatheringLeavingMembers {
      for object in deleted { try removeWhatRowHas(of: object, writer) }
    }
    var keys: [Int64] = []
    var storage: EntityStorage?
    for object in deleted {
      guard let next = object.storage else { continue }
      let key = object.reference.key
      if let storage, storage !== next || keys.last.map({ $0 >= key }) ?? false {
        try writer.removeRows(at: keys, in: storage)
        keys.removeAll(keepingCapacity: true)
      }
      storage = next
      keys.append(key)
    }
    if let storage { try writer.removeRows(at: keys, in: storage) }
  }

  /// Removes the links of a deleted object, and values that are stored outside of its row.
  private func removeWhatRowHas(of object: ManagedObject, _ writer: StoreWriter) throws {
    guard let storage = object.storage else { return }
    try writer.removeWhatRowHas(at: object.reference, storage) { relationship, member in
      assert(
        relationship.deleteRule.leavesOtherEnds || isDeleted(member) || !hasRow(member, writer),
        "a member still refers to an object that is deleted, and was not found to")
    }
  }

  /// Whether this save deletes the object with a reference.
  private func isDeleted(_ reference: Reference) -> Bool {
    // Deleted objects are ordered by their references.
    var (low, high) = (0, deleted.count)
    while low < high {
      let middle = (low + high) / 2
      if deleted[middle].reference < reference { low = middle + 1 } else { high = middle }
    }
    return low < deleted.count && deleted[low].reference == reference
  }
}
