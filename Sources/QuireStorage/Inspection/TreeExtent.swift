/// The size of a tree in the file, determined without reading all of it.
///
/// Inner nodes have the numbers of their children, so leaves need not be read to be counted. On a
/// level with more than ``sampleCount`` nodes only that many are read, evenly spread, and the
/// others are assumed to be like them. A tree without long values of at most some ten thousand
/// leaves is thus counted exactly; the pages of long values are an estimate from as many leaves.
///
/// - Complexity: O(height · ``sampleCount``) pages.
package struct TreeExtent: Hashable, Sendable {
  /// The nodes of the tree, and its overflow pages.
  package private(set) var pageCount = 0
  /// Whether every node was counted, and none was estimated.
  package private(set) var isExact = true
  private let pageSize: Int

  package var byteCount: Int { pageCount * pageSize }

  /// The nodes read of one level, at most, unless the caller says otherwise.
  package static let sampleCount = 64

  fileprivate init<Layout: NodeLayout>(
    of tree: Tree<Layout>, _ sampleCount: Int
  ) throws(StorageError) {
    pageSize = tree.space.pageSize
    try tree.state.checkUsable()
    let ticket = try tree.space.enter()
    defer { tree.space.leave(ticket) }
    var sample = [(id: tree.state.root, node: try tree.rootNode())]
    var levelPageCount = 1
    while let level = sample.first?.node.level {
      pageCount += levelPageCount
      if level == 0 { break }
      let childCounts = sample.map(\.node.count)
      let found = childCounts.reduce(0, +)
      if sample.count < levelPageCount { isExact = false }
      levelPageCount = TreeExtent.scaled(
        found, from: sample.count, to: levelPageCount, of: tree.space)
      if level == 1, !tree.state.hasLongValues {
        pageCount += levelPageCount
        return
      }
      sample = try TreeExtent.children(
        of: sample.map(\.node), count: found, sampleCount, in: tree)
    }
    guard tree.state.hasLongValues else { return }
    var runPageCount = 0
    for (id, leaf) in sample {
      for slot in 0..<leaf.count {
        guard let run = ValuePayload.overflow(of: Layout.payload(at: slot, in: leaf)) else {
          continue
        }
        runPageCount += try OverflowRun(run, referredToBy: id, in: tree.space).pageCount
      }
    }
    if sample.count < levelPageCount { isExact = false }
    pageCount += TreeExtent.scaled(
      runPageCount, from: sample.count, to: levelPageCount, of: tree.space)
  }

  /// No more than the store has pages: in a damaged file nodes can have the same children, and the
  /// levels of such a tree grow without end.
  private static func scaled(
    _ count: Int, from sampleCount: Int, to totalCount: Int, of space: PageSpace
  ) -> Int {
    let limit = Int(space.pageCount)
    guard sampleCount < totalCount else { return min(count, limit) }
    return Int(min(Double(count) / Double(sampleCount) * Double(totalCount), Double(limit)))
  }

  /// Some of the children of nodes of one level, evenly spread.
  ///
  /// - Parameter count: the children in all.
  private static func children<Layout: NodeLayout>(
    of nodes: [Page], count: Int, _ sampleCount: Int, in tree: Tree<Layout>
  ) throws(StorageError) -> [(id: PageID, node: Page)] {
    var sample: [(id: PageID, node: Page)] = []
    let wanted = min(count, sampleCount)
    var (position, first) = (0, 0)
    for node in nodes {
      while sample.count < wanted {
        position = sample.count * count / wanted
        guard position - first < node.count else { break }
        sample.append(try tree.childNode(at: position - first, of: node))
      }
      first += node.count
    }
    return sample
  }
}

extension RecordTree {
  /// The approximate size of the tree in the file.
  ///
  /// - Parameter sampleCount: the largest number of nodes that are read on one level.
  package func extent(
    sampleCount: Int = TreeExtent.sampleCount
  ) throws(StorageError) -> TreeExtent {
    try TreeExtent(of: tree, sampleCount)
  }
}

extension IndexTree {
  /// The approximate size of the tree in the file.
  ///
  /// - Parameter sampleCount: the largest number of nodes that are read on one level.
  package func extent(
    sampleCount: Int = TreeExtent.sampleCount
  ) throws(StorageError) -> TreeExtent {
    try TreeExtent(of: tree, sampleCount)
  }
}
