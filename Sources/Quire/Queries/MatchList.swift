import QuireModel

/// A row or an object that matches the predicate of a fetch.
struct FetchMatch {
  /// The index of its store among those that are searched.
  var storeIndex: Int
  let reference: Reference
  /// The row, if the store has one; `nil` for objects with changes.
  var row: RowBytes?
  var object: ManagedObject?
  /// The values of the sort keys; empty if the prefix alone decides the order.
  var keys: [PredicateValue?] = []
  /// Further values that were read.
  var values: [PredicateValue?] = []
}

/// Counts matches.
struct MatchCount: MatchVisitor {
  private(set) var count = 0
  var readsKeys: Bool { false }

  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) -> Bool {
    count += 1
    return true
  }
}

/// Collects matches and puts them in the order of a request.
///
/// With a limit only the first matches are kept, in a heap with the last of them on top, so that
/// most other matches are rejected by their first key. Sorting moves small items, each with a
/// prefix of the first key; where these are equal, and so the keys, prefixes of the second key
/// mostly decide.
struct MatchList: MatchVisitor {
  private struct Item {
    var prefix: SortPrefix
    var index: Int
  }

  /// The index of the store that is searched.
  var storeIndex = 0
  /// Whether the rows of matches are kept.
  var keepsRows = true
  /// Further values to read from matches.
  var reading: ValueReading?
  private let order: MatchOrder
  private let firstRule: SortPrefix.Rule?
  private let secondRule: SortPrefix.Rule?
  /// The largest number of matches to keep, those before the offset included.
  private let capacity: Int
  /// A heap once their number is `capacity`.
  private var items: [Item] = []
  private var kept = Kept()

  /// The matches kept, and the prefixes of their second keys if there are such keys.
  private struct Kept {
    var matches: [FetchMatch] = []
    var seconds: [SortPrefix] = []
  }

  var readsKeys: Bool { !order.descriptors.isEmpty }

  /// - Parameter capacity: `Int.max` for all.
  init(_ descriptors: [FetchSortDescriptor], capacity: Int) {
    order = MatchOrder(descriptors: descriptors)
    self.capacity = capacity
    firstRule = descriptors.first.map(SortPrefix.Rule.init)
    secondRule = descriptors.dropFirst().first.map(SortPrefix.Rule.init)
  }

  func bound(_ table: FieldTable, sortedBy paths: [FetchPath]) -> SortBound? {
    guard items.count == capacity, let firstRule, paths[0].isAttribute else { return nil }
    return SortBound(items[0].prefix, by: firstRule, in: table.fields[paths[0].slot])
  }

  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) throws -> Bool {
    var match = FetchMatch(storeIndex: storeIndex, reference: reference, object: object)
    let prefix = try readKeys(of: subject, paths, into: &match)
    guard items.count == capacity else {
      if keepsRows { match.row = try row() }
      if let reading { match.values = try reading.values(of: subject, in: storeIndex) }
      items.append(Item(prefix: prefix, index: kept.matches.count))
      if let second = second(of: subject, paths, match) { kept.seconds.append(second) }
      kept.matches.append(match)
      if items.count == capacity { makeHeap() }
      return true
    }
    let last = items[0]
    guard
      prefix < last.prefix
        || prefix == last.prefix && order.precedes(match, kept.matches[last.index])
    else { return true }
    if keepsRows { match.row = try row() }
    if let reading { match.values = try reading.values(of: subject, in: storeIndex) }
    if let second = second(of: subject, paths, match) { kept.seconds[last.index] = second }
    // Moved, not copied.
    swap(&kept.matches[last.index], &match)
    items[0].prefix = prefix
    sink(0)
    return true
  }

  private func readKeys(
    of subject: some PathSubject, _ paths: [FetchPath], into match: inout FetchMatch
  ) throws -> SortPrefix {
    guard let firstRule, let first = paths.first else {
      for path in paths { match.keys.append(try subject.value(at: path)) }
      return SortPrefix(integer: 0, ascending: true)
    }
    let quick = subject.sortPrefix(at: first, by: firstRule)
    if let quick, quick.isExact, paths.count == 1 { return quick }
    match.keys.reserveCapacity(paths.count)
    for path in paths { match.keys.append(try subject.value(at: path)) }
    let prefix = quick ?? SortPrefix(match.keys[0], by: firstRule)
    if prefix.isExact, paths.count == 1 { match.keys = [] }
    return prefix
  }

  /// The prefix of the second key; `nil` if there is none.
  private func second(
    of subject: some PathSubject, _ paths: [FetchPath], _ match: FetchMatch
  ) -> SortPrefix? {
    guard let secondRule else { return nil }
    return subject.sortPrefix(at: paths[1], by: secondRule)
      ?? SortPrefix(match.keys[1], by: secondRule)
  }

  /// The matches kept, in order.
  func sorted() -> [FetchMatch] {
    let kept = kept
    var items = items
    items.sort { precedes($0, $1, kept) }
    return items.map { kept.matches[$0.index] }
  }

  // MARK: The heap

  private mutating func makeHeap() {
    for position in stride(from: items.count / 2 - 1, through: 0, by: -1) { sink(position) }
  }

  /// Moves an item down the heap until none of its children comes after it.
  private mutating func sink(_ start: Int) {
    let kept = kept
    // The array is moved out of the list, so that it is not copied.
    var items = items
    self.items = []
    items.withUnsafeMutableBufferPointer { items in
      let item = items[start]
      var position = start
      // The item that replaces the last match mostly belongs far down. So the later children move
      // up as far as there are any, without a look at the item, which then climbs a little.
      var child = 2 &* position &+ 1
      while child < items.count {
        let other = child &+ 1
        if other < items.count, precedes(items[child], items[other], kept) { child = other }
        items[position] = items[child]
        position = child
        child = 2 &* position &+ 1
      }
      while position > start {
        let parent = (position &- 1) / 2
        guard precedes(items[parent], item, kept) else { break }
        items[position] = items[parent]
        position = parent
      }
      items[position] = item
    }
    self.items = items
  }

  // MARK: The order

  private func precedes(_ left: Item, _ right: Item, _ kept: Kept) -> Bool {
    if left.prefix < right.prefix { return true }
    if right.prefix < left.prefix { return false }
    return precede(left, right, kept)
  }

  @inline(never)
  private func precede(_ left: Item, _ right: Item, _ kept: Kept) -> Bool {
    if secondRule != nil, left.prefix.isWhole, right.prefix.isWhole {
      let (left, right) = (kept.seconds[left.index], kept.seconds[right.index])
      if left < right { return true }
      if right < left { return false }
    }
    return order.precedes(kept.matches[left.index], kept.matches[right.index])
  }
}

/// The order of a request, in which no two matches are equal: the sort keys, then the stores, then
/// the references.
struct MatchOrder {
  let descriptors: [FetchSortDescriptor]

  func precedes(_ left: FetchMatch, _ right: FetchMatch) -> Bool {
    // Keys are empty if equal prefixes mean equal values.
    for (index, descriptor) in descriptors.enumerated()
    where !left.keys.isEmpty && !right.keys.isEmpty {
      let order = descriptor.compare(left.keys[index], right.keys[index])
      if order != 0 { return order < 0 }
    }
    // Objects of earlier stores come first, but objects that were never saved come last.
    if left.storeIndex != right.storeIndex,
      left.reference.isTemporary == right.reference.isTemporary, !left.reference.isTemporary
    {
      return left.storeIndex < right.storeIndex
    }
    return left.reference < right.reference
  }
}
