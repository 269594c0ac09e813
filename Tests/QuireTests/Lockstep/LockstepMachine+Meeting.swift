import Quire

extension LockstepMachine {
  /// Another context saves; this one merges that, or meets it when it saves.
  ///
  /// - Parameter keepsUndo: whether only that is done which all that was undone can take in.
  func meet(
    _ meeting: LockstepOperation.Meeting, _ operations: [LockstepOperation],
    keepsUndo: Bool = false
  ) throws {
    // What was undone would not know of the others' changes; nor does undo know what a policy has
    // dropped of ours.
    let keepsUndo = keepsUndo && meeting != .rollback
    replaceObjects { keepsUndo ? $0.endEvent() : $0.forgetUndo() }
    var observations: [Any] = []
    var notices: [Int: ContextNotice] = [:]
    for (place, stack) in stacks.enumerated() {
      stack.context.processPendingChanges()
      if !keepsUndo { stack.undoManager.removeAllActions() }
      stack.other.refreshAllObjects()
      stack.context.automaticallyMergesChangesFromParent = meeting == .automaticMerge
      observations.append(stack.other.observe([.didSaveObjects]) { notices[place] = $0 })
    }
    let isBusy = oracle.hasChanges
    let before = oracle.objects.saved
    guard
      let (theirs, written) = try saveOthers(
        operations, meeting, isBusy: isBusy, keepsUndo: keepsUndo)
    else { return }
    defer {
      if keepsUndo {
        let changed = theirs.living.filter { theirs.nodes[$0] != before[$0] }
        replaceObjects {
          $0.rebaseUndo(
            inserted: changed.filter { before[$0] == nil },
            changed: changed.filter { before[$0] != nil })
        }
      }
    }
    var isSaved = false
    if !isBusy {
      replaceObjects { $0.objects = theirs }
    } else {
      isSaved = try meetBySave(meeting, theirs, written)
      if !isSaved {
        let merging = LockstepMerging(oracle.objects, theirs, written, nil)
        replaceObjects { $0.objects = merging.merged }
      }
    }
    for (place, stack) in stacks.enumerated() {
      if meeting == .automaticMerge {
        stack.context.processPendingChanges()
      } else if !isBusy || isSaved || meeting == .refresh {
        stack.context.refreshAllObjects()
      } else if let notice = notices[place] {
        // There is none when all was taken back.
        stack.context.mergeChanges(fromContextDidSave: notice)
      }
    }
    _ = observations
  }

