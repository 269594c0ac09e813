/// The difference between two sectioned lists, with as few changes as possible: an element is not
/// moved if its neighbours have moved around it.
///
/// Elements and sections that stay keep their order. Among the elements of both lists, those of the
/// longest common sequence stay; among several such sequences, the one with the most untouched
/// elements is chosen.
struct SectionedDifference {
  enum Change {
    case delete(Int)
    case insert(Int)
    case move(from: Int, to: Int)
    /// An element that stays was touched.
    case update(from: Int, to: Int)
  }

  /// The indices of sections in the former list.
  private(set) var deletedSections: [Int] = []
  /// The indices of sections in the new list.
  private(set) var insertedSections: [Int] = []
  /// Deletions, insertions, moves, updates, each in the order of the lists. Positions are those of
  /// elements in the former list and in the new one.
  private(set) var changes: [Change] = []

  var isEmpty: Bool { changes.isEmpty && deletedSections.isEmpty && insertedSections.isEmpty }

  /// No difference.
  init() {}

  /// - Parameters:
  ///   - key: the identity of an element.
  ///   - isTouched: whether an element has changed.
  /// - Complexity: O(*n* + *m* log *m*) with *m* elements between the first difference and the last
  ///   one.
  init<Element, Key: Hashable>(
    from old: SectionedList<Element>, to new: SectionedList<Element>,
    by key: (Element) -> Key, isTouched: (Element) -> Bool
  ) {
    let counterparts = matchSections(old.sections.map(\.name), new.sections.map(\.name))
    // Whether the element's section of the former list is that of the new list.
    func stays(_ from: Int, _ to: Int) -> Bool {
      counterparts[old.section(of: from)] == new.section(of: to)
    }
    let (oldCount, newCount) = (old.elements.count, new.elements.count)
    var start = 0
    while start < min(oldCount, newCount), key(old.elements[start]) == key(new.elements[start]),
      stays(start, start)
    {
      start += 1
    }
    var end = 0
    while end < min(oldCount, newCount) - start,
      key(old.elements[oldCount - 1 - end]) == key(new.elements[newCount - 1 - end]),
      stays(oldCount - 1 - end, newCount - 1 - end)
    {
      end += 1
    }
    var formerIndices: [Key: Int] = [:]
    for index in start..<oldCount - end { formerIndices[key(old.elements[index])] = index }
    var (inserted, common): ([Int], [(from: Int, to: Int)]) = ([], [])
    for index in start..<newCount - end {
      if let former = formerIndices.removeValue(forKey: key(new.elements[index])) {
        common.append((former, index))
      } else {
        inserted.append(index)
      }
    }
    let candidates = common.filter { stays($0.from, $0.to) }
    let untouched = candidates.map { !isTouched(new.elements[$0.to]) }
    let kept = heaviestIncreasing(candidates.map(\.from), candidates.count, untouched)
    let keptIndices = Set(kept.map { candidates[$0].to })

    changes += formerIndices.values.sorted().map(Change.delete)
    changes += inserted.map(Change.insert)
    for (from, to) in common where !keptIndices.contains(to) {
      changes.append(.move(from: from, to: to))
    }
    func update(_ from: Int, _ to: Int) {
      if isTouched(new.elements[to]) { changes.append(.update(from: from, to: to)) }
    }
    for index in 0..<start { update(index, index) }
    for index in kept { update(candidates[index].from, candidates[index].to) }
    for index in (0..<end).reversed() { update(oldCount - 1 - index, newCount - 1 - index) }
  }

  /// - Returns: for each former section the new section with its name; `nil` if it was removed.
  private mutating func matchSections(_ old: [String], _ new: [String]) -> [Int?] {
    var counterparts: [Int?] = Array(repeating: nil, count: old.count)
    let formerIndices = Dictionary(old.enumerated().map { ($1, $0) }) { first, _ in first }
    let common = new.indices.compactMap { to in formerIndices[new[to]].map { (from: $0, to: to) } }
    for index in heaviestIncreasing(common.map(\.from), common.count, []) {
      counterparts[common[index].from] = common[index].to
    }
    let kept = Set(counterparts.compactMap { $0 })
    deletedSections = old.indices.filter { counterparts[$0] == nil }
    insertedSections = new.indices.filter { !kept.contains($0) }
    return counterparts
  }
}

extension SectionedDifference {
  /// The same with other positions of elements.
  func mapped(from: (Int) -> Int, to: (Int) -> Int) -> SectionedDifference {
    var other = self
    other.changes = changes.map { change in
      switch change {
      case .delete(let index): .delete(from(index))
      case .insert(let index): .insert(to(index))
      case .move(let former, let current): .move(from: from(former), to: to(current))
      case .update(let former, let current): .update(from: from(former), to: to(current))
      }
    }
    return other
  }

  /// The new positions of moved elements.
  var movedPositions: Set<Int> {
    Set(changes.compactMap { if case .move(_, let to) = $0 { to } else { nil } })
  }

  /// The positions of the elements that have kept their order.
  ///
  /// - Parameters: the numbers of elements in the lists.
  func unmoved(from formerCount: Int, to count: Int) -> [(from: Int, to: Int)] {
    var (gone, new): (Set<Int>, Set<Int>) = ([], [])
    for change in changes {
      switch change {
      case .delete(let from): gone.insert(from)
      case .insert(let to): new.insert(to)
      case .move(let from, let to):
        gone.insert(from)
        new.insert(to)
      case .update: continue
      }
    }
    return Array(
      zip(
        (0..<formerCount).lazy.filter { !gone.contains($0) },
        (0..<count).lazy.filter { !new.contains($0) }
      ).lazy.map { (from: $0, to: $1) })
  }
}

/// The positions of the increasing subsequence with the most preferred members, and among those
/// with the most members.
///
/// - Parameters:
///   - values: distinct values.
///   - isPreferred: empty if no value is.
private func heaviestIncreasing(_ values: [Int], _ count: Int, _ isPreferred: [Bool]) -> [Int] {
  if count == 0 { return [] }
  var ranks = Array(repeating: 0, count: count)
  for (rank, index) in values.indices.sorted(by: { values[$0] < values[$1] }).enumerated() {
    ranks[index] = rank + 1
  }
  var weights = Array(repeating: 0, count: count)
  var former: [Int?] = Array(repeating: nil, count: count)
  // By rank, the heaviest sequence that ends below it, in a Fenwick tree.
  var tree = Array(repeating: -1, count: count + 1)
  var last: Int?
  for index in values.indices {
    var best: Int?
    var rank = ranks[index] - 1
    while rank > 0 {
      if tree[rank] >= 0, best.map({ weights[$0] < weights[tree[rank]] }) ?? true {
        best = tree[rank]
      }
      rank &= rank - 1
    }
    former[index] = best
    let weight = !isPreferred.isEmpty && isPreferred[index] ? count + 1 : 1
    weights[index] = weight + (best.map { weights[$0] } ?? 0)
    rank = ranks[index]
    while rank <= count {
      if tree[rank] < 0 || weights[tree[rank]] < weights[index] { tree[rank] = index }
      rank += rank & -rank
    }
    if last.map({ weights[$0] < weights[index] }) ?? true { last = index }
  }
  var members: [Int] = []
  while let index = last {
    members.append(index)
    last = former[index]
  }
  return members.reversed()
}
