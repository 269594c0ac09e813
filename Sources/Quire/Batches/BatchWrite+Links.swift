import QuireModel

/// A to-one relationship of an object that is to lead elsewhere.
struct BatchLink {
  let slot: Int
  /// That of the object.
  let storage: EntityStorage
  let old: Reference?
  let new: Reference?
}

// The other ends of relationships that a batch request changes.
extension BatchWrite {
  /// Notes whose derived values change with an object's relationships, before these do.
  func noteOwners(
    of reference: Reference, _ slots: SlotSet?, _ links: [BatchLink]
  ) throws {
    guard let derived else { return }
    if let slots { try derived.noteOwners(of: reference, changing: slots) }
    for link in links {
      for other in [link.old, link.new] {
        guard let other, let inverse = try inverse(of: link, on: other) else { continue }
        derived.note(other)
        try derived.noteOwners(of: other, changing: SlotSet([inverse]))
        let field = try storage(of: other).fieldBySlot[inverse]
        guard field >= 0, let rival = try leads(other, field), rival != reference,
          let slot = try slot(of: link, on: rival)
        else { continue }
        derived.note(rival)
        try derived.noteOwners(of: rival, changing: SlotSet([slot]))
      }
    }
  }

  /// Takes an object out of the lists of what it led to.
  func leave(_ links: [BatchLink], from reference: Reference) throws {
    for link in links {
      guard let old = link.old, let inverse = try inverse(of: link, on: old) else { continue }
      if let tree = try storage(of: old).link(inverse) {
        try writer.removeLink(tree, from: old.key, to: reference)
      }
    }
  }

  /// Puts an object into the lists of what it leads to, and lets what it led to, and what that led
  /// to, lead elsewhere.
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

  /// Lets what another object led to lead nowhere, as that one has got another.
  private func release(_ rival: Reference, from new: Reference, _ link: BatchLink) throws {
    guard let slot = try slot(of: link, on: rival),
      try leads(rival, storage(of: rival).fieldBySlot[slot]) == new
    else { return }
    try writeOther(slot, at: rival)
  }

  /// The slot of the same relationship of another object, whose row has it.
  private func slot(of link: BatchLink, on other: Reference) throws -> Int? {
    let storage = try storage(of: other)
    let slot = storage.binding.slot(named: link.storage.binding.name(of: link.slot))
    return slot.flatMap { storage.fieldBySlot[$0] >= 0 ? $0 : nil }
  }

  /// Where the row of an object leads.
  func leads(_ reference: Reference, _ field: Int) throws -> Reference? {
    try writer.withRow(reference) { $0.reference(field) } ?? nil
  }

  /// The slot by which an object leads back.
  private func inverse(of link: BatchLink, on other: Reference) throws -> Int? {
    writer.inverseSlot(of: link.slot, of: link.storage.binding, on: try storage(of: other))
  }
}
