// Estimates of the number of keys in a range, without reading most of them.
extension IndexTree {
  /// About how many keys there are from `lower` up to `upper`, which is not among them; up to the
  /// end of the tree if that is `nil`.
  ///
  /// Nothing is kept for this: the number comes from the nodes on the ways to both bounds. It is
  /// exact for the whole tree, and where both bounds are in one leaf. Else the nodes between the
  /// ways are taken to be as full as those on them: of some hundred keys, that can be wrong by
  /// half.
  ///
  /// - Throws: ``StorageError/damaged(page:reason:)`` if a page on the way is damaged.
  /// - Complexity: O(log *n*), two searches.
  public func estimatedKeyCount(
    from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer?
  ) throws(StorageError) -> Int {
    try tree.state.checkUsable()
    if lower.isEmpty, upper == nil { return count }
    let ticket = try tree.space.enter()
    defer { tree.space.leave(ticket) }
    let root = try tree.rootNode()
    var (left, right) = (root, root)
    var hasForked = false
    /// By level: whole nodes between the ways, and how many entries a node on the ways has.
    var steps: [(wholeNodes: Int, entriesPerNode: Double)] = []
    while left.level > 0 {
      let first = IndexLayout.childSlot(for: lower, in: left)
      let last = upper.map { IndexLayout.childSlot(for: $0, in: right) } ?? right.count - 1
      if hasForked {
        steps.append(((left.count - 1 - first) + last, mean(left, right)))
      } else if first != last {
        if last < first { return 0 }
        hasForked = true
        steps.append((last - 1 - first, Double(left.count)))
      }
      left = try tree.childNode(at: first, of: left).1
      right = hasForked ? try tree.childNode(at: last, of: right).1 : left
    }
    let first = IndexLayout.find(lower, in: left).slot
    let last = upper.map { IndexLayout.find($0, in: right).slot } ?? right.count
    if !hasForked { return max(0, last - first) }
    var keysPerNode = mean(left, right)
    var keysBetween = 0.0
    for step in steps.reversed() {
      keysBetween += Double(step.wholeNodes) * keysPerNode
      keysPerNode *= step.entriesPerNode
    }
    // If the paths part at the root, the nodes tell how many keys the tree would have.
    if steps.count == root.level { keysBetween *= Double(count) / max(1, keysPerNode) }
    return min(count, left.count - first + last + Int(min(keysBetween, Double(count))))
  }

  private func mean(_ left: Page, _ right: Page) -> Double {
    Double(left.count + right.count) / 2
  }

  /// The same with arrays for bounds.
  public func estimatedKeyCount(from lower: [UInt8], to upper: [UInt8]?) throws(StorageError) -> Int
  {
    try lower.withRawBytes { lower throws(StorageError) in
      guard let upper else { return try estimatedKeyCount(from: lower, to: nil) }
      return try upper.withRawBytes { upper throws(StorageError) in
        try estimatedKeyCount(from: lower, to: upper)
      }
    }
  }
}
