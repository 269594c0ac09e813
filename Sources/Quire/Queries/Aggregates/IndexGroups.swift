import QuireModel
import QuireStorage

// Groups that are only counted, where the keys of an index have them one behind the other.
extension StoreFetch {
  /// Counts the objects of each group by an index.
  ///
  /// - Returns: `false`, with nothing counted, where there is no such index, or more is wanted.
  func count(_ query: GroupQuery, in grouping: inout Grouping) throws -> Bool {
    guard showsRowsAlone, view.incremental == nil, target.predicate == nil,
      query.groups.count == 1, query.aggregates.allSatisfy({ $0.path == nil }),
      let index = try groupIndex(query.groups[0]), let element = index.stored.elements.first
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

  /// An index that has all rows by a property first, whose values its keys tell.
  private func groupIndex(_ path: [String]) throws -> EntityIndex? {
    try wholeIndex(by: path) { storage, element in
      guard element.tellsGroups, let slot = storage.binding.slot(named: path[0]) else {
        return false
      }
      // A key may lead to what is gone.
      return element.kind != .reference || !storage.binding.traits[slot].canDangle
    }
  }

  /// An index that has all rows of the request's entities by a property first.
  ///
  /// - Parameter serves: whether the index's first element does for an entity.
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
  /// Whether ``groupKey(in:store:)`` finds the values of the kind.
  fileprivate var tellsGroups: Bool {
    switch kind {
    case .boolean, .integer16, .integer32, .integer64, .reference: isAscending
    default: false
    }
  }

  /// The value of the first element of a key. ``IndexKeyWriter`` says how it lies there.
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
  /// A signed number behind the byte that says that there is one.
  fileprivate func number<Number: FixedWidthInteger & SignedInteger>(as type: Number.Type) -> Number
  {
    Number(bigEndian: loadUnaligned(fromByteOffset: 1, as: type)) ^ .min
  }
}
