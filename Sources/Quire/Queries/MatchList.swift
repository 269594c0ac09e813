import QuireModel

/// A row or an object that the predicate of a fetch is true of.
struct FetchMatch {
  /// Which of the stores that are asked has it.
  var place: Int
  let reference: Reference
  /// The row, when the store had it; `nil` for objects with changes.
  var row: RowBytes?
  var object: ManagedObject?
  /// The values of the sort keys.
  var keys: [PredicateValue?] = []
}

/// Takes what a fetch finds, one after the other.
protocol MatchVisitor {
  /// Whether the values of sort keys are looked at.
  var readsKeys: Bool { get }

  /// - Parameters:
  ///   - object: where it is one with changes that was found.
  ///   - row: the row under the cursor, for keeping.
  /// - Returns: whether to go on.
  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) throws -> Bool

  /// Whether to call ``take(_:at:)`` where every row is a match, and nothing is asked of it.
  static var takesRows: Bool { get }

  /// Called before rows of an entity are taken.
  ///
  /// - Parameter count: how many there are, of which some may not come.
  mutating func begin(_ storage: EntityStorage, count: Int)

  /// - Returns: whether to go on.
  mutating func take(_ row: RowBytes, at reference: Reference) throws -> Bool

  /// Whether to call ``takeKey(at:)`` there instead: no row is read then.
  static var takesKeys: Bool { get }

  /// - Returns: whether to go on.
  mutating func takeKey(at reference: Reference) throws -> Bool
}

extension MatchVisitor {
  static var takesRows: Bool { false }

  mutating func begin(_ storage: EntityStorage, count: Int) {}

  mutating func take(_ row: RowBytes, at reference: Reference) throws -> Bool {
    preconditionFailure("a visitor that wants rows takes them")
  }

  static var takesKeys: Bool { false }

  mutating func takeKey(at reference: Reference) throws -> Bool {
    preconditionFailure("a visitor that wants keys takes them")
  }
}

/// Counts.
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
/// With a limit only the first ones are kept: a match that comes after all of them is told by a
/// look at its first key. What is sorted are small items with a prefix of the first key each.
struct MatchList: MatchVisitor {
  private struct Item {
    var prefix: SortPrefix
    var index: Int
  }

  /// Which of the stores that are asked is asked now.
  var place = 0
  /// Whether the rows of matches are wanted.
  var keepsRows = true
  private let descriptors: [FetchSortDescriptor]
  /// How many are wanted at most, those before the offset among them.
  private let capacity: Int
  /// From this many on, what is not among the first ones is let go of.
  private let sortingCount: Int
  private var items: [Item] = []
  private var matches: [FetchMatch] = []
  /// The last of the first ones, once there were enough.
  private var last: (prefix: SortPrefix, match: FetchMatch)?

  var readsKeys: Bool { !descriptors.isEmpty }

  /// - Parameter capacity: `Int.max` for all.
  init(_ descriptors: [FetchSortDescriptor], capacity: Int) {
    self.descriptors = descriptors
    self.capacity = capacity
    // Who asks for more than there can be gets all of them.
    sortingCount = capacity < Int.max / 4 ? 2 * capacity + 1_024 : .max
  }

  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) throws -> Bool {
    let first = try paths.first.flatMap { try subject.value(at: $0) }
    let prefix = SortPrefix(first, ascending: descriptors.first?.ascending ?? true)
    if let last, last.prefix < prefix { return true }
    var match = FetchMatch(place: place, reference: reference, object: object)
    if !paths.isEmpty {
      match.keys.reserveCapacity(paths.count)
      match.keys.append(first)
      for path in paths.dropFirst() { match.keys.append(try subject.value(at: path)) }
    }
    if let last, !(prefix < last.prefix), !precedes(match, last.match) { return true }
    if keepsRows { match.row = try row() }
    items.append(Item(prefix: prefix, index: matches.count))
    matches.append(match)
    if items.count >= sortingCount { sort() }
    return true
  }

  /// The matches in order, as many as are wanted.
  mutating func sorted() -> [FetchMatch] {
    sort()
    return matches
  }

  private mutating func sort() {
    let matches = matches
    var items = items
    self.items = []
    items.sort { left, right in
      if left.prefix < right.prefix { return true }
      if right.prefix < left.prefix { return false }
      return precedes(matches[left.index], matches[right.index])
    }
    if items.count > capacity { items.removeLast(items.count - capacity) }
    self.matches = items.map { matches[$0.index] }
    for place in items.indices { items[place].index = place }
    self.items = items
    if items.count == capacity, let item = items.last, let match = self.matches.last {
      last = (item.prefix, match)
    }
  }

  private func precedes(_ left: FetchMatch, _ right: FetchMatch) -> Bool {
    for (index, descriptor) in descriptors.enumerated() {
      let order = descriptor.compare(left.keys[index], right.keys[index])
      if order != 0 { return order < 0 }
    }
    // Store by store, but that objects which were never saved come last.
    if left.place != right.place, left.reference.isTemporary == right.reference.isTemporary,
      !left.reference.isTemporary
    {
      return left.place < right.place
    }
    return left.reference < right.reference
  }
}
