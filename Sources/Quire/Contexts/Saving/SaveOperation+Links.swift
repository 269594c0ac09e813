import QuireModel

// Writing and removing of links.
extension SaveOperation {
  /// Removes the entries that an object's stored foreign keys have in the trees of their owners.
  func removeForeignLinks(
    of object: ManagedObject, _ slots: some Sequence<Int>, _ writer: StoreWriter
  ) throws {
    guard let storage = object.storage else { return }
    try writer.removeForeignLinks(of: object.reference, storage, slots) { slot, field in
      // The object's row is the transaction's, as their versions are equal.
      object.hasRow
        ? object.readReference(slot)
        : try writer.withRow(object.reference, { $0.reference(field) }) ?? nil
    }
  }

  func writeLinks(
    _ object: ManagedObject, _ slots: some Sequence<Int>, _ storage: EntityStorage,
    _ reference: Reference, _ writer: StoreWriter
  ) throws {
    for slot in slots {
      switch object.slots[slot] {
      case .unchanged, .value: continue
      case .one(let destination):
        guard let destination, remains(destination) else { continue }
        let owner = finalReference(destination)
        guard try writer.contains(owner) else {
          isOutdated = true
          continue
        }
        if let link = writer.ownersLink(of: slot, of: object.binding, owner) {
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
            isOutdated = true
            continue
          }
          try writer.addLink(link, from: reference.key, to: member)
        }
      }
    }
  }

  /// Writes links again for objects whose rows still lead to an object whose deletion was undone:
  /// the deletion has removed the links, and left the rows.
  func writeLinksOfOthers(_ item: Insertion, _ writer: StoreWriter) throws {
    let binding = item.object.binding
    for slot in binding.storedRelationshipSlots where binding.traits[slot].isForeignKeyOfOthers {
      guard let link = item.storage.link(slot), case .many(let pending) = item.object.slots[slot]
      else { continue }
      for member in pending.added.filter(remains).map(finalReference) {
        guard let storage = entities.storage(of: member),
          let name = binding.relationship(slot).inverse,
          let inverse = storage.binding.slot(named: name), storage.fieldBySlot[inverse] >= 0,
          try writer.withRow(member, { $0.reference(storage.fieldBySlot[inverse]) })
            == item.reference
        else { continue }
        try writer.addLink(link, from: item.reference.key, to: member)
      }
    }
  }

  /// Writes the orders of changed relationships, after all links were written, so that the order in
  /// the context replaces the order in which links were added.
  func writeOrders(_ writer: StoreWriter) throws {
    for item in inserted
    where item.ofObject({ $0.ofArena { $0.binding.hasOrderedRelationships } }) {
      try writeOrders(
        item.object, item.object.binding.storedRelationshipSlots, item.storage, item.reference,
        writer, isNew: true)
    }
    for update in updated
    where update.ofObject({ $0.ofArena { $0.binding.hasOrderedRelationships } }) {
      let object = update.object
      guard let storage = object.storage else { continue }
      try writeOrders(object, update.changedSlots, storage, object.reference, writer)
    }
  }

  func writeOrders(
    _ object: ManagedObject, _ slots: some Sequence<Int>, _ storage: EntityStorage,
    _ reference: Reference, _ writer: StoreWriter, isNew: Bool = false
  ) throws {
    for slot in slots {
      guard let link = storage.link(slot), link.isOrdered,
        case .many(let pending) = object.slots[slot], let order = pending.order
      else { continue }
      let present = try writer.linkKeys(link, of: reference.key)
      // A link that is there leads somewhere, unless the relationship may dangle.
      var known = KnownMembers(object.binding.traits[slot].canDangle ? [] : present)
      var members: [Reference] = []
      members.reserveCapacity(order.count)
      for destination in order where remains(destination) {
        let member = finalReference(destination)
        if try known.contains(member) || writer.contains(member) {
          members.append(member)
        } else {
          isOutdated = true
        }
      }
      try writer.setOrder(
        link, of: reference.key, isNew: isNew, from: present, to: members)
    }
  }
}

/// The members of an owner's links, asked for mostly in their order: then no set is made of them.
/// A member may be taken for an unknown one.
private struct KnownMembers {
  private let links: [LinkKey]
  private var next = 0
  /// All of them, made when one is asked for in another order.
  private var members: Set<Reference>?

  init(_ links: [LinkKey]) { self.links = links }

  mutating func contains(_ member: Reference) -> Bool {
    if next < links.count, links[next].member == member {
      next += 1
      return true
    }
    if next == links.count { return false }
    let all = members ?? Set(links.lazy.map(\.member))
    members = all
    return all.contains(member)
  }
}
