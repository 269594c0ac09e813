extension Tree {
  /// Stores `value` under `key`, in place of an earlier value.
  ///
  /// - Returns: whether there was an earlier value.
  func put(
    _ value: UnsafeRawBufferPointer, for borrowedKey: Layout.Key, with editor: PageEditor
  ) throws(StorageError) -> Bool {
    // The key and the value may lie in pages that are about to change.
    let key = Layout.copy(borrowedKey, to: editor.keyScratch())
    let payload = try makePayload(value, with: editor)
    let (id, atRightEdge) = try descend(to: key, path: &editor.path)
    let leaf = try editor.writable(id)
    let slot = Layout.lowerBound(of: key, from: 0, in: leaf.page)
    let exists = slot < leaf.count && Layout.areEqual(Layout.key(at: slot, in: leaf.page), key)
    if exists {
      let old = Layout.payload(at: slot, in: leaf.page)
      try releaseOverflow(of: old, in: id, with: editor)
      if old.count == payload.count {
        UnsafeMutableRawBufferPointer(mutating: old).copyMemory(from: payload)
        state.changeCount += 1
        return true
      }
      Layout.remove(at: slot, in: leaf)
    } else {
      state.count += 1
    }
    state.changeCount += 1
    try insert(
      key, payload, at: slot, in: id, depth: editor.path.count, atRightEdge: atRightEdge,
      with: editor)
    return exists
  }

  private func makePayload(
    _ value: UnsafeRawBufferPointer, with editor: PageEditor
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    if value.count <= space.geometry.inlineValueLimit {
      return ValuePayload.encode(inline: value, in: editor.payloadScratch())
    }
    state.hasLongValues = true
    let overflow = try OverflowRun.store(value, with: editor)
    return ValuePayload.encode(overflow, in: editor.payloadScratch())
  }

  /// Goes down to the leaf where `key` belongs, noting the way.
  ///
  /// - Returns: the leaf, and whether every step took the last child.
  func descend(
    to key: Layout.Key, path: inout [PageEditor.PathStep]
  ) throws(StorageError) -> (PageID, atRightEdge: Bool) {
    path.removeAll(keepingCapacity: true)
    var id = state.root
    var node = try rootNode()
    var atRightEdge = true
    while node.level > 0 {
      let slot = Layout.childSlot(for: key, in: node)
      atRightEdge = atRightEdge && slot == node.count - 1
      path.append(PageEditor.PathStep(page: id, slot: slot))
      (id, node) = try childNode(at: slot, of: node)
    }
    return (id, atRightEdge)
  }

  /// Inserts an entry into the node at `depth` on the path, splitting upwards as needed.
  private func insert(
    _ key: Layout.Key, _ payload: UnsafeRawBufferPointer, at slot: Int, in nodeID: PageID,
    depth: Int, atRightEdge: Bool, with editor: PageEditor
  ) throws(StorageError) {
    var id = nodeID
    var depth = depth
    var node = try editor.writable(id)
    let needed = Layout.byteCount(of: key, payloadByteCount: payload.count, level: node.page.level)
    if needed <= node.freeBytes {
      if needed > Layout.contiguousFreeBytes(of: node.page) { rebuild(node, with: editor) }
      Layout.insert(key, payload, at: slot, in: node)
      return
    }
    if depth == 0 {
      (id, node) = try pushRootDown(node, with: editor)
      depth = 1
    }
    let (rightID, right) = try editor.allocate(
      node.page.level == 0 ? Layout.leafType : Layout.innerType, level: node.page.level)
    if atRightEdge, slot == node.count {
      // Appending: the left page stays full, the right one has all its room for what comes next.
      Layout.insert(key, payload, at: 0, in: right)
    } else {
      split(node, to: right, inserting: key, payload, at: slot, with: editor)
    }
    let first = Layout.key(at: 0, in: right.page)
    let separator =
      node.page.level > 0
      ? first
      : Layout.separator(between: Layout.key(at: node.count - 1, in: node.page), and: first)
    let parent = editor.path[depth - 1]
    // The separator is borrowed from the right page, which stays as it is until the parent has it.
    let child = editor.childPayload(rightID)
    try insert(
      separator, child, at: parent.slot + 1, in: parent.page, depth: depth - 1,
      atRightEdge: atRightEdge, with: editor)
    if right.page.level > 0 { Layout.clearFirstKey(in: right) }
  }

  /// Moves the root's content to a new page and makes the root that page's parent.
  private func pushRootDown(
    _ root: MutablePage, with editor: PageEditor
  ) throws(StorageError) -> (PageID, MutablePage) {
    let level = root.page.level
    guard level < Tree.depthLimit else {
      throw .damaged(page: state.root, reason: "the tree is deeper than any tree can be")
    }
    let (id, child) = try editor.allocate(
      level == 0 ? Layout.leafType : Layout.innerType, level: level)
    child.base.copyMemory(from: root.base, byteCount: editor.pageSize)
    root.initialize(
      Layout.innerType, level: level + 1, commit: editor.commit, pageSize: editor.pageSize)
    Layout.insert(Layout.lowestKey, editor.childPayload(id), at: 0, in: root)
    editor.path.insert(PageEditor.PathStep(page: state.root, slot: 0), at: 0)
    return (id, child)
  }

  /// Distributes a full node's entries and a new one over the node and `right`, by bytes, evenly.
  private func split(
    _ node: MutablePage, to right: MutablePage, inserting key: Layout.Key,
    _ payload: UnsafeRawBufferPointer, at slot: Int, with editor: PageEditor
  ) {
    let old = putAside(node, with: editor)
    let newBytes = Layout.byteCount(of: key, payloadByteCount: payload.count, level: old.level)
    let leftCount = splitPoint(of: old, newBytes: newBytes, at: slot)
    node.initialize(
      old.level == 0 ? Layout.leafType : Layout.innerType, level: old.level,
      commit: editor.commit, pageSize: editor.pageSize)
    for index in 0...old.count {
      let target = index < leftCount ? node : right
      if index == slot {
        Layout.insert(key, payload, at: target.count, in: target)
      } else {
        let source = index < slot ? index : index - 1
        Layout.insert(
          Layout.key(at: source, in: old), Layout.payload(at: source, in: old), at: target.count,
          in: target)
      }
    }
  }

  /// How many of the entries, the new one at `slot` included, stay on the left.
  ///
  /// An entry takes at most half a page, so halving the bytes to within one entry always fits.
  private func splitPoint(of node: Page, newBytes: Int, at slot: Int) -> Int {
    let capacity = space.geometry.capacity
    let total = capacity - node.freeBytes + newBytes
    var left = 0
    var best = (leftCount: 1, larger: Int.max)
    for index in 0..<node.count {
      if index == slot {
        left += newBytes
      } else {
        left += Layout.byteCount(at: index < slot ? index : index - 1, in: node)
      }
      let larger = max(left, total - left)
      if larger < best.larger { best = (index + 1, larger) }
    }
    assert(best.larger <= capacity)
    return best.leftCount
  }

  /// Copies a node aside, so that its page can be filled anew.
  private func putAside(_ node: MutablePage, with editor: PageEditor) -> Page {
    let room = editor.nodeScratch()
    room.copyMemory(from: node.base, byteCount: editor.pageSize)
    return Page(UnsafeRawPointer(room))
  }

  /// Closes the holes between a node's cells.
  func rebuild(_ node: MutablePage, with editor: PageEditor) {
    let old = putAside(node, with: editor)
    node.initialize(
      old.level == 0 ? Layout.leafType : Layout.innerType, level: old.level,
      commit: editor.commit, pageSize: editor.pageSize)
    for slot in 0..<old.count {
      Layout.insert(
        Layout.key(at: slot, in: old), Layout.payload(at: slot, in: old), at: slot, in: node)
    }
  }

  /// Gives back the run of a value that is about to go.
  func releaseOverflow(
    of payload: UnsafeRawBufferPointer, in leaf: PageID, with editor: PageEditor
  ) throws(StorageError) {
    guard let overflow = ValuePayload.overflow(of: payload) else { return }
    try OverflowRun(overflow, referredToBy: leaf, in: space).release(with: editor)
  }
}
