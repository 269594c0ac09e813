/// A position in a tree, with the way down to it.
///
/// Moving is amortised O(1); seeking is O(log *n*). In a transaction a cursor goes stale with the
/// first change to its tree: it then refuses everything but being placed anew.
struct TreeCursor<Layout: NodeLayout> {
  let tree: Tree<Layout>
  private var path: [Step] = []
  /// The leaf, kept in memory between operations by its frame; so are the nodes on the way.
  private var leaf: Page?
  private var leafFrame: PageFrame?
  private var leafID = PageID.identity
  private var slot = 0
  private var position = Position.unplaced
  private var changeCount = 0
  /// The overflow value last read, which lives until the next one.
  private var assembled: PageMemory?

  private struct Step {
    var node: Page
    var frame: PageFrame
    var slot: Int
  }

  private enum Position { case unplaced, beforeFirst, atEntry, afterLast }
  private enum Edge { case first, last }

  init(_ tree: Tree<Layout>) {
    self.tree = tree
  }

  var isAtEntry: Bool { position == .atEntry }

  // MARK: Placing

  mutating func first() throws(StorageError) -> Bool {
    try restart()
    let ticket = try tree.space.enter()
    defer { tree.space.leave(ticket) }
    try descend(from: tree.state.root, try tree.rootNode(), to: .first)
    return try settleForward()
  }

  mutating func last() throws(StorageError) -> Bool {
    try restart()
    let ticket = try tree.space.enter()
    defer { tree.space.leave(ticket) }
    try descend(from: tree.state.root, try tree.rootNode(), to: .last)
    return try settleBackward()
  }

  /// To the first entry at or after `key`.
  mutating func seek(to key: Layout.Key) throws(StorageError) -> Bool {
    let ticket = try tree.space.enter()
    defer { tree.space.leave(ticket) }
    slot = try descend(to: key).slot
    return try settleForward()
  }

  /// To the last entry at or before `key`.
  mutating func seek(atOrBefore key: Layout.Key) throws(StorageError) -> Bool {
    let ticket = try tree.space.enter()
    defer { tree.space.leave(ticket) }
    let (slot, isFound) = try descend(to: key)
    self.slot = slot
    if isFound { return try settleForward() }
    self.slot -= 1
    return try settleBackward()
  }

  // MARK: Moving

  @inline(__always)
  mutating func next() throws(StorageError) -> Bool {
    try checkFresh()
    switch position {
    case .atEntry:
      slot &+= 1
      return try settleForward()
    case .unplaced, .beforeFirst:
      return try first()
    case .afterLast:
      return false
    }
  }

  @inline(__always)
  mutating func previous() throws(StorageError) -> Bool {
    try checkFresh()
    switch position {
    case .atEntry:
      slot &-= 1
      return try settleBackward()
    case .unplaced, .afterLast:
      return try last()
    case .beforeFirst:
      return false
    }
  }

  // MARK: Reading

  /// The leaf and slot of the entry the cursor is at.
  @inline(__always)
  func entry() throws(StorageError) -> (leaf: Page, slot: Int, id: PageID) {
    try checkFresh()
    guard position == .atEntry, let leaf else {
      throw .invalidArgument(
        "the cursor is at no entry: place it, and read only after a move returned true")
    }
    return (leaf, slot, leafID)
  }

  /// To another entry of the leaf that the cursor is in.
  @inline(__always)
  mutating func moveWithinLeaf(to slot: Int) { self.slot = slot }

  /// The entry's value, borrowed from its page or from the cursor.
  @inline(__always)
  mutating func valueBytes() throws(StorageError) -> UnsafeRawBufferPointer {
    let (leaf, slot, id) = try entry()
    let payload = Layout.payload(at: slot, in: leaf)
    if let value = ValuePayload.inlineValue(of: payload) { return value }
    let memory = try tree.overflowValue(of: payload, in: id)
    assembled = memory
    return memory.bytes
  }

