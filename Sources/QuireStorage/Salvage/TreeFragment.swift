/// A part of a tree that no readable page refers to.
package struct TreeFragment {
  package let kind: TreeKind
  /// The level of its highest node above the leaves.
  package let level: Int
  package let root: PageID
  /// The first and the last key that can be read in it.
  let first: PageContent.Key
  let last: PageContent.Key
  /// The number of its leaves, as a measure of its size.
  package let leafCount: Int

  package init(
    kind: TreeKind, level: Int, root: PageID, first: PageContent.Key, last: PageContent.Key,
    leafCount: Int
  ) {
    self.kind = kind
    self.level = level
    self.root = root
    self.first = first
    self.last = last
    self.leafCount = leafCount
  }
}

/// A search for nodes that are in use and that no tree refers to.
struct OrphanSearch {
  private let image: StoreImage
  private let owners: PageTable<Int32>
  private let stamps: PageTable<UInt32?>

  init(_ image: StoreImage, _ owners: PageTable<Int32>, _ stamps: PageTable<UInt32?>) {
    self.image = image
    self.owners = owners
    self.stamps = stamps
  }

  /// The fragments, largest first.
  func fragments() -> [TreeFragment] {
    var nodes: [PageID: TreeKind] = [:]
    var children: Set<PageID> = []
    for number in Int(PageID.firstFree.rawValue)..<max(Int(PageID.firstFree.rawValue), owners.count)
    {
      let id = PageID(UInt32(number))
      // Free pages are not read; they would be told from others by their stamp all the same.
      guard owners[number] < 0, stamps[number] != 0, !image.geometry.isMap(id),
        let loaded = try? image.load(id), image.defect(of: loaded, stamp: stamps[number]) == nil
      else { continue }
      defer { withExtendedLifetime(loaded.memory) {} }
      guard let kind = loaded.page.treeKind else { continue }
      nodes[id] = kind
      guard loaded.page.level > 0 else { continue }
      for slot in 0..<loaded.page.count {
        switch kind {
        case .record: children.insert(RecordLayout.child(at: slot, in: loaded.page))
        case .index: children.insert(IndexLayout.child(at: slot, in: loaded.page))
        }
      }
    }
    return nodes.filter { !children.contains($0.key) }
      .compactMap { fragment($0.key, $0.value) }
      .sorted { ($1.leafCount, $0.root.rawValue) < ($0.leafCount, $1.root.rawValue) }
  }

  private func fragment(_ root: PageID, _ kind: TreeKind) -> TreeFragment? {
    let walk = SalvageWalk(image, stamps)
    guard let ends = walk.ends(of: root, kind) else { return nil }
    return TreeFragment(
      kind: kind, level: ends.level, root: root, first: ends.first, last: ends.last,
      leafCount: ends.leafCount)
  }
}

extension Page {
  /// The kind of tree that a node is of; `nil` for another page.
  fileprivate var treeKind: TreeKind? {
    switch PageType(rawValue: typeByte) {
    case .recordLeaf, .recordInner: .record
    case .indexLeaf, .indexInner: .index
    case .map, .overflow, nil: nil
    }
  }
}
