import QuireStorage

/// A tree as it should be: a sorted list of ranks with their values.
package struct TreeOracle: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    /// The key's rank in its universe.
    package var key: Int
    package var byteCount: Int
    package var fill: Int

    package init(key: Int, byteCount: Int, fill: Int) {
      self.key = key
      self.byteCount = byteCount
      self.fill = fill
    }

    package var value: UnsafeRawBufferPointer { ModelValue.bytes(count: byteCount, fill: fill) }
  }

  package let kind: TreeKind
  package private(set) var entries: [Entry] = []

  package init(_ kind: TreeKind) { self.kind = kind }

  /// The first place at or after `key`.
  package func lowerBound(of key: Int) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  package func entry(for key: Int) -> Entry? {
    let place = lowerBound(of: key)
    return place < entries.count && entries[place].key == key ? entries[place] : nil
  }

  package mutating func put(_ entry: Entry) {
    let place = lowerBound(of: entry.key)
    if place < entries.count, entries[place].key == entry.key {
      entries[place] = entry
    } else {
      entries.insert(entry, at: place)
    }
  }

  package mutating func remove(_ key: Int) {
    let place = lowerBound(of: key)
    if place < entries.count, entries[place].key == key { entries.remove(at: place) }
  }

  package mutating func removeAll() { entries = [] }
}

/// A store as it should be. A copy is a snapshot: nothing that happens later shows in it.
package struct StoreOracle: Hashable, Sendable {
  /// By the number of the tree's name.
  package var trees: [TreeOracle?] = Array(repeating: nil, count: treeLimit)

  package init() {}

  package static let treeLimit = 6

  /// The names of trees, in the order of their bytes; the third and fourth are equal to Swift, the
  /// last is as long as a name may be.
  package static func names(limit: Int) -> [String] {
    ["", "a", "cafe\u{301}", "caf\u{E9}", "rows/1", String(repeating: "z", count: limit)]
  }
}
