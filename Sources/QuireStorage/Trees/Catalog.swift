/// The trees of a store by name: itself an index tree, whose root is always page 4.
///
/// A value has 16 bytes: kind, flags, two zero bytes, root page, entry count.
struct Catalog {
  private let tree: Tree<IndexLayout>

  static let entryByteCount = 16
  private static let longValuesFlag: UInt8 = 1

  init(_ space: PageSpace) {
    tree = Tree(
      space: space,
      // The catalog's own entries are not counted; as many as ever may be removed.
      state: TreeState(kind: .index, root: .catalogRoot, count: 1 << 40, hasLongValues: false))
  }

  /// The tree called `name`, or `nil`.
  func state(of name: [UInt8]) throws(StorageError) -> TreeState? {
    let value = try name.withRawBytes { key throws(StorageError) in
      try tree.value(for: key)
    }
    guard let value else { return nil }
    return try withExtendedLifetime(value.owner) { () throws(StorageError) in
      try state(from: value.bytes, of: String(decoding: name, as: UTF8.self))
    }
  }

  /// Every name with its tree, in the order of the names' bytes.
  func all() throws(StorageError) -> [(name: String, state: TreeState)] {
    var result: [(name: String, state: TreeState)] = []
    var cursor = IndexCursor(TreeCursor(tree))
    while try cursor.next() {
      let name = String(decoding: try cursor.key, as: UTF8.self)
      result.append((name, try state(from: try cursor.valueBytes, of: name)))
    }
    // The cursor lends its bytes until here.
    withExtendedLifetime(cursor) {}
    return result
  }

  private func state(
    from bytes: UnsafeRawBufferPointer, of name: String
  ) throws(StorageError) -> TreeState {
    guard bytes.count == Catalog.entryByteCount, let start = bytes.baseAddress,
      let kind = TreeKind(rawValue: bytes[0])
    else {
      throw .damaged(page: .catalogRoot, reason: "the entry of tree \(name) makes no sense")
    }
    let count = Int(truncatingIfNeeded: start.u64(at: 8))
    guard count >= 0, count < 1 << 48 else {
      throw .damaged(page: .catalogRoot, reason: "tree \(name) is said to have \(count) entries")
    }
    return TreeState(
      kind: kind, root: PageID(start.u32(at: 4)), count: count,
      hasLongValues: bytes[1] & Catalog.longValuesFlag != 0)
  }

  /// Enters a tree, or its new count.
  func set(_ state: TreeState, of name: [UInt8], with editor: PageEditor) throws(StorageError) {
    var entry = [UInt8](repeating: 0, count: Catalog.entryByteCount)
    entry.withUnsafeMutableBytes { entry in
      guard let start = entry.baseAddress else { return }
      entry[0] = state.kind.rawValue
      entry[1] = state.hasLongValues ? Catalog.longValuesFlag : 0
      start.setU32(state.root.rawValue, at: 4)
      start.setU64(UInt64(state.count), at: 8)
    }
    _ = try entry.withRawBytes { entry throws(StorageError) in
      try name.withRawBytes { key throws(StorageError) in
        try tree.put(entry, for: key, with: editor)
      }
    }
    state.noteCatalogued()
  }

  func remove(_ name: [UInt8], with editor: PageEditor) throws(StorageError) {
    _ = try name.withRawBytes { key throws(StorageError) in
      try tree.remove(key, with: editor)
    }
  }
}
