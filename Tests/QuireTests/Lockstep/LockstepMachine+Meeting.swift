import Quire

extension LockstepMachine {
  /// Another context saves; this one merges that, or meets it when it saves.
  ///
  /// Where something is unsaved here, the other changes attributes alone: what comes of
  /// relationships that both have changed is `RandomMergesTests`' to say.
  func meet(
    _ meeting: LockstepOperation.Meeting, _ operations: [LockstepOperation]
  ) throws {
    // What was undone would not know of the others' changes.
    replaceObjects { $0.forgetUndo() }
    for stack in stacks {
      stack.context.processPendingChanges()
      stack.undoManager.removeAllActions()
      stack.other.refreshAllObjects()
      stack.context.automaticallyMergesChangesFromParent = meeting == .automaticMerge
    }
    let mine = oracle.objects
    let isBusy = oracle.hasChanges
    let changed = Set(
      mine.living.filter { mine.saved[$0].map { $0.values } != mine.nodes[$0]?.values })
    var theirs = mine.stored
    var isPlain = true
    var observations: [Any] = []
    var notices: [Int: ContextNotice] = [:]
    for (place, stack) in stacks.enumerated() where meeting == .notice {
      observations.append(stack.other.observe([.didSaveObjects]) { notices[place] = $0 })
    }
    let changes = try perform(operations, on: &theirs, in: stacks.map(\.other)) { change in
      if !isBusy { return true }
      switch change {
      case .insert(_, _, nil): return true
      case .set(let id, _):
        guard mine.nodes[id].map({ !$0.isDeleted }) ?? false else { return false }
        isPlain = isPlain && oracle.hasPlainChanges(id)
        return true
      default: return false
      }
    }
    let complaints = theirs.complaints
    for stack in stacks {
      do {
        try stack.other.save()
        try expect(complaints.isEmpty, "\(stack.name): other saved in spite of \(complaints)")
      } catch let error as PersistenceError where !complaints.isEmpty {
        try expect((1550..<1700).contains(error.code.rawValue), "\(stack.name): \(error)")
        stack.other.rollback()
      }
      stack.settleCreated()
    }
    guard complaints.isEmpty, !changes.isEmpty else { return }
    let different = Set(
      theirs.living.filter { theirs.saved[$0]?.values != theirs.nodes[$0]?.values })
    theirs.save()
    if !isBusy {
      replaceObjects { $0.objects = theirs }
    } else if try !meetBySave(meeting, theirs, changed, different, isPlain: isPlain) {
      mergeObjects(theirs) { changed.contains($0) }
    }
    for (place, stack) in stacks.enumerated() {
      switch meeting {
      case .automaticMerge: stack.context.processPendingChanges()
      case .notice:
        // There is none when all was taken back.
        if let notice = notices[place] { stack.context.mergeChanges(fromContextDidSave: notice) }
      default: stack.context.refreshAllObjects()
      }
    }
    _ = observations
  }

  /// - Returns: whether the save succeeded, and the oracle knows of it.
  private func meetBySave(
    _ meeting: LockstepOperation.Meeting, _ theirs: ObjectOracle, _ changed: Set<Int>,
    _ different: Set<Int>, isPlain: Bool
  ) throws -> Bool {
    let policies: [LockstepOperation.Meeting: MergePolicy] = [
      .error: .error, .objectTrump: .mergeByPropertyObjectTrump,
      .storeTrump: .mergeByPropertyStoreTrump, .overwrite: .overwrite, .rollback: .rollback,
    ]
    // Whether a change of relationships alone is a conflict, the oracle does not know.
    let isTold = isPlain || meeting == .objectTrump || meeting == .storeTrump
    guard let policy = policies[meeting], isTold else { return false }
    let conflicts = changed.intersection(different)
    let complaints = oracle.objects.complaints
    for stack in stacks {
      stack.context.mergePolicy = policy
      defer { stack.context.mergePolicy = .error }
      do {
        try stack.context.save()
        try expect(
          complaints.isEmpty && (conflicts.isEmpty || meeting != .error),
          "\(stack.name): saved in spite of \(complaints) and \(conflicts)")
      } catch let error as PersistenceError where !complaints.isEmpty {
        try expect((1550..<1700).contains(error.code.rawValue), "\(stack.name): \(error)")
      } catch let error as PersistenceError where meeting == .error && !conflicts.isEmpty {
        try expect(error.code == .managedObjectMerge, "\(stack.name): \(error)")
      }
    }
    if !complaints.isEmpty || meeting == .error && !conflicts.isEmpty { return false }
    let keepsMine = meeting == .objectTrump || meeting == .overwrite
    mergeObjects(theirs) {
      keepsMine ? changed.contains($0) : changed.contains($0) && !conflicts.contains($0)
    }
    replaceObjects { $0.objects.save() }
    return true
  }
}
