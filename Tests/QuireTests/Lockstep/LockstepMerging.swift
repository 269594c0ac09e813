import Quire

/// What a context should show when another has saved: what was fetched, what memory has made of it,
/// and what the store has now are taken apart into facts, and put together by rules.
///
/// The rules are those of `MergeOracle`, for any model: memory's facts (a value, where a to-one
/// relationship leads, a member more or less, an order) go on top of what the store has.
struct LockstepMerging {
  /// Memory, with what was fetched as what it has saved.
  let memory: ObjectOracle
  let store: ObjectOracle
  /// The objects whose rows the other save has written.
  let written: Set<Int>
  /// `nil` to keep what is unsaved, on top of what the store has.
  let policy: MergePolicyType?

  private(set) var merged: ObjectOracle
  /// The objects that a save by memory meets in another version than it has fetched.
  private(set) var conflicts: Set<Int> = []

  init(
    _ memory: ObjectOracle, _ store: ObjectOracle, _ written: Set<Int>, _ policy: MergePolicyType?
  ) {
    (self.memory, self.store, self.written, self.policy) = (memory, store, written, policy)
    merged = store
    findConflicts()
    let living = memory.living.filter { store.nodes[$0] != nil || memory.saved[$0] == nil }
    for id in living { mergeValues(id) }
    for isNil in [true, false] { for id in living { mergeDestinations(id, isNil: isNil) } }
    for id in living { mergeMembers(id) }
    let deleted = memory.nodes.keys.sorted().filter { memory.nodes[$0]!.isDeleted }
    for id in deleted where store.nodes[id] != nil {
      mergeValues(id)
      partMembers(of: id)
      if policy == nil { merged.mark(id, as: memory) } else { merged.delete(id) }
    }
    for id in living { mergeOrders(id) }
  }

  // MARK: Conflicts

  private mutating func findConflicts() {
    conflicts = Set(
      memory.saved.keys.filter { id in
        guard let node = memory.nodes[id], written.contains(id) || store.nodes[id] == nil else {
          return false
        }
        if node.isDeleted { return true }
        if memory.isSame(node, memory.saved[id]!, asStored: true) { return false }
        return store.nodes[id].map { isDisputed(id, node, memory.saved[id]!, $0) } ?? true
      })
  }

  /// Whether memory and the store have changed the same fact of an object.
  private func isDisputed(
    _ id: Int, _ node: ObjectOracle.Node, _ old: ObjectOracle.Node, _ there: ObjectOracle.Node
  ) -> Bool {
    if node.values != old.values, there.values != old.values { return true }
    return memory.relationships(of: node.entity).contains { relationship in
      // What is new in the store is no dangling reference.
      func links(_ node: ObjectOracle.Node) -> [Int] {
        let links = node.links[relationship.name] ?? []
        return memory.canDangle(relationship)
          ? links.filter { !memory.isGoneOrBack($0) || store.nodes[$0] != nil } : links
      }
      if relationship.isOrdered {
        return OrderOracle.areDisputed(links(old), links(node), links(there))
      }
      if relationship.isToMany { return false }
      return links(node) != links(old) && links(there) != links(old) && links(node) != links(there)
    }
  }

  /// Whether an unsaved relationship leads to what is gone, which is a conflict, too.
  var leadsToGone: Bool {
    memory.living.contains { id in
      memory.relationships(of: memory.nodes[id]!.entity).contains { relationship in
        let links = memory.nodes[id]!.links[relationship.name] ?? []
        return links != memory.saved[id]?.links[relationship.name] ?? []
          && links.contains(where: isGone)
      }
    }
  }

  private func isGone(_ id: Int) -> Bool { memory.saved[id] != nil && store.nodes[id] == nil }

  /// By what an object is treated that is in conflict; `nil` when it is not.
  private func treatment(_ id: Int) -> MergePolicyType? {
    policy != nil && conflicts.contains(id) ? policy : nil
  }

  // MARK: Facts

  private mutating func mergeValues(_ id: Int) {
    let node = memory.nodes[id]!
    guard let old = memory.saved[id]?.values, let there = store.nodes[id]?.values else {
      merged.put(id, ObjectOracle.Node(entity: node.entity, values: node.values))
      return
    }
    if keeps(id, here: node.values, old: old, there: there, isLeft: there == old) {
      merged.set(id, "weight", node.values["weight"])
    }
  }

