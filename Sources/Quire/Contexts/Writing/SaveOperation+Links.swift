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
        guard let destination, destination.isLive else { continue }
        let owner = finalReference(destination)
        assert(hasRow(owner, writer), "a destination is gone, and was not found to be")
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
        for member in pending.added.filter(\.isLive).map(finalReference) {
          assert(hasRow(member, writer), "a member is gone, and was not found to be")
          try writer.addLink(link, from: reference.key, to: member)
        }
      }
    }
  }

  /// Writes links again for objects whose rows still refer to an object whose deletion was undone:
  /// the deletion has removed the links, and left the rows.
  func writeLinksOfOthers(_ item: Insertion, _ writer: StoreWriter) throws {
    let binding = item.object.binding
    for slot in binding.storedRelationshipSlots where binding.traits[slot].isForeignKeyOfOthers {
      guard let link = item.storage.link(slot), case .many(let pending) = item.object.slots[slot]
      else { continue }
      for member in pending.added.filter(\.isLive).map(finalReference) {
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

  /// Calls `body` with each order that the save has to write.
  private func forEachOrder(_ body: (Order) throws -> Void) rethrows {
    func visit(
      _ object: ManagedObject, _ slots: some Sequence<Int>, _ storage: EntityStorage,
      _ owner: Int64, isNew: Bool
    ) throws {
      for slot in slots {
        guard let link = storage.link(slot), link.isOrdered,
          case .many(let pending) = object.slots[slot], pending.isOrdered
        else { continue }
        try body(
          Order(
            members: pending, link: link, owner: owner, isNew: isNew))
      }
    }
    for item in inserted
    where item.ofObject({ $0.ofArena { $0.binding.hasOrderedRelationships } }) {
      try visit(
        item.object, item.object.binding.storedRelationshipSlots, item.storage,
        item.reference.key, isNew: true)
    }
    for update in updated
    where update.ofObject({ $0.ofArena { $0.binding.hasOrderedRelationships } }) {
      let object = update.object
      guard let storage = object.storage else { continue }
      try visit(object, update.changedSlots, storage, object.reference.key, isNew: false)
    }
  }

  /// The members of an ordered relationship that has changes.
  private struct Order {
    let members: PendingMembers
    let link: StoredEntity.Link
    let owner: Int64
    /// Whether the save inserts the owner.
    let isNew: Bool
  }

  /// Leaves the links of changed orders to ``writeOrders(_:)``, which knows all of their members.
  func reserveOrders(_ writer: StoreWriter) {
    forEachOrder { writer.arranged.insert(LinksOfOwner(link: $0.link.number, owner: $0.owner)) }
  }

  /// Writes the orders of changed relationships, after all rows were written and all other links.
  func writeOrders(_ writer: StoreWriter) throws {
    try forEachOrder { order in
      if try !writeStretches(of: order, writer) { try write(order, writer) }
    }
  }

  /// Writes an order that was changed at few positions, without reading the others.
  ///
  /// - Returns: whether it is known how the links are that the store has, and there is room for
  ///   others between them.
  /// - Complexity: O(√members + changes · log *n*), where the changes are at few positions.
  private func writeStretches(of order: Order, _ writer: StoreWriter) throws -> Bool {
    // What is deleted may be anywhere.
    guard !order.isNew, deleted.isEmpty, let (stretches, former) = order.members.changedStretches,
      let links = former.links, writer.transaction.begins(with: links.commit)
    else { return false }
    var changes: [OrderChange<Reference>] = []
    for stretch in stretches {
      let present = stretch.former.map {
        OrderChange.Link(position: links.positions[$0], member: former.members[$0])
      }
      let members = destinations(stretch.members, writer)
      guard
        let change = OrderChange(
          from: present, to: members,
          after: stretch.former.lowerBound > 0
            ? links.positions[stretch.former.lowerBound - 1] : nil,
          before: stretch.former.upperBound < links.positions.count
            ? links.positions[stretch.former.upperBound] : nil)
      else { return false }
      changes.append(change)
    }
    for change in changes { try writer.write(change, order.link, of: order.owner) }
    return true
  }

  private func write(_ order: Order, _ writer: StoreWriter) throws {
    let present = try writer.linkKeys(order.link, of: order.owner)
    let members = destinations(order.members.order ?? [], writer)
    try writer.setOrder(
      order.link, of: order.owner, isNew: order.isNew, from: present, to: members)
  }

  /// The references of those members of an order that remain.
  private func destinations(_ members: [ManagedObject], _ writer: StoreWriter) -> [Reference] {
    var references: [Reference] = []
    references.reserveCapacity(members.count)
    for destination in members where destination.isLive {
      references.append(finalReference(destination))
    }
    assert(
      references.count > 64 || references.allSatisfy { hasRow($0, writer) },
      "a member is gone, and was not found to be")
    return references
  }
}
