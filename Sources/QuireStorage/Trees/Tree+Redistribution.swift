// Sharing out: a node that is full gives entries to a neighbour that has room, before it is split.
//
// Splitting alone leaves nodes 69 % full when keys arrive in random order. With the neighbours'
// help a node is split only when both beside it have hardly any room, and they then fill the two
// halves: nodes are 87 % full, and a fifth of the pages are saved (decision 0006).
//
// What moves are entries at the edge: their cells leave holes in one node, which later cells fill,
// and lie one after the other in the other, so that a commit has little to log.
//
// Both nodes and their parent are changed in copies. If anything does not fit, which depends on
// prefixes and on the new bound in the parent, which may be longer than the old, the copies are
// forgotten and the node is split.

extension Tree {
  /// Has a neighbour make room for an entry that a node, at `depth` of the path, has refused.
  ///
  /// - Returns: `false` when the node has to be split.
  func insertBySharing(
    _ key: Layout.Key, _ payload: UnsafeRawBufferPointer, at slot: Int, in id: PageID,
    depth: Int, _ scratch: NodeScratch, with editor: PageEditor
  ) throws(StorageError) -> Bool {
    let step = editor.path[depth - 1]
    let parent = try space.page(step.page)
    let node = try space.page(id)
    let entry = NodeSharing<Layout>.Entry(
      key: key, payload: payload, slot: slot,
      byteCount: Layout.byteCount(of: key, payload, in: node))
    // The emptier one first; at least some entries should come to lie there, or the next insertion
    // would move the bound again.
    let enough = space.geometry.capacity / 12
    let left = try freeBytes(step.slot - 1, of: parent) ?? 0
    let right = try freeBytes(step.slot + 1, of: parent) ?? 0
    let isRight = right > left
    if max(left, right) >= enough, try share(step, isRight, entry, scratch, with: editor) {
      return true
    }
    if min(left, right) >= enough, try share(step, !isRight, entry, scratch, with: editor) {
      return true
    }
    return false
  }

  /// Fills two nodes that were one until now from their neighbours, so that all four are as full.
  ///
  /// - Parameter slot: of the left one of the two in their parent.
  func shareAfterSplit(
    at slot: Int, of parentID: PageID, _ scratch: NodeScratch, with editor: PageEditor
  ) throws(StorageError) {
    let parent = try space.page(parentID)
    let outerLeft = try freeBytes(slot - 1, of: parent)
    let outerRight = try freeBytes(slot + 2, of: parent)
    let inner = (try freeBytes(slot, of: parent) ?? 0) + (try freeBytes(slot + 1, of: parent) ?? 0)
    let count = 2 + (outerLeft == nil ? 0 : 1) + (outerRight == nil ? 0 : 1)
    let average = (inner + (outerLeft ?? 0) + (outerRight ?? 0)) / count
    if let outerLeft, outerLeft < average {
      let step = PageEditor.PathStep(page: parentID, slot: slot - 1)
      _ = try share(step, true, nil, moving: average - outerLeft, scratch, with: editor)
    }
    if let outerRight, outerRight < average {
      let step = PageEditor.PathStep(page: parentID, slot: slot + 2)
      _ = try share(step, false, nil, moving: average - outerRight, scratch, with: editor)
    }
  }

  private func freeBytes(_ slot: Int, of parent: Page) throws(StorageError) -> Int? {
    guard slot >= 0, slot < parent.count else { return nil }
    return try childNode(at: slot, of: parent).1.freeBytes
  }

