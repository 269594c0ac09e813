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
        case .bytes:
          guard let value, let start = value.baseAddress else { continue }
          // The first change copies the leaf; the value is then where it was in the leaf before.
          let offset = start - leaf.base
          let page = try editor.writable(id)
          leaf = page.page
          change(UnsafeMutableRawBufferPointer(start: page.base + offset, count: value.count))
          state.changeCount += 1
        }
      }
    }
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
}
