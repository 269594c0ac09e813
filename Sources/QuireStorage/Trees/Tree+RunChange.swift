// Values that change where they lie: down once for each leaf.

/// The change of a visited value.
public enum ValueChange {
  /// It stays as it is.
  case none
  /// Its bytes are to change.
  case bytes
  /// The following values are not visited.
  case stop
}

extension Tree where Layout == RecordLayout {
  /// Visits values in turn, and changes bytes of some in place.
  ///
  /// - Parameters:
  ///   - keys: strictly ascending; keys without a value are skipped.
  ///   - body: called with each value that is in its leaf; with `nil` for a value that is
  ///     elsewhere, and the result is then treated as ``ValueChange/none``. It must not change the
  ///     transaction.
  ///   - change: called with the same value, to overwrite its bytes.
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
        let (position, isThere) = RecordLayout.search(key, from: slot, in: leaf)
        slot = position
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

  /// Visits all values in turn, whole leaves at a time, and changes bytes of some in place.
  ///
  /// - Parameters:
  ///   - first: the lowest key to visit.
  ///   - limit: the number of visited values after which no further leaf is begun.
  ///   - body: as above; ``ValueChange/stop`` is treated as ``ValueChange/none``.
  ///   - change: as above.
  /// - Returns: the key from which to continue; `nil` if no leaf is left.
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

  /// Lets `change` overwrite the bytes of a value, if it is in its leaf.
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
  /// Visits the values of ascending keys in turn, and changes bytes of some in place. It is the
  /// fastest way to change many, as nothing is moved and each leaf is found once.
  ///
  /// - Parameters:
  ///   - keys: strictly ascending; keys without a value are skipped.
  ///   - body: called with each value, and returns what to do with it; called with `nil` for a
  ///     value that is not in its leaf, which is not changed. Neither it nor `change` may change
  ///     the tree.
  ///   - change: called with the value that was visited last, to overwrite its bytes.
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
  /// Visits all values in turn, and changes bytes of some in place, like
  /// ``change(run:visiting:changing:)`` but without a search for each key.
  ///
  /// - Parameters:
  ///   - first: the lowest key to visit.
  ///   - limit: the minimum number of values to visit; the last leaf is always completed.
  ///   - body: as above, but it cannot stop.
  ///   - change: as above.
  /// - Returns: the key from which to continue; `nil` if all were visited.
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
