import Quire
import QuireTesting

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Does the same to a store in a file, to one in memory, if wanted to one of another make, and to
/// an oracle, and compares them.
final class LockstepMachine {
  private(set) var oracle = LockstepOracle()
  let stacks: [LockstepStack]
  private var last = 0
  private(set) var saveCount = 0

  init(_ folder: URL, alsoElsewhere: Bool) throws {
    let places: [LockstepStack.Place] = [
      .file(folder.appending(path: "store.quire")), .memory, .elsewhere(RowServer()),
    ]
    stacks = try places.prefix(alsoElsewhere ? 3 : 2).map { try LockstepStack($0) }
  }

  func run(_ operations: [LockstepOperation]) throws {
    for (index, operation) in operations.enumerated() {
      do {
        try perform(operation)
        try compare()
      } catch {
        throw LockstepMismatch(description: "operation \(index), \(operation): \(error)")
      }
    }
    for stack in stacks { try stack.close() }
  }

  func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw LockstepMismatch(description: what()) }
  }

  private func perform(_ operation: LockstepOperation) throws {
    switch operation {
    case .insert, .set, .one, .add, .remove, .rotate, .members, .delete:
      try change(operation)
    case .revive(let place): try revive(place)
    case .endEvent:
      oracle.endEvent()
      for stack in stacks { stack.context.processPendingChanges() }
    case .beginGroup:
      oracle.beginGroup()
      for stack in stacks { stack.undoManager.beginUndoGrouping() }
    case .endGroup:
      guard oracle.groupDepth > 0 else { return }
      oracle.endGroup()
      for stack in stacks { try stack.undoManager.endUndoGrouping() }
    case .undo, .redo: try undo(isRedo: operation == .redo)
    case .save: try save()
    case .rollback: rollBack()
    case .reset:
      oracle.objects.rollback()
      oracle.forgetUndo()
      for stack in stacks { stack.context.reset() }
    case .reopen:
      rollBack()
      for stack in stacks { try stack.reopen() }
    case .refreshAll: for stack in stacks { stack.context.refreshAllObjects() }
    case .refresh(let place, let mergeChanges): try refresh(place, mergeChanges)
    case .hold(let isHeld): for stack in stacks { stack.holds = isHeld }
    case .fetch(let query, let value): try fetch(query, value)
    case .other(let meeting, let operations): try meet(meeting, operations)
    case .beside(let meeting, let operations): try meet(meeting, operations, keepsUndo: true)
    case .child(let operations): try takeFromChild(operations)
    }
  }

  // MARK: This context

  private func change(_ operation: LockstepOperation) throws {
    guard let change = oracle.objects.change(operation, new: last + 1) else { return }
    last += 1
    oracle.apply(change)
    for stack in stacks { try stack.apply(change, in: stack.context) }
  }

  private func revive(_ place: Int) throws {
    let deleted = oracle.deleted.filter { oracle.objects.nodes[$0]?.canRevive == true }.sorted()
    guard !deleted.isEmpty else { return }
    let id = deleted[place % deleted.count]
    oracle.noteChange()
    oracle.objects.revive(id)
    for stack in stacks { stack.context.insert(try stack.object(id, in: stack.context)) }
  }

  func rollBack() {
    oracle.objects.rollback()
    oracle.forgetUndo()
    for stack in stacks { stack.context.rollback() }
  }

  private func refresh(_ place: Int, _ mergeChanges: Bool) throws {
    let living = oracle.objects.living
    guard !living.isEmpty else { return }
    let id = living[place % living.count]
    let isDropped = !mergeChanges && oracle.hasPlainChanges(id)
    if isDropped, let saved = oracle.objects.saved[id],
      saved.values != oracle.objects.nodes[id]?.values
    {
      oracle.apply(.set(id, saved.values["weight"]))
    }
    for stack in stacks {
      let object = try stack.object(id, in: stack.context)
      stack.context.refresh(object, mergeChanges: !isDropped)
    }
  }

  private func save() throws {
    oracle.endEvent()
    let complaints = oracle.objects.complaints
    for stack in stacks {
      do {
        try stack.context.save()
        try expect(complaints.isEmpty, "\(stack.name): saved in spite of \(complaints)")
        try expect(!stack.context.hasChanges, "\(stack.name): something is left to save")
      } catch let error as PersistenceError {
        try expect(!complaints.isEmpty, "\(stack.name): \(error)")
        try expect((1550..<1700).contains(error.code.rawValue), "\(stack.name): \(error)")
      }
    }
    guard complaints.isEmpty else { return }
    saveCount += 1
    oracle.objects.save()
    for stack in stacks {
      let fresh = GotchaHome.context(of: stack.context.persistentStoreCoordinator!)
      try compare(oracle.objects.lines, try stack.lines(of: fresh), "\(stack.name), stored")
      let findings = try StoreFacts(stack.context).findings
      try expect(findings.isEmpty, "\(stack.name): \(findings)")
    }
  }

  // MARK: Others

  private func takeFromChild(_ operations: [LockstepOperation]) throws {
    oracle.endEvent()
    for stack in stacks { stack.context.processPendingChanges() }
    var child = oracle.objects.child
    let contexts = stacks.map { $0.context.newChildContext() }
    try perform(operations, on: &child, in: contexts)
    for (stack, context) in zip(stacks, contexts) {
      try compare(child.lines, try stack.lines(of: context), "\(stack.name), child")
    }
    let complaints = child.complaints
    let isChanged = child.hasChanges
    for (stack, context) in zip(stacks, contexts) {
      do {
        try context.save()
        try expect(complaints.isEmpty, "\(stack.name): child saved in spite of \(complaints)")
        try expect(!context.hasChanges, "\(stack.name): something is left in the child")
      } catch let error as PersistenceError where !complaints.isEmpty {
        try expect((1550..<1700).contains(error.code.rawValue), "\(stack.name): \(error)")
      }
      stack.settleCreated()
    }
    guard complaints.isEmpty, isChanged else { return }
    oracle.noteChange()
    oracle.objects.take(child)
    oracle.endEvent()
  }

  /// Does what changes objects, in contexts that are not the ones compared.
  ///
  /// - Returns: what was done.
  @discardableResult
  func perform(
    _ operations: [LockstepOperation], on objects: inout ObjectOracle,
    in contexts: [ManagedObjectContext],
    where isWanted: (LockstepChange, ObjectOracle) -> Bool = { _, _ in true }
  ) throws -> [LockstepChange] {
    var changes: [LockstepChange] = []
    for operation in operations {
      guard let change = objects.change(operation, new: last + 1), isWanted(change, objects)
      else {
        continue
      }
      last += 1
      objects.apply(change)
      for (stack, context) in zip(stacks, contexts) {
        try stack.apply(change, in: context)
        // What comes next finds delete rules applied, as with the oracle.
        context.processPendingChanges()
      }
      changes.append(change)
    }
    return changes
  }

  func replaceObjects(_ body: (inout LockstepOracle) -> Void) { body(&oracle) }

  // MARK: Comparison

  func compare(_ expected: [Int: String], _ found: [Int: String], _ what: String) throws {
    if expected == found { return }
    let numbers = Set(expected.keys).union(found.keys).sorted()
    let differences = numbers.filter { expected[$0] != found[$0] }.map {
      "\n    \($0): \(found[$0] ?? "none")\n    expected: \(expected[$0] ?? "none")"
    }
    throw LockstepMismatch(description: "\(what)\(differences.joined())")
  }

  private func compare() throws {
    let expected = oracle.objects.lines
    var updated: [Set<Int>] = []
    for stack in stacks {
      let (context, name) = (stack.context, stack.name)
      try compare(expected, try stack.lines(of: context), name)
      func expect(_ found: Set<Int>, _ wanted: Set<Int>, _ what: String) throws {
        try self.expect(
          found == wanted, "\(name): \(what) \(found.sorted()), expected \(wanted.sorted())")
      }
      try expect(stack.numbers(context.insertedObjects), oracle.inserted, "inserted")
      try expect(stack.numbers(context.deletedObjects), oracle.deleted, "deleted")
      let changed = try stack.numbers(context.updatedObjects)
      // Whether what leads to nothing is listed depends on where the store keeps it; see
      // `leadsToWhatIsBack`.
      if stack.isOfOurMake { updated.append(changed) }
      try expect(changed.intersection(oracle.changed), oracle.changed, "changed")
      try expect(changed.intersection(oracle.inserted.union(oracle.deleted)), [], "both")
      // What else is listed was set to what it was, or differs by objects that the save deletes:
      // there is nothing of it to be saved.
      for number in changed.subtracting(oracle.changed).sorted() {
        let changes = try LockstepStack.changes(of: stack.object(number, in: context)) {
          self.oracle.objects.isGoneOrBack($0)
        }
        try self.expect(changes.isEmpty, "\(name): \(number) has changed \(changes)")
      }
      try self.expect(
        context.hasChanges || !oracle.hasChanges, "\(name): there is nothing to be saved")
      let undo = (stack.undoManager.canUndo, stack.undoManager.canRedo)
      try self.expect(
        undo == (oracle.canUndo, oracle.canRedo), "\(name): can be undone and redone: \(undo)")
    }
    try expect(Set(updated).count <= 1, "the stores have changed \(updated)")
    let orders = Set(stacks.map(\.order))
    try expect(orders.count == 1, "unsorted, the stores have the objects in the orders \(orders)")
  }
}
