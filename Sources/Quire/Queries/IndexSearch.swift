import QuireModel
import QuireStorage

/// A range of keys of an index tree; the upper bound is excluded.
struct KeyRange: Hashable {
  var lower: [UInt8]
  /// `nil` for the end of the tree.
  var upper: [UInt8]? = nil

  var isEmpty: Bool { upper.map { !lower.lexicographicallyPrecedes($0) } ?? false }
}

/// The ranges of an index in which the rows are that may meet some conditions.
///
/// The elements of the index are taken in order: as long as one is fixed to values, the next can
/// narrow the search further; an element with a range is the last that can.
struct IndexSearch {
  let index: EntityIndex
  /// Sorted and without overlaps.
  private(set) var ranges: [KeyRange] = []
  /// The number of leading elements that are fixed to values.
  private(set) var equalCount = 0
  /// Whether each of them is fixed to a single value.
  private(set) var isSingle = true
  /// Whether the keys in the ranges are those of the rows that meet the narrowing conditions, and
  /// of no others.
  private(set) var isExact = true
  /// Whether the element after the fixed ones has a lower and an upper bound.
  private var isBoundedBelow = false
  private var isBoundedAbove = false
  /// The bytes of the fixed elements, if each has a single value.
  private(set) var prefix: [UInt8] = []
  /// The conditions that the predicate implies.
  let conditions: [FetchCondition]

  /// The largest number of ranges that are searched one by one.
  private let rangeLimit: Int

  /// - Parameters:
  ///   - rowCount: the number of rows of the entities, which limits the number of ranges: finding
  ///     the start of a range costs as much as reading some rows in sequence.
  ///   - reference: finds the reference of an object that a predicate names; `nil` for one that no
  ///     row can refer to.
  init(
    _ index: EntityIndex, _ conditions: [FetchCondition], rowCount: Int,
    _ reference: (OpaqueIdentity) -> Reference?
  ) {
    self.index = index
    self.conditions = conditions
    rangeLimit = min(max(rowCount / 16, 4_096), 65_536)
    var prefixes: [[UInt8]] = [[]]
    for element in elements {
      guard IndexSearch.haveRoom(prefixes) else { break }
      var equal: (elements: [[UInt8]], isWhole: Bool)?
      var isAsked = false
      for condition in conditions where condition.path == element.path {
        isAsked = true
        // Elements are cut off by the room that is left, which differs after prefixes of different
        // lengths.
        guard case .equal(let values) = condition.demand, let first = prefixes.first,
          prefixes.allSatisfy({ $0.count == first.count }),
          values.count <= rangeLimit,
          let found = IndexSearch.elements(values, element, after: first, reference)
        else { continue }
        if let best = equal, best.elements.count <= found.elements.count { continue }
        equal = found
      }
      guard isAsked else { break }
      if let equal, prefixes.count * equal.elements.count <= rangeLimit {
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
    let prefixRanges = prefixes.map { KeyRange(lower: $0, upper: IndexKey.successor(of: $0)) }
    ranges = prefixRanges.count == 1 ? prefixRanges : IndexSearch.merged(prefixRanges)
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

  /// Whether the conditions narrow the index at all.
  var isUseful: Bool { equalCount > 0 || isBounded }

  /// Whether the element after the fixed ones has a bound.
  var isBounded: Bool { isBoundedBelow || isBoundedAbove }

  /// Whether at most one row can be found.
  var findsOneRow: Bool { index.isUnique && isSingle && equalCount == elements.count }

  /// The paths of the elements that are narrowed, from the first.
  var narrowedPaths: [[String]] {
    elements.prefix(equalCount + (isBounded ? 1 : 0)).map(\.path)
  }

  /// The conditions that narrow the search.
  var usedConditions: [FetchCondition] {
    narrowedPaths.enumerated().flatMap { position, path in
      conditions.filter { condition in
        guard condition.path == path else { return false }
        if position >= equalCount { return true }
        if case .equal = condition.demand { return true }
        return false
      }
    }
  }

  /// A number by which searches are compared: the narrower one has the higher rank.
  var rank: Int {
    4 * equalCount + (isSingle ? 1 : 0) + (isBoundedBelow ? 1 : 0) + (isBoundedAbove ? 1 : 0)
      + (index.isUnique && equalCount == elements.count ? 100 : 0)
  }

  // MARK: Values

  /// The key elements of some values, of which a row must have one; `nil` if a value has no single
  /// element. They are whole if none holds only a part of its value.
  private static func elements(
    _ values: [PredicateValue?], _ element: StoredIndex.Element, after prefix: [UInt8],
    _ reference: (OpaqueIdentity) -> Reference?
  ) -> (elements: [[UInt8]], isWhole: Bool)? {
    if values.count == 1 {
      switch location(of: values[0], element, after: prefix, reference) {
      case .anywhere: return nil
      case .nowhere: return ([], true)
      case .element(let bytes, let isWhole): return ([bytes], isWhole)
      }
    }
    var found: Set<[UInt8]> = []
    var areWhole = true
    for value in values {
      switch location(of: value, element, after: prefix, reference) {
      case .anywhere: return nil
      case .nowhere: continue
      case .element(let bytes, let isWhole):
        found.insert(bytes)
        areWhole = areWhole && isWhole
      }
    }
    return (Array(found), areWhole)
  }

  /// The part of an index in which the rows with a value are.
  private enum Location {
    case element([UInt8], isWhole: Bool)
    case nowhere
    case anywhere
  }

  private static func location(
    of value: PredicateValue?, _ element: StoredIndex.Element, after prefix: [UInt8],
    _ reference: (OpaqueIdentity) -> Reference?
  ) -> Location {
    var isWhole = true
    func written(_ append: (inout IndexKeyWriter) -> Void) -> Location {
      var writer = IndexKeyWriter()
      writer.append(contentsOf: prefix)
      append(&writer)
      if !element.isAscending { writer.complement(from: prefix.count) }
      return .element(Array(writer.bytes[prefix.count...]), isWhole: isWhole)
    }
    switch value {
    case nil:
      // A dangling reference is absent as well, but its key is not that of an absent value.
      return element.kind == .reference ? .anywhere : written { $0.appendAbsent() }
    case .object(let identity)? where element.kind == .reference:
      guard let reference = reference(identity) else { return .nowhere }
      return written { $0.append(to: reference) }
    case .value(let value)? where element.kind != .reference:
      if value.isNaN {
        guard [.double, .float, .decimal, .date].contains(element.kind) else { return .nowhere }
        return written { $0.append(Double.nan) }
      }
      // A value between two that the attribute can have corresponds to a range.
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
