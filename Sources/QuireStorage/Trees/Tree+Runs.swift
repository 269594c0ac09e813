// Runs: many keys in ascending order that go into a tree that is there, without values. How they
// leave it is in `Tree+RunRemoval.swift`.
//
// Put one by one, each key goes down the tree, moves half of its leaf's heads and offsets, and
// every fiftieth has nodes divided. A run goes down once for each leaf. What falls into the leaf
// goes in together; what does not fit has the leaf filled anew with two neighbours, in three leaves
// if those then have some room left, else in four (`RunWindow.swift`).
//
// What is rare is left to `put`, one key at a time: a key that is there, a leaf with one entry, a
// root that is a leaf and full, a right edge that needs another leaf, and whatever a window does
// not manage. Each such step puts a key, so a run always comes to its end.

extension Tree where Layout == IndexLayout {
  /// No more keys than these go into a leaf, or into a window, at once.
  private static var portion: Int { 256 }

  /// Stores entries without a value.
  ///
  /// - Parameter keys: ascend strictly; none lies in a page of the store.
  func put(
    run keys: UnsafeBufferPointer<UnsafeRawBufferPointer>, with editor: PageEditor
  ) throws(StorageError) {
    let memory = PageMemory(byteCount: Tree.portion * 2 + 8)
    defer { withExtendedLifetime(memory) {} }
    let room = memory.base + Tree.portion * 2
    let payload = ValuePayload.encode(
      inline: UnsafeRawBufferPointer(start: nil, count: 0), in: room)
    let slots = memory.base.bindMemory(to: UInt16.self, capacity: Tree.portion)
    var next = 0
    while next < keys.count {
      let rest = UnsafeBufferPointer(rebasing: keys[next...])
      let run = KeyRun(
        keys: rest, slots: slots, count: min(Tree.portion, rest.count), payload: payload)
      next += try putBeginning(of: run, with: editor)
    }
  }

  /// Puts what belongs into the leaf of a run's first key, or some of it.
  ///
  /// - Returns: how many keys.
  private func putBeginning(
    of all: KeyRun, with editor: PageEditor
  ) throws(StorageError) -> Int {
    var run = all
    let scratch = editor.treeScratch
    let (id, atRightEdge) = try descend(to: run.keys[0], path: &editor.path)
    let leaf = try space.page(id)
    let bound = try upperBound(ofDepth: editor.path.count, room: scratch.key, with: editor)
    var slot = 0
    var count = 0
    while count < run.count {
      let key = run.keys[count]
      if count > 0, let bound, !IndexLayout.isAscending(key, bound) { break }
      let (position, isThere) = IndexLayout.search(key, from: slot, in: leaf)
      if isThere { break }
      run.slots[count] = UInt16(truncatingIfNeeded: position)
      slot = position
      count &+= 1
    }
    run.count = count
    if count > 0 {
      // After all others pages stay full, and the next leaf is empty.
      let isAppend = atRightEdge && Int(run.slots[0]) == leaf.count
      if isAppend { run.count = IndexLayout.fittingCount(of: run, in: leaf) }
      if run.count > 0, IndexLayout.hasRoom(for: run, in: leaf) {
        IndexLayout.insert(run, in: try editor.writable(id))
        return note(run.count)
      }
      if !isAppend, leaf.count > 1,
        let count = try fillWindow(around: id, with: all, run.count, scratch, with: editor)
      {
        return note(count)
      }
    }
    _ = try put(UnsafeRawBufferPointer(start: nil, count: 0), for: all.keys[0], with: editor)
    return 1
  }

  private func note(_ count: Int) -> Int {
    state.count += count
    state.changeCount += 1
    return count
  }
}

extension IndexLayout {
  /// The number of leading keys of a run for which a leaf has room without being filled again.
  fileprivate static func fittingCount(of run: KeyRun, in leaf: Page) -> Int {
    let prefix = prefixByteCount(of: leaf)
    let free = contiguousFreeBytes(of: leaf)
    var needed = 0
    for index in 0..<run.count {
      let key = run.keys[index]
      guard beginsWithPrefix(of: leaf, prefix, key) else { return index }
      needed &+= byteCount(suffix: key.count &- prefix, payload: run.payload.count)
      if needed > free { return index }
    }
    return run.count
  }
}

extension MutableIndexTree {
  /// Stores entries without a value, in place of earlier ones.
  ///
  /// Faster than one by one, the more of them fall into a leaf.
  ///
  /// - Parameter keys: ascend strictly; none lies in a page of the store.
  /// - Throws: ``StorageError/keyTooLong(byteCount:limit:)`` and
  ///   ``StorageError/invalidArgument(_:)`` if they do not ascend, with nothing changed;
  ///   ``StorageError/damaged(page:reason:)`` or ``StorageError/storeFull(pageLimit:)``. The
  ///   transaction can then only be aborted.
  /// - Complexity: O(log *n*) for each leaf that changes, amortised over splits, plus the length of
  ///   the run.
  public func put(
    run keys: UnsafeBufferPointer<UnsafeRawBufferPointer>
  ) throws(StorageError) {
    let limit = editor.space.geometry.keyLimit
    for key in keys where key.count > limit {
      throw .keyTooLong(byteCount: key.count, limit: limit)
    }
    try checkOrder(of: keys)
    try editor.change(reading.tree.state) { () throws(StorageError) in
      try reading.tree.put(run: keys, with: editor)
    }
  }

  func checkOrder(
    of keys: UnsafeBufferPointer<UnsafeRawBufferPointer>
  ) throws(StorageError) {
    for index in keys.indices.dropFirst()
    where !IndexLayout.isAscending(keys[index &- 1], keys[index]) {
      throw .invalidArgument("the keys of a run must ascend; one does not")
    }
  }
}
