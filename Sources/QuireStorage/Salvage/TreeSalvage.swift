// Salvage: what can still be read of a store when pages of it are damaged or lost.
//
//   TreeSalvage          the trees of a damaged store, with their holes
//   SalvageWalk          goes through one tree; where a page is lost, through what was below it
//   TreeFragment         a part of a tree that no readable page refers to any longer
//   TreeHole, TreeHoles  where such parts were
//   PageStore+Salvage    writes all of it to a new store
//
// A tree whose leaf is damaged misses the entries of that leaf. A tree whose inner node is damaged
// misses nothing yet: the nodes below are in the file, marked as used in the page maps, and nothing
// refers to them. Such a *fragment* is placed in the *hole* where it fits: of the same kind of
// tree, one level below the lost node or deeper, with keys between the bounds that the parent of
// the lost node has for it. Mostly only one hole is so; where several are, callers that know what
// entries mean choose. If the catalog has lost a page, whole trees are fragments and have no name;
// as each of them may fit in a hole of another tree, nothing is placed by its bounds alone then.
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

    /// The number of entries that the catalog says, as far as it can be true: a damaged one may say
    /// anything, with which nothing must overflow.
    package var likelyEntryCount: Int { min(max(cataloguedCount ?? 0, 0), 1 << 40) }
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
  /// The trees except the catalog.
  package private(set) var trees: [Tree] = []
  private var treeIndexes: [String: Int] = [:]
  /// Whether the catalog names every tree; if not, some fragments may be whole trees.
  package private(set) var isCatalogComplete = true
  /// All fragments, largest first; those whose position is known are in ``placedRoots``.
  private var allFragments: [TreeFragment] = []
  private var placedRoots: Set<PageID> = []

  let image: StoreImage
  let stamps: PageTable<UInt32?>
  /// The fragments in the place of each lost page, in the order of their keys.
  private(set) var placed: [PageID: [TreeFragment]] = [:]
  private var holes = TreeHoles([])

  /// Reads the files of a store.
  ///
  /// - Parameter progress: is called from time to time with the number of pages read, and of those
  ///   in use.
  /// - Throws: ``StorageError/locked(_:)`` when a process has it open for writing;
  ///   ``StorageError/damaged(page:reason:)`` if it is not even known how large pages are; an error
  ///   of the files.
  /// - Complexity: O(pages).
  package init(
    of path: String, in fileSystem: any FileSystem = DiskFileSystem(),
    progress: @escaping (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws(StorageError) {
    image = try StoreImage(path, in: fileSystem, salvages: true)
    guard image.version.major <= FormatVersion.current.major else {
      throw .unsupportedFormat(found: image.version, supported: .current)
    }
    var survey = TreeSurvey(image, progress: progress)
    survey.run()
    self.path = image.path
    identity = image.identity
    findings = image.findings + survey.findings
    notes = image.notes
    stamps = survey.stamps
    allFragments = OrphanSearch(image, survey.owners, survey.stamps).fragments()
    readCatalog()
    holes = TreeHoles(findHoles())
    placeFragments()
  }

  // MARK: Trees

  private mutating func readCatalog() {
    let catalog = Tree(name: "", kind: .index, cataloguedCount: nil, root: .catalogRoot)
    // Parts of the catalog itself are recognised by their entries.
    let parts = allFragments.filter(isCatalog)
    var found: [String: Tree] = [:]
    let take: (Key, [UInt8]?) -> Void = { key, value in
      guard let name = key.bytes.map({ String(decoding: $0, as: UTF8.self) }),
        let tree = Tree(name: name, entry: value ?? [])
      else { return }
      found[name] = found[name] ?? tree
    }
    let walk = SalvageWalk(self)
    walk.visit(catalog, take)
    for part in parts { walk.visit(part, take) }
    walk.findHoles(in: catalog) { _ in isCatalogComplete = false }
    for tree in found.values.sorted(by: { $0.name < $1.name }) { append(tree) }
    // What the found entries refer to is no fragment.
    placedRoots.formUnion(trees.map(\.root))
    placedRoots.formUnion(parts.map(\.root))
  }

  private mutating func append(_ tree: Tree) {
    treeIndexes[tree.name] = trees.count
    trees.append(tree)
  }

  /// Whether all entries are those of a catalog: names, and roots of trees that may be there.
  private func isCatalog(_ fragment: TreeFragment) -> Bool {
    guard fragment.kind == .index else { return false }
    return allSatisfy(fragment) { key, value in
      guard let value, let tree = Tree(name: "", entry: value) else { return false }
      return tree.root.rawValue < image.pageCount && tree.root >= .firstFree
        && !(key.bytes ?? []).isEmpty
    }
  }

  // MARK: Positions of fragments

  private func findHoles() -> [TreeHole] {
    let walk = SalvageWalk(self)
    var holes: [TreeHole] = []
    for index in trees.indices {
      walk.findHoles(in: trees[index]) { holes.append($0.of(tree: index)) }
    }
    for fragment in fragments { walk.findHoles(in: fragment) { holes.append($0) } }
    return holes
  }

  /// Places the fragments that fit in one hole only, if none of them can be a tree of its own.
  private mutating func placeFragments() {
    guard isCatalogComplete else { return }
    place(
      fragments.compactMap { fragment in
        let fitting = holes.best(for: fragment, limit: 2)
        return fitting.count == 1 ? (fragment, fitting[0]) : nil
      })
  }

  private mutating func place(_ choices: [(fragment: TreeFragment, hole: TreeHole)]) {
    for (fragment, hole) in choices where placedRoots.insert(fragment.root).inserted {
      placed[hole.page, default: []].append(fragment)
    }
    for page in Set(choices.map(\.hole.page)) {
      placed[page]?.sort { Key.isAscending($0.first, $1.first) }
    }
  }

  /// The trees in which a fragment without a position may belong.
  package func candidates(of fragment: TreeFragment) -> [Tree] {
    var found: [Int] = []
    for case let tree? in holes.best(for: fragment).map(\.tree) where !found.contains(tree) {
      found.append(tree)
    }
    return found.map { trees[$0] }
  }

  /// Places fragments, each in one of its ``candidates(of:)``.
  package mutating func place(_ choices: [(fragment: TreeFragment, tree: Tree)]) {
    place(
      choices.compactMap { fragment, tree in
        holes.best(for: fragment).first { $0.tree.map { trees[$0].name } == tree.name }
          .map { (fragment, $0) }
      })
  }

  /// Takes a fragment for a tree of its own.
  package mutating func take(_ fragment: TreeFragment, asTree name: String) {
    placedRoots.insert(fragment.root)
    append(Tree(name: name, kind: fragment.kind, cataloguedCount: nil, root: fragment.root))
  }

  // MARK: Reading

  package func tree(named name: String) -> Tree? { treeIndexes[name].map { trees[$0] } }

  /// Whether no page of a tree is lost.
  ///
  /// - Complexity: O(pages of the tree).
  package func isWhole(_ tree: Tree) -> Bool {
    var isWhole = true
    SalvageWalk(self).findHoles(in: tree) { _ in isWhole = false }
    return isWhole
  }

  /// The fragments whose position is not known, largest first.
  ///
  /// - Complexity: O(*n*) for *n* fragments in all.
  package var fragments: [TreeFragment] { allFragments.filter(hasFragment) }

  /// Whether a fragment is still without a position.
  package func hasFragment(_ fragment: TreeFragment) -> Bool {
    !placedRoots.contains(fragment.root)
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

  /// Whether a fragment has entries, and all of them satisfy a condition. It is read up to the
  /// first that does not.
  package func allSatisfy(
    _ fragment: TreeFragment, _ condition: (Key, [UInt8]?) -> Bool
  ) -> Bool {
    var isEmpty = true
    do throws(Unsatisfied) {
      try SalvageWalk(self).visit(fragment) { (key, value) throws(Unsatisfied) in
        isEmpty = false
        guard condition(key, value) else { throw Unsatisfied() }
      }
    } catch {
      return false
    }
    return !isEmpty
  }

  private struct Unsatisfied: Error {}
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
