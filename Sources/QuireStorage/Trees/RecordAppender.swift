/// Inserts entries with ascending keys into a record tree, appending if possible.
///
/// Assigned keys are always ascending. The rightmost leaf is kept: as long as the tree is not
/// changed by other means and the leaf has room, an entry is appended without a search. Otherwise
/// it is inserted like any other: keys may come in any order, with the same resulting pages.
///
/// Bound to its transaction like the tree. Not Sendable.
public final class RecordAppender {
  private let tree: MutableRecordTree
  private let editor: PageEditor
  private let state: TreeState
  private let valueLimit: Int
  // Sound: a page that this transaction may change is not moved until the tree is changed by other
  // means, which the count of changes shows, or pages go to the file, which is counted, too.
  /// The rightmost leaf.
  @exclusivity(unchecked) private var leaf: MutablePage?
  @exclusivity(unchecked) private var changeCount = 0
  @exclusivity(unchecked) private var spillCount = 0
  @exclusivity(unchecked) private var base: Int64 = 0
  @exclusivity(unchecked) private var lastKey: Int64 = 0

  init(_ tree: MutableRecordTree, _ editor: PageEditor) {
    self.tree = tree
    self.editor = editor
    state = tree.reading.tree.state
    valueLimit = editor.space.geometry.inlineValueLimit
  }

  /// Stores `value` under `key`, in place of an earlier value; see
  /// ``MutableRecordTree/put(_:for:)-(UnsafeRawBufferPointer,_)``.
  ///
  /// - Returns: whether there was an earlier value.
  /// - Complexity: O(1) plus the length of the value where the key is above all others.
  public func put(
    _ value: UnsafeRawBufferPointer, for key: Int64
  ) throws(StorageError) -> Bool {
    try state.checkUsable()
    if let leaf, changeCount == state.changeCount, spillCount == editor.spillCount,
      !editor.hasFailed, key > lastKey, value.count <= valueLimit,
      RecordLayout.append(key, value, base: base, to: leaf)
    {
      state.count += 1
      state.changeCount += 1
      changeCount = state.changeCount
      lastKey = key
      return false
    }
    let wasThere = try tree.put(value, for: key)
    try findEdge(key)
    return wasThere
  }

  /// Keeps the leaf of a key that was just put, if that is the last of all.
  private func findEdge(_ key: Int64) throws(StorageError) {
    leaf = nil
    // As it is before: the search itself may end with the leaf going to the file.
    spillCount = editor.spillCount
    try editor.change(state) { () throws(StorageError) in
      let (id, isAtRightEdge) = try tree.reading.tree.descend(to: key, path: &editor.path)
      guard isAtRightEdge else { return }
      let page = try editor.writable(id)
      let count = page.page.count
      guard count > 0, RecordLayout.key(at: count - 1, in: page.page) == key else { return }
      leaf = page
      base = RecordLayout.baseKey(of: page.page)
      lastKey = key
      changeCount = state.changeCount
    }
  }
}

extension MutableRecordTree {
  /// An object that appends many entries.
  public func appender() -> RecordAppender { RecordAppender(self, editor) }
}

extension RecordLayout {
  /// Adds an inline value after all entries of a leaf that has some.
  ///
  /// - Parameter base: the leaf's.
  /// - Returns: `false`, with nothing changed, when that takes more than to write it: a wider
  ///   difference, or room between the cells.
  static func append(
    _ key: Int64, _ value: UnsafeRawBufferPointer, base: Int64, to node: MutablePage
  ) -> Bool {
    let count = node.page.count
    let width = width(of: node.page)
    let difference = UInt64(bitPattern: key &- base)
    let slotByteCount = width.byteCount &+ offsetByteCount
    let seconds = keysStart &+ count &<< width.shift
    let cellByteCount = ValuePayload.byteCount(ofInline: value.count)
    let cellStart = node.cellStart
    let contiguous = cellStart &- seconds &- count &* offsetByteCount
    guard difference <= width.mask, slotByteCount &+ cellByteCount <= contiguous else {
      return false
    }
    // The offsets move up by one key.
    let offsets = node.base + seconds
    (offsets + width.byteCount).copyMemory(from: offsets, byteCount: count &* offsetByteCount)
    setDifference(difference, at: count, width, in: node)
    let start = cellStart &- cellByteCount
    (offsets + width.byteCount + count &* offsetByteCount).setU16(start, at: 0)
    _ = ValuePayload.encode(inline: value, in: node.base + start)
    node.cellStart = start
    node.freeBytes -= slotByteCount &+ cellByteCount
    node.count = count &+ 1
    return true
  }
}
