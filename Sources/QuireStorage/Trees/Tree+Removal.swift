extension Tree {
  /// Removes `key` and its value.
  ///
  /// - Returns: whether the key was there.
  func remove(_ borrowedKey: Layout.Key, with editor: PageEditor) throws(StorageError) -> Bool {
    let key = Layout.copy(borrowedKey, to: editor.treeScratch.key)
    let (id, _) = try descend(to: key, path: &editor.path)
    let found = try space.page(id)
    let (slot, isFound) = Layout.find(key, in: found)
    guard isFound else { return false }
    let leaf = try editor.writable(id)
    try releaseOverflow(of: Layout.payload(at: slot, in: leaf.page), in: id, with: editor)
    Layout.remove(at: slot, in: leaf)
    guard state.count > 0 else {
      throw .damaged(
        page: .catalogRoot, reason: "a tree has more entries than the catalog says")
    }
    state.count -= 1
    state.changeCount += 1
    try rebalance(id, depth: editor.path.count, with: editor)
    return true
  }

  /// Removes every entry; the tree keeps its root page only.
  func removeAll(with editor: PageEditor) throws(StorageError) {
    let root = try rootNode()
    try releaseContent(of: root, state.root, with: editor)
    try editor.writable(state.root).initialize(
      Layout.leafType, level: 0, commit: editor.commit, in: editor.space.geometry)
    state.count = 0
    state.changeCount += 1
  }

  /// Frees everything below a node: children, their content, and overflow runs.
  ///
  /// The recursion is as deep as the tree, as levels strictly decrease.
  private func releaseContent(
    of node: Page, _ id: PageID, with editor: PageEditor
  ) throws(StorageError) {
    for slot in 0..<node.count {
      if node.level == 0 {
        try releaseOverflow(of: Layout.payload(at: slot, in: node), in: id, with: editor)
      } else if node.level == 1, !state.hasLongValues {
        // Nothing in the leaves is of interest: they need not even be read.
        try editor.release(Layout.child(at: slot, in: node))
      } else {
        let (childID, child) = try childNode(at: slot, of: node)
        try releaseContent(of: child, childID, with: editor)
        try editor.release(childID)
      }
    }
  }

  /// Puts a node that has lost an entry in order: an empty one goes, a sparse one joins a
  /// neighbour.
  func rebalance(
    _ id: PageID, depth: Int, with editor: PageEditor
  ) throws(StorageError) {
    guard depth > 0 else { return try collapseRoot(with: editor) }
    let node = try space.page(id)
    let step = editor.path[depth - 1]
    if node.count == 0 {
      try editor.release(id)
      try removeChild(at: step.slot, of: step.page, with: editor)
      return try rebalance(step.page, depth: depth - 1, with: editor)
    }
    guard isSparse(node) else { return }
    let parent = try space.page(step.page)
    // The left neighbour first: its page is lower in the tree's order, so the right one is freed.
    for left in [step.slot - 1, step.slot] where left >= 0 && left + 1 < parent.count {
      if try merge(left, of: parent, step.page, with: editor) {
        return try rebalance(step.page, depth: depth - 1, with: editor)
      }
    }
  }

  private func isSparse(_ node: Page) -> Bool {
    space.geometry.capacity - node.freeBytes < space.geometry.capacity / 3
  }

  /// Joins the children at `slot` and `slot + 1` if one page can hold both.
  private func merge(
    _ slot: Int, of parent: Page, _ parentID: PageID, with editor: PageEditor
  ) throws(StorageError) -> Bool {
    let scratch = editor.treeScratch
    let (leftID, left) = try childNode(at: slot, of: parent)
    let (rightID, right) = try childNode(at: slot + 1, of: parent)
    let bound = Layout.key(at: slot + 1, in: parent, room: scratch.key)
    guard Layout.canMerge(right, bound: bound, into: left, scratch) else { return false }
    Layout.merge(right, bound: bound, into: try editor.writable(leftID), scratch)
    try editor.release(rightID)
    try removeChild(at: slot + 1, of: parentID, with: editor)
    return true
  }

  private func removeChild(
    at slot: Int, of id: PageID, with editor: PageEditor
  ) throws(StorageError) {
    let node = try editor.writable(id)
    Layout.remove(at: slot, in: node)
    if slot == 0, node.count > 0 { Layout.clearFirstKey(in: node) }
  }

  /// Removes levels with a single child, and turns a root without children into a leaf.
  private func collapseRoot(with editor: PageEditor) throws(StorageError) {
    var root = try rootNode()
    while root.level > 0, root.count <= 1 {
      let page = try editor.writable(state.root)
      if root.count == 0 {
        page.initialize(
          Layout.leafType, level: 0, commit: editor.commit, in: editor.space.geometry)
      } else {
        let (childID, child) = try childNode(at: 0, of: root)
        page.base.copyMemory(from: child.base, byteCount: editor.pageSize)
        page.commit = editor.commit
        try editor.release(childID)
      }
      root = page.page
    }
  }
}