  /// - Returns: the objects as the other context has saved them, and those whose rows it has
  ///   written; `nil` if there was nothing, or a save was refused.
  private func saveOthers(
    _ operations: [LockstepOperation], _ meeting: LockstepOperation.Meeting, isBusy: Bool,
    keepsUndo: Bool
  ) throws -> (ObjectOracle, Set<Int>)? {
    let mine = oracle.objects
    // What was led nowhere when it led to what others have deleted since is still to be written,
    // though that changes nothing that is shown: by which it may be in conflict.
    let isCleared = try stacks[0].changedNumbers.subtracting(oracle.changed)
    // There are no snapshots elsewhere: what the others have saved meanwhile is taken for the
    // members that a relationship had before it was changed here.
    let isRelated =
      meeting.policy != nil && stacks.contains { !$0.isOfOurMake } ? mine.changedInLinks : []
    var theirs = mine.stored
    let changes = try perform(operations, on: &theirs, in: stacks.map(\.other)) {
      (!isBusy || Self.isFair($0, $1, mine, isRefresh: meeting == .refresh))
        && (!keepsUndo || isBeside($0)) && !Self.touches($0, $1, isCleared.union(isRelated))
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
    guard complaints.isEmpty, !changes.isEmpty else { return nil }
    let written = Set(theirs.living.filter(theirs.isWritten))
    theirs.save()
    return (theirs, written)
  }

  /// Whether the oracle knows what comes of another context's change. Of an object that is deleted
  /// here and changed there, `RandomMergesTests` know more.
  private static func isFair(
    _ change: LockstepChange, _ theirs: ObjectOracle, _ mine: ObjectOracle, isRefresh: Bool
  ) -> Bool {
    func isLiving(_ id: Int) -> Bool { mine.nodes[id]?.isDeleted != true }
    // A row may lead to an object whose deletion was undone, and which the other does not find.
    let isAnyBack = mine.nodes.contains { $0.value.isNew && mine.removed.contains($0.key) }
    switch change {
    case .insert(_, _, nil): return true
    case .set(let id, _): return isLiving(id) && !mine.leadsToWhatIsBack(id)
    case _ where isAnyBack: return false
    case .insert(_, _, let owner?): return isLiving(owner)
    // An object that is gone stays when it is refreshed by hand, and cannot be saved.
    case .delete where isRefresh: return false
    default:
      var next = theirs
      next.apply(change)
      return mine.nodes.allSatisfy { id, node in
        !node.isDeleted
          || next.nodes[id] == theirs.nodes[id]
            && !next.nodes.contains { other, node in
              node != theirs.nodes[other] && node.links.values.contains { $0.contains(id) }
            }
      }
    }
  }

  /// Whether a change changes any of some objects.
  private static func touches(
    _ change: LockstepChange, _ theirs: ObjectOracle, _ ids: Set<Int>
  ) -> Bool {
    if ids.isEmpty { return false }
    var next = theirs
    next.apply(change)
    return ids.contains { next.nodes[$0] != theirs.nodes[$0] }
  }

  /// Whether a change is of nothing that could be undone here.
  private func isBeside(_ change: LockstepChange) -> Bool {
    switch change {
    case .insert(_, _, nil): true
    case .set(let id, _): oracle.isUntouched(id)
    default: false
    }
  }

  /// - Returns: whether the save succeeded, and the oracle knows of it.
  private func meetBySave(
    _ meeting: LockstepOperation.Meeting, _ theirs: ObjectOracle, _ written: Set<Int>
  ) throws -> Bool {
    guard let policy = meeting.policy else { return false }
    let merging = LockstepMerging(oracle.objects, theirs, written, policy.mergeType)
    let isRefused = meeting == .error && !merging.conflicts.isEmpty
    // Whether what leads to nothing is a conflict depends on what a save has to write.
    let isOpen = meeting == .error && merging.leadsToGone
    var complaints = oracle.objects.complaints
    if complaints.isEmpty, !isRefused { complaints = merging.merged.complaints }
    var results: Set<Bool> = []
    for stack in stacks {
      stack.context.mergePolicy = policy
      defer { stack.context.mergePolicy = .error }
      do {
        try stack.context.save()
        try expect(
          complaints.isEmpty && !isRefused,
          "\(stack.name): saved in spite of \(complaints) and \(merging.conflicts)")
        results.insert(true)
      } catch let error as PersistenceError {
        let isMerge = error.code == .managedObjectMerge
        try expect(
          isMerge ? isRefused || isOpen : !complaints.isEmpty,
          "\(stack.name): \(error)")
        results.insert(false)
      }
    }
    try expect(results.count == 1, "one store has saved and the other has not")
    guard results == [true] else { return false }
    var merged = merging.merged
    merged.save()
    replaceObjects { $0.objects = merged }
    return true
  }
}

extension LockstepOperation.Meeting {
  /// The policy of a save that meets the changes.
  fileprivate var policy: MergePolicy? {
    switch self {
    case .automaticMerge, .notice, .refresh: nil
    case .error: .error
    case .objectTrump: .mergeByPropertyObjectTrump
    case .storeTrump: .mergeByPropertyStoreTrump
    case .overwrite: .overwrite
    case .rollback: .rollback
    }
  }
}

extension ObjectOracle {
  /// The saved objects whose relationships differ from what was saved.
  fileprivate var changedInLinks: Set<Int> {
    Set(nodes.keys.filter { id in saved[id].map { $0.links != nodes[id]?.links } ?? false })
  }
}
