/// Builds a tree from entries in ascending order, bottom up: fills a leaf, hands it over, notes it
/// in the level above, and so on.
///
/// Nothing is searched, moved or split. The first pages are pages of the transaction like all
/// others, so that a small tree is committed with one write; when there are many, the rest goes to
/// the end of the file at once (``DirectPages``), so that memory and log stay small. Of a tree that
/// its own transaction drops again, all pages go there.
final class TreeBuilder<Layout: NodeLayout> {
  private let tree: Tree<Layout>
  private let editor: PageEditor
  /// The nodes being filled, leaf first.
  // Unchecked: while a builder changes, it calls no code that could call it.
  @exclusivity(unchecked) private var levels: [Level] = []
  private let lastKeyRoom: PageMemory
  @exclusivity(unchecked) private var lastKey: Layout.Key?
  private let scratch: NodeScratch
  @exclusivity(unchecked) private var pageCount = 0
  /// The bytes to leave free in each page.
  private let reserve: Int
  /// From this many pages on they are written around the log.
  private let loggedPageLimit: Int

  private struct Level {
    let memory: PageMemory
    /// The bound of the node from below; `nil` in the first node of a level.
    var bound: Layout.Key?
    let boundRoom: PageMemory
    var node: MutablePage { MutablePage(memory.base) }
  }

  /// - Parameters:
  ///   - tree: an empty tree.
  ///   - fill: how much of each page to use, from 0.5 to 1.
  ///   - isTemporary: whether the transaction drops the tree again, so that its pages are never
  ///     committed and need no room in the transaction's memory.
  init(_ tree: Tree<Layout>, _ editor: PageEditor, fill: Double, isTemporary: Bool = false) {
    self.tree = tree
    loggedPageLimit = isTemporary ? 0 : min(512, editor.byteLimit / editor.pageSize / 8)
    self.editor = editor
    let capacity = Double(editor.space.geometry.capacity)
    reserve = Int(capacity * (1 - max(0.5, min(1, fill))))
    lastKeyRoom = PageMemory(byteCount: editor.pageSize)
    scratch = editor.treeScratch
    addLevel()
  }

  private func addLevel() {
    let level = Level(
      memory: PageMemory(byteCount: editor.pageSize), bound: nil,
      boundRoom: PageMemory(byteCount: editor.pageSize + 4))
    clear(level.node, level: levels.count)
    levels.append(level)
  }

  private func clear(_ node: MutablePage, level: Int) {
    node.initialize(
      level == 0 ? Layout.leafType : Layout.innerType, level: level, commit: editor.commit,
      in: editor.space.geometry)
  }

  /// Adds an entry; its key must be above all before.
  func append(_ value: UnsafeRawBufferPointer, for key: Layout.Key) throws(StorageError) {
    if let lastKey, !Layout.isAscending(lastKey, key) {
      throw .invalidArgument("the keys of a tree that is built must ascend; one does not")
    }
    let payload = try payload(for: value)
    if !append(key, payload, toLevel: 0) {
      guard let lastKey else { return }
      // The shortest key that separates the leaves.
      try close(0, nextBound: Layout.separator(between: lastKey, and: key))
      _ = append(key, payload, toLevel: 0)
    }
    lastKey = Layout.copy(key, to: lastKeyRoom.base)
    tree.state.count += 1
  }

  /// Adds an entry to the node being filled.
  ///
  /// - Returns: `false` if the node has enough. An empty node takes any entry.
  private func append(
    _ key: Layout.Key, _ payload: UnsafeRawBufferPointer, toLevel level: Int
  ) -> Bool {
    let node = levels[level].node
    // A few entries go into every node, whatever the fill: an inner one needs two children.
    if reserve > 0, node.count >= 4, node.freeBytes < reserve { return false }
    // The first entry of an inner node has no bound in it; its parent has.
    return Layout.append(
      level > 0 && node.count == 0 ? Layout.lowestKey : key, payload, to: node, scratch)
  }

  private func payload(
    for value: UnsafeRawBufferPointer
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    if value.count <= editor.space.geometry.inlineValueLimit {
      return ValuePayload.encode(inline: value, in: scratch.payload)
    }
    tree.state.hasLongValues = true
    pageCount += value.count / editor.space.geometry.capacity
    let overflow: ValuePayload.Overflow
    if let direct = try directPages() {
      overflow = try OverflowRun.store(value, around: direct, with: editor)
    } else {
      overflow = try OverflowRun.store(value, with: editor)
    }
    return ValuePayload.encode(overflow, in: scratch.payload)
  }

