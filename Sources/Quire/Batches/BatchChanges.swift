import QuireModel
import QuireStorage

/// What a batch request has changed in one store so far, in little memory: there may be millions.
struct BatchChanges {
  /// The objects that the request was about and that are others now.
  private var changed: [Reference] = []
  /// What of each of them is other than before: its place in ``slotSets``.
  private var changedSlots: [UInt32] = []
  private var slotSets: [[Int]] = []
  private var placesOfSets: [[Int]: Int] = [:]
  private var lastPlace: Int?
  /// Objects at other ends of relationships, and what of them is other than before.
  private(set) var others: [Reference: SlotSet] = [:]
  private var deletions: [Reference] = []
  /// New objects, by runs of places that follow each other.
  private var insertedRuns: [(first: Reference, count: Int)] = []
  private var insertedCount = 0
  /// New objects that gave way to others of the same request: nobody has seen them.
  private var droppedInsertions: Set<Reference> = []

  /// Objects that have got what was given to new ones.
  private var merged: Set<Reference> = []
  /// How many objects the request was about.
  private(set) var count = 0

  // MARK: Noting

  mutating func noteInsertion(at reference: Reference) {
    count += 1
    if let last = insertedRuns.last,
      last.first.rawValue + UInt64(last.count) == reference.rawValue
    {
      insertedRuns[insertedRuns.count - 1].count += 1
    } else {
      insertedRuns.append((reference, 1))
    }
  }

  mutating func noteChange(of slots: SlotSet, at reference: Reference) {
    count += 1
    changed.append(reference)
    changedSlots.append(UInt32(place(of: slots)))
  }

  /// The place of slots among the ``slotSets``. They are mostly those of the object before.
  private mutating func place(of slots: SlotSet) -> Int {
    if let lastPlace, slotSets[lastPlace].elementsEqual(slots) { return lastPlace }
    let set = Array(slots)
    let place = placesOfSets[set] ?? slotSets.count
    if place == slotSets.count {
      slotSets.append(set)
      placesOfSets[set] = place
    }
    lastPlace = place
    return place
  }

  /// Notes that an object has changed once more, or at the other end of a relationship.
  mutating func noteOther(_ slot: Int, at reference: Reference) {
    others[reference, default: SlotSet()].insert(slot)
  }

  /// Notes that an object has got what was given to a new one, in its place.
  mutating func noteMerge(into reference: Reference) {
    if !isInserted(reference), merged.insert(reference).inserted { count += 1 }
  }

  /// - Parameter isCounted: whether the request was about the objects.
  mutating func noteDeletions(_ references: [Reference], isCounted: Bool = true) {
    if isCounted { count += references.count }
    if insertedRuns.isEmpty {
      deletions += references
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
    // Places rise as they are given.
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

  /// The objects that the request was about.
  var primary: [Reference] {
    var primary = Array(inserted)
    primary += changed.sorted()
    primary += merged.sorted()
    return primary.isEmpty ? deleted : primary
  }

  var inserted: some Sequence<Reference> {
    let dropped = droppedInsertions
    return insertedRuns.lazy.flatMap { run in
      (0..<run.count).lazy.map { Reference(rawValue: run.first.rawValue + UInt64($0)) }
    }.filter { dropped.isEmpty || !dropped.contains($0) }
  }

  /// In the order of their places.
  var deleted: [Reference] { deletions.sorted() }

  /// All changed objects, each once, in the order of their places.
  var updated: [SavedChanges.Update] {
    var updates = changed.enumerated().map { place, reference in
      SavedChanges.Update(reference: reference, slots: slotSets[Int(changedSlots[place])])
    }
    // Some were put off until the others were written.
    if others.isEmpty { return updates.sorted { $0.reference < $1.reference } }
    var rest = others
    for place in updates.indices {
      guard let more = rest.removeValue(forKey: updates[place].reference) else { continue }
      var slots = SlotSet(updates[place].slots)
      for slot in more { slots.insert(slot) }
      updates[place] = .init(reference: updates[place].reference, slots: Array(slots))
    }
    // What is new, or gone, is not changed.
    for reference in deletions { rest[reference] = nil }
    updates += rest.lazy.filter { !isInserted($0.key) }
      .map { .init(reference: $0.key, slots: Array($0.value)) }
    return updates.sorted { $0.reference < $1.reference }
  }
}