  /// - Parameter isLeft: whether the other save has left it as it was.
  private func keeps<Content: Equatable>(
    _ id: Int, here: Content, old: Content, there: Content, isLeft: Bool
  ) -> Bool {
    switch treatment(id) {
    case nil, .mergeByPropertyObjectTrumpMergePolicyType: here != old
    case .mergeByPropertyStoreTrumpMergePolicyType: here != old && isLeft
    case .overwriteMergePolicyType: here != there
    case .rollbackMergePolicyType, .errorMergePolicyType: false
    }
  }

  private func links(_ id: Int, _ name: String) -> (here: [Int], old: [Int], there: [Int]) {
    (
      (memory.nodes[id]?.links[name] ?? []).filter { memory.nodes[$0] != nil },
      memory.saved[id]?.links[name] ?? [], store.nodes[id]?.links[name] ?? []
    )
  }

  private mutating func mergeDestinations(_ id: Int, isNil: Bool) {
    for relationship in memory.relationships(of: memory.nodes[id]!.entity)
    where !relationship.isToMany {
      var (here, old, there) = links(id, relationship.name)
      let isLeft = isLeft(relationship, old: old, there: there)
      guard keeps(id, here: here, old: old, there: there, isLeft: isLeft) else { continue }
      if let destination = here.first {
        // What led nowhere, and leads to what the same save deletes, is not written, unless all
        // that the object shows is.
        if policy != nil, treatment(id) != .overwriteMergePolicyType, old.isEmpty,
          memory.canDangle(relationship), memory.nodes[destination]?.isDeleted == true
        {
          continue
        }
        if isGone(destination) {
          // A save does not put back what was taken from where it was, but leaves it where another
          // save has. Whoever is only told of the deletion sees it lead nowhere.
          // If it led nowhere before, nothing is left of its change.
          if policy != nil, here == old || there != old { continue }
          if policy == nil, old.isEmpty { continue }
          here = []
        } else if !hasSay(over: relationship, destination) {
          continue
        }
      }
      if here.isEmpty == isNil { merged.setMembers(id, relationship.name, here) }
    }
  }

  /// Whether the other end of a one-to-one relationship agrees, as far as it is in conflict itself.
  private func hasSay(over relationship: RelationshipDescription, _ destination: Int) -> Bool {
    guard
      let inverse = memory.relationships(of: relationship.destination).first(where: {
        $0.name == relationship.inverse
      }), !inverse.isToMany
    else { return true }
    let (_, old, there) = links(destination, inverse.name)
    switch treatment(destination) {
    case .rollbackMergePolicyType: return false
    case .mergeByPropertyStoreTrumpMergePolicyType:
      return isLeft(inverse, old: old, there: there)
    case nil, .errorMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
      .overwriteMergePolicyType:
      return true
    }
  }

  /// Whether a row leads where it did: also to what is gone, whose deletion it was not told of.
  private func isLeft(
    _ relationship: RelationshipDescription, old: [Int], there: [Int]
  ) -> Bool {
    there == (memory.canDangle(relationship) ? old.filter { !isGone($0) } : old)
  }

  /// Of relationships that no foreign key of the members says.
  private mutating func mergeMembers(_ id: Int) {
    for relationship in memory.relationships(of: memory.nodes[id]!.entity)
    where relationship.isToMany && !isForeignKey(relationship) {
      let (here, old, _) = links(id, relationship.name)
      for member in here + old.filter({ !here.contains($0) }) {
        guard here.contains(member) != old.contains(member), !isGone(member),
          treatment(id) != .rollbackMergePolicyType,
          relationship.inverse == nil || treatment(member) != .rollbackMergePolicyType
        else { continue }
        if here.contains(member) {
          merged.link(id, relationship.name, to: member)
        } else if merged.nodes[member] != nil {
          merged.unlink(id, relationship.name, from: member)
        }
      }
    }
  }

  /// A deleted object may have been taken from others before.
  private mutating func partMembers(of id: Int) {
    for relationship in memory.relationships(of: memory.nodes[id]!.entity) {
      let (here, old, _) = links(id, relationship.name)
      for member in old where !here.contains(member) && merged.nodes[member] != nil {
        // The deletion of the member has told this one; the member still leads here.
        let isTold = relationship.inverse.map { links(member, $0).here.contains(id) } ?? false
        // It was the member that was led elsewhere, and its changes are dropped: it goes along.
        let isBack = isForeignKey(relationship) && treatment(member) == .rollbackMergePolicyType
        if !isTold, !isBack { merged.unlink(id, relationship.name, from: member) }
      }
      // It goes on leading to what it led to; that leads back only where it was not told.
      if policy == nil {
        merged.arrange(id, relationship.name, here.filter { !isGone($0) })
        if relationship.deleteRule == .nullify { tell(of: id, relationship) }
        if relationship.deleteRule == .deny { keepHeld(id, relationship) }
      }
    }
  }

