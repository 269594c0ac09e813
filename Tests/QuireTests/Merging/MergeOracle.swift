/// What merges of whole contexts have to lead to, said with plain dictionaries.
///
/// Three worlds meet: what was fetched, what memory made of it, and what the store has now. Every
/// rule is a comparison of the three; nothing here knows of objects, rows or transactions.
struct MergeOracle {
  struct Node: Equatable {
    var version = 1
    var a = 0
    var b = 0
    var parent: Int?
    var twin: Int?
    var friends: Set<Int> = []
    /// In order. Each node is a step of one other at most, which deletes its steps with itself.
    var steps: [Int] = []
    var stepOf: Int?
  }

  typealias World = [Int: Node]

  let policy: MergingPolicy
  let fetched: World
  let memory: World
  let store: World

  // MARK: What differs

  private static func children(_ id: Int, _ world: World) -> Set<Int> {
    Set(world.filter { $0.value.parent == id }.keys)
  }

  /// Whether an object has unsaved changes, also such that are stored elsewhere.
  private func isChanged(_ id: Int) -> Bool {
    guard let old = fetched[id], let new = memory[id] else { return false }
    return old != new || Self.children(id, fetched) != Self.children(id, memory)
  }

  private func isDeleted(_ id: Int) -> Bool { fetched[id] != nil && memory[id] == nil }

  private var gone: Set<Int> { Set(fetched.keys.filter { store[$0] == nil }) }

  private func hasNewVersion(_ id: Int) -> Bool {
    guard let old = fetched[id], let new = store[id] else { return false }
    return old.version != new.version
  }

  /// Children or steps that a deleted node got there, and of which memory knows nothing.
  private func hasNewMembers(_ id: Int) -> Bool {
    store.contains { member, node in
      func isUnknown(_ key: KeyPath<Node, Int?>) -> Bool {
        guard node[keyPath: key] == id, !isDeleted(member) else { return false }
        return fetched[member]?[keyPath: key] == memory[member]?[keyPath: key]
      }
      return isUnknown(\.parent) || isUnknown(\.stepOf)
    }
  }

  /// Whether memory and the store have changed the same fact of an object.
  private func isDisputed(_ id: Int) -> Bool {
    guard let old = fetched[id], let here = memory[id], let there = store[id] else { return false }
    if (here.a, here.b) != (old.a, old.b), (there.a, there.b) != (old.a, old.b) { return true }
    for key in [\Node.parent, \.twin, \.stepOf]
    where here[keyPath: key] != old[keyPath: key] && there[keyPath: key] != old[keyPath: key] {
      if here[keyPath: key] != there[keyPath: key] { return true }
    }
    return OrderOracle.areDisputed(old.steps, here.steps, there.steps)
  }

  var conflicts: Set<Int> {
    var found: Set<Int> = []
    for id in fetched.keys where isChanged(id) || isDeleted(id) {
      if store[id] == nil || isDeleted(id) && hasNewVersion(id) || isDisputed(id) {
        found.insert(id)
      }
    }
    for id in fetched.keys where isDeleted(id) && hasNewMembers(id) { found.insert(id) }
    return found
  }

  // MARK: The merge

  func merged() -> World {
    let conflicts = conflicts
    let revived = revivals(conflicts)
    var world = store
    for (id, node) in memory where fetched[id] == nil {
      world[id] = Node(version: 0, a: node.a, b: node.b)
    }
    let living = memory.keys.filter { world[$0] != nil }.sorted()
    for id in living where !(policy == .rollback && conflicts.contains(id)) {
      mergeValues(id, conflicts.contains(id), &world)
    }
    let ends = living.filter { !(policy == .rollback && conflicts.contains($0)) }
    for key in [\Node.parent, \.stepOf] {
      for id in ends { mergeOwner(key, id, conflicts, revived, &world) }
    }
    mergeTwins(ends, conflicts, revived, &world)
    mergeFriends(ends, conflicts, revived, &world)
    for id in fetched.keys.sorted() where isDeleted(id) && !revived.contains(id) {
      Self.delete(id, &world)
    }
    mergeOrders(conflicts, &world)
    return world
  }

  private func revivals(_ conflicts: Set<Int>) -> Set<Int> {
    guard !policy.isForMemory else { return [] }
    var revived: Set<Int> = []
    var open = conflicts.filter { isDeleted($0) && store[$0] != nil }
    while let id = open.popFirst() {
      guard revived.insert(id).inserted else { continue }
      let owner = store[id]?.stepOf
      for other in store.keys where isDeleted(other) {
        if other == owner || store[other]?.stepOf == id { open.insert(other) }
      }
    }
    return revived
  }

  private func mergeValues(_ id: Int, _ isConflict: Bool, _ world: inout World) {
    for key in [\Node.a, \.b] {
      guard let here = memory[id]?[keyPath: key] else { continue }
      let (old, there) = (fetched[id]?[keyPath: key], store[id]?[keyPath: key])
      let isOurs =
        switch policy {
        case _ where !isConflict: here != old
        case .overwrite: true
        case .objectTrump: here != old
        case .storeTrump: here != old && there == old
        case .rollback: false
        }
      if isOurs { world[id]?[keyPath: key] = here }
    }
  }

