import QuireStorage

// The trees of links of to-many relationships.
extension StoreWriter {
  func links(_ link: StoredEntity.Link) throws -> MutableIndexTree {
    if let tree = linkTrees[link.number] { return tree }
    let tree =
      try transaction.mutableIndexTree(link.tree) ?? transaction.createIndexTree(link.tree)
    linkTrees[link.number] = tree
    return tree
  }

  private func existingLinks(_ link: StoredEntity.Link) throws -> MutableIndexTree? {
    if let deferred, deferred.contains(link) { try writeDeferred(link, deferred) }
    if let tree = linkTrees[link.number] { return tree }
    guard let tree = try transaction.mutableIndexTree(link.tree) else { return nil }
    linkTrees[link.number] = tree
    return tree
  }

  func addLink(_ link: StoredEntity.Link, from owner: Int64, to member: Reference) throws {
    if let deferredReference, !link.isOrdered {
      let isFull = deferredReference._withUnsafeGuaranteedRef { deferred in
        deferred.add(link, from: owner, to: member)
        return deferred.isFull
      }
      if isFull { try writeDeferredLinks() }
      return
    }
    var key = LinkKey(owner: owner, member: member)
    if link.isOrdered {
      if arranged.contains(LinksOfOwner(link: link.number, owner: owner)) { return }
      key.position = try nextPosition(link, of: owner)
    }
    let tree = try links(link)
    try key.withBytes(isOrdered: link.isOrdered) { key in
      _ = try tree.put(UnsafeRawBufferPointer(start: nil, count: 0), for: key)
    }
  }

  /// Collects the links that `body` adds, and inserts them into their trees in order at the end,
  /// which is faster than one by one.
  func gatheringLinks(_ body: () throws -> Void) throws {
    // An outer call collects links already.
    if deferred != nil { return try body() }
    let gathered = DeferredLinks()
    deferred = gathered
    defer { deferred = nil }
    try body()
    try writeDeferredLinks()
  }

  /// Inserts all collected links into their trees.
  func writeDeferredLinks() throws {
    guard let deferred else { return }
    for link in deferred.links { try writeDeferred(link, deferred) }
  }

  /// Collects any number of links to an entity's new objects, in sorted runs, until
  /// ``endBuildingLinks()``: for trees that do not exist yet, and that are not read before.
  func beginBuildingLinks(to storage: EntityStorage) throws {
    for case let owner? in entities.byIndex {
      for slot in owner.binding.storedRelationshipSlots
      where owner.binding.traits[slot].isForeignKeyOfOthers {
        guard let link = owner.link(slot), !link.isOrdered,
          storage.binding.entity.isKind(
            ofEntityNamed: owner.binding.relationship(slot).destination),
          try transaction.indexTree(link.tree) == nil
        else { continue }
        sortedLinks[link.number] = (link, KeySorter(transaction, link.tree + "/run"))
      }
    }
  }

  /// Builds the trees of the links that were collected in runs. Links that did not fill a run stay
  /// collected, as any others.
  func endBuildingLinks() throws {
    let sorted = sortedLinks.values.filter { !$0.sorter.isEmpty }
      .sorted { $0.link.number < $1.link.number }
    for (link, _) in sorted {
      if let deferred, deferred.contains(link) { try writeDeferred(link, deferred) }
    }
    sortedLinks = [:]
    for (link, sorter) in sorted { try sorter.build(link.tree) }
  }

  private func writeDeferred(_ link: StoredEntity.Link, _ deferred: DeferredLinks) throws {
    if let sorter = sortedLinks[link.number]?.sorter {
      return try sorter.takeRun { try deferred.take(link, $0) }
    }
    if let tree = try linkTrees[link.number] ?? transaction.mutableIndexTree(link.tree) {
      linkTrees[link.number] = tree
      try deferred.take(link) { try tree.put(run: $0) }
    } else {
      linkTrees[link.number] = try transaction.buildIndexTree(link.tree) { builder in
        try deferred.take(link, builder)
      }
    }
  }

  /// The position after all links of an owner.
  private func nextPosition(_ link: StoredEntity.Link, of owner: Int64) throws -> UInt64 {
    guard let tree = try existingLinks(link) else { return 0 }
    var cursor = tree.cursor()
    let bound = LinkKey(owner: owner, position: .max, member: Reference(rawValue: .max))
    guard try cursor.seek(atOrBefore: bound.bytes(isOrdered: true)) else { return 0 }
    // The key is valid only as long as the cursor.
    let last = LinkKey(try cursor.key, isOrdered: true)
    withExtendedLifetime(cursor) {}
    guard let last, last.owner == owner else { return 0 }
    guard last.position < .max else {
      throw PersistenceError(
        .persistentStoreSave,
        "\(link.relationship) of the object with key \(owner) has a member at the last possible "
          + "position: set the relationship to a list of its members, which renumbers them")
    }
    return last.position + 1
  }

