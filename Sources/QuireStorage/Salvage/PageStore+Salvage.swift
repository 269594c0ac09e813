extension PageStore {
  /// What was found in a damaged store by ``PageStore/salvage(_:to:)``.
  public struct SalvageReport: Hashable, Sendable {
    /// A tree of the new store.
    public struct Tree: Hashable, Sendable {
      /// The name of the tree.
      public var name: String
      /// The number of entries that were found.
      public var entryCount: Int
      /// The number of entries that the tree had; `nil` if that is not known.
      public var expectedEntryCount: Int?
      /// The number of entries left out, of those found, as their values are lost.
      public var lostValueCount: Int
    }

    /// The trees, by name. Parts that could not be assigned to a tree are trees of their own,
    /// `lost+found/1` and so on.
    public var trees: [Tree] = []
    /// The damage, with the numbers of pages.
    public var findings: [CheckReport.Finding] = []
    /// Whether checksums were verified; if not, as the store's first page is lost, values may be
    /// damaged without a sign.
    public var isVerified = true

    /// Whether every tree has all the entries that it had.
    public var isComplete: Bool {
      trees.allSatisfy { $0.entryCount == $0.expectedEntryCount && $0.lostValueCount == 0 }
    }
  }

  /// Writes everything that can be read of a damaged store to a new one.
  ///
  /// Of a damaged page only what is on it is lost: where it is an inner node of a tree, the nodes
  /// below it are found and put where they belong. The damaged store is only read, with its log if
  /// there is one, and needs not be one that can be opened. The new store has its identity, if that
  /// can be read.
  ///
  /// - Parameters:
  ///   - path: the damaged store.
  ///   - newPath: the new store's file, which must not exist.
  ///   - progress: called from time to time with the number of entries read, and of all that the
  ///     store is known to have. An error of it ends the salvage, and there is no new file.
  /// - Returns: what was found and what is missing.
  /// - Throws: ``StorageError/locked(_:)`` if a process has the damaged store open for writing;
  ///   ``StorageError/damaged(page:reason:)`` if not even the size of its pages can be found out;
  ///   ``StorageError/alreadyExists(path:)``; an error of the files. There is no new file then, or,
  ///   if only its name cannot be made durable, the complete one: the store has the new name when
  ///   everything is in it, and before that one that ends with `-part`.
  /// - Complexity: O(bytes of the store).
  @discardableResult
  public static func salvage(
    _ path: String, to newPath: String,
    progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
  ) throws -> SalvageReport {
    try salvage(path, to: newPath, in: DiskFileSystem(), progress: progress)
  }

  /// The same on a given file system, for tests.
  @discardableResult
  package static func salvage(
    _ path: String, to newPath: String, in fileSystem: any FileSystem,
    progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
  ) throws -> SalvageReport {
    try salvage(
      TreeSalvage(of: path, in: fileSystem), to: newPath, in: fileSystem, progress: progress)
  }

  /// Writes the trees of a damaged store that was read before.
  package static func salvage(
    _ found: TreeSalvage, to newPath: String, in fileSystem: any FileSystem = DiskFileSystem(),
    progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
  ) throws -> SalvageReport {
    var salvage = found
    var number = 1
    for fragment in salvage.fragments {
      // A store that came of a salvage may have such trees.
      while salvage.tree(named: "lost+found/\(number)") != nil { number += 1 }
      salvage.take(fragment, asTree: "lost+found/\(number)")
    }
    var options = PageStoreOptions()
    options.pageSize = salvage.pageSize
    if salvage.isIdentityKnown { options.identity = salvage.identity }
    let new = try UnpublishedStore(newPath, options: options, in: fileSystem)
    var report = SalvageReport(
      findings: salvage.findings, isVerified: salvage.isIdentityKnown)
    do {
      var done = 0
      let total = salvage.trees.reduce(0) { $0 + $1.likelyEntryCount }
      try new.pages.write { transaction in
        for tree in salvage.trees {
          let built = try transaction.build(tree, of: salvage, lost: { _ in }) {
            done += 1
            if done.isMultiple(of: 1024) { try progress(done, max(done, total)) }
          }
          report.trees.append(built)
        }
      }
      try new.publish()
    } catch {
      new.discard()
      throw error
    }
    return report
  }
}

extension WriteTransaction {
  /// Builds a tree from what can be read of it in a damaged store.
  ///
  /// - Parameters:
  ///   - lost: is called with the key of each entry whose value is lost.
  ///   - visited: is called for each entry.
  package func build(
    _ tree: TreeSalvage.Tree, of salvage: TreeSalvage, lost: (TreeSalvage.Key) -> Void,
    visited: () throws -> Void = {}
  ) throws -> PageStore.SalvageReport.Tree {
    var report = PageStore.SalvageReport.Tree(
      name: tree.name, entryCount: 0, expectedEntryCount: tree.cataloguedCount, lostValueCount: 0)
    func take(
      _ key: TreeSalvage.Key, _ value: [UInt8]?, _ append: ([UInt8]) throws -> Void
    ) throws {
      try visited()
      if let value {
        try append(value)
        report.entryCount += 1
      } else {
        lost(key)
        report.lostValueCount += 1
      }
    }
    switch tree.kind {
    case .record:
      try buildRecordTree(tree.name) { builder in
        try salvage.visit(tree) { key, value in
          guard case .number(let number) = key else { return }
          try take(key, value) { try builder.append($0, for: number) }
        }
      }
    case .index:
      try buildIndexTree(tree.name) { builder in
        try salvage.visit(tree) { key, value in
          guard let bytes = key.bytes else { return }
          try take(key, value) { try builder.append($0, for: bytes) }
        }
      }
    }
    return report
  }
}
