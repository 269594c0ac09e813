import QuireModel
import QuireStorage

/// Finds candidates: a superset of the rows of some entities that match a predicate.
///
/// Sources of candidates are indexes, links that refer back from objects, and for a disjunction a
/// union of sources. The source with the lowest estimate is taken; the estimates come from the
/// trees, without statistics (`CandidateSearch+Estimates.swift`). A wrong estimate costs time and
/// changes no result, as the predicate is evaluated on every candidate.
struct CandidateSearch {
  /// The concrete entities.
  let storages: [EntityStorage]
  let view: StoreView
  /// The number of rows of the entities.
  let rowCount: Int
  /// Whether nothing unsaved is to be seen, so that paths can be followed from row to row.
  let showsRowsAlone: Bool

  init(_ storages: [EntityStorage], in view: StoreView, showsRowsAlone: Bool) throws {
    self.storages = storages
    self.view = view
    self.showsRowsAlone = showsRowsAlone
    var rowCount = 0
    for storage in storages { rowCount += try view.count(of: storage) }
    self.rowCount = rowCount
  }

  /// The number of rows up to which looking them up is as fast as reading all in sequence.
  static let smallCount = 64

  /// The largest number of candidates that pays. A row that is looked up costs much more than one
  /// that is read in sequence, so that more candidates take longer than all rows.
  var limit: Int { max(CandidateSearch.smallCount, rowCount / 4) }

  /// One way to find candidates.
  struct Choice {
    let source: RowSource
    /// The key paths that it narrows. Only choices that narrow different paths are worth
    /// intersecting.
    let paths: Set<[String]>
  }

  /// The best source of the rows that may match all the predicates.
  ///
  /// - Returns: `nil` if there is none, or if it is expected to find too many rows.
  func source(for conjuncts: [FetchPredicate]) throws -> RowSource? {
    let choices = try choices(for: conjuncts)
    if let first = choices.first, first.source.isSurelyBest { return first.source }
    return try best(of: choices)
  }

  /// The sources of the rows that may match all the predicates.
  func choices(for conjuncts: [FetchPredicate]) throws -> [Choice] {
    let conditions = conjuncts.flatMap(FetchCondition.conditions)
    if let named = namedRows(conditions) { return [Choice(source: .names(named), paths: [[]])] }
    var searches = try indexes(conjuncts) { path in conditions.contains { $0.path == path } }
      .map { search($0, conditions) }.filter(\.isUseful)
    if searches.count > 1 { searches.sort { $0.rank > $1.rank } }
    var choices = searches.map { Choice(source: .index($0), paths: Set($0.narrowedPaths)) }
    // A search that finds at most one row needs no alternative.
    if searches.first?.findsOneRow ?? false { return choices }
    var followed: Set<String> = []
    for (number, conjunct) in conjuncts.enumerated() {
      var demands = FetchCondition.memberConditions(of: conjunct)
      if let path = demands.first?.path {
        let isDirect = !FetchCondition.conditions(of: conjunct).isEmpty
        if isDirect, path.count > 1, isToOne(path[0]) {
          // All conjuncts are about the same destination, and one search finds it.
          guard followed.insert(path[0]).inserted else { continue }
          demands = conditions.filter { $0.path.count > 1 && $0.path[0] == path[0] }
        }
        guard let inverse = try inverseSearch(demands) else { continue }
        choices.append(Choice(source: .inverse(inverse), paths: Set(demands.map(\.path))))
      } else if case .or(let parts) = conjunct, let union = try union(of: parts, with: conjuncts) {
        choices.append(Choice(source: union, paths: [["OR", "\(number)"]]))
      }
    }
    return choices
  }

  /// The best source of the rows of which one value at each path meets all conditions.
  func source(ofConditions conditions: [FetchCondition]) throws -> RowSource? {
    var choices = try indexes([]) { path in conditions.contains { $0.path == path } }
      .map { search($0, conditions) }.filter(\.isUseful)
      .map { Choice(source: .index($0), paths: Set($0.narrowedPaths)) }
    if let inverse = try inverseSearch(conditions) {
      choices.append(Choice(source: .inverse(inverse), paths: [conditions[0].path]))
    }
    return try best(of: choices)
  }

  /// A union of a source for each part of a disjunction. The other conjuncts may narrow each part.
  private func union(
    of parts: [FetchPredicate], with conjuncts: [FetchPredicate]
  ) throws -> RowSource? {
    // Each part probably finds a row.
    guard parts.count <= limit else { return nil }
    let others = conjuncts.filter { if case .or = $0 { false } else { true } }
    var sources: [RowSource] = []
    for part in parts where part != .constant(false) {
      guard let source = try source(for: FetchCondition.conjuncts(of: part) + others) else {
        return nil
      }
      sources.append(source)
    }
    return sources.count == 1 ? sources[0] : .union(sources)
  }

