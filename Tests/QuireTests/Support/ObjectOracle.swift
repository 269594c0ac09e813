import Quire

/// Objects and relationships as plain dictionaries: what a context should show, by rules short
/// enough to be believed.
struct ObjectOracle {
  struct Node: Equatable {
    var entity: String
    var values: [String: Int] = [:]
    /// To-one relationships have none or one.
    var links: [String: [Int]] = [:]
    var isNew = true
    var isDeleted = false
    /// Whether a deletion that is taken back here brings back what it was. Not where an insertion
    /// was undone, with all that was set, or a child has handed over each change of its deletion.
    var canRevive = true
  }

  let model: ManagedObjectModel
  private(set) var nodes: [Int: Node] = [:]
  private(set) var saved: [Int: Node] = [:]
  /// The objects that a save has removed, once or more often.
  private(set) var removed: Set<Int> = []

  init(_ model: ManagedObjectModel) { self.model = model }

  func relationships(of entity: String) -> [RelationshipDescription] {
    model.entities.first { $0.name == entity }?.relationships ?? []
  }

  /// In the order in which a context goes through them, which shows where an object leads to
  /// itself.
  private func orderedRelationships(of entity: String) -> [RelationshipDescription] {
    relationships(of: entity).sorted { $0.name < $1.name }
  }

  private func relationship(_ id: Int, _ name: String) -> RelationshipDescription {
    relationships(of: nodes[id]!.entity).first { $0.name == name }!
  }

  /// The numbers of the objects that are not deleted.
  var living: [Int] { nodes.filter { !$0.value.isDeleted }.keys.sorted() }

  func living(_ entity: String) -> [Int] {
    living.filter { isKind(nodes[$0]!.entity, of: entity) }
  }

  func isKind(_ entity: String, of ancestor: String) -> Bool {
    var level = model.entities.first { $0.name == entity }
    while let current = level {
      if current.name == ancestor { return true }
      level = current.parent
    }
    return false
  }

  /// What a relationship shows: a deleted object is in no to-many relationship, and what was saved
  /// as a reference to nothing reads as nothing.
  func members(_ id: Int, _ name: String) -> [Int] {
    let isToMany = relationship(id, name).isToMany
    return (nodes[id]!.links[name] ?? []).filter {
      guard let node = nodes[$0] else { return false }
      return !isToMany || !node.isDeleted
    }
  }

  // MARK: Changes

  mutating func insert(_ id: Int, _ entity: String) { nodes[id] = Node(entity: entity) }

  mutating func set(_ id: Int, _ attribute: String, _ value: Int?) {
    nodes[id]!.values[attribute] = value
  }

  mutating func link(_ id: Int, _ name: String, to target: Int) {
    let relationship = relationship(id, name)
    if nodes[id]!.links[name, default: []].contains(target) { return }
    if !relationship.isToMany {
      for old in nodes[id]!.links[name] ?? [] { unlink(id, name, from: old) }
    }
    guard let inverse = relationship.inverse else {
      nodes[id]!.links[name, default: []].append(target)
      return
    }
    if !self.relationship(target, inverse).isToMany {
      for rival in nodes[target]!.links[inverse] ?? [] { unlink(target, inverse, from: rival) }
    }
    nodes[id]!.links[name, default: []].append(target)
    if !nodes[target]!.links[inverse, default: []].contains(id) {
      nodes[target]!.links[inverse, default: []].append(id)
    }
  }

  mutating func unlink(_ id: Int, _ name: String, from target: Int) {
    nodes[id]!.links[name]?.removeAll { $0 == target }
    if let inverse = relationship(id, name).inverse {
      nodes[target]?.links[inverse]?.removeAll { $0 == id }
    }
  }

  mutating func setMembers(_ id: Int, _ name: String, _ wanted: [Int]) {
    for old in nodes[id]!.links[name] ?? [] where !wanted.contains(old) {
      unlink(id, name, from: old)
    }
    for target in wanted { link(id, name, to: target) }
    if relationship(id, name).isOrdered { nodes[id]!.links[name] = wanted }
  }

  mutating func delete(_ id: Int) {
    var queue: [Int] = []
    mark(id, &queue)
    while let next = queue.first {
      applyDeleteRules(of: next, &queue)
      queue.removeFirst()
      if nodes[next]?.isNew == true { nodes[next] = nil }
    }
  }

  private mutating func mark(_ id: Int, _ queue: inout [Int]) {
    guard let node = nodes[id], !node.isDeleted else { return }
    (nodes[id]!.isDeleted, nodes[id]!.canRevive) = (true, true)
    queue.append(id)
  }

