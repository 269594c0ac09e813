import QuireModel
import QuireStorage

/// What a batch request has changed in one store so far, in little memory: there may be millions.
struct BatchChanges {
  /// The objects that the request was about and that are others now, in order.
  private var changed: [Reference] = []
  /// What of each of them is other than before: its place in ``slotSets``.
  private var changedSlots: [UInt16] = []
  private var slotSets: [[Int]] = []
  /// Objects at other ends of relationships, and what of them is other than before.
  private(set) var others: [Reference: SlotSet] = [:]
  private(set) var deleted: [Reference] = []
  /// New objects, by runs of keys that follow each other.
  private var insertedRuns: [(first: Reference, count: Int)] = []
  private var insertedCount = 0

  var isEmpty: Bool {
    insertedRuns.isEmpty && changed.isEmpty && others.isEmpty && deleted.isEmpty
  }

  /// How many objects the request was about.
  var count: Int { insertedCount + changed.count + deletedCount }
  private var deletedCount = 0

  /// The objects that the request was about.
  var primary: [Reference] {
    Array(inserted) + changed + deleted
  }

  var inserted: some Sequence<Reference> {
    insertedRuns.lazy.flatMap { run in
      (0..<run.count).lazy.map { Reference(rawValue: run.first.rawValue + UInt64($0)) }
    }
  }

  mutating func noteInsertion(at reference: Reference) {
    insertedCount += 1
    if let last = insertedRuns.last,
      last.first.rawValue + UInt64(last.count) == reference.rawValue
    {
      insertedRuns[insertedRuns.count - 1].count += 1
    } else {
      insertedRuns.append((reference, 1))
    }
  }

  /// - Parameter slots: ascending.
  mutating func noteChange(of slots: SlotSet, at reference: Reference) {
    let slots = Array(slots)
    var place = slotSets.firstIndex(of: slots)
    if place == nil {
      place = slotSets.count
      slotSets.append(slots)
    }
    changed.append(reference)
    changedSlots.append(UInt16(truncatingIfNeeded: place ?? 0))
  }

  /// Notes that an object has changed at the other end of a relationship.
  mutating func noteOther(_ slot: Int, at reference: Reference) {
    others[reference, default: SlotSet()].insert(slot)
  }

  mutating func noteDeletions(_ references: [Reference]) {
    deleted = references
    deletedCount = references.count
  }

  /// All changed objects, each once, in the order of their places.
  var updated: [SavedChanges.Update] {
    var updates = changed.enumerated().map { place, reference in
      SavedChanges.Update(reference: reference, slots: slotSets[Int(changedSlots[place])])
    }
    if others.isEmpty { return updates }
    var rest = others
    for place in updates.indices {
      guard let more = rest.removeValue(forKey: updates[place].reference) else { continue }
      var slots = SlotSet(updates[place].slots)
      for slot in more { slots.insert(slot) }
      updates[place] = .init(reference: updates[place].reference, slots: Array(slots))
    }
    updates += rest.map { .init(reference: $0.key, slots: Array($0.value)) }
    return updates.sorted { $0.reference < $1.reference }
  }
}
