import QuireModel
import QuireStorage

// The smallest and largest values of attributes, read from the ends of an index.
extension StoreFetch {
  /// Computes minima and maxima from the first and last keys of indexes.
  ///
  /// - Returns: `false`, with nothing taken, if an index is missing or the query asks for more.
  func takeExtremes(_ query: GroupQuery, into grouping: inout Grouping) throws -> Bool {
    guard showsRowsAlone, view.incremental == nil, target.predicate == nil, query.groups.isEmpty,
      !query.aggregates.isEmpty
    else { return false }
    var values: [PredicateValue?] = []
    for aggregate in query.aggregates {
      guard let isLargest = aggregate.function.isLargest, let path = aggregate.path,
        case .value(let value) = try extreme(of: path, isLargest: isLargest)
      else { return false }
      values.append(value)
    }
    for (number, value) in values.enumerated() { try grouping.take(value, aggregate: number) }
    return true
  }

  private enum Extreme {
    /// `nil` when no row has a value.
    case value(PredicateValue?)
    case unknown
  }

  private func extreme(of path: [String], isLargest: Bool) throws -> Extreme {
    guard let index = try wholeIndex(by: path, { _, element in element.kind != .reference }),
      let element = index.stored.elements.first
    else { return .unknown }
    guard let tree = try view.indexTree(index.stored) else { return .value(nil) }
    // Absent values and NaN lie outside these bounds.
    let tag = element.isAscending ? IndexKeyWriter.Tag.value : ~IndexKeyWriter.Tag.value
    var entries = tree.entries(
      from: [tag], to: [tag + 1], reversed: isLargest == element.isAscending)
    var keyCount = 0
    while try entries.next() {
      keyCount += 1
      let key = Array(try entries.key)
      let end = IndexKey.end(ofFirst: 1, index.stored.elements, in: key)
      // Keys that are cut off at the same position say nothing of the order of their rows.
      if element.mayBeCut(Array(key[..<end])) { return .unknown }
      guard let reference = IndexKey.reference(of: UnsafeRawBufferPointer(try entries.key)),
        let storage = storages.first(where: { $0.stored.number == reference.entity })
      else {
        // An index of an ancestor has rows of other entities.
        if keyCount > CandidateSearch.smallCount { return .unknown }
        continue
      }
      guard let row = try view.row(reference), let slot = storage.binding.slot(named: path[0]),
        storage.fieldBySlot[slot] >= 0
      else { return .unknown }
      let value = try row.value(storage.fieldBySlot[slot], in: view)
      return .value(value.map(PredicateValue.value))
    }
    // No number was found. NaN may still be in the index, which only the rows show.
    return element.kind.hasNaN ? .unknown : .value(nil)
  }
}

extension AggregateFunction {
  /// Whether the function asks for the largest value; `nil` if it asks for neither extreme.
  fileprivate var isLargest: Bool? {
    switch self {
    case .minimum: false
    case .maximum: true
    case .count, .distinctCount, .sum, .average, .median, .standardDeviation: nil
    }
  }
}

extension StoredIndex.Element {
  /// Whether a key's element may be cut off, so that it holds only a part of the value.
  /// ``IndexKeyWriter`` documents how elements end.
  fileprivate func mayBeCut(_ bytes: [UInt8]) -> Bool {
    switch kind {
    case .string, .uri, .objectID:
      let mask: UInt8 = isAscending ? 0 : 255
      return bytes.count < 3 || bytes[bytes.count - 1] ^ mask != 0
        || bytes[bytes.count - 2] ^ mask != 0
    case .boolean, .integer16, .integer32, .integer64, .double, .float, .date, .uuid, .reference,
      .decimal:
      return false
    // These have no keys.
    case .binary, .transformed, .composite: return false
    }
  }
}

extension FieldKind {
  fileprivate var hasNaN: Bool {
    switch self {
    case .double, .float, .date, .decimal: true
    case .boolean, .integer16, .integer32, .integer64, .uuid, .reference, .string, .binary, .uri,
      .transformed, .objectID, .composite:
      false
    }
  }
}
