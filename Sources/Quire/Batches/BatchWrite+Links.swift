import QuireModel

/// A change of an object's to-one relationship.
struct BatchLink {
  let slot: Int
  /// The storage of the object.
  let storage: EntityStorage
  let old: Reference?
  let new: Reference?
}

// The other ends of relationships that a batch request changes.
extension BatchWrite {
  /// Records the objects whose derived values depend on an object's relationships, before these
  /// change.
  func recordOwners(
    of reference: Reference, _ slots: SlotSet?, _ links: [BatchLink]
  ) throws {
    guard let derived else { return }
    if let slots { try derived.recordOwners(of: reference, changing: slots) }
    for link in links {
      for other in [link.old, link.new] {
        guard let other, let inverse = try inverse(of: link, on: other) else { continue }
        derived.record(other)
        try derived.recordOwners(of: other, changing: SlotSet([inverse]))
        let field = try storage(of: other).fieldBySlot[inverse]
        guard field >= 0, let rival = try leads(other, field), rival != reference,
          let slot = try slot(of: link, on: rival)
        else { continue }
        derived.record(rival)
        try derived.recordOwners(of: rival, changing: SlotSet([slot]))
      }
    }
  }

  /// Removes an object from the links of its former destinations.
  func leave(_ links: [BatchLink], from reference: Reference) throws {
    for link in links {
      guard let old = link.old, let inverse = try inverse(of: link, on: old) else { continue }
      if let tree = try storage(of: old).link(inverse) {
        try writer.removeLink(tree, from: old.key, to: reference)
      }
    }
  }

  /// Adds an object to the links of its new destinations. One-to-one relationships are cleared at
  /// the former destination, and at the former owner of the new one.
  func arrive(_ links: [BatchLink], from reference: Reference) throws {
    for link in links {
      if let old = link.old, let inverse = try inverse(of: link, on: old),
        try writer.contains(old)
      {
        let field = try storage(of: old).fieldBySlot[inverse]
        if field < 0 {
          try writeOther(inverse, at: old)
        } else if try leads(old, field) == reference {
          try writeOther(inverse, at: old)
        }
      }
      guard let new = link.new, let inverse = try inverse(of: link, on: new) else { continue }
      let destination = try storage(of: new)
      if let tree = destination.link(inverse) {
        try writer.addLink(tree, from: new.key, to: reference)
        try writeOther(inverse, at: new)
        continue
      }
      let field = destination.fieldBySlot[inverse]
      guard field >= 0 else { continue }
      if let rival = try leads(new, field), rival != reference {
        try release(rival, from: new, link)
      }
      try writeOther(inverse, at: new, to: reference)
    }
  }

  /// Clears the relationship of the former owner of a destination in a one-to-one relationship.
  private func release(_ rival: Reference, from new: Reference, _ link: BatchLink) throws {
    guard let slot = try slot(of: link, on: rival),
      try leads(rival, storage(of: rival).fieldBySlot[slot]) == new
    else { return }
    try writeOther(slot, at: rival)
  }

  /// The slot of the same relationship in another object, if its row has a field for it.
  private func slot(of link: BatchLink, on other: Reference) throws -> Int? {
    let storage = try storage(of: other)
    let slot = storage.binding.slot(named: link.storage.binding.name(of: link.slot))
    return slot.flatMap { storage.fieldBySlot[$0] >= 0 ? $0 : nil }
  }

  /// The destination in a field of an object's row.
  func leads(_ reference: Reference, _ field: Int) throws -> Reference? {
    try writer.withRow(reference) { $0.reference(field) } ?? nil
  }

  /// The slot of the inverse relationship in a destination.
  private func inverse(of link: BatchLink, on other: Reference) throws -> Int? {
    writer.inverseSlot(of: link.slot, of: link.storage.binding, on: try storage(of: other))
  }
}