  // MARK: The way down

  private mutating func restart() throws(StorageError) {
    try tree.state.checkUsable()
    changeCount = tree.state.changeCount
    position = .unplaced
    path.removeAll(keepingCapacity: true)
  }

  @inline(__always)
  private func checkFresh() throws(StorageError) {
    try tree.state.checkUsable()
    guard position == .unplaced || changeCount == tree.state.changeCount else {
      throw .invalidArgument(
        "the tree was changed after the cursor was placed; place the cursor again")
    }
  }

  /// Descends to the leaf for `key`.
  ///
  /// - Returns: the first slot there at or after `key`, and whether it has that very key.
  private mutating func descend(
    to key: Layout.Key
  ) throws(StorageError) -> (slot: Int, isFound: Bool) {
    try restart()
    var id = tree.state.root
    var node = try tree.rootNode()
    while node.level > 0 {
      let slot = Layout.childSlot(for: key, in: node)
      path.append(Step(node: node, frame: node.frame, slot: slot))
      (id, node) = try tree.childNode(at: slot, of: node)
    }
    (leafID, leaf, leafFrame) = (id, node, node.frame)
    return Layout.find(key, in: node)
  }

  private mutating func descend(
    from start: PageID, _ startNode: Page, to edge: Edge
  ) throws(StorageError) {
    var (id, node) = (start, startNode)
    while node.level > 0 {
      let slot = edge == .first ? 0 : node.count - 1
      path.append(Step(node: node, frame: node.frame, slot: slot))
      (id, node) = try tree.childNode(at: slot, of: node)
    }
    (leafID, leaf, leafFrame) = (id, node, node.frame)
    slot = edge == .first ? 0 : node.count - 1
  }

  /// Accepts the slot if the leaf has it, else goes to the first entry of the leaves after.
  @inline(__always)
  private mutating func settleForward() throws(StorageError) -> Bool {
    if let leaf, slot < leaf.count {
      position = .atEntry
      return true
    }
    return try continueForward()
  }

  private mutating func continueForward() throws(StorageError) -> Bool {
    let ticket = try tree.space.enter()
    defer { tree.space.leave(ticket) }
    // In case that it fails: then it is at no entry.
    position = .unplaced
    while let step = path.last {
      guard step.slot + 1 < step.node.count else {
        path.removeLast()
        continue
      }
      path[path.count - 1].slot += 1
      let (id, node) = try tree.childNode(at: step.slot + 1, of: step.node)
      // Taken, not copied: a count less for each leaf.
      let (left, frame) = (leaf, leafFrame.take())
      defer { withExtendedLifetime(frame) {} }
      try descend(from: id, node, to: .first)
      if let left, let leaf { try tree.checkOrder(of: left, leaf, at: leafID) }
      return try settleForward()
    }
    position = .afterLast
    (leaf, leafFrame) = (nil, nil)
    return false
  }

  @inline(__always)
  private mutating func settleBackward() throws(StorageError) -> Bool {
    if leaf != nil, slot >= 0 {
      position = .atEntry
      return true
    }
    return try continueBackward()
  }

  private mutating func continueBackward() throws(StorageError) -> Bool {
    let ticket = try tree.space.enter()
    defer { tree.space.leave(ticket) }
    // In case that it fails: then it is at no entry.
    position = .unplaced
    while let step = path.last {
      guard step.slot > 0 else {
        path.removeLast()
        continue
      }
      path[path.count - 1].slot -= 1
      let (id, node) = try tree.childNode(at: step.slot - 1, of: step.node)
      let (right, frame) = (leaf, leafFrame.take())
      defer { withExtendedLifetime(frame) {} }
      try descend(from: id, node, to: .last)
      if let leaf, let right { try tree.checkOrder(of: leaf, right, at: leafID) }
      return try settleBackward()
    }
    position = .beforeFirst
    (leaf, leafFrame) = (nil, nil)
    return false
  }
}
