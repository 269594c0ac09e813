import QuireModel

// Deletions, by the rules that a context applies to objects.
extension BatchWrite {
  /// Deletes objects, and those that they cascade to.
  ///
  /// - Parameters:
  ///   - chosen: the references of the objects, sorted and each once.
  ///   - execution: the request, if it asks for these deletions; `nil` if the objects are replaced
  ///     by others.
  func delete(_ chosen: [Reference], _ execution: BatchExecution?) throws {
    var deletion = BatchDeletion(self)
    try deletion.collect(chosen)
    let deleted = deletion.deleted
    if deleted.isEmpty { return }
    try history?.keepTombstones(of: deleted)
    try deletion.findOthers()
    try validation.finish()
    try recordOwners(deletion)
    try writer.gatheringRemovals {
      for reference in deletion.related {
        let storage = try storage(of: reference)
        let slots = storage.binding.storedRelationshipSlots
        try writer.removeForeignLinks(of: reference, storage, slots) { _, field in
          try writer.withRow(reference) { $0.reference(field) } ?? nil
        }
      }
    }
    try writer.gatheringLeavingMembers {
      for reference in deleted {
        let storage = try storage(of: reference)
        if storage.binding.storedRelationshipSlots.isEmpty, !storage.canHaveExternal { continue }
        // Rows of other objects that refer to this one are written below.
        try writer.removeWhatRowHas(at: reference, storage) { _, _ in }
      }
    }
    try removeRows(at: deleted, execution)
    for (reference, slots) in deletion.others.sorted(by: { $0.key < $1.key }) {
      for slot in slots { try writeOther(slot, at: reference) }
    }
    changes.recordDeletions(deleted, isCounted: execution != nil)
  }

  /// Records the objects whose derived values may change, before the deletion.
  private func recordOwners(_ deletion: BatchDeletion) throws {
    guard let derived else { return }
    for reference in deletion.deleted { try derived.recordOwners(of: reference) }
    for (reference, slots) in deletion.others {
      derived.record(reference)
      try derived.recordOwners(of: reference, changing: slots)
    }
  }

  /// Removes rows, entity by entity.
  private func removeRows(at references: [Reference], _ execution: BatchExecution?) throws {
    var start = 0
    while start < references.count {
      let storage = try storage(of: references[start])
      var end = start
      while end < references.count, references[end].entity == references[start].entity { end += 1 }
      let rowCount = try writer.rows(of: storage.stored).count
      if rowCount == end - start, try writer.removeAllRows(of: storage) {
        for _ in start..<end { try execution?.advance() }
        start = end
        continue
      }
      while start < end {
        let next = min(start + 1024, end)
        try writer.removeRows(at: references[start..<next].map(\.key), in: storage)
        for _ in start..<next { try execution?.advance() }
        start = next
      }
    }
  }
}

/// The objects that a deletion deletes, and those that lose a reference to a deleted one.
private struct BatchDeletion {
  private let write: BatchWrite
  /// In the order of their references.
  private(set) var deleted: [Reference] = []
  /// Those of entities with relationships.
  var related: some Sequence<Reference> {
    deleted.lazy.filter { [write] in
      write.entities.storage(of: $0)?.binding.storedRelationshipSlots.isEmpty == false
    }
  }
  /// Remaining objects, with the slots that refer to deleted ones.
  private(set) var others: [Reference: SlotSet] = [:]

  init(_ write: BatchWrite) { self.write = write }

  /// Collects objects, and those that they cascade to.
  mutating func collect(_ chosen: [Reference]) throws {
    deleted = chosen
    if try hasCascades(chosen) {
      var known = Set(deleted)
      var queue = deleted
      while let reference = queue.popLast() {
        let storage = try write.storage(of: reference)
        for slot in storage.binding.storedRelationshipSlots
        where storage.binding.traits[slot].deleteRule.deletesDestinations {
          for member in try destinations(of: reference, storage, slot)
          where known.insert(member).inserted {
            queue.append(member)
          }
        }
      }
      deleted = known.sorted()
    }
  }

  /// Whether any of the objects' entities has a cascade rule. Objects of an entity are adjacent.
  private func hasCascades(_ references: [Reference]) throws -> Bool {
    var last: UInt16?
    for reference in references where reference.entity != last {
      last = reference.entity
      let traits = try write.storage(of: reference).binding.traits
      if traits.contains(where: { $0.deleteRule.deletesDestinations && !$0.isTransient }) {
        return true
      }
    }
    return false
  }

  /// Applies all delete rules other than cascade.
  mutating func findOthers() throws {
    for reference in related {
      let storage = try write.storage(of: reference)
      for slot in storage.binding.storedRelationshipSlots {
        switch storage.binding.traits[slot].deleteRule {
        case .noAction, .cascade: continue
        case .nullify: try nullify(slot, of: reference, storage)
        case .deny:
          let remaining = try destinations(of: reference, storage, slot).filter { !isDeleted($0) }
          if remaining.isEmpty { continue }
          write.validation.fail(
            .validationRelationshipDeniedDelete, write.subject(reference, storage),
            storage.binding.name(of: slot),
            "still refers to \(PersistenceError.objects(remaining.count)), so the object cannot be "
              + "deleted")
          try write.stopAtManyErrors()
        }
      }
    }
  }

  private mutating func nullify(
    _ slot: Int, of reference: Reference, _ storage: EntityStorage
  ) throws {
    for member in try destinations(of: reference, storage, slot) where !isDeleted(member) {
      let other = try write.storage(of: member)
      guard let inverse = write.writer.inverseSlot(of: slot, of: storage.binding, on: other) else {
        continue
      }
      let field = other.fieldBySlot[inverse]
      // A row may have another destination by now, even if the other side still has a link.
      if field >= 0, try write.leads(member, field) != reference { continue }
      others[member, default: SlotSet()].insert(inverse)
    }
  }

  private func isDeleted(_ reference: Reference) -> Bool {
    var (low, high) = (0, deleted.count)
    while low < high {
      let middle = (low + high) / 2
      if deleted[middle] < reference { low = middle + 1 } else { high = middle }
    }
    return low < deleted.count && deleted[low] == reference
  }

  /// The existing destinations of a relationship.
  private func destinations(
    of reference: Reference, _ storage: EntityStorage, _ slot: Int
  ) throws -> [Reference] {
    let field = storage.fieldBySlot[slot]
    let found: [Reference]
    if field >= 0 {
      found = try write.leads(reference, field).map { [$0] } ?? []
    } else if let link = storage.link(slot) {
      found = try write.writer.linkKeys(link, of: reference.key).map(\.member)
    } else {
      found = []
    }
    return try found.filter { try write.writer.contains($0) }
  }
}
