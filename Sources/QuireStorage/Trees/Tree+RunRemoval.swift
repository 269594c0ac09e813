// Runs of keys that leave a tree of either kind: down once for each leaf, which closes up once.

extension Tree {
  /// No more entries than these leave a leaf at once.
  private static var removalLimit: Int { 256 }

  /// Removes entries.
  ///
  /// - Parameters:
  ///   - keys: ascend strictly; none lies in a page of the store.
  ///   - body: gets each entry that is there and its value, before it goes. It changes nothing in
  ///     the transaction. What it answers is whether to go on: else entries of that leaf stay.
  /// - Returns: how many were there and went.
  func remove(
    run keys: UnsafeBufferPointer<Layout.Key>, with editor: PageEditor,
    visiting body: ((Layout.Key, UnsafeRawBufferPointer) -> Bool)?
  ) throws(StorageError) -> Int {
    let scratch = editor.treeScratch
    let memory = PageMemory(byteCount: Tree.removalLimit * 2)
    defer { withExtendedLifetime(memory) {} }
    let slots = memory.base.bindMemory(to: UInt16.self, capacity: Tree.removalLimit)
    var removed = 0
    var next = 0
    while next < keys.count {
      let (id, _) = try descend(to: keys[next], path: &editor.path)
      let leaf = try space.page(id)
      let bound = try upperBound(ofDepth: editor.path.count, room: scratch.key, with: editor)
      let first = next
      var slot = 0
      var count = 0
      while next < keys.count, count < Tree.removalLimit {
        let key = keys[next]
        if next > first, let bound, !Layout.isAscending(key, bound) { break }
        let (position, isThere) = Layout.search(key, from: slot, in: leaf)
        slot = position
        if isThere {
          if let body {
            let isWanted = try visit(position, key, of: id, leaf, body)
            guard isWanted else { return removed }
          }
          slots[count] = UInt16(truncatingIfNeeded: position)
          count &+= 1
          slot &+= 1
        }
        next &+= 1
      }
      if count == 0 { continue }
      try remove(slots, count, of: id, with: editor)
      removed += count
    }
    return removed
  }

  /// Shows the value at `slot` of a leaf.
  private func visit(
    _ slot: Int, _ key: Layout.Key, of id: PageID, _ leaf: Page,
    _ body: (Layout.Key, UnsafeRawBufferPointer) -> Bool
  ) throws(StorageError) -> Bool {
    let payload = Layout.payload(at: slot, in: leaf)
    if let value = ValuePayload.inlineValue(of: payload) { return body(key, value) }
    let memory = try overflowValue(of: payload, in: id)
    return withExtendedLifetime(memory) { body(key, memory.bytes) }
  }

  /// Removes entries of the leaf at the end of the path.
  private func remove(
    _ slots: UnsafeMutablePointer<UInt16>, _ count: Int, of id: PageID, with editor: PageEditor
  ) throws(StorageError) {
    guard state.count >= count else {
      throw .damaged(
        page: .catalogRoot, reason: "a tree has more entries than the catalog says")
    }
    let leaf = try editor.writable(id)
    if state.hasLongValues {
      for index in 0..<count {
        try releaseOverflow(
          of: Layout.payload(at: Int(slots[index]), in: leaf.page), in: id, with: editor)
      }
    }
    Layout.remove(slots, count, in: leaf)
    state.count -= count
    state.changeCount += 1
    try rebalance(id, depth: editor.path.count, with: editor)
  }

  /// The bound from above of the node at a depth of the path; `nil` at the right edge.
  func upperBound(
    ofDepth depth: Int, room: UnsafeMutableRawPointer, with editor: PageEditor
  ) throws(StorageError) -> Layout.Key? {
    for index in stride(from: depth - 1, through: 0, by: -1) {
      let step = editor.path[index]
      let node = try space.page(step.page)
      if step.slot + 1 < node.count {
        return Layout.key(at: step.slot + 1, in: node, room: room)
      }
    }
    return nil
  }
}

extension NodeLayout {
  /// Moves the elements of an array of a node that stay when some go.
  ///
  /// - Parameters:
  ///   - target: not after the array's beginning.
  ///   - slots: of those that go, ascending.
  static func close(
    _ array: UnsafeRawPointer, _ count: Int, _ elementByteCount: Int,
    without slots: UnsafePointer<UInt16>, _ removedCount: Int, to target: UnsafeMutableRawPointer
  ) {
    var end = target
    var next = 0
    for index in 0...removedCount {
      let slot = index < removedCount ? Int(slots[index]) : count
      let byteCount = (slot &- next) &* elementByteCount
      let source = array + next &* elementByteCount
      if byteCount > 0, source != UnsafeRawPointer(end) {
        end.copyMemory(from: source, byteCount: byteCount)
      }
      end += byteCount
      next = slot &+ 1
    }
  }
}

extension MutableIndexTree {
  /// Removes keys and their values.
  ///
  /// - Parameter keys: ascend strictly; none lies in a page of the store.
  /// - Returns: how many were there.
  /// - Throws: ``StorageError/invalidArgument(_:)`` if they do not ascend, with nothing changed;
  ///   ``StorageError/damaged(page:reason:)``. The transaction can then only be aborted.
  /// - Complexity: O(log *n*) for each leaf that changes, plus the length of the run.
  @discardableResult
  public func remove(
    run keys: UnsafeBufferPointer<UnsafeRawBufferPointer>
  ) throws(StorageError) -> Int {
    try checkOrder(of: keys)
    return try editor.change(reading.tree.state) { () throws(StorageError) in
      try reading.tree.remove(run: keys, with: editor, visiting: nil)
    }
  }
}

extension MutableRecordTree {
  /// Removes keys and their values.
  ///
  /// Faster than one by one, the more of them lie in a leaf.
  ///
  /// - Parameters:
  ///   - keys: ascend strictly.
  ///   - body: gets the key and the value of each that is there before it goes; the bytes are valid
  ///     while it runs. It must not change anything in the transaction. Where it throws, keys of
  ///     that leaf, and all after it, stay.
  /// - Returns: how many were there.
  /// - Throws: ``StorageError/invalidArgument(_:)`` if they do not ascend, with nothing changed;
  ///   ``StorageError/damaged(page:reason:)``: the transaction can then only be aborted. What
  ///   `body` throws.
  /// - Complexity: O(log *n*) for each leaf that changes, plus the length of the run.
  @discardableResult
  public func remove(
    run keys: UnsafeBufferPointer<Int64>,
    visiting body: (Int64, UnsafeRawBufferPointer) throws -> Void
  ) throws -> Int {
    for index in keys.indices.dropFirst() where keys[index &- 1] >= keys[index] {
      throw StorageError.invalidArgument("the keys of a run must ascend; one does not")
    }
    var failure: (any Error)?
    let count = try withoutActuallyEscaping(body) { body in
      try editor.change(reading.tree.state) { () throws(StorageError) in
        try reading.tree.remove(run: keys, with: editor) { key, value in
          do {
            try body(key, value)
            return true
          } catch {
            failure = error
            return false
          }
        }
      }
    }
    if let failure { throw failure }
    return count
  }
}
