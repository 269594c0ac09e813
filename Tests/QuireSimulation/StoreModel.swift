import QuireStorage

/// What a store must hold: plain dictionaries, which know nothing of pages.
package struct StoreModel: Sendable {
  package private(set) var records: [String: [Int64: [UInt8]]] = [:]
  package private(set) var indexes: [String: [[UInt8]: [UInt8]]] = [:]

  package init() {}

  /// What a step does to the content.
  package mutating func apply(_ step: Step) {
    switch step {
    case .put(let tree, let keys, let byteCount, let version):
      for key in keys {
        let value = Step.value(key: key, byteCount: byteCount, version: version)
        if tree.isIndex {
          indexes[tree.rawValue, default: [:]][Step.indexKey(key)] = value
        } else {
          records[tree.rawValue, default: [:]][Int64(key)] = value
        }
      }
    case .remove(let tree, let keys):
      for key in keys {
        records[tree.rawValue]?[Int64(key)] = nil
        indexes[tree.rawValue]?[Step.indexKey(key)] = nil
      }
    case .drop(let tree):
      records[tree.rawValue] = nil
      indexes[tree.rawValue] = nil
    case .rename(let old, let new):
      if records[new.rawValue] == nil, let tree = records.removeValue(forKey: old.rawValue) {
        records[new.rawValue] = tree
      }
      if indexes[new.rawValue] == nil, let tree = indexes.removeValue(forKey: old.rawValue) {
        indexes[new.rawValue] = tree
      }
    case .build(let tree, let keys, let byteCount, let version):
      apply(.drop(tree))
      if tree.isIndex { indexes[tree.rawValue] = [:] } else { records[tree.rawValue] = [:] }
      apply(.put(tree, keys: keys, byteCount: byteCount, version: version))
    case .flip(let tree, let version):
      records[tree.rawValue] = records[tree.rawValue]?
        .mapValues { Step.flipped($0, version: version) }
      indexes[tree.rawValue] = indexes[tree.rawValue]?
        .mapValues { Step.flipped($0, version: version) }
    case .commit, .abort, .checkpoint, .beginCheckpoint, .writeCheckpoint, .completeCheckpoint,
      .overlap, .compact, .removeLog, .backUp, .reopen, .die, .hold, .release, .fork:
      break
    }
  }

  /// The names of all trees, in the order of a catalog.
  package var names: [String] { (Array(records.keys) + Array(indexes.keys)).sorted() }

  /// The entries of a tree in the order of the keys; a record's key as its number's bytes.
  package func entries(of name: String) -> [(key: [UInt8], value: [UInt8])] {
    if let tree = records[name] {
      return tree.sorted { $0.key < $1.key }.map { (StoreModel.bytes(of: $0.key), $0.value) }
    }
    return (indexes[name] ?? [:])
      .sorted { precedes($0.key, $1.key) }.map { ($0.key, $0.value) }
  }

  package static func bytes(of key: Int64) -> [UInt8] {
    withUnsafeBytes(of: key) { [UInt8]($0) }
  }

  package var digest: ContentDigest {
    var digest = ContentDigest()
    for name in names {
      let entries = entries(of: name)
      digest.beginTree(name, isIndex: indexes[name] != nil, count: entries.count)
      for (key, value) in entries {
        key.withUnsafeBytes { key in
          value.withUnsafeBytes { value in digest.add(key, value) }
        }
      }
    }
    return digest
  }
}

/// All of a store's content in a few bytes, to compare it quickly: equal in one run of a program
/// for equal content, and otherwise not.
package struct ContentDigest: Sendable, Equatable, CustomStringConvertible {
  // Not in debug's slow arrays: the standard library's hasher is compiled with optimization.
  private var hasher = Hasher()
  private var trees: [String] = []
  private var entryCount = 0

  package init() {}

  mutating func beginTree(_ name: String, isIndex: Bool, count: Int) {
    hasher.combine(name)
    hasher.combine(isIndex)
    hasher.combine(count)
    trees.append("\(name) \(count)")
  }

  mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    entryCount += 1
    hasher.combine(key.count)
    hasher.combine(bytes: key)
    hasher.combine(value.count)
    hasher.combine(bytes: value)
  }

  package static func == (left: ContentDigest, right: ContentDigest) -> Bool {
    left.trees == right.trees && left.entryCount == right.entryCount
      && left.hasher.finalize() == right.hasher.finalize()
  }

  var hash: Int { hasher.finalize() }

  package var description: String {
    "[\(trees.joined(separator: ", "))] #\(UInt16(truncatingIfNeeded: hash))"
  }

  /// What a store shows.
  package init(of reader: some TreeReader) throws(StorageError) {
    for (name, kind, count) in try reader.treeNames() {
      beginTree(name, isIndex: kind == .index, count: count)
      if kind == .index {
        guard var cursor = try reader.indexTree(name)?.cursor() else { continue }
        while try cursor.next() { add(try cursor.key, try cursor.valueBytes) }
      } else {
        guard var cursor = try reader.recordTree(name)?.cursor() else { continue }
        while try cursor.next() {
          let key = try cursor.key
          let value = try cursor.valueBytes
          withUnsafeBytes(of: key) { add($0, value) }
        }
      }
    }
  }
}