  /// Where a to-one relationship is to lead: nowhere when what memory has chosen is gone.
  private func destination(_ key: KeyPath<Node, Int?>, _ id: Int) -> Int? {
    memory[id]?[keyPath: key].flatMap { gone.contains($0) ? nil : $0 }
  }

  /// Whether memory decides where a to-one relationship leads.
  private func isOurs(
    _ key: KeyPath<Node, Int?>, _ id: Int, _ conflicts: Set<Int>, _ revived: Set<Int>
  ) -> Bool {
    let here = memory[id]?[keyPath: key]
    let (old, there) = (fetched[id]?[keyPath: key], store[id]?[keyPath: key])
    // What is gone leads nobody away from where the store has put them.
    if let here, gone.contains(here), here == old || there != old { return false }
    let destination = destination(key, id)
    if destination == nil, let old, revived.contains(old) { return false }
    switch policy {
    case .overwrite where conflicts.contains(id): return destination != there
    case .storeTrump where conflicts.contains(id): return here != old && there == old
    case .rollback where conflicts.contains(id): return false
    default: return here != old
    }
  }

  private func mergeOwner(
    _ key: WritableKeyPath<Node, Int?>, _ id: Int, _ conflicts: Set<Int>, _ revived: Set<Int>,
    _ world: inout World
  ) {
    let destination = destination(key, id)
    guard isOurs(key, id, conflicts, revived), world[id]?[keyPath: key] != destination else {
      return
    }
    if key == \.stepOf {
      Self.leaveSteps(id, &world)
      if let destination { world[destination]?.steps.append(id) }
    }
    world[id]?[keyPath: key] = destination
  }

  private func mergeTwins(
    _ ends: [Int], _ conflicts: Set<Int>, _ revived: Set<Int>, _ world: inout World
  ) {
    let ours = ends.filter { isOurs(\.twin, $0, conflicts, revived) }
    for id in ours where destination(\.twin, id) == nil { Self.divorce(id, &world) }
    for id in ours {
      guard let twin = destination(\.twin, id) else { continue }
      if conflicts.contains(twin) {
        if policy == .rollback { continue }
        if policy == .storeTrump, fetched[twin]?.twin != store[twin]?.twin { continue }
      }
      Self.divorce(id, &world)
      Self.divorce(twin, &world)
      world[id]?.twin = twin
      world[twin]?.twin = id
    }
  }

  private func mergeFriends(
    _ ends: [Int], _ conflicts: Set<Int>, _ revived: Set<Int>, _ world: inout World
  ) {
    for id in ends {
      let (old, here) = (fetched[id]?.friends ?? [], memory[id]?.friends ?? [])
      for friend in here.symmetricDifference(old).sorted() where world[friend] != nil {
        if policy == .rollback && conflicts.contains(friend) { continue }
        if here.contains(friend) {
          world[id]?.friends.insert(friend)
          world[friend]?.friends.insert(id)
        } else if !revived.contains(friend) {
          world[id]?.friends.remove(friend)
          world[friend]?.friends.remove(id)
        }
      }
    }
  }

  private func mergeOrders(_ conflicts: Set<Int>, _ world: inout World) {
    for (id, node) in memory {
      guard let present = world[id]?.steps else { continue }
      let (old, there) = (fetched[id]?.steps ?? [], store[id]?.steps ?? [])
      let isLost =
        conflicts.contains(id)
        && (policy == .rollback || policy == .storeTrump && there != old)
      if node.steps == old || isLost {
        // What has come stands at the end, as it stands in memory.
        let isHere = there.filter(present.contains)
        world[id]?.steps =
          isHere + node.steps.filter { present.contains($0) && !isHere.contains($0) }
        continue
      }
      var order = node.steps.filter(present.contains)
      for step in present where !node.steps.contains(step) {
        guard let position = there.firstIndex(of: step) else {
          order.append(step)
          continue
        }
        let before = there[..<position].last { order.contains($0) }
        order.insert(step, at: before.flatMap { order.firstIndex(of: $0) }.map { $0 + 1 } ?? 0)
      }
      world[id]?.steps = order
    }
  }

  // MARK: A world

  static func divorce(_ id: Int, _ world: inout World) {
    if let twin = world[id]?.twin { world[twin]?.twin = nil }
    world[id]?.twin = nil
  }

  static func leaveSteps(_ id: Int, _ world: inout World) {
    if let owner = world[id]?.stepOf { world[owner]?.steps.removeAll { $0 == id } }
    world[id]?.stepOf = nil
  }

  static func delete(_ id: Int, _ world: inout World) {
    guard let node = world[id] else { return }
    divorce(id, &world)
    leaveSteps(id, &world)
    for friend in node.friends { world[friend]?.friends.remove(id) }
    for child in children(id, world) { world[child]?.parent = nil }
    world[id] = nil
    for step in node.steps { delete(step, &world) }
  }

  /// The world as a save leaves it: rows that changed have new versions.
  static func saved(_ new: World, over old: World) -> World {
    var world = new
    for (id, node) in new {
      var unchanged = node
      unchanged.version = old[id]?.version ?? 0
      world[id]?.version = unchanged.version + (unchanged == old[id] ? 0 : 1)
    }
    return world
  }
}