  /// Moves entries of a child to the one right or left of it.
  ///
  /// - Parameters:
  ///   - step: the parent and the child's slot in it.
  ///   - entry: goes into either of them.
  ///   - byteCount: what to move; by default as much as makes both equally full.
  /// - Returns: `false`, with nothing changed, when that cannot be done.
  private func share(
    _ step: PageEditor.PathStep, _ toRight: Bool, _ entry: NodeSharing<Layout>.Entry?,
    moving byteCount: Int? = nil,
    _ scratch: NodeScratch, with editor: PageEditor
  ) throws(StorageError) -> Bool {
    let pageSize = editor.pageSize
    let parent = try space.page(step.page)
    let (id, node) = try childNode(at: step.slot, of: parent)
    let (otherID, other) = try childNode(at: step.slot + (toRight ? 1 : -1), of: parent)
    let memory = PageMemory(byteCount: 3 * pageSize + scratch.keyRoom)
    defer { withExtendedLifetime(memory) {} }
    let (from, to, above) = (
      MutablePage(memory.base), MutablePage(memory.base + pageSize),
      MutablePage(memory.base + 2 * pageSize)
    )
    from.base.copyMemory(from: node.base, byteCount: pageSize)
    to.base.copyMemory(from: other.base, byteCount: pageSize)
    above.base.copyMemory(from: parent.base, byteCount: pageSize)
    let sharing = NodeSharing<Layout>(
      from: from, to: to, toRight: toRight, parent: above, boundSlot: step.slot + (toRight ? 1 : 0),
      boundRoom: memory.base + 3 * pageSize, scratch: scratch)
    let difference = other.freeBytes - node.freeBytes + (entry?.byteCount ?? 0)
    guard sharing.move(byteCount ?? difference / 2, adding: entry) else { return false }
    for (id, page) in [(id, from), (otherID, to), (step.page, above)] {
      let target = try editor.writable(id)
      page.commit = target.commit
      target.base.copyMemory(from: page.base, byteCount: pageSize)
    }
    return true
  }
}

/// Two neighbours and their parent while entries move from one to the other.
struct NodeSharing<Layout: NodeLayout> {
  let from: MutablePage
  let to: MutablePage
  let toRight: Bool
  let parent: MutablePage
  /// The slot in the parent that has the bound between the two.
  let boundSlot: Int
  let boundRoom: UnsafeMutableRawPointer
  let scratch: NodeScratch

  /// An entry that the giving node has refused.
  struct Entry {
    let key: Layout.Key
    let payload: UnsafeRawBufferPointer
    let slot: Int
    let byteCount: Int
  }

  /// Moves about so many bytes, the new entry among them if it lies there.
  ///
  /// - Returns: `false`, with everything half done, when something does not fit.
  func move(_ byteCount: Int, adding entry: Entry?) -> Bool {
    guard isInOrder else { return false }
    let isInner = from.page.level > 0
    let plan = plan(byteCount, entry)
    guard plan.count > 0 || plan.includesEntry, plan.count < from.count else { return false }
    for _ in 0..<plan.count {
      let isMoved = isInner ? moveInnerEntry() : moveLeafEntry()
      guard isMoved else { return false }
    }
    if let entry, !insert(entry, plan.includesEntry, moved: plan.count) { return false }
    return isInner || replaceLeafBound()
  }

  /// Only a damaged file has neighbours that are not.
  private var isInOrder: Bool {
    let (left, right) = toRight ? (from.page, to.page) : (to.page, from.page)
    let lowest = left.level == 0 ? 0 : 1
    guard left.count > lowest, right.count > lowest else { return false }
    let bound = Layout.key(at: boundSlot, in: parent.page, room: boundRoom)
    guard
      Layout.isAscending(
        Layout.key(at: left.count - 1, in: left, room: scratch.firstKey), bound)
    else { return false }
    let first = Layout.key(at: lowest, in: right, room: scratch.firstKey)
    return lowest == 0 ? !Layout.isAscending(first, bound) : Layout.isAscending(bound, first)
  }

