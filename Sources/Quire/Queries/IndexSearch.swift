import QuireModel
import QuireStorage

/// Keys of an index tree from one bound up to another, which is not among them.
struct KeyRange: Hashable {
  var lower: [UInt8]
  /// `nil` for the end of the tree.
  var upper: [UInt8]?

  var isEmpty: Bool { upper.map { !lower.lexicographicallyPrecedes($0) } ?? false }
}

/// Where in an index the rows are of which a predicate may be true.
///
/// Elements of the index are gone through from the first: as long as the predicate says what one
/// must be equal to, the next can narrow the search further; a range is the last that can.
struct IndexSearch {
  let index: EntityIndex
  /// In order, and without a key that two of them have.
  private(set) var ranges: [KeyRange] = []
  /// How many elements are narrowed to values.
  private(set) var equalCount = 0
  /// Whether the values are one each.
  private(set) var isSingle = true
  /// Whether the keys in the ranges are of rows that meet the conditions which narrow them, and no
  /// others.
  private(set) var isExact = true
  /// Whether the element after them is bounded from below and from above.
  private var isBoundedBelow = false
  private var isBoundedAbove = false
  /// The bytes before the ranges.
  private(set) var prefix: [UInt8] = []
  /// What the predicate demands.
  let conditions: [FetchCondition]

  /// More places than this are not looked at one by one.
  private let placeLimit: Int

  /// - Parameters:
  ///   - rowCount: of the entities that are searched. A place in a tree costs what some rows cost
  ///     that are read in passing.
  ///   - reference: the place of an object that a predicate names; `nil` of one that no row can
  ///     lead to.
  init(
    _ index: EntityIndex, _ conditions: [FetchCondition], rowCount: Int,
    _ reference: (OpaqueIdentity) -> Reference?
  ) {
    self.index = index
    self.conditions = conditions
    placeLimit = min(max(rowCount / 16, 4_096), 65_536)
    var prefixes: [[UInt8]] = [[]]
    for element in elements {
      guard IndexSearch.haveRoom(prefixes) else { break }
      var equal: (elements: [[UInt8]], isWhole: Bool)?
      var isAsked = false
      for condition in conditions where condition.path == element.path {
        isAsked = true
        // The room for an element is the same after all of them only if they are of one length.
        guard case .equal(let values) = condition.demand, let first = prefixes.first,
          prefixes.allSatisfy({ $0.count == first.count }),
          values.count <= placeLimit,
          let found = IndexSearch.elements(values, element, after: first, reference)
        else { continue }
        if let best = equal, best.elements.count <= found.elements.count { continue }
        equal = found
      }
      guard isAsked else { break }
      if let equal, prefixes.count * equal.elements.count <= placeLimit {
        if prefixes.count == 1, prefixes[0].isEmpty {
          prefixes = equal.elements
        } else {
          prefixes = prefixes.flatMap { prefix in equal.elements.map { prefix + $0 } }
        }
        equalCount += 1
        if equal.elements.count != 1 || !equal.isWhole { isSingle = false }
        if !equal.isWhole { isExact = false }
        if !equal.isWhole { break }
        continue
      }
      guard prefixes.count == 1, narrow(prefixes[0], element, conditions) else { break }
      return
    }
    if isSingle, let only = prefixes.first { prefix = only }
    let places = prefixes.map { KeyRange(lower: $0, upper: IndexKey.successor(of: $0)) }
    ranges = places.count == 1 ? places : IndexSearch.merged(places)
  }

  private static func haveRoom(_ prefixes: [[UInt8]]) -> Bool {
    prefixes.allSatisfy { prefix in
      if prefix.isEmpty { return true }
      var writer = IndexKeyWriter()
      writer.append(contentsOf: prefix)
      return writer.hasRoom()
    }
  }

  var elements: [StoredIndex.Element] { index.stored.elements }

  /// Whether the index narrows the search at all.
  var isUseful: Bool { equalCount > 0 || isBounded }

  /// Whether one element is narrowed to what lies above or below a value.
  var isBounded: Bool { isBoundedBelow || isBoundedAbove }

  /// Whether the store has one row at most.
  var findsOneRow: Bool { index.isUnique && isSingle && equalCount == elements.count }

  /// The paths of the elements that are narrowed, from the first.
  var narrowedPaths: [[String]] {
    elements.prefix(equalCount + (isBounded ? 1 : 0)).map(\.path)
  }