  /// Takes a deleted object from what it leads to, where memory has done so.
  private mutating func tell(of id: Int, _ relationship: RelationshipDescription) {
    guard let inverse = relationship.inverse else { return }
    for member in merged.nodes[id]!.links[relationship.name] ?? []
    where merged.nodes[member] != nil && !links(member, inverse).here.contains(id) {
      let rest = (merged.nodes[member]!.links[inverse] ?? []).filter { $0 != id }
      merged.arrange(member, inverse, rest)
    }
  }

  /// Leaves a deleted object, unseen, with those that hold it: its rule denies the deletion as long
  /// as they do.
  private mutating func keepHeld(_ id: Int, _ relationship: RelationshipDescription) {
    guard let inverse = relationship.inverse else { return }
    for member in merged.nodes[id]!.links[relationship.name] ?? []
    where merged.nodes[member] != nil && links(member, inverse).here.contains(id) {
      let present = merged.nodes[member]!.links[inverse] ?? []
      let hasRoom = present.isEmpty || isToMany(member, inverse)
      if !present.contains(id), hasRoom { merged.arrange(member, inverse, present + [id]) }
    }
  }

  private func isToMany(_ id: Int, _ name: String) -> Bool {
    memory.relationships(of: memory.nodes[id]!.entity).contains { $0.name == name && $0.isToMany }
  }

  private func isForeignKey(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = relationship.inverse else { return false }
    return memory.relationships(of: relationship.destination).contains {
      $0.name == inverse && !$0.isToMany
    }
  }

  private mutating func mergeOrders(_ id: Int) {
    guard let node = merged.nodes[id] else { return }
    for relationship in memory.relationships(of: node.entity) where relationship.isOrdered {
      let name = relationship.name
      var (here, old, there) = links(id, name)
      let (shown, present) = (here, merged.nodes[id]!.links[name] ?? [])
      if memory.canDangle(relationship) {
        here.removeAll(where: memory.isGoneOrBack)
        old.removeAll(where: memory.isGoneOrBack)
      }
      let treatment = treatment(id)
      let isKept =
        treatment == nil || treatment == .mergeByPropertyObjectTrumpMergePolicyType
        || treatment == .overwriteMergePolicyType
        || treatment == .mergeByPropertyStoreTrumpMergePolicyType && there == old
      guard here != old, isKept else {
        // What has come stands where it does in memory, if others have left the order alone, and
        // at the end if not.
        if here == old, there == old {
          merged.arrange(id, name, shown.filter(present.contains))
          continue
        }
        let come = links(id, name).here.filter { present.contains($0) && !there.contains($0) }
        merged.arrange(id, name, present.filter(there.contains) + come)
        continue
      }
      var order = shown.filter(present.contains)
      for member in there where present.contains(member) && !order.contains(member) {
        let before = there[..<there.firstIndex(of: member)!].last { order.contains($0) }
        let place = before.flatMap { order.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        order.insert(member, at: policy == nil ? order.count : place)
      }
      merged.arrange(id, name, order + present.filter { !order.contains($0) })
    }
  }
}

extension ObjectOracle {
  /// Whether a save writes a row for what differs: not for members that say so themselves.
  func isWritten(_ id: Int) -> Bool {
    guard let node = nodes[id], let former = saved[id] else { return false }
    return node.values != former.values
      || relationships(of: node.entity).contains { relationship in
        let isStored =
          relationship.isOrdered || !relationship.isToMany || relationship.inverse == nil
          || relationships(of: relationship.destination).contains {
            $0.name == relationship.inverse && $0.isToMany
          }
        let there = former.links[relationship.name] ?? []
        // What was added and is deleted is not written.
        let here = (node.links[relationship.name] ?? []).filter {
          there.contains($0) || nodes[$0]?.isDeleted == false
        }
        return isStored && (relationship.isOrdered ? here != there : Set(here) != Set(there))
      }
  }
}
