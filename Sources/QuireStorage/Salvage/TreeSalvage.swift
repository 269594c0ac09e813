// Salvage: what can still be read of a store when pages of it are damaged or lost.
//
//   TreeSalvage          the trees of a damaged store, with their holes
//   SalvageWalk          goes through one tree; where a page is lost, through what was below it
//   TreeFragment         a part of a tree to which no readable page leads any longer
//   PageStore+Salvage    writes all of it to a new store
//
// A tree whose leaf is damaged misses the entries of that leaf. A tree whose inner node is damaged
// misses nothing yet: the nodes below are in the file, marked as used in the page maps, and nothing
// refers to them. Such a *fragment* is placed in the *hole* where it fits: of the same kind of
// tree, one level below the lost node or deeper, with keys between the bounds that the parent of
// the lost node has for it. Mostly only one hole is so; where several are, callers that know what
// entries mean choose. If the catalog is damaged, whole trees are fragments and have no name.
//
// Files are only ever read, through `StoreImage`: checks, limits and locks are those of
// `Inspection`.

/// The trees of a damaged store, as far as they can be read.
package struct TreeSalvage {
  package typealias Key = PageContent.Key

  /// A tree.
  package struct Tree {
    /// As in the catalog; of a tree that the catalog does not name, as a caller has called it.
    package internal(set) var name: String
    package let kind: TreeKind
    /// The number of entries that the tree should have; `nil` if the catalog does not say it.
    package let cataloguedCount: Int?
    let root: PageID
  }

  package let path: String
  package let identity: StoreIdentity
  /// Whether the identity is known; if not, checksums could not be verified, and ``identity`` is
  /// that of no store.
  package var isIdentityKnown: Bool { image.isIdentityKnown }
  package var pageSize: Int { image.geometry.pageSize }
  /// The errors found, with the numbers of damaged pages.
  package let findings: [CheckReport.Finding]
  package let notes: [String]
  /// The trees except the catalog, by name.
  package private(set) var trees: [Tree] = []
  /// The fragments whose place is not known, largest first.
  package private(set) var fragments: [TreeFragment] = []

  let image: StoreImage
  let stamps: PageTable<UInt32?>
  /// The fragments in the place of each lost page, in the order of their keys.
  private(set) var placed: [PageID: [TreeFragment]] = [:]
  private var holes: [TreeHole] = []

  /// Reads the files of a store.
  ///
  /// - Throws: ``StorageError/locked(_:)`` when a process has it open for writing;
  ///   ``StorageError/damaged(page:reason:)`` if it is not even known how large pages are; an error
  ///   of the files.
  /// - Complexity: O(pages).
  package init(
    of path: String, in fileSystem: any FileSystem = DiskFileSystem()
  ) throws(StorageError) {
    image = try StoreImage(path, in: fileSystem, salvages: true)
    guard image.version.major <= FormatVersion.current.major else {
      throw .unsupportedFormat(found: image.version, supported: .current)
    }
    var survey = TreeSurvey(image)
    survey.run()
    self.path = image.path
    identity = image.identity
    findings = image.findings + survey.findings
    notes = image.notes
    stamps = survey.stamps
    fragments = OrphanSearch(image, survey.owners, survey.stamps).fragments()
    readCatalog()
    for index in trees.indices { findHoles(inTree: index) }
    for fragment in fragments { findHoles(in: fragment) }
    placeFragments()
  }

  // MARK: Trees

  private mutating func readCatalog() {
    let catalog = Tree(name: "", kind: .index, cataloguedCount: nil, root: .catalogRoot)
    // Parts of the catalog itself are recognised by their entries.
    let parts = fragments.indices.filter { isCatalog(fragments[$0]) }
    var found: [String: Tree] = [:]
    let take: (Key, [UInt8]?) -> Void = { key, value in
      guard let name = key.bytes.map({ String(decoding: $0, as: UTF8.self) }),
        let tree = Tree(name: name, entry: value ?? [])
      else { return }
      found[name] = found[name] ?? tree
    }
    SalvageWalk(self).visit(catalog, take)
    for part in parts { SalvageWalk(self).visit(fragments[part], take) }
    trees = found.values.sorted { $0.name < $1.name }
    // What the found entries lead to is no fragment.
    let roots = Set(trees.map(\.root))
    let partRoots = Set(parts.map { fragments[$0].root })
    fragments.removeAll { roots.contains($0.root) || partRoots.contains($0.root) }
  }

  /// Whether all entries are those of a catalog: names, and roots of trees that may be there.
  private func isCatalog(_ fragment: TreeFragment) -> Bool {
    guard fragment.kind == .index else { return false }
    var isOne = true
    var count = 0
    SalvageWalk(self).visit(fragment) { key, value in
      count += 1
      guard let value, let tree = Tree(name: "", entry: value),
        tree.root.rawValue < image.pageCount,
        tree.root >= .firstFree, !(key.bytes ?? []).isEmpty
      else {
        isOne = false
        return
      }
    }
    return isOne && count > 0
  }

  // MARK: Places of fragments

  private mutating func findHoles(inTree index: Int) {
    SalvageWalk(self).findHoles(in: trees[index]) { holes.append($0.of(tree: index)) }
  }

  private mutating func findHoles(in fragment: TreeFragment) {
    SalvageWalk(self).findHoles(in: fragment) { holes.append($0) }
  }

  /// Places the fragments that fit in one hole only.
  private mutating func placeFragments() {
    for fragment in fragments {
      let fitting = places(of: fragment)
      if fitting.count == 1 { place(fragment, in: fitting[0]) }
    }
  }

  /// The holes in which a fragment fits best: of those in one tree the lowest.
  private func places(of fragment: TreeFragment) -> [TreeHole] {
    let fitting = holes.filter { $0.takes(fragment) && $0.page != fragment.root }
    // A hole in a fragment is part of a hole in a tree, with narrower bounds.
    let lowest = fitting.compactMap(\.level).min()
    return lowest.map { level in fitting.filter { $0.level == level } } ?? fitting
  }

  private mutating func place(_ fragment: TreeFragment, in hole: TreeHole) {
    fragments.removeAll { $0.root == fragment.root }
    placed[hole.page, default: []].append(fragment)
    placed[hole.page]?.sort { Key.isAscending($0.first, $1.first) }
  }

  /// The trees in which a fragment without a place may belong.
  package func candidates(of fragment: TreeFragment) -> [Tree] {
    var found: [Int] = []
    for case let tree? in places(of: fragment).map(\.tree) where !found.contains(tree) {
      found.append(tree)
    }
    return found.map { trees[$0] }
  }

  /// Places a fragment in one of its ``candidates(of:)``.
  package mutating func place(_ fragment: TreeFragment, in tree: Tree) {
    guard
      let hole = places(of: fragment).first(where: {
        $0.tree.map { trees[$0].name } == tree.name
      })
    else { return }
    place(fragment, in: hole)
  }

  /// Takes a fragment for a tree of its own.
  package mutating func take(_ fragment: TreeFragment, asTree name: String) {
    fragments.removeAll { $0.root == fragment.root }
    trees.append(
      Tree(name: name, kind: fragment.kind, cataloguedCount: nil, root: fragment.root))
  }

  // MARK: Reading

  package func tree(named name: String) -> Tree? { trees.first { $0.name == name } }

  /// Whether a fragment is still without a place.
  package func hasFragment(_ fragment: TreeFragment) -> Bool {
    fragments.contains { $0.root == fragment.root }
  }

  /// Visits all entries of a tree that can be read, in ascending order.
  ///
  /// - Parameter body: is called with a key and its value, `nil` if the value lies in pages of its
  ///   own of which one is lost.
  package func visit<Failure>(
    _ tree: Tree, _ body: (Key, [UInt8]?) throws(Failure) -> Void
  ) throws(Failure) {
    try SalvageWalk(self).visit(tree, body)
  }

  /// The same for a part of a tree.
  package func visit<Failure>(
    _ fragment: TreeFragment, _ body: (Key, [UInt8]?) throws(Failure) -> Void
  ) throws(Failure) {
    try SalvageWalk(self).visit(fragment, body)
  }
}

extension TreeSalvage.Tree {
  /// - Returns: `nil` if the bytes are no entry of a catalog.
  fileprivate init?(name: String, entry: [UInt8]) {
    guard entry.count == Catalog.entryByteCount, let kind = TreeKind(rawValue: entry[0]) else {
      return nil
    }
    self.name = name
    self.kind = kind
    (root, cataloguedCount) = entry.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return (PageID(0), nil) }
      return (PageID(start.u32(at: 4)), Int(truncatingIfNeeded: start.u64(at: 8)))
    }
  }
}

extension PageContent.Key {
  /// The order of a tree; an absent bound is below everything.
  static func isAscending(_ left: Self, _ right: Self) -> Bool {
    switch (left, right) {
    case (.number(let left), .number(let right)): left < right
    case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
    case (.none, .none): false
    case (.none, _): true
    case (_, .none), (.number, .bytes), (.bytes, .number): false
    }
  }
}
