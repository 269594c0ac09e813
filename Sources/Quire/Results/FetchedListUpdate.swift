import QuireModel

/// What a fetched list was made of, to tell later whether anything else has changed.
struct FetchedState {
  private let entities: StoreEntities
  private let commit: UInt64

  /// - Returns: `nil` where it cannot be told: of several stores, of an incremental store, in a
  ///   child context.
  init?(_ execution: FetchExecution) {
    guard execution.parts.count == 1, let part = execution.parts.first, part.matchesObjects else {
      return nil
    }
    entities = part.view.entities
    commit = part.view.snapshot.commitNumber.rawValue
  }

  /// Whether all commits after another state, up to this one, are known.
  func follows(_ former: FetchedState, by commits: Set<UInt64>) -> Bool {
    guard entities === former.entities, commit >= former.commit else { return false }
    return commit - former.commit <= UInt64(commits.count)
      && (former.commit..<commit).allSatisfy { commits.contains($0 + 1) }
  }
}

/// Brings a fetched list up to date when it is known which objects may have changed, without
/// fetching again.
///
/// Each of the objects is taken out of the list, asked whether the request finds it, and put in
/// again at its position, which is found by comparing it with others: O(log *n*) look-ups of rows.
/// The list is what a fetch would give, as the other objects keep their values and so their order.
///
/// Not generic in the class of the objects: code that is generic in a class of the program is not
/// specialised here, and takes a hundred times as long for each element.
struct FetchedListUpdate {
  private(set) var list: SectionedList<ManagedObject>
  private(set) var objectIDs: ChunkedList<ManagedObjectID>
  private(set) var difference: SectionedDifference
  /// The positions, before and after, of objects that have not moved and have another ID now.
  private(set) var renamed: [(from: Int, to: Int)] = []
  /// The IDs of the objects that were there before and have changed, wherever they are now.
  private(set) var updatedObjectIDs: Set<ManagedObjectID> = []

  /// An object at a position of a list.
  private struct Item {
    let object: ManagedObject
    /// The index among all objects of the list.
    let index: Int
    /// The index among those that are not asked again: how many of them are before it.
    let rank: Int
  }

  /// How many objects may be asked one by one: more cost as much as a fetch.
  static func largestCount(in list: SectionedList<ManagedObject>) -> Int {
    max(8, list.elements.count / 200)
  }

  /// - Parameters:
  ///   - objectIDs: those of the former list.
  ///   - changed: all objects that may have changed, come or gone.
  ///   - isTouched: whether to report an object as changed.
  ///   - isSectioned: whether the last key that the execution reads is the name of a section.
  /// - Returns: `nil` when only a fetch can tell: another object is not what it was, or the
  ///   sections are not in order.
  init?(
    of former: SectionedList<ManagedObject>, _ objectIDs: ChunkedList<ManagedObjectID>,
    _ changed: [ManagedObject], isTouched: (ManagedObject) -> Bool, _ execution: FetchExecution,
    _ intake: FetchIntake, isSectioned: Bool
  ) throws {
    let positions = former.elements.positions(of: Set(changed.map { ObjectIdentifier($0) }))
    let gone = changed.compactMap { object in
      positions[ObjectIdentifier(object)].map { (object: object, index: $0) }
    }.sorted { $0.index < $1.index }.enumerated().map { number, item in
      Item(object: item.object, index: item.index, rank: item.index - number)
    }
    self.init(list: former, objectIDs: objectIDs, difference: SectionedDifference())
    for item in gone.reversed() {
      list.elements.remove(at: item.index)
      self.objectIDs.remove(at: item.index)
    }
    list.shrinkSections(by: gone.map(\.index), keepsEmpty: !isSectioned)
    let restCount = list.elements.count
    guard let inserted = try insert(changed, execution, intake, isSectioned) else { return nil }
    difference =
      Self.difference(
        from: (former, gone), to: (list, inserted), restCount: restCount, isTouched)
      ?? SectionedDifference(
        from: former, to: list, by: { ObjectIdentifier($0) }, isTouched: isTouched)
    let moved = difference.movedPositions
    for item in inserted where !moved.contains(item.index) {
      guard let from = positions[ObjectIdentifier(item.object)],
        objectIDs[from] != self.objectIDs[item.index]
      else { continue }
      renamed.append((from, item.index))
    }
    findUpdated(isTouched)
  }