  /// Hands the node at `level` over and begins the next one.
  private func close(_ level: Int, nextBound: Layout.Key?) throws(StorageError) {
    let node = levels[level].node
    let id = try handOver(node.page)
    // In room of the level's own: handing over may go on upwards.
    let room = levels[level].boundRoom.base + editor.pageSize
    room.setU32(id.rawValue, at: 0)
    let child = UnsafeRawBufferPointer(start: room, count: 4)
    if level + 1 == levels.count { addLevel() }
    try addChild(child, bound: levels[level].bound, toLevel: level + 1)
    clear(node, level: level)
    levels[level].bound = nextBound.map { Layout.copy($0, to: levels[level].boundRoom.base) }
  }

  private func addChild(
    _ child: UnsafeRawBufferPointer, bound: Layout.Key?, toLevel level: Int
  ) throws(StorageError) {
    let key = bound ?? Layout.lowestKey
    guard !append(key, child, toLevel: level) else { return }
    try close(level, nextBound: key)
    _ = append(key, child, toLevel: level)
  }

  private func handOver(_ node: Page) throws(StorageError) -> PageID {
    pageCount += 1
    if let direct = try directPages() {
      let id = try editor.takePage(for: direct)
      try direct.put(node, at: id)
      return id
    }
    let id = try editor.takePage()
    let page = editor.create(
      node.level == 0 ? Layout.leafType : Layout.innerType, level: node.level, at: id)
    page.base.copyMemory(from: node.base, byteCount: editor.pageSize)
    return id
  }

  private func directPages() throws(StorageError) -> DirectPages? {
    guard pageCount > loggedPageLimit else { return nil }
    return try editor.directPages()
  }

  /// Hands over what is left; the topmost node becomes the content of the tree's root page.
  func finish() throws(StorageError) {
    var level = 0
    while level + 1 < levels.count {
      try close(level, nextBound: nil)
      level += 1
    }
    let root = try editor.writable(tree.state.root)
    root.base.copyMemory(from: levels[level].memory.base, byteCount: editor.pageSize)
    tree.state.changeCount += 1
    try editor.flushDirectPages()
  }
}

/// Fills a record tree that is being built, in ascending order of keys.
///
/// Made by ``WriteTransaction/buildRecordTree(_:fill:_:)``, and usable only there.
public struct RecordTreeBuilder: ~Copyable {
  let builder: TreeBuilder<RecordLayout>
  let editor: PageEditor

  /// Adds an entry.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if the key is not above all before; an error of
  ///   the disk. The transaction can then only be aborted.
  /// - Complexity: O(1), amortised.
  public borrowing func append(
    _ value: UnsafeRawBufferPointer, for key: Int64
  ) throws(StorageError) {
    try editor.operate { () throws(StorageError) in try builder.append(value, for: key) }
  }

  /// Adds an entry with the array's bytes.
  public borrowing func append(_ value: [UInt8], for key: Int64) throws(StorageError) {
    try value.withRawBytes { value throws(StorageError) in try append(value, for: key) }
  }
}

/// Fills an index tree that is being built, in ascending order of keys.
///
/// Made by ``WriteTransaction/buildIndexTree(_:fill:_:)``, and usable only there.
public struct IndexTreeBuilder: ~Copyable {
  let builder: TreeBuilder<IndexLayout>
  let editor: PageEditor

  /// Adds an entry.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if the key is not above all before;
  ///   ``StorageError/keyTooLong(byteCount:limit:)``; an error of the disk. The transaction can
  ///   then only be aborted.
  /// - Complexity: O(1), amortised.
  public borrowing func append(
    _ value: UnsafeRawBufferPointer, for key: UnsafeRawBufferPointer
  ) throws(StorageError) {
    let limit = editor.space.geometry.keyLimit
    try editor.operate { () throws(StorageError) in
      guard key.count <= limit else { throw .keyTooLong(byteCount: key.count, limit: limit) }
      try builder.append(value, for: key)
    }
  }

  /// Appends entries without values, with the keys that `next` returns one after the other, until
  /// it returns `nil`. A key is valid until the next call.
  ///
  /// - Throws: the errors of appending them one by one.
  public borrowing func append(
    keys next: () -> UnsafeRawBufferPointer?
  ) throws(StorageError) {
    let limit = editor.space.geometry.keyLimit
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    // In portions, since memory that others give up waits for an operation to end.
    var isAtEnd = false
    while !isAtEnd {
      isAtEnd = try editor.operate { () throws(StorageError) in
        for _ in 0..<256 {
          guard let key = next() else { return true }
          guard key.count <= limit else { throw .keyTooLong(byteCount: key.count, limit: limit) }
          try builder.append(nothing, for: key)
        }
        return false
      }
    }
  }

  /// Adds an entry with the arrays' bytes.
  public borrowing func append(_ value: [UInt8], for key: [UInt8]) throws(StorageError) {
    try value.withRawBytes { value throws(StorageError) in
      try key.withRawBytes { key throws(StorageError) in try append(value, for: key) }
    }
  }
}
