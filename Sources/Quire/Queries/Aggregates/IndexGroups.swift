import QuireModel
import QuireStorage

// Counts of groups, from an index in which the keys of a group are adjacent.
extension StoreFetch {
  /// Counts the objects of each group by an index.
  ///
  /// - Returns: `false`, with nothing counted, if there is no such index or the query asks for
  ///   more.
  func count(_ query: GroupQuery, in grouping: inout Grouping) throws -> Bool {
    guard showsRowsAlone, view.incremental == nil, target.predicate == nil,
      query.groups.count == 1, query.aggregates.allSatisfy({ $0.path == nil }),
      case .keyPath(let path) = query.groups[0], let index = try groupIndex(path),
      let element = index.stored.elements.first
    else { return false }
    guard let tree = try view.indexTree(index.stored) else { return true }
    let takesAll = index.stored.entities.count == storages.count
    let store = grouping.store
    var (run, last) = (0, GroupKey.absent)
    try [UInt8]().withUnsafeBytes { start in
      try tree.visitKeys(from: start) { bytes in
        guard takesAll || IndexKey.reference(of: bytes).map(isAsked) ?? false else { return true }
        let key = element.groupKey(in: bytes, store: store)
        if key == last {
          run += 1
        } else {
          if run > 0 { grouping.count(last, run) }
          (run, last) = (1, key)
        }
        return true
      }
    }
    if run > 0 { grouping.count(last, run) }
    return true
  }

  private func isAsked(_ reference: Reference) -> Bool {
    storages.contains { $0.stored.number == reference.entity }
  }

  /// An index of all rows that is ordered by a property first, and whose keys hold its value.
  private func groupIndex(_ path: [String]) throws -> EntityIndex? {
    try wholeIndex(by: path) { storage, element in
      guard element.tellsGroups, let slot = storage.binding.slot(named: path[0]) else {
        return false
      }
      // A key may hold a dangling reference.
      return element.kind != .reference || !storage.binding.traits[slot].canDangle
    }
  }

  /// An index of all rows of the request's entities that is ordered by a property first.
  ///
  /// - Parameter serves: whether the first element of the index can be used for an entity.
  func wholeIndex(
    by path: [String], _ serves: (EntityStorage, StoredIndex.Element) -> Bool
  ) throws -> EntityIndex? {
    guard let first = storages.first, path.count == 1 else { return nil }
    return try view.indexes().indexes(of: first.stored.number).first { index in
      guard let element = index.stored.elements.first, element.path == path,
        index.predicate == nil, index.stored.kind == .fetch
      else { return false }
      return storages.allSatisfy {
        index.stored.entities.contains($0.stored.number) && serves($0, element)
      }
    }
  }
}

extension StoredIndex.Element {
  /// Whether ``groupKey(in:store:)`` can decode values of the kind.
  fileprivate var tellsGroups: Bool {
    switch kind {
    case .boolean, .integer16, .integer32, .integer64, .reference: isAscending
    case .double, .float, .date, .uuid, .string, .binary, .decimal, .uri, .transformed, .objectID,
      .composite:
      false
    }
  }

  /// The value of the first element of a key; ``IndexKeyWriter`` documents its layout.
  fileprivate func groupKey(in key: UnsafeRawBufferPointer, store: Int) -> GroupKey {
    guard key.count > 9, key[0] == IndexKeyWriter.Tag.value else { return .absent }
    switch kind {
    case .boolean: return .boolean(key[1] != 0)
    case .integer16: return .integer(Int64(key.number(as: Int16.self)))
    case .integer32: return .integer(Int64(key.number(as: Int32.self)))
    case .integer64: return .integer(key.number(as: Int64.self))
    default:
      let bits = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
      return .reference(Reference(rawValue: bits), store: store)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The signed integer after the tag byte of a value.
  fileprivate func number<Number: FixedWidthInteger & SignedInteger>(as type: Number.Type) -> Number
  {
    Number(bigEndian: loadUnaligned(fromByteOffset: 1, as: type)) ^ .min
  }
}
