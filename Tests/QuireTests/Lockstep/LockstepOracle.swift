import Quire

/// What two stores should show: objects as dictionaries, and what can be undone as copies of them.
struct LockstepOracle {
  var objects = ObjectOracle(LockstepModel.model)
  /// What was there before each group of changes.
  private(set) var undoStates: [[Int: ObjectOracle.Node]] = []
  private(set) var redoStates: [[Int: ObjectOracle.Node]] = []
  /// What was there before the event; `nil` while nothing has happened in it.
  private var eventStart: [Int: ObjectOracle.Node]?
  private(set) var groupDepth = 0
  /// The objects of which a value was set in what can be undone, be it to what it was.
  private var touched: Set<Int> = []

  var canUndo: Bool { !undoStates.isEmpty || eventStart != nil }
  var canRedo: Bool { !redoStates.isEmpty }

  mutating func apply(_ change: LockstepChange) {
    noteChange()
    if case .set(let id, _) = change { touched.insert(id) }
    objects.apply(change)
  }

  mutating func noteChange() {
    if eventStart == nil { eventStart = objects.nodes }
    redoStates = []
  }

  // MARK: Undo

  mutating func endEvent() {
    guard groupDepth == 0, let start = eventStart else { return }
    undoStates.append(start)
    eventStart = nil
  }

  mutating func beginGroup() { groupDepth += 1 }

  mutating func endGroup() { groupDepth -= 1 }

  mutating func undo() {
    endEvent()
    guard let former = undoStates.popLast() else { return }
    redoStates.append(objects.nodes)
    objects.show(former)
  }

  mutating func redo() {
    endEvent()
    guard let later = redoStates.popLast() else { return }
    undoStates.append(objects.nodes)
    objects.show(later)
  }

  /// Others have inserted objects, and set values that are the same in all states: as if that had
  /// always been so.
  mutating func rebaseUndo(inserted: [Int], changed: [Int]) {
    func rebased(_ state: [Int: ObjectOracle.Node]) -> [Int: ObjectOracle.Node] {
      var state = state
      for id in inserted { state[id] = objects.nodes[id] }
      for id in changed {
        if let values = objects.nodes[id]?.values { state[id]?.values = values }
      }
      return state
    }
    undoStates = undoStates.map(rebased)
    redoStates = redoStates.map(rebased)
    eventStart = eventStart.map(rebased)
  }

  /// Whether an object's values are the same whatever is undone or made again.
  func isUntouched(_ id: Int) -> Bool {
    guard let saved = objects.saved[id], !touched.contains(id) else { return false }
    return ([objects.nodes] + undoStates + redoStates + [eventStart ?? [:]]).allSatisfy {
      $0[id].map { $0.values == saved.values } ?? true
    }
  }

  mutating func forgetUndo() {
    (undoStates, redoStates, eventStart, groupDepth) = ([], [], nil, 0)
    touched = []
  }

  // MARK: What is unsaved

  var inserted: Set<Int> { Set(objects.nodes.filter { $0.value.isNew }.keys) }
  var deleted: Set<Int> { Set(objects.nodes.filter { $0.value.isDeleted }.keys) }

  /// The saved objects that differ from what was saved.
  ///
  /// Not those that lead to one whose deletion they were not told of: that does not change them,
  /// nor does undoing it, even if it was saved.
  var changed: Set<Int> {
    Set(
      objects.living.filter { id in
        objects.saved[id].map { !objects.isSame(objects.nodes[id]!, $0, asStored: true) } ?? false
      })
  }

  var hasChanges: Bool { !inserted.isEmpty || !deleted.isEmpty || !changed.isEmpty }

  /// Whether an object has no unsaved change but those of its attributes.
  func hasPlainChanges(_ id: Int) -> Bool {
    guard let node = objects.nodes[id], var saved = objects.saved[id], !node.isDeleted else {
      return false
    }
    saved.values = node.values
    return objects.isSame(node, saved)
  }
}

extension ObjectOracle {
  /// All that an object shows.
  func line(_ id: Int) -> String {
    guard let node = nodes[id] else { return "" }
    var line = "\(node.entity) weight=\(node.values["weight"].map(String.init) ?? "nil")"
    for relationship in relationships(of: node.entity) {
      let members = members(id, relationship.name)
      if members.isEmpty { continue }
      line += " \(relationship.name)=\(relationship.isOrdered ? members : members.sorted())"
    }
    return line
  }

  /// Whether an object leads to one whose saved deletion was undone, by a relationship that was not
  /// told of it. Whether that is a change of the object, so that it can be in conflict, depends on
  /// where the store keeps it: a row says what it did before, links have gone.
  func leadsToWhatIsBack(_ id: Int) -> Bool {
    guard let node = nodes[id] else { return false }
    return relationships(of: node.entity).contains { relationship in
      canDangle(relationship)
        && (node.links[relationship.name] ?? []).contains {
          nodes[$0]?.isNew == true && removed.contains($0)
        }
    }
  }

  /// Whether something is unsaved.
  var hasChanges: Bool {
    nodes.contains { id, node in
      node.isDeleted || node.isNew || saved[id].map { !isSame(node, $0) } ?? true
    }
  }

  var lines: [Int: String] {
    Dictionary(uniqueKeysWithValues: living.map { ($0, line($0)) })
  }
}