  /// The conditions that narrow the search.
  var usedConditions: [FetchCondition] {
    narrowedPaths.enumerated().flatMap { place, path in
      conditions.filter { condition in
        guard condition.path == path else { return false }
        if place >= equalCount { return true }
        if case .equal = condition.demand { return true }
        return false
      }
    }
  }

  /// What is narrowed more is to be tried first.
  var rank: Int {
    4 * equalCount + (isSingle ? 1 : 0) + (isBoundedBelow ? 1 : 0) + (isBoundedAbove ? 1 : 0)
      + (index.isUnique && equalCount == elements.count ? 100 : 0)
  }

  // MARK: Values

  /// The elements of keys for values of which one must be there; `nil` when a value has none.
  private static func elements(
    _ values: [PredicateValue?], _ element: StoredIndex.Element, after prefix: [UInt8],
    _ reference: (OpaqueIdentity) -> Reference?
  ) -> (elements: [[UInt8]], isWhole: Bool)? {
    if values.count == 1 {
      switch place(of: values[0], element, after: prefix, reference) {
      case .anywhere: return nil
      case .nowhere: return ([], true)
      case .element(let bytes, let isWhole): return ([bytes], isWhole)
      }
    }
    var found: Set<[UInt8]> = []
    var areWhole = true
    for value in values {
      switch place(of: value, element, after: prefix, reference) {
      case .anywhere: return nil
      case .nowhere: continue
      case .element(let bytes, let isWhole):
        found.insert(bytes)
        areWhole = areWhole && isWhole
      }
    }
    return (Array(found), areWhole)
  }

  /// Where rows are that have a value.
  private enum Place {
    case element([UInt8], isWhole: Bool)
    case nowhere
    case anywhere
  }

  private static func place(
    of value: PredicateValue?, _ element: StoredIndex.Element, after prefix: [UInt8],
    _ reference: (OpaqueIdentity) -> Reference?
  ) -> Place {
    var isWhole = true
    func written(_ append: (inout IndexKeyWriter) -> Void) -> Place {
      var writer = IndexKeyWriter()
      writer.append(contentsOf: prefix)
      append(&writer)
      if !element.isAscending { writer.complement(from: prefix.count) }
      return .element(Array(writer.bytes[prefix.count...]), isWhole: isWhole)
    }
    switch value {
    case nil:
      // A relationship that leads to nobody any more is absent as well.
      return element.kind == .reference ? .anywhere : written { $0.appendAbsent() }
    case .object(let identity)? where element.kind == .reference:
      guard let reference = reference(identity) else { return .nowhere }
      return written { $0.append(to: reference) }
    case .value(let value)? where element.kind != .reference:
      if value.isNaN {
        guard [.double, .float, .decimal, .date].contains(element.kind) else { return .nowhere }
        return written { $0.append(Double.nan) }
      }
      // Between two bounds: a range, and no value.
      guard let bounds = KeyBounds(value, element.kind, after: prefix), bounds.low == bounds.high
      else { return .anywhere }
      isWhole = bounds.isExact
      if element.isAscending { return .element(bounds.low, isWhole: isWhole) }
      return written { $0.append(contentsOf: bounds.low) }
    default: return .anywhere
    }
  }

  // MARK: Ranges

  private mutating func narrow(
    _ prefix: [UInt8], _ element: StoredIndex.Element, _ conditions: [FetchCondition]
  ) -> Bool {
    var interval = KeyInterval()
    for condition in conditions where condition.path == element.path {
      interval.narrow(by: condition.demand, element.kind, after: prefix)
    }
    guard interval.isBoundedBelow || interval.isBoundedAbove else { return false }
    if !interval.isExact { isExact = false }
    isBoundedBelow = interval.isBoundedBelow
    isBoundedAbove = interval.isBoundedAbove
    let range = interval.range(isAscending: element.isAscending)
    self.prefix = prefix
    let whole = KeyRange(
      lower: prefix + range.lower, upper: range.upper.map { prefix + $0 })
    ranges = whole.isEmpty ? [] : [whole]
    return true
  }

  private static func merged(_ ranges: [KeyRange]) -> [KeyRange] {
    var merged: [KeyRange] = []
    for range in ranges.sorted(by: { $0.lower.lexicographicallyPrecedes($1.lower) }) {
      guard let last = merged.last, let upper = last.upper,
        range.lower.lexicographicallyPrecedes(upper)
      else {
        if merged.last.map({ $0.upper == nil }) ?? false { break }
        merged.append(range)
        continue
      }
      if let other = range.upper, !upper.lexicographicallyPrecedes(other) { continue }
      merged[merged.count - 1].upper = range.upper
    }
    return merged
  }
}
