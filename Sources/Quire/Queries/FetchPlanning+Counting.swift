import QuireModel
import QuireStorage

// Counts from the keys of an index.
extension FetchPlanning {
  /// The number of rows that match, if the keys of an index tell it; no row is read then.
  func coveredCount() throws -> Int? {
    guard let predicate, let conditions = FetchCondition.wholeConditions(of: predicate) else {
      return nil
    }
    let search = try candidateSearch()
    let indexes = try search.indexes(FetchCondition.conjuncts(of: predicate)) { path in
      conditions.contains { $0.path == path }
    }
    for index in indexes where !canDangle(index) {
      let found = search.search(index, conditions)
      let narrowed = found.narrowedPaths
      guard found.isExact, conditions.allSatisfy({ narrowed.contains($0.path) }) else { continue }
      guard let tree = try view.indexTree(index.stored) else { return 0 }
      return try found.ranges.reduce(0) { try $0 + count(tree, $1, index, search) }
    }
    return nil
  }

  /// Whether keys of the index may hold dangling references.
  private func canDangle(_ index: EntityIndex) -> Bool {
    index.stored.elements.contains { element in
      element.kind == .reference
        && targets.contains { storage in
          storage.binding.slot(named: element.path[0])
            .map { storage.binding.traits[$0].canDangle } ?? true
        }
    }
  }

  private func count(
    _ tree: IndexTree, _ range: KeyRange, _ index: EntityIndex, _ search: CandidateSearch
  ) throws -> Int {
    let takesAll = index.stored.entities.count == targets.count
    return try range.lower.withUnsafeBytes { lower in
      try (range.upper ?? []).withUnsafeBytes { bytes in
        let upper = range.upper == nil ? nil : bytes
        if takesAll { return try tree.keyCount(from: lower, to: upper) }
        var count = 0
        try tree.visitKeys(from: lower) { key in
          if let upper, CanonicalText.byteOrder(key, upper) != .ascending { return false }
          if IndexKey.reference(of: key).map(search.isTarget) ?? false { count += 1 }
          return true
        }
        return count
      }
    }
  }
}