  /// The update from one list to another that was fetched.
  ///
  /// - Complexity: O(*n*), as ``SectionedDifference`` says.
  init(
    of former: SectionedList<ManagedObject>, _ objectIDs: ChunkedList<ManagedObjectID>,
    to list: SectionedList<ManagedObject>, isTouched: (ManagedObject) -> Bool
  ) {
    self.init(
      list: list, objectIDs: ChunkedList(list.elements.map(\.objectID)),
      difference: SectionedDifference(
        from: former, to: list, by: { ObjectIdentifier($0) }, isTouched: isTouched))
    renamed = difference.unmoved(from: former.elements.count, to: list.elements.count).filter {
      objectIDs[$0.from] != self.objectIDs[$0.to]
    }
    findUpdated(isTouched)
  }

  private mutating func findUpdated(_ isTouched: (ManagedObject) -> Bool) {
    for change in difference.changes {
      switch change {
      case .update(_, let to): updatedObjectIDs.insert(objectIDs[to])
      case .move(_, let to) where isTouched(list.elements[to]):
        updatedObjectIDs.insert(objectIDs[to])
      case .move, .insert, .delete: continue
      }
    }
  }

  private init(
    list: SectionedList<ManagedObject>, objectIDs: ChunkedList<ManagedObjectID>,
    difference: SectionedDifference
  ) {
    self.list = list
    self.objectIDs = objectIDs
    self.difference = difference
  }

  /// Puts the objects that the request finds into the list.
  private mutating func insert(
    _ changed: [ManagedObject], _ execution: FetchExecution, _ intake: FetchIntake,
    _ isSectioned: Bool
  ) throws -> [Item]? {
    guard let part = execution.parts.first else { return nil }
    let order = MatchOrder(descriptors: execution.sortDescriptors)
    var matches: [(object: ManagedObject, match: FetchMatch)] = []
    for object in changed {
      guard let match = try part.match(of: object) else { continue }
      _ = try intake.take(object, match.row)
      matches.append((object, match))
    }
    matches.sort { order.precedes($0.match, $1.match) }
    let rest = list.elements
    var inserted: [Item] = []
    var rank = 0
    for (number, (object, match)) in matches.enumerated() {
      var end = rest.count
      while rank < end {
        let middle = (rank + end) / 2
        guard let other = try part.match(of: rest[middle]) else { return nil }
        if order.precedes(other, match) { rank = middle + 1 } else { end = middle }
      }
      let index = rank + number
      let name = isSectioned ? try sectionName(match.keys.last ?? nil) : ""
      guard list.growSection(at: index, name) else { return nil }
      list.elements.insert(object, at: index)
      objectIDs.insert(object.objectID, at: index)
      inserted.append(Item(object: object, index: index, rank: rank))
    }
    return inserted
  }

  // MARK: - The difference

  /// An object that was asked again, or some others next to each other in both lists.
  private struct Mark {
    enum Key: Hashable {
      case object(ObjectIdentifier)
      case run(Int)
    }

    let key: Key
    let object: ManagedObject?
    let index: Int

    /// An object that was asked again.
    init(_ item: Item) {
      key = .object(ObjectIdentifier(item.object))
      object = item.object
      index = item.index
    }

    init(run: Int, index: Int) {
      key = .run(run)
      object = nil
      self.index = index
    }
  }

  /// The difference of two lists in marks, as there are few of them.
  ///
  /// - Returns: `nil` if a run is in sections that have changed their order.
  private static func difference(
    from former: (list: SectionedList<ManagedObject>, items: [Item]),
    to current: (list: SectionedList<ManagedObject>, items: [Item]), restCount: Int,
    _ isTouched: (ManagedObject) -> Bool
  ) -> SectionedDifference? {
    var cuts: Set<Int> = [0]
    for (list, items) in [former, current] {
      cuts.formUnion(items.map(\.rank))
      var before = 0
      for section in list.sections {
        let start = section.range.lowerBound
        while before < items.count, items[before].index < start { before += 1 }
        cuts.insert(start - before)
      }
    }
    cuts.remove(restCount)
    let runs = cuts.sorted()
    let (old, new) = (marks(of: former, runs), marks(of: current, runs))
    let difference = SectionedDifference(
      from: old, to: new, by: \.key, isTouched: { $0.object.map(isTouched) ?? false })
    func isObject(_ index: Int, _ list: SectionedList<Mark>) -> Bool {
      list.elements[index].object != nil
    }
    for change in difference.changes {
      switch change {
      case .delete(let from): if !isObject(from, old) { return nil }
      case .insert(let to), .move(_, let to), .update(_, let to):
        if !isObject(to, new) { return nil }
      }
    }
    return difference.mapped(
      from: { old.elements[$0].index }, to: { new.elements[$0].index })
  }