  private mutating func applyDeleteRules(of id: Int, _ queue: inout [Int]) {
    for relationship in orderedRelationships(of: nodes[id]!.entity) {
      let members = nodes[id]?.links[relationship.name] ?? []
      var rule = relationship.deleteRule
      // Nobody is left to lead to what never was.
      if nodes[id]?.isNew == true, rule != .cascade { rule = .nullify }
      switch rule {
      case .noAction, .deny: continue
      case .nullify:
        guard let inverse = relationship.inverse else { continue }
        for member in members {
          // What is deleted is in no to-many relationship any more, and is not told.
          let isHidden = nodes[member]?.isDeleted != false && !queue.contains(member)
          if relationship.isToMany, isHidden { continue }
          nodes[member]?.links[inverse]?.removeAll { $0 == id }
        }
      case .cascade:
        for member in members { mark(member, &queue) }
      }
    }
  }

  /// Takes a deletion back: what the object leads to leads to it again, unless it leads elsewhere.
  /// What is deleted is treated as its own rule says.
  mutating func revive(_ id: Int) {
    guard let node = nodes[id], node.isDeleted else { return }
    nodes[id]!.isDeleted = false
    for relationship in orderedRelationships(of: node.entity) {
      guard let inverse = relationship.inverse else { continue }
      for target in nodes[id]!.links[relationship.name] ?? [] where nodes[target] != nil {
        let present = nodes[target]!.links[inverse] ?? []
        let back = self.relationship(target, inverse)
        if nodes[target]!.isDeleted, back.deleteRule != .noAction {
          if back.deleteRule != .deny || !present.contains(id) {
            nodes[id]!.links[relationship.name]!.removeAll { $0 == target }
            nodes[target]!.links[inverse]?.removeAll { $0 == id }
          }
        } else if present.contains(id) {
          continue
        } else if back.isToMany {
          nodes[target]!.links[inverse] =
            back.isOrdered ? place(id, present, target, inverse) : present + [id]
        } else if present.contains(where: { nodes[$0]?.isDeleted == false }) {
          nodes[id]!.links[relationship.name]!.removeAll { $0 == target }
        } else {
          nodes[target]!.links[inverse] = [id]
        }
      }
    }
  }

  /// An order with an object where it was saved: behind the nearest of those that preceded it.
  private func place(_ id: Int, _ order: [Int], _ owner: Int, _ name: String) -> [Int] {
    guard let saved = saved[owner]?.links[name], let place = saved.firstIndex(of: id) else {
      return order + [id]
    }
    var order = order
    let predecessor = saved[..<place].reversed().lazy.compactMap { order.firstIndex(of: $0) }.first
    order.insert(id, at: predecessor.map { $0 + 1 } ?? 0)
    return order
  }

  // MARK: Save and rollback

  /// Why a save should fail; empty when it should not.
  var complaints: [String] {
    var complaints: [String] = []
    for (id, node) in nodes.sorted(by: { $0.key < $1.key }) where node != saved[id] {
      // Who is as before is not asked: in a child, of what its parent has not saved.
      if let former = saved[id], !node.isDeleted, isSame(node, former) { continue }
      for relationship in relationships(of: node.entity) {
        let members = (node.links[relationship.name] ?? []).filter {
          nodes[$0].map { !$0.isDeleted } ?? false
        }
        if node.isDeleted {
          if relationship.deleteRule == .deny, !members.isEmpty { complaints.append("deny \(id)") }
        } else if !relationship.isToMany, !relationship.isOptional, members.isEmpty {
          complaints.append("\(id).\(relationship.name) leads nowhere")
        } else if relationship.isToMany, relationship.maxCount > 0,
          members.count > relationship.maxCount,
          // A child is not asked about what its parent has not saved.
          node.links[relationship.name] != saved[id]?.links[relationship.name]
        {
          complaints.append("\(id).\(relationship.name) has too many")
        }
      }
    }
    return complaints
  }

  mutating func save() {
    removed.formUnion(nodes.filter { $0.value.isDeleted }.keys)
    nodes = nodes.filter { !$0.value.isDeleted }
    for id in nodes.keys {
      nodes[id]!.isNew = false
      // What leads to nothing will never lead to anything again.
      for (name, members) in nodes[id]!.links {
        nodes[id]!.links[name] = members.filter { nodes[$0] != nil }
      }
    }
    saved = nodes
  }

  mutating func rollback() { nodes = saved }

  // MARK: Others

  /// Shows other objects than now, some of which were saved or deleted meanwhile.
  mutating func show(_ former: [Int: Node]) {
    var next = former
    for (id, node) in saved where former[id] == nil {
      next[id] = Node(
        entity: node.entity, values: node.values, isNew: false, isDeleted: true, canRevive: false)
    }
    for id in next.keys { next[id]!.isNew = saved[id] == nil }
    nodes = next.filter { !$0.value.isNew || !$0.value.isDeleted }
  }

  /// The objects as another context finds them, which knows nothing of what is unsaved here.
  var stored: ObjectOracle {
    var other = self
    other.nodes = saved
    return other
  }

