// Trees: B+trees over pages that keep their numbers.
//
//   root ──┬── inner ──┬── leaf: key value, key value, …
//          │           └── leaf
//          └── inner ───── leaf
//
// All values are in the leaves. The root stays on its page for the tree's whole life: when it is
// full, its content moves to a new page and the root becomes that page's parent. Nodes are not
// linked sideways, as a link would make every split touch a neighbour; cursors keep the way down
// instead.
//
// What holds: keys ascend strictly within a node; the entry *i* of an inner node bounds what is
// under it from below, the entry *i* + 1 from above; levels fall by one at each step down; every
// leaf has the same distance from the root; no node but a root leaf is empty. `PageStore.check()`
// verifies all of it.
//
// A full node gives entries to a neighbour that has room before it is split, and after a split the
// neighbours that had none give to both halves (`Tree+Redistribution.swift`). With random
// insertions leaves are 87 % full instead of 69 %, so that a store of such trees takes 20 to 25 %
// fewer pages, of the file and of memory. The price is more pages changed by each insertion, with 7
// to 22 % more bytes written and a quarter more instructions (decision 0006). Appending at the
// right edge shares nothing: pages stay full.
//
// Deliberately absent: sparse nodes are merged when they fit into a neighbour, but a node that has
// lost entries is given none.

/// The state of a tree, apart from its pages: shared by all views of it in one snapshot or
/// transaction.
final class TreeState {
  let kind: TreeKind
  let root: PageID
  /// The entries in the tree.
  var count: Int
  /// Whether any value was ever too long for its leaf: if none was, no overflow pages need be
  /// searched for.
  var hasLongValues: Bool
  /// The count and the flag in the catalog.
  private var catalogued: (count: Int, hasLongValues: Bool)
  /// Counts the changes to this tree in its transaction, so that a cursor can tell that it is
  /// stale.
  var changeCount = 0
  /// The count of changes when the transaction last moved leaves out of memory.
  private var spilledChangeCount = 0
  /// Set when the tree is dropped or its transaction ends; thrown by all later operations.
  var ending: StorageError?

  init(kind: TreeKind, root: PageID, count: Int, hasLongValues: Bool = false) {
    self.kind = kind
    self.root = root
    self.count = count
    self.hasLongValues = hasLongValues
    catalogued = (count, hasLongValues)
  }

  var isCatalogued: Bool { catalogued == (count, hasLongValues) }
  func noteCatalogued() { catalogued = (count, hasLongValues) }

  /// Whether the transaction may have leaves of this tree in memory.
  var hasUnspilledChanges: Bool { changeCount != spilledChangeCount }
  func noteSpilled() { spilledChangeCount = changeCount }

  /// - Throws: the reason why the tree cannot be used any more.
  @inline(__always)
  func checkUsable() throws(StorageError) {
    if let ending { throw ending }
  }
}

/// A tree of one layout in one version of the store: the algorithms, generic over the layout.
///
/// Reading is in `Tree+Lookup.swift` and `TreeCursor.swift`; changing in `Tree+Insertion.swift`,
/// `Tree+Redistribution.swift` and `Tree+Removal.swift`; `TreeInspection.swift` checks.
struct Tree<Layout: NodeLayout> {
  let space: PageSpace
  let state: TreeState

  /// The largest depth of a valid tree: 2³² leaves need at most 32 levels of two children each.
  static var depthLimit: Int { 40 }

  /// The root node.
  @inline(__always)
  func rootNode() throws(StorageError) -> Page {
    let page = try space.page(state.root)
    guard isNode(page), page.level <= Tree.depthLimit else { throw notANode(state.root, page) }
    return page
  }

  /// The child at `slot` of `parent`: a node one level lower.
  @inline(__always)
  func childNode(at slot: Int, of parent: Page) throws(StorageError) -> (PageID, Page) {
    let id = Layout.child(at: slot, in: parent)
    let page = try space.page(id)
    guard isNode(page), page.level == parent.level &- 1 else { throw notANode(id, page) }
    return (id, page)
  }

  @inline(__always)
  private func isNode(_ page: Page) -> Bool {
    page.typeByte == (page.level == 0 ? Layout.leafType : Layout.innerType).rawValue
  }

  private func notANode(_ id: PageID, _ page: Page) -> StorageError {
    .damaged(
      page: id,
      reason: "type \(page.typeByte) at level \(page.level) cannot be here in "
        + "\(Layout.kind == .record ? "a record" : "an index") tree")
  }
}
