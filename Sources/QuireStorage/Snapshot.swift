/// A reader of trees by name: a ``Snapshot``, or a ``WriteTransaction`` with its own changes.
public protocol TreeReader {
  /// The commit that is shown; in a transaction, the number it will have.
  var commitNumber: CommitNumber { get }
  /// Every tree with its kind and exact entry count, in the order of the names' UTF-8 bytes.
  func treeNames() throws(StorageError) -> [(name: String, kind: TreeKind, count: Int)]
  /// The record tree called `name`, or `nil` when there is no tree of that name.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if it is an index tree.
  func recordTree(_ name: String) throws(StorageError) -> RecordTree?
  /// The index tree called `name`, or `nil` when there is no tree of that name.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if it is a record tree.
  func indexTree(_ name: String) throws(StorageError) -> IndexTree?
}

/// The store as one commit left it, for as long as it is held.
///
/// Taking one costs a lock and a reference; it neither blocks the writer nor is blocked by it,
/// and never makes the file grow. It keeps in memory the pages that were replaced since: at most
/// one version of each page, whatever the number of commits; beyond
/// ``PageStoreOptions/retainedByteLimit`` the oldest snapshots expire. It ends when the store is
/// closed; values taken from it stay.
public final class Snapshot: TreeReader, Sendable {
  let space: PageSpace

  init(_ space: PageSpace) {
    self.space = space
  }

  /// The commit that is shown.
  public var commitNumber: CommitNumber { space.commit }
  /// The last commit that changed something. A later one may only have been given a number that
  /// pages in the file may have which were never committed.
  package var contentCommit: CommitNumber { space.contentCommit }

  /// A child made by `fork` could still read what is in memory, but nothing else.
  private var catalog: Catalog {
    get throws(StorageError) {
      try space.registry.process.check()
      return Catalog(space)
    }
  }

  /// Every tree with its kind and exact entry count, in the order of the names' UTF-8 bytes.
  ///
  /// - Complexity: O(*n*) in the trees.
  public func treeNames() throws(StorageError) -> [(name: String, kind: TreeKind, count: Int)] {
    try catalog.all().map { ($0.name, $0.state.kind, $0.state.count) }
  }

  /// The record tree called `name`, or `nil` when there is no tree of that name.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if it is an index tree;
  ///   ``StorageError/damaged(page:reason:)`` if the list of trees cannot be read.
  public func recordTree(_ name: String) throws(StorageError) -> RecordTree? {
    guard let state = try catalog.state(of: Array(name.utf8)) else { return nil }
    try state.check(.record, name)
    return RecordTree(space, state)
  }

  /// The index tree called `name`, or `nil` when there is no tree of that name.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if it is a record tree;
  ///   ``StorageError/damaged(page:reason:)`` if the list of trees cannot be read.
  public func indexTree(_ name: String) throws(StorageError) -> IndexTree? {
    guard let state = try catalog.state(of: Array(name.utf8)) else { return nil }
    try state.check(.index, name)
    return IndexTree(space, state)
  }
}

extension StoreCore {
  func isNewest(_ commit: CommitNumber) throws(StorageError) -> Bool {
    try checkProcess()
    try follower?.follow(self)
    let newest = state.withLock { $0.current.space.commit }
    if isClosed { throw .closed }
    return newest == commit
  }
}

extension TreeState {
  /// - Throws: ``StorageError/invalidArgument(_:)`` if the tree is not of the kind wanted.
  func check(_ wanted: TreeKind, _ name: String) throws(StorageError) {
    guard kind != wanted else { return }
    throw .invalidArgument(
      kind == .record
        ? "tree \(name) is a record tree; an index tree was asked for"
        : "tree \(name) is an index tree; a record tree was asked for")
  }
}