  /// The objects as a child finds them, to which nothing here is unsaved.
  var child: ObjectOracle {
    var child = self
    child.nodes = nodes.filter { !$0.value.isDeleted }
    for id in child.nodes.keys { child.nodes[id]!.isNew = false }
    child.saved = child.nodes
    return child
  }

  /// Takes what a child has saved, whose deleted objects are still marked.
  mutating func take(_ child: ObjectOracle) {
    for (id, node) in child.nodes where node != child.saved[id] {
      let former = nodes[id]?.links ?? [:]
      nodes[id] = node
      if !node.isDeleted {
        leaveUnseen(id, former, by: child)
        leaveUnled(id, former, by: child)
        partFromDeleted(id, former)
      }
      // What the child has deleted, it has led nobody to.
      for (name, members) in nodes[id]!.links {
        nodes[id]!.links[name] = members.filter {
          child.nodes[$0]?.isDeleted != true || former[name]?.contains($0) == true
        }
      }
      if node.isDeleted { keepHidden(id, former, from: child) }
      nodes[id]!.isNew = saved[id] == nil
      if node.isDeleted { nodes[id]!.canRevive = false }
      if node.isDeleted, saved[id] == nil { nodes[id] = nil }
    }
  }

  /// Leaves members in that the child did not see, as they are deleted here.
  private mutating func leaveUnseen(_ id: Int, _ former: [String: [Int]], by child: ObjectOracle) {
    for relationship in relationships(of: nodes[id]!.entity)
    where relationship.isToMany && canDangle(relationship) {
      let shown = (nodes[id]!.links[relationship.name] ?? []).filter { child.nodes[$0] != nil }
      nodes[id]!.links[relationship.name] = (former[relationship.name] ?? []).filter {
        shown.contains($0) || child.saved[$0] == nil && nodes[$0] != nil
      }
      arrangeShown(id, relationship.name, shown)
    }
  }

  /// Leaves an object where it led, which the child did not see, if the child has led it to what it
  /// then deleted: to the child it led nowhere, and does so still.
  private mutating func leaveUnled(
    _ id: Int, _ former: [String: [Int]], by child: ObjectOracle
  ) {
    for relationship in relationships(of: nodes[id]!.entity)
    where !relationship.isToMany && canDangle(relationship) {
      let name = relationship.name
      guard let destination = nodes[id]!.links[name]?.first,
        child.nodes[destination]?.isDeleted == true,
        former[name]?.contains(where: { child.saved[$0] != nil }) != true
      else { continue }
      nodes[id]!.links[name] = former[name]
    }
  }

  /// Parts an object that a child has led elsewhere from what it led to, which is deleted here, so
  /// that the child knew nothing of it.
  private mutating func partFromDeleted(_ id: Int, _ former: [String: [Int]]) {
    for relationship in relationships(of: nodes[id]!.entity) where !relationship.isToMany {
      guard let inverse = relationship.inverse, let present = nodes[id]!.links[relationship.name]
      else { continue }
      for old in former[relationship.name] ?? []
      where !present.contains(old) && nodes[old]?.isDeleted == true {
        nodes[old]!.links[inverse]?.removeAll { $0 == id }
      }
    }
  }

  /// Leaves an object that a child has deleted where it led to what is deleted here: of its own
  /// changes nothing is handed over but the deletion.
  private mutating func keepHidden(
    _ id: Int, _ former: [String: [Int]], from child: ObjectOracle
  ) {
    for relationship in relationships(of: nodes[id]!.entity) where !relationship.isToMany {
      let hidden = (former[relationship.name] ?? []).filter {
        child.nodes[$0] == nil && nodes[$0] != nil
      }
      if !hidden.isEmpty { nodes[id]!.links[relationship.name] = hidden }
    }
  }

  /// Takes an object in as it is.
  mutating func put(_ id: Int, _ node: Node) { nodes[id] = node }

  /// Marks an object as deleted, after its delete rules, as another oracle has it.
  mutating func mark(_ id: Int, as other: ObjectOracle) {
    nodes[id]!.isDeleted = true
    nodes[id]!.canRevive = other.nodes[id]!.canRevive
  }

  /// Sets an order of the members that are shown. Hidden ones stay behind those that they follow.
  mutating func arrangeShown(_ id: Int, _ name: String, _ order: [Int]) {
    var followers: [Int?: [Int]] = [:]
    var last: Int?
    for member in nodes[id]!.links[name] ?? [] {
      if order.contains(member) {
        last = member
      } else {
        followers[last, default: []].append(member)
      }
    }
    let whole = (followers[nil] ?? []) + order.flatMap { [$0] + (followers[$0] ?? []) }
    nodes[id]!.links[name] = whole
  }

  /// Sets an order of the members that there are.
  mutating func arrange(_ id: Int, _ name: String, _ order: [Int]) {
    nodes[id]!.links[name] = order
  }
}
