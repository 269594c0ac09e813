extension Tree {
  /// Stores `value` under `key`, in place of an earlier value.
  ///
  /// - Returns: whether there was an earlier value.
  func put(
    _ value: UnsafeRawBufferPointer, for borrowedKey: Layout.Key, with editor: PageEditor
  ) throws(StorageError) -> Bool {
    // The key and the value may lie in pages that are about to change.
    let scratch = editor.treeScratch
    let key = Layout.copy(borrowedKey, to: scratch.key)
    let payload = try makePayload(value, scratch, with: editor)
    let (id, atRightEdge) = try descend(to: key, path: &editor.path)
    let leaf = try editor.writable(id)
    let (slot, exists) = Layout.find(key, in: leaf.page)
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
    if !Layout.insert(key, payload, at: slot, in: leaf, scratch) {
      try insertByDividing(
        key, payload, at: slot, in: id, leaf, atRightEdge: atRightEdge, depth: editor.path.count,
        scratch, with: editor)
    }
    return exists
  }

  private func makePayload(
    _ value: UnsafeRawBufferPointer, _ scratch: NodeScratch, with editor: PageEditor
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    if value.count <= space.geometry.inlineValueLimit {
      return ValuePayload.encode(inline: value, in: scratch.payload)
    }
    state.hasLongValues = true
    let overflow = try OverflowRun.store(value, with: editor)
    return ValuePayload.encode(overflow, in: scratch.payload)
  }

  /// Descends to the leaf for `key`, and records the path.
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

  /// Shares out or splits a node, at `depth` of the path, that has refused an entry, and upwards as
  /// needed.
  func insertByDividing(
    _ newKey: Layout.Key, _ newPayload: UnsafeRawBufferPointer, at newSlot: Int,
    in nodeID: PageID, _ fullNode: MutablePage, atRightEdge: Bool, depth nodeDepth: Int,
    _ scratch: NodeScratch, with editor: PageEditor
  ) throws(StorageError) {
    var (key, payload, slot, id, node) = (newKey, newPayload, newSlot, nodeID, fullNode)
    var depth = nodeDepth
    while true {
      let isAppend = atRightEdge && slot == node.count
      if depth == 0 {
        (id, node) = try pushRootDown(node, scratch, with: editor)
        depth = 1
      } else if !isAppend,
        try insertBySharing(
          key, payload, at: slot, in: id, depth: depth, scratch, with: editor)
      {
        return
      }
      let level = node.page.level
      let (rightID, right) = try editor.allocate(Layout.type(ofLevel: level), level: level)
      key = Layout.split(
        node, to: right, inserting: key, payload, at: slot,
        isAppend: isAppend, scratch)
      // The right node is now to be entered in the parent.
      payload = editor.childPayload(rightID)
      depth -= 1
      id = editor.path[depth].page
      slot = editor.path[depth].slot + 1
      // Not so only in a damaged file: each node alone was found to be in order, this is about two.
      guard Layout.isSlot(slot, of: key, in: try space.page(id)) else {
        throw .damaged(page: id, reason: "a key lies outside the bounds of entry \(slot - 1)")
      }
      node = try editor.writable(id)
      if Layout.insert(key, payload, at: slot, in: node, scratch) {
        if !isAppend { try shareAfterSplit(at: slot - 1, of: id, scratch, with: editor) }
        return
      }
    }
  }

  /// Moves the root's content to a new page and makes the root that page's parent.
  private func pushRootDown(
    _ root: MutablePage, _ scratch: NodeScratch, with editor: PageEditor
  ) throws(StorageError) -> (PageID, MutablePage) {
    let level = root.page.level
    guard level < Tree.depthLimit else {
      throw .damaged(page: state.root, reason: "the tree is deeper than any tree can be")
    }
    let (id, child) = try editor.allocate(Layout.type(ofLevel: level), level: level)
    child.base.copyMemory(from: root.base, byteCount: editor.pageSize)
    root.initialize(
      Layout.innerType, level: level + 1, commit: editor.commit, in: editor.space.geometry)
    // An empty node takes any entry.
    _ = Layout.insert(Layout.lowestKey, editor.childPayload(id), at: 0, in: root, scratch)
    editor.path.insert(PageEditor.PathStep(page: state.root, slot: 0), at: 0)
    return (id, child)
  }

  /// Frees the overflow run of a value that is about to be removed.
  func releaseOverflow(
    of payload: UnsafeRawBufferPointer, in leaf: PageID, with editor: PageEditor
  ) throws(StorageError) {
    guard let overflow = ValuePayload.overflow(of: payload) else { return }
    try OverflowRun(overflow, referredToBy: leaf, in: space).release(with: editor)
  }
}
