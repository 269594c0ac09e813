import QuireModel
import QuireStorage

// Reading of the candidates that a source finds.
extension CandidateSearch {
  /// The rows that a source finds, in order, each once.
  ///
  /// - Returns: `nil` when there are more than `limit`.
  func read(_ source: RowSource, limit: Int) throws -> [Reference]? {
    switch source {
    case .names(let rows): return rows.count <= limit ? rows : nil
    case .index(let search): return try read(search, limit: limit)
    case .inverse(let search): return try read(search, limit: limit)
    case .union(let parts): return try readUnion(parts, limit: limit)
    case .intersection(let parts): return try readIntersection(parts, limit: limit)
    }
  }

  private func read(_ search: IndexSearch, limit: Int) throws -> [Reference]? {
    guard let tree = try view.indexTree(search.index.stored) else { return [] }
    var found: [Reference] = []
    var keyCount = 0
    for range in search.ranges {
      var entries = tree.entries(from: range.lower, to: range.upper)
      while try entries.next() {
        keyCount += 1
        if keyCount > limit { return nil }
        let reference = IndexKey.reference(of: try entries.key)
        if let reference, isTarget(reference) { found.append(reference) }
      }
    }
    if found.count > 1 { found.sort() }
    return found
  }

  private func readUnion(_ parts: [RowSource], limit: Int) throws -> [Reference]? {
    var found: [Reference] = []
    for part in parts {
      guard let more = try read(part, limit: limit - found.count) else { return nil }
      found += more
    }
    found.sort()
    // A row that several parts find is one candidate.
    var last: Reference?
    found.removeAll { reference in
      defer { last = reference }
      return reference == last
    }
    return found
  }

  private func readIntersection(_ parts: [RowSource], limit: Int) throws -> [Reference]? {
    var found: [Reference]?
    for part in parts {
      // A part with too many rows would rule out too few, and is ignored.
      guard let next = try read(part, limit: limit) else { continue }
      found = found.map { CandidateSearch.common($0, next) } ?? next
    }
    return found
  }

  /// The references that are in both of two sorted lists.
  private static func common(_ left: [Reference], _ right: [Reference]) -> [Reference] {
    var common: [Reference] = []
    var index = 0
    for reference in left {
      while index < right.count, right[index] < reference { index += 1 }
      if index < right.count, right[index] == reference { common.append(reference) }
    }
    return common
  }
}
