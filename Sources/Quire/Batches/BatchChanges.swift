import QuireModel
import QuireStorage

/// The changes that a batch request has made in one store so far.
///
/// There may be millions of objects. They are recorded as runs of adjacent references, which mostly
/// are long, so that single objects take no memory.
struct BatchChanges {
  /// Objects with adjacent references whose same slots have changed.
  private struct ChangedRun {
    let first: Reference
    var count: UInt32
    /// The index of the changed slots in ``slotSets``.
    let slotSet: UInt32

    var references: some Sequence<Reference> {
      (0..<UInt64(count)).lazy.map { [first] in Reference(rawValue: first.rawValue + $0) }
    }
  }

  /// The objects of the request that have changed.
  private var changedRuns: [ChangedRun] = []
  /// The objects of an update that had the new values already; empty if their IDs are not needed.
  private var unchangedRuns: [(first: Reference, count: Int)] = []
  private let keepsUnchanged: Bool
  private var slotSets: [[Int]] = []
  private var indexOfSet: [[Int]: UInt32] = [:]
  /// The slots that were recorded last, and their index.
  private var lastSlots: (slots: SlotSet, index: UInt32)?
  /// Objects at other ends of relationships, with the slots that have changed.
  private(set) var others: [Reference: SlotSet] = [:]
  private var deletions: [Reference] = []
  /// New objects, as runs of adjacent references.
  private var insertedRuns: [(first: Reference, count: Int)] = []
  /// New objects that were replaced by others of the same request, and are not committed.
  private var droppedInsertions: Set<Reference> = []

  /// Existing objects that were given the values of new ones.
  private var merged: Set<Reference> = []
  /// The number of objects inserted, found for a change, or deleted, without those at other ends.
  private(set) var count = 0

  /// - Parameter keepsUnchanged: whether the IDs of all objects that an update finds are needed.
  init(keepsUnchanged: Bool) { self.keepsUnchanged = keepsUnchanged }

  // MARK: Recording

  mutating func recordInsertion(at reference: Reference) {
    count += 1
    BatchChanges.extend(&insertedRuns, from: reference, count: 1)
  }

  /// Records objects with adjacent references that an update leaves as they are.
  mutating func recordUnchanged(from first: Reference, count newCount: Int) {
    count += newCount
    if keepsUnchanged { BatchChanges.extend(&unchangedRuns, from: first, count: newCount) }
  }

  private static func extend(
    _ runs: inout [(first: Reference, count: Int)], from first: Reference, count: Int
  ) {
    if let last = runs.last, last.first.rawValue + UInt64(last.count) == first.rawValue {
      runs[runs.count - 1].count += count
    } else {
      runs.append((first, count))
    }
  }

  mutating func recordChange(of slots: SlotSet, at reference: Reference) {
    recordChanges(of: slots, from: reference, count: 1)
  }

  /// Records that the same slots of objects with adjacent references have changed.
  mutating func recordChanges(of slots: SlotSet, from first: Reference, count newCount: Int) {
    count += newCount
    let slotSet = index(of: slots)
    let last = changedRuns.count - 1
    if last >= 0, changedRuns[last].slotSet == slotSet,
      changedRuns[last].first.rawValue + UInt64(changedRuns[last].count) == first.rawValue,
      let sum = UInt32(exactly: Int(changedRuns[last].count) + newCount)
    {
      changedRuns[last].count = sum
    } else {
      changedRuns.append(
        ChangedRun(first: first, count: UInt32(newCount), slotSet: slotSet))
    }
  }

  /// The index of slots in ``slotSets``. They are mostly those that were recorded last.
  private mutating func index(of slots: SlotSet) -> UInt32 {
    if let lastSlots, lastSlots.slots == slots { return lastSlots.index }
    let set = Array(slots)
    let index = indexOfSet[set] ?? UInt32(slotSets.count)
    if indexOfSet[set] == nil {
      slotSets.append(set)
      indexOfSet[set] = index
    }
    lastSlots = (slots, index)
    return index
  }

  /// Records that an object has changed once more, or at the other end of a relationship.
  mutating func recordOther(_ slot: Int, at reference: Reference) {
    others[reference, default: SlotSet()].insert(slot)
  }

  /// Records that an existing object was given the values of a new one, which is not inserted.
  mutating func recordMerge(into reference: Reference) {
    if !isInserted(reference), merged.insert(reference).inserted { count += 1 }
  }

  /// - Parameters:
  ///   - references: in order.
  ///   - isCounted: whether the request asked for the deletion of these objects.
  mutating func recordDeletions(_ references: [Reference], isCounted: Bool = true) {
    if isCounted { count += references.count }
    if insertedRuns.isEmpty {
      // Millions of references are not copied.
      if deletions.isEmpty { deletions = references } else { deletions += references }
      return
    }
    for reference in references {
      if isInserted(reference) {
        droppedInsertions.insert(reference)
        count -= 1
      } else {
        deletions.append(reference)
        if merged.remove(reference) != nil { count -= 1 }
      }
    }
  }

  func isInserted(_ reference: Reference) -> Bool {
    // References ascend in the order of insertions.
    var (low, high) = (0, insertedRuns.count)
    while low < high {
      let middle = (low + high) / 2
      if insertedRuns[middle].first <= reference { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return false }
    let run = insertedRuns[low - 1]
    return reference.rawValue - run.first.rawValue < UInt64(run.count)
  }

  // MARK: Reading

  /// The objects of the request, without those at other ends of relationships. Those of an update
  /// include the unchanged ones.
  var primary: [Reference] {
    var primary = Array(inserted)
    primary += (changedRuns.flatMap(\.references) + references(in: unchangedRuns)).sorted()
    primary += merged.sorted()
    return primary.isEmpty ? deleted : primary
  }

  var inserted: some Sequence<Reference> {
    let dropped = droppedInsertions
    return references(in: insertedRuns).lazy.filter { dropped.isEmpty || !dropped.contains($0) }
  }

  private func references(
    in runs: [(first: Reference, count: Int)]
  ) -> some Sequence<Reference> {
    runs.lazy.flatMap { run in
      (0..<run.count).lazy.map { Reference(rawValue: run.first.rawValue + UInt64($0)) }
    }
  }

  var isRemoval: Bool { insertedRuns.isEmpty && !deletions.isEmpty }

  /// In the order of their references.
  var deleted: [Reference] {
    // They mostly are in order, and are not copied then.
    let isInOrder = zip(deletions, deletions.dropFirst()).allSatisfy { $0 <= $1 }
    return isInOrder ? deletions : deletions.sorted()
  }

  /// All changed objects, each once, in the order of their references.
  var updated: [SavedChanges.Update] {
    var updates = changedRuns.flatMap { run in
      run.references.map {
        SavedChanges.Update(reference: $0, slots: slotSets[Int(run.slotSet)])
      }
    }
    // Some changes are recorded apart from the runs.
    if others.isEmpty { return updates.sorted { $0.reference < $1.reference } }
    var rest = others
    for index in updates.indices {
      guard let more = rest.removeValue(forKey: updates[index].reference) else { continue }
      var slots = SlotSet(updates[index].slots)
      for slot in more { slots.insert(slot) }
      updates[index] = .init(reference: updates[index].reference, slots: Array(slots))
    }
    // A new or deleted object is not a changed one.
    for reference in deletions { rest[reference] = nil }
    updates += rest.lazy.filter { !isInserted($0.key) }
      .map { .init(reference: $0.key, slots: Array($0.value)) }
    return updates.sorted { $0.reference < $1.reference }
  }
}
