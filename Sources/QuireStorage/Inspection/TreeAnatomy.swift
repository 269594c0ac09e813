/// A tree as it was found, beside what the catalog says of it.
package struct TreeAnatomy: Sendable {
  /// The nodes of one level.
  package struct Level: Sendable {
    package internal(set) var pageCount = 0
    package internal(set) var entryCount = 0
    package internal(set) var freeByteCount = 0
  }

  /// The name's bytes are UTF-8, or were.
  package let name: String
  package let kind: TreeKind
  package let root: PageID
  /// The number of entries in the catalog; `nil` for the catalog itself, for which there is none.
  package let cataloguedCount: Int?
  /// Whether the catalog says that there may be values too long for their leaf.
  package let hasLongValues: Bool
  /// The levels from the leaves up.
  package internal(set) var levels: [Level] = []
  package internal(set) var longValueCount = 0
  package internal(set) var overflowPageCount = 0
  package internal(set) var overflowByteCount = 0
  /// The bytes of all keys and of all values, long ones included.
  package internal(set) var keyByteCount = 0
  package internal(set) var valueByteCount = 0

  init(
    name: String, kind: TreeKind, root: PageID, cataloguedCount: Int?, hasLongValues: Bool
  ) {
    self.name = name
    self.kind = kind
    self.root = root
    self.cataloguedCount = cataloguedCount
    self.hasLongValues = hasLongValues
  }

  package var entryCount: Int { levels.first?.entryCount ?? 0 }
  package var height: Int { levels.count }
  package var pageCount: Int { levels.reduce(overflowPageCount) { $0 + $1.pageCount } }
}
