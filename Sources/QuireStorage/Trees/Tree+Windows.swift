// Filling a window of leaves anew with keys of a run (`Tree+Runs.swift`, `RunWindow.swift`).

extension Tree where Layout == IndexLayout {
  /// Fills the leaf at the end of the path anew, with leaves beside it and keys of a run.
  ///
  /// - Parameter leafRunCount: how many keys of the run belong into the leaf.
  /// - Returns: how many keys are in, or `nil`, with nothing changed, when that cannot be done.
  func fillWindow(
    around id: PageID, with run: KeyRun, _ leafRunCount: Int, _ scratch: NodeScratch,
    with editor: PageEditor
  ) throws(StorageError) -> Int? {
    let slots = try windowSlots(around: id, run, leafRunCount, with: editor)
    let count = slots.count
    let pageSize = editor.pageSize
    // The leaves and the parent as they are, and bounds.
    let roomByteCount = RunWindow.roomByteCount(runCount: run.count)
    let memory = PageMemory(byteCount: 5 * pageSize + roomByteCount)
    defer { withExtendedLifetime(memory) {} }
    let above = MutablePage(memory.base + 3 * pageSize)
    func boundRoom(_ index: Int) -> UnsafeMutableRawPointer {
      memory.base + 4 * pageSize + index * scratch.keyRoom
    }
    let parentStep = editor.path.last
    var ids = [id]
    var bounds: [UnsafeRawBufferPointer?] = []
    let depth = editor.path.count
    if let parentStep {
      let parent = try space.page(parentStep.page)
      above.base.copyMemory(from: parent.base, byteCount: pageSize)
      ids.removeAll()
      for slot in slots { ids.append(try childNode(at: slot, of: parent).0) }
      for slot in slots {
        editor.path[depth - 1].slot = slot
        bounds.append(
          try upperBound(ofDepth: depth, room: boundRoom(slot - slots.lowerBound), with: editor))
      }
      editor.path[depth - 1] = parentStep
    } else {
      bounds.append(nil)
    }
    var leaves: [Page] = []
    for (index, id) in ids.enumerated() {
      let copy = memory.base + index * pageSize
      copy.copyMemory(from: try space.page(id).base, byteCount: pageSize)
      leaves.append(Page(copy))
    }
    var window = RunWindow(
      leaves, bounds: bounds, run, room: memory.base + 5 * pageSize, scratch)
    guard window.isInOrder else { return nil }
    window.gather()
    guard window.newCount > 0, window.divide(allowsMore: parentStep != nil) else { return nil }

    // Bounds are no longer needed above; those of the parts take their room.
    guard
      replaceBounds(
        in: above, at: slots, ids,
        (0..<window.parts.count - 1).map {
          window.bound(after: $0, room: boundRoom($0))
        }, scratch)
    else { return nil }
    if let parentStep, count > 1 {
      let parent = try editor.writable(parentStep.page)
      above.commit = parent.commit
      parent.base.copyMemory(from: above.base, byteCount: pageSize)
    }
    for part in 0..<count { window.fill(try editor.writable(ids[part]), with: part) }
    if let parentStep, window.parts.count > count {
      let (newID, leaf) = try editor.allocate(IndexLayout.leafType, level: 0)
      window.fill(leaf, with: count)
      let bound = window.bound(after: count - 1, room: boundRoom(count - 1))
      try addChild(
        newID, bound, at: slots.upperBound, of: parentStep.page, scratch, with: editor)
    }
    return window.newCount
  }

  /// The leaf alone if it has room for what comes, else up to three with it in the middle.
  private func windowSlots(
    around id: PageID, _ run: KeyRun, _ leafRunCount: Int, with editor: PageEditor
  ) throws(StorageError) -> Range<Int> {
    guard let step = editor.path.last else { return 0..<1 }
    let leaf = try space.page(id)
    var free = leaf.freeBytes - space.geometry.capacity / 8
    for index in 0..<leafRunCount where free >= 0 {
      free -= IndexLayout.byteCount(of: run.keys[index], run.payload, in: leaf)
    }
    if free >= 0 { return step.slot..<step.slot + 1 }
    let childCount = try space.page(step.page).count
    let first = max(0, min(step.slot - 1, childCount - RunWindow.leafLimit))
    return first..<min(childCount, first + RunWindow.leafLimit)
  }

  /// Replaces the bounds between children of a parent, in a copy of it.
  ///
  /// - Parameter bounds: one for each child but the first, at least.
  /// - Returns: `false`, with the copy half done, if one does not fit.
  private func replaceBounds(
    in parent: MutablePage, at slots: Range<Int>, _ ids: [PageID],
    _ bounds: [UnsafeRawBufferPointer], _ scratch: NodeScratch
  ) -> Bool {
    guard slots.count > 1 else { return true }
    let second = slots.lowerBound + 1
    for _ in 1..<slots.count { Layout.remove(at: second, in: parent) }
    for index in 1..<slots.count {
      let slot = slots.lowerBound + index
      guard Layout.isSlot(slot, of: bounds[index - 1], in: parent.page) else { return false }
      var number = ids[index].rawValue.littleEndian
      let isIn = withUnsafeBytes(of: &number) {
        Layout.insert(bounds[index - 1], $0, at: slot, in: parent, scratch)
      }
      guard isIn else { return false }
    }
    return true
  }

  /// Enters a new leaf in the parent at the end of the path, which may have to be divided.
  private func addChild(
    _ id: PageID, _ bound: UnsafeRawBufferPointer, at slot: Int, of parentID: PageID,
    _ scratch: NodeScratch, with editor: PageEditor
  ) throws(StorageError) {
    let parent = try editor.writable(parentID)
    guard Layout.isSlot(slot, of: bound, in: parent.page) else {
      throw .damaged(page: parentID, reason: "a key lies outside the bounds of entry \(slot - 1)")
    }
    let payload = editor.childPayload(id)
    if Layout.insert(bound, payload, at: slot, in: parent, scratch) { return }
    try insertByDividing(
      bound, payload, at: slot, in: parentID, parent, atRightEdge: false,
      depth: editor.path.count - 1, scratch, with: editor)
  }
}