  private static func marks(
    of state: (list: SectionedList<ManagedObject>, items: [Item]), _ runs: [Int]
  ) -> SectionedList<Mark> {
    var marks: [Mark] = []
    var items = state.items[...]
    for (number, start) in runs.enumerated() {
      while let item = items.first, item.rank <= start {
        marks.append(Mark(item))
        items.removeFirst()
      }
      marks.append(Mark(run: number, index: start + state.items.count - items.count))
    }
    marks += items.map(Mark.init)
    var result = SectionedList<Mark>()
    result.elements = ChunkedList(marks)
    var end = 0
    for section in state.list.sections {
      let start = end
      while end < marks.count, marks[end].index < section.range.upperBound { end += 1 }
      result.sections.append(.init(name: section.name, range: start..<end))
    }
    return result
  }
}

// MARK: - The same in IDs

extension FetchedListUpdate {
  /// The difference as steps from one list of IDs to the other; `nil` for none.
  func steps(
    from former: ChunkedList<ManagedObjectID>
  ) -> CollectionDifference<ManagedObjectID>? {
    var steps: [CollectionDifference<ManagedObjectID>.Change] = []
    func replace(_ from: Int?, _ to: Int?) {
      // With another ID it is not a move but a removal and an insertion.
      let isSame = from.map { former[$0] } == to.map { objectIDs[$0] }
      if let from {
        steps.append(
          .remove(offset: from, element: former[from], associatedWith: isSame ? to : nil))
      }
      if let to {
        steps.append(
          .insert(offset: to, element: objectIDs[to], associatedWith: isSame ? from : nil))
      }
    }
    for change in difference.changes {
      switch change {
      case .delete(let from): replace(from, nil)
      case .insert(let to): replace(nil, to)
      case .move(let from, let to): replace(from, to)
      case .update: continue
      }
    }
    for (from, to) in renamed { replace(from, to) }
    if steps.isEmpty { return nil }
    return CollectionDifference(steps) ?? objectIDs.difference(from: former)
  }
}

extension SectionedList {
  /// - Parameters:
  ///   - removed: the former positions of elements that were removed, in order.
  ///   - keepsEmpty: whether sections without elements stay.
  fileprivate mutating func shrinkSections(by removed: [Int], keepsEmpty: Bool) {
    if removed.isEmpty { return }
    var before = 0
    sections = sections.compactMap { section in
      let start = section.range.lowerBound - before
      while before < removed.count, removed[before] < section.range.upperBound { before += 1 }
      let end = section.range.upperBound - before
      if start == end, !keepsEmpty { return nil }
      return Section(name: section.name, range: start..<end)
    }
  }

  /// Makes room in a section for an element that is inserted at a position afterwards; between
  /// sections for a new one.
  ///
  /// - Returns: `false` when the section of that name is elsewhere.
  fileprivate mutating func growSection(at index: Int, _ name: String) -> Bool {
    // The first section that could have the element at its end.
    let next = sections.firstIndex { index <= $0.range.upperBound } ?? sections.count
    let number: Int
    if next < sections.count, sections[next].name == name {
      number = next
    } else if next + 1 < sections.count, sections[next + 1].name == name,
      sections[next + 1].range.lowerBound == index
    {
      number = next + 1
    } else {
      let isInside =
        next < sections.count && sections[next].range.lowerBound < index
        && index < sections[next].range.upperBound
      if isInside || sections.contains(where: { $0.name == name }) { return false }
      number =
        next < sections.count && index == sections[next].range.upperBound && index > 0
        ? next + 1 : next
      sections.insert(Section(name: name, range: index..<index), at: number)
    }
    let range = sections[number].range
    sections[number].range = range.lowerBound..<range.upperBound + 1
    for later in number + 1..<sections.count {
      let range = sections[later].range
      sections[later].range = range.lowerBound + 1..<range.upperBound + 1
    }
    return true
  }
}