  /// The number of entries to move from the edge, and whether the new one is moved with them.
  private func plan(_ byteCount: Int, _ entry: Entry?) -> (count: Int, includesEntry: Bool) {
    var count = 0
    var moved = 0
    var includesEntry = false
    while count < from.count - 1 {
      // The position of the new entry counted from the edge.
      let isNext =
        entry.map { !includesEntry && (toRight ? from.count - $0.slot : $0.slot) == count } ?? false
      let next =
        isNext
        ? entry?.byteCount ?? 0
        : Layout.byteCount(at: toRight ? from.count - 1 - count : count, in: from.page)
      // To the nearest entry, and at least one.
      if moved > 0, moved + next / 2 > byteCount { break }
      moved += next
      if isNext { includesEntry = true } else { count += 1 }
    }
    if from.page.level > 0, let entry {
      // The first entry of an inner node has its key in the parent: the new entry is never the
      // first.
      if toRight, includesEntry, from.count - entry.slot == count { includesEntry = false }
      if !toRight, !includesEntry, entry.slot == count { includesEntry = true }
    }
    return (count, includesEntry)
  }

  private func moveLeafEntry() -> Bool {
    let slot = toRight ? from.count - 1 : 0
    let key = Layout.key(at: slot, in: from.page, room: scratch.firstKey)
    guard
      Layout.insert(
        Layout.copy(key, to: boundRoom), Layout.payload(at: slot, in: from.page),
        at: toRight ? 0 : to.count, in: to, scratch)
    else { return false }
    Layout.remove(at: slot, in: from)
    return true
  }

  /// An entry goes through the parent: what was the bound gets its slot in one node, and the key
  /// that leaves the other becomes the bound.
  private func moveInnerEntry() -> Bool {
    // The first entry of the right one, which has no key there, gets the bound or gives one.
    let right = toRight ? to : from
    let source = toRight ? from.count - 1 : 1
    let bound = Layout.key(at: boundSlot, in: parent.page, room: boundRoom)
    guard
      insertChild(
        Layout.child(at: 0, in: right.page), bound, at: toRight ? 1 : to.count, in: to)
    else { return false }
    setChild(Layout.child(at: source, in: from.page), at: 0, in: right)
    let key = Layout.key(at: source, in: from.page, room: scratch.firstKey)
    guard replaceBound(by: Layout.copy(key, to: boundRoom)) else { return false }
    Layout.remove(at: source, in: from)
    return true
  }

  private func setChild(_ id: PageID, at slot: Int, in node: MutablePage) {
    let payload = Layout.payload(at: slot, in: node.page).baseAddress.unsafelyUnwrapped
    UnsafeMutableRawPointer(mutating: payload).setU32(id.rawValue, at: 0)
  }

  /// - Parameter moved: how many entries have left the node.
  private func insert(_ entry: Entry, _ isMoved: Bool, moved: Int) -> Bool {
    // In the node that has given, entries have left at its end, or at its beginning.
    guard isMoved else {
      return Layout.insert(
        entry.key, entry.payload, at: toRight ? entry.slot : entry.slot - moved, in: from, scratch)
    }
    // To the right they came before the others, to the left after them.
    let slot =
      toRight ? entry.slot - from.count : to.count - moved + entry.slot
    return Layout.insert(entry.key, entry.payload, at: slot, in: to, scratch)
  }

  private func replaceLeafBound() -> Bool {
    let (left, right) = toRight ? (from.page, to.page) : (to.page, from.page)
    let last = Layout.key(at: left.count - 1, in: left, room: scratch.firstKey)
    let first = Layout.key(at: 0, in: right, room: scratch.secondKey)
    return replaceBound(by: Layout.copy(Layout.separator(between: last, and: first), to: boundRoom))
  }

  private func replaceBound(by bound: Layout.Key) -> Bool {
    let child = Layout.child(at: boundSlot, in: parent.page)
    Layout.remove(at: boundSlot, in: parent)
    guard Layout.isSlot(boundSlot, of: bound, in: parent.page) else { return false }
    return insertChild(child, bound, at: boundSlot, in: parent)
  }

  private func insertChild(
    _ id: PageID, _ bound: Layout.Key, at slot: Int, in node: MutablePage
  ) -> Bool {
    // In bytes of its own, as the child may come from the node that changes.
    var number = id.rawValue.littleEndian
    return withUnsafeBytes(of: &number) {
      Layout.insert(bound, $0, at: slot, in: node, scratch)
    }
  }
}
