/// A part of a tree to which no readable page leads.
package struct TreeFragment {
  package let kind: TreeKind
  /// The level of its highest node above the leaves.
  package let level: Int
  let root: PageID
  /// The first and the last key that can be read in it.
  let first: PageContent.Key
  let last: PageContent.Key
  /// The number of its leaves, as a measure of its size.
  package let leafCount: Int
}

/// The place of a lost page in a tree.
struct TreeHole {
  let page: PageID
  let kind: TreeKind
  /// The level of the lost node; `nil` of a lost root.
  let level: Int?
  /// The keys below the lost node are not below this one, and below the other.
  let lower: PageContent.Key
  let upper: PageContent.Key?
  /// The tree; `nil` if the hole is in a fragment.
  private(set) var tree: Int?

  init(
    page: PageID, kind: TreeKind, level: Int?, lower: PageContent.Key, upper: PageContent.Key?
  ) {
    self.page = page
    self.kind = kind
    self.level = level
    self.lower = lower
    self.upper = upper
  }

  func of(tree: Int) -> TreeHole {
    var hole = self
    hole.tree = tree
    return hole
  }

  /// Whether a fragment can have been below the lost node.
  func takes(_ fragment: TreeFragment) -> Bool {
    fragment.kind == kind && level.map { fragment.level < $0 } ?? true
      && !PageContent.Key.isAscending(fragment.first, lower)
      && upper.map { PageContent.Key.isAscending(fragment.last, $0) } ?? true
  }
}

/// A search for nodes that are in use and that no tree leads to.
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
