// Values that change where they lie: down once for each leaf.

/// What becomes of a value that was looked at.
public enum ValueChange {
  /// It stays as it is.
  case none
  /// Its bytes are to change.
  case bytes
  /// Nobody looks at the following ones.
  case stop
}

extension Tree where Layout == RecordLayout {
  /// Looks at values in turn, and changes bytes of some where they lie.
  ///
  /// - Parameters:
  ///   - keys: ascend strictly; those that are not there are passed over.
  ///   - body: gets each value that lies in its leaf; of one that lies elsewhere `nil`, and the
  ///     answer is taken for ``ValueChange/none``. It changes nothing in the transaction.
  ///   - change: gets the same value, of as many bytes, to be written over.
  func change(
    run keys: UnsafeBufferPointer<Int64>, with editor: PageEditor,
    visiting body: (Int64, UnsafeRawBufferPointer?) -> ValueChange,
    changing change: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(StorageError) {
    let scratch = editor.treeScratch
    var next = 0
    while next < keys.count {
      let (id, _) = try descend(to: keys[next], path: &editor.path)
      var leaf = try space.page(id)
      let bound = try upperBound(ofDepth: editor.path.count, room: scratch.key, with: editor)
      let first = next
      var slot = 0
      while next < keys.count {
        let key = keys[next]
        if next > first, let bound, key >= bound { break }
        next &+= 1
        let (place, isThere) = RecordLayout.search(key, from: slot, in: leaf)
        slot = place
        guard isThere else { continue }
        let value = ValuePayload.inlineValue(of: RecordLayout.payload(at: slot, in: leaf))
        switch body(key, value) {
        case .none: continue
        case .stop: return
        case .bytes: try self.change(value, of: &leaf, id, with: editor, change)
        }
      }
    }
  }

  /// Looks at all values in turn, whole leaves at a time, and changes bytes of some where they lie.
  ///
  /// - Parameters:
  ///   - first: the lowest key to look at.
  ///   - limit: no leaf is begun when so many values were looked at.
  ///   - body: as above; ``ValueChange/stop`` is taken for ``ValueChange/none``.
  ///   - change: as above.
  /// - Returns: the key to go on from; `nil` when no leaf is left.
  func change(
    from first: Int64, limit: Int, with editor: PageEditor,
    visiting body: (Int64, UnsafeRawBufferPointer?) -> ValueChange,
    changing change: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(StorageError) -> Int64? {
    let scratch = editor.treeScratch
    var first = first
    var count = 0
    while true {
      let (id, _) = try descend(to: first, path: &editor.path)
      var leaf = try space.page(id)
      // Above the key that led here, so that this comes to an end in any file.
      let bound = try upperBound(ofDepth: editor.path.count, room: scratch.key, with: editor)
      let (start, _) = RecordLayout.search(first, from: 0, in: leaf)
      let end = leaf.count
      for slot in start..<max(start, end) {
        let value = ValuePayload.inlineValue(of: RecordLayout.payload(at: slot, in: leaf))
        guard case .bytes = body(RecordLayout.key(at: slot, in: leaf), value) else { continue }
        try self.change(value, of: &leaf, id, with: editor, change)
      }
      count += end - start
      guard let bound else { return nil }
      if count >= limit { return bound }
      first = bound
    }
  }

  /// Lets bytes of a value be written over, if it lies in its leaf.
  @inline(__always)
  private func change(
    _ value: UnsafeRawBufferPointer?, of leaf: inout Page, _ id: PageID, with editor: PageEditor,
    _ change: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(StorageError) {
    guard let value, let start = value.baseAddress else { return }
    // The first change copies the leaf; the value is then where it was in the leaf before.
    let offset = start - leaf.base
    let page = try editor.writable(id)
    leaf = page.page
    change(UnsafeMutableRawBufferPointer(start: page.base + offset, count: value.count))
    state.changeCount += 1
  }
}

extension MutableRecordTree {
  /// Looks at values of ascending keys in turn, and changes bytes of some where they lie: the
  /// fastest way to change many, as nothing moves and each leaf is found once.
  ///
  /// - Parameters:
  ///   - keys: ascend strictly; those that are not there are passed over.
  ///   - body: gets each value, and says what is to become of it; `nil` for one that does not lie
  ///     in its leaf, and stays. Neither it nor `change` may change the tree.
  ///   - change: gets the value that was looked at last, to write over its bytes.
  /// - Throws: ``StorageError/damaged(page:reason:)``; the transaction can then only be aborted.
  /// - Complexity: O(keys + leaves · log *n*).
  public func change(
    run keys: UnsafeBufferPointer<Int64>,
    visiting body: (Int64, UnsafeRawBufferPointer?) -> ValueChange,
    changing change: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(StorageError) {
    try editor.change(reading.tree.state) { () throws(StorageError) in
      try reading.tree.change(run: keys, with: editor, visiting: body, changing: change)
    }
  }
  /// Looks at all values in turn, and changes bytes of some where they lie: as
  /// ``change(run:visiting:changing:)``, and without a search for each key.
  ///
  /// - Parameters:
  ///   - first: the lowest key to look at.
  ///   - limit: how many values to look at, at least; the rest of a leaf comes along.
  ///   - body: as above, but cannot stop.
  ///   - change: as above.
  /// - Returns: the key to go on from; `nil` when all were looked at.
  /// - Throws: ``StorageError/damaged(page:reason:)``; the transaction can then only be aborted.
  /// - Complexity: O(values + leaves · log *n*).
  package func change(
    from first: Int64, limit: Int,
    visiting body: (Int64, UnsafeRawBufferPointer?) -> ValueChange,
    changing change: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(StorageError) -> Int64? {
    try editor.change(reading.tree.state) { () throws(StorageError) in
      try reading.tree.change(
        from: first, limit: limit, with: editor, visiting: body, changing: change)
    }
  }
}