  private func best(of choices: [Choice]) throws -> RowSource? {
    guard let first = choices.first else { return nil }
    if choices.count == 1, first.source.isPoint { return first.source }
    var estimated: [(choice: Choice, count: Int)] = []
    for choice in choices {
      let count = try estimate(choice.source)
      // An estimate may be twice too high.
      if count / 2 <= limit { estimated.append((choice, count)) }
    }
    guard let best = estimated.indices.min(by: { estimated[$0].count < estimated[$1].count }) else {
      return nil
    }
    return intersection(estimated, from: best)
  }

  /// The narrowest source, intersected with others as long as reading their keys costs less than
  /// looking up the rows that they rule out.
  private func intersection(
    _ choices: [(choice: Choice, count: Int)], from best: Int
  ) -> RowSource {
    var parts = [choices[best].choice.source]
    var paths = choices[best].choice.paths
    var expected = Double(choices[best].count)
    for (choice, count) in choices.sorted(by: { $0.count < $1.count }) {
      guard expected > Double(CandidateSearch.smallCount) else { break }
      let remaining = expected * Double(count) / Double(max(1, rowCount))
      guard !choice.paths.isSubset(of: paths),
        Double(count) < (expected - remaining) * CandidateSearch.keysForOneRow
      else { continue }
      parts.append(choice.source)
      paths.formUnion(choice.paths)
      expected = remaining
    }
    return parts.count == 1 ? parts[0] : .intersection(parts)
  }

  /// The assumed number of keys of an index that are read and sorted in the time of one row's
  /// lookup. Measured: four, in a store that fits in memory.
  private static let keysForOneRow = 2.0

  // MARK: Indexes

  /// The indexes that have all rows which can match the predicates, and whose first element is
  /// wanted.
  func indexes(
    _ conjuncts: [FetchPredicate], beginningWith isWanted: ([String]) -> Bool
  ) throws -> [EntityIndex] {
    guard let first = storages.first else { return [] }
    var usable: [EntityIndex] = []
    for index in try view.indexes().indexes(of: first.stored.number) {
      guard let path = index.stored.elements.first?.path, isWanted(path),
        storages.allSatisfy({ index.stored.entities.contains($0.stored.number) }),
        isWhole(index, for: conjuncts)
      else { continue }
      usable.append(index)
    }
    return usable
  }

  /// Whether the index has all rows, or all rows that can match the predicates.
  private func isWhole(_ index: EntityIndex, for conjuncts: [FetchPredicate]) -> Bool {
    guard let partial = index.predicate else { return true }
    return FetchCondition.conjuncts(of: partial).allSatisfy(conjuncts.contains)
  }

  func search(_ index: EntityIndex, _ conditions: [FetchCondition]) -> IndexSearch {
    IndexSearch(index, conditions, rowCount: rowCount, reference(of:))
  }

  // MARK: Objects

  /// The rows of the objects that the predicate names; `nil` if it names none.
  private func namedRows(_ conditions: [FetchCondition]) -> [Reference]? {
    var best: [Reference]?
    for condition in conditions where condition.isOfObjectItself {
      guard case .equal(let values) = condition.demand, values.count <= limit else { continue }
      var found: Set<Reference> = []
      for value in values {
        // A value that is not an object equals no row.
        guard case .object(let identity)? = value, let reference = reference(of: identity),
          isTarget(reference)
        else { continue }
        found.insert(reference)
      }
      if let best, best.count <= found.count { continue }
      best = found.sorted()
    }
    return best
  }

  private func isToOne(_ name: String) -> Bool {
    guard let binding = storages.first?.binding, let slot = binding.slot(named: name),
      case .relationship(let relationship) = binding.properties[slot]
    else { return false }
    return !relationship.isToMany
  }

  func isTarget(_ reference: Reference) -> Bool {
    storages.contains { $0.stored.number == reference.entity }
  }

  /// - Returns: `nil` for an object of another store, or of none.
  func reference(of identity: OpaqueIdentity) -> Reference? {
    identity.objectID.flatMap(view.entities.reference)
  }
}

extension RowSource {
  /// Whether no other source need be considered.
  var isSurelyBest: Bool {
    switch self {
    case .names: true
    case .index(let search): search.findsOneRow
    default: false
    }
  }

  /// Whether it is read at one position or a few, which costs no more than an estimate.
  fileprivate var isPoint: Bool {
    switch self {
    case .index(let search): !search.isBounded && search.ranges.count <= 16
    case .names: true
    case .inverse(let search):
      if case .named(let objects) = search.destinations { objects.count <= 16 } else { false }
    case .union, .intersection: false
    }
  }
}