  /// Collects the links that `body` removes, and removes them from their trees in order at the end.
  /// `body` must not read links.
  func gatheringRemovals(_ body: () throws -> Void) throws {
    let gathered = DeferredLinks()
    leaving = gathered
    defer { leaving = nil }
    try gatheringLeavingMembers {
      try body()
      try removeGathered(gathered)
    }
  }

  /// Collects the members that `body` removes from ordered relationships, and removes them at the
  /// end. Until then `body` may still find them there.
  func gatheringLeavingMembers(_ body: () throws -> Void) throws {
    leavingLists = [:]
    defer { leavingLists = nil }
    try body()
    for (links, list) in (leavingLists ?? [:]).sorted(by: { $0.key < $1.key }) {
      try removeLinks(list.link, of: links.owner) { list.members.contains($0.member) }
    }
  }

  private func removeGathered(_ gathered: DeferredLinks) throws {
    for link in gathered.links {
      guard let tree = try existingLinks(link) else { continue }
      try gathered.take(link) { _ = try tree.remove(run: $0) }
    }
  }

  func removeLink(_ link: StoredEntity.Link, from owner: Int64, to member: Reference) throws {
    if let leaving, !link.isOrdered {
      leaving.add(link, from: owner, to: member)
      if leaving.isFull { try removeGathered(leaving) }
      return
    }
    if link.isOrdered {
      let links = LinksOfOwner(link: link.number, owner: owner)
      if arranged.contains(links) { return }
      if leavingLists != nil {
        leavingLists?[links, default: LeavingList(link: link)].members.insert(member)
        return
      }
      try removeLinks(link, of: owner) { $0.member == member }
    } else if let tree = try existingLinks(link) {
      try LinkKey(owner: owner, member: member).withBytes(isOrdered: false) {
        _ = try tree.remove($0)
      }
    }
  }

  /// Replaces all links of an owner.
  func setLinks(_ link: StoredEntity.Link, from owner: Int64, to members: [Reference]) throws {
    if link.isOrdered {
      return try setOrder(link, of: owner, from: try linkKeys(link, of: owner), to: members)
    }
    try removeLinks(link, of: owner)
    for member in members { try addLink(link, from: owner, to: member) }
  }

  /// Gives an owner the members of an ordered relationship, in their order. Links that can stay are
  /// not written.
  ///
  /// - Parameters:
  ///   - present: the links that the owner has.
  ///   - isNew: whether this save inserts the owner: all its links are written, with positions from
  ///     0 on.
  func setOrder(
    _ link: StoredEntity.Link, of owner: Int64, isNew: Bool = false, from present: [LinkKey],
    to members: [Reference]
  ) throws {
    let links = present.map { OrderChange.Link(position: $0.position, member: $0.member) }
    try write(OrderChange(from: links, to: members, isNew: isNew), link, of: owner)
  }

  /// Writes a change of an owner's links in an ordered relationship.
  func write(_ change: OrderChange<Reference>, _ link: StoredEntity.Link, of owner: Int64) throws {
    if change.removed.isEmpty, change.added.isEmpty { return }
    let tree = try links(link)
    func key(_ link: OrderChange<Reference>.Link) -> [UInt8] {
      LinkKey(owner: owner, position: link.position, member: link.member).bytes(isOrdered: true)
    }
    for link in change.removed { _ = try tree.remove(key(link)) }
    for link in change.added { try tree.put([], for: key(link)) }
  }

  func removeLinks(
    _ link: StoredEntity.Link, of owner: Int64, where isLeaving: (LinkKey) -> Bool = { _ in true }
  ) throws {
    guard let tree = try existingLinks(link) else { return }
    for key in try linkKeys(link, of: owner) where isLeaving(key) {
      _ = try tree.remove(key.bytes(isOrdered: link.isOrdered))
    }
  }

  func linkKeys(_ link: StoredEntity.Link, of owner: Int64) throws -> [LinkKey] {
    guard try existingLinks(link) != nil, let tree = try transaction.indexTree(link.tree) else {
      return []
    }
    var keys: [LinkKey] = []
    try LinkReader(tree: tree, isOrdered: link.isOrdered).forEach(of: owner) { keys.append($0) }
    return keys
  }
}

extension EntityDescription {
  /// Whether the entity, or one of its ancestors, has a name.
  func isKind(ofEntityNamed name: String) -> Bool {
    self.name == name || parent?.isKind(ofEntityNamed: name) ?? false
  }
}

/// The links that an object has by one of its relationships.
struct LinksOfOwner: Hashable, Comparable {
  /// The relationship, by the number of its links' tree.
  let link: UInt16
  let owner: Int64

  static func < (left: LinksOfOwner, right: LinksOfOwner) -> Bool {
    (left.link, left.owner) < (right.link, right.owner)
  }
}

/// Members to be removed from an ordered relationship.
struct LeavingList {
  let link: StoredEntity.Link
  var members: Set<Reference> = []
}
