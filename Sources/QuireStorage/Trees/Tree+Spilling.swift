extension Tree {
  /// Moves the transaction's own nodes of one level out of memory, in the order of their keys. The
  /// root stays: the catalog has its number.
  func spill(
    level: Int, _ spill: inout PageEditor.Spill, with editor: PageEditor
  ) throws(StorageError) {
    try spillBelow(state.root, try rootNode(), level: level, &spill, with: editor)
  }

  private func spillBelow(
    _ id: PageID, _ start: Page, level: Int, _ spill: inout PageEditor.Spill,
    with editor: PageEditor
  ) throws(StorageError) {
    var node = start
    guard node.level > level else { return }
    for slot in 0..<node.count {
      if node.level > level + 1 {
        let (childID, child) = try childNode(at: slot, of: node)
        try spillBelow(childID, child, level: level, &spill, with: editor)
        continue
      }
      let childID = Layout.child(at: slot, in: node)
      guard editor.isOwn(childID) else { continue }
      let newID = try editor.moveOut(childID, &spill)
      guard newID != childID else { continue }
      node = try editor.writable(id).page
      UnsafeMutableRawPointer(mutating: Layout.payload(at: slot, in: node).baseAddress)?
        .setU32(newID.rawValue, at: 0)
    }
  }
}
