/// The one transaction that may change the store. It sees its own changes; others see them after
/// the commit.
///
/// Holds the store's writer lock from ``PageStore/beginWrite()`` to ``commit()`` or ``abort()``;
/// one that is dropped aborts. Not Sendable: it stays with the thread that began it.
public final class WriteTransaction: TreeReader {
  private let core: StoreCore
  let editor: PageEditor
  private var states = TreeStates()
  private var isOpen = true

  init(_ core: StoreCore, _ editor: PageEditor) {
    self.core = core
    self.editor = editor
    // Sound: the editor makes no change after the transaction has ended.
    editor.spillTrees = { [unowned self] () throws(StorageError) in try spill() }
  }

  deinit { abort() }

  /// The number that the commit will have, if the transaction changes anything.
  public var commitNumber: CommitNumber { editor.commit }

  /// Whether nothing was changed since a snapshot whose ``Snapshot/contentCommit`` this is.
  package func begins(with contentCommit: CommitNumber) -> Bool {
    editor.space.parent?.space.contentCommit == contentCommit
  }

  /// Whether the commit may take the room it needs from the reserve that the store keeps on the
  /// disk (``PageStoreOptions/reserveByteLimit``), even if the store grows: for a transaction that
  /// removes something. One that leaves the store as large as it is, or smaller, may in any case.
  public var isForRemoval: Bool {
    get { editor.isForRemoval }
    set { editor.isForRemoval = newValue }
  }

  // MARK: Reading

  /// Every tree with its kind and exact entry count, this transaction's changes included, in the
  /// order of the names' UTF-8 bytes.
  public func treeNames() throws(StorageError) -> [(name: String, kind: TreeKind, count: Int)] {
    try checkOpen()
    return try catalog.all().map { name, state in
      (name, state.kind, states[Array(name.utf8)]?.count ?? state.count)
    }
  }

  /// The record tree called `name` as the transaction sees it, or `nil` when there is no tree of
  /// that name.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if it is an index tree, or the transaction has
  ///   ended.
  public func recordTree(_ name: String) throws(StorageError) -> RecordTree? {
    guard let state = try state(of: name) else { return nil }
    try state.check(.record, name)
    return RecordTree(editor.space, state)
  }

  /// The index tree called `name` as the transaction sees it, or `nil` when there is no tree of
  /// that name.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if it is a record tree, or the transaction has
  ///   ended.
  public func indexTree(_ name: String) throws(StorageError) -> IndexTree? {
    guard let state = try state(of: name) else { return nil }
    try state.check(.index, name)
    return IndexTree(editor.space, state)
  }

  // MARK: Changing

  /// The record tree called `name` for changing, or `nil` when there is no tree of that name.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if it is an index tree.
  public func mutableRecordTree(_ name: String) throws(StorageError) -> MutableRecordTree? {
    guard let tree = try recordTree(name) else { return nil }
    return MutableRecordTree(tree, editor)
  }

  /// The index tree called `name` for changing, or `nil` when there is no tree of that name.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if it is a record tree.
  public func mutableIndexTree(_ name: String) throws(StorageError) -> MutableIndexTree? {
    guard let tree = try indexTree(name) else { return nil }
    return MutableIndexTree(tree, editor)
  }

  /// Creates an empty record tree.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if the name is taken, or
  ///   ``StorageError/keyTooLong(byteCount:limit:)`` if its UTF-8 bytes are too many.
  @discardableResult
  public func createRecordTree(_ name: String) throws(StorageError) -> MutableRecordTree {
    let state = try create(.record, name)
    return MutableRecordTree(RecordTree(editor.space, state), editor)
  }

  /// Creates an empty index tree.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if the name is taken, or
  ///   ``StorageError/keyTooLong(byteCount:limit:)`` if its UTF-8 bytes are too many.
  @discardableResult
  public func createIndexTree(_ name: String) throws(StorageError) -> MutableIndexTree {
    let state = try create(.index, name)
    return MutableIndexTree(IndexTree(editor.space, state), editor)
  }

  /// Removes a tree with everything in it. Visits every page of the tree.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if there is no tree of that name.
  public func dropTree(_ name: String) throws(StorageError) {
    let state = try existing(name)
    try editor.change(state) { () throws(StorageError) in
      // First, as the change may end with moving nodes of the trees that are known.
      states[Array(name.utf8)] = nil
      switch state.kind {
      case .record:
        try Tree<RecordLayout>(space: editor.space, state: state).removeAll(with: editor)
      case .index:
        try Tree<IndexLayout>(space: editor.space, state: state).removeAll(with: editor)
      }
      try editor.release(state.root)
      try catalog.remove(Array(name.utf8), with: editor)
    }
    state.ending = .invalidArgument("tree \(name) was dropped")
  }

  /// Renames a tree; its pages are not touched.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if there is no tree `name`, or one `newName`.
  public func renameTree(_ name: String, to newName: String) throws(StorageError) {
    let state = try existing(name)
    try checkFree(newName)
    try editor.change(state) { () throws(StorageError) in
      try catalog.remove(Array(name.utf8), with: editor)
      try catalog.set(state, of: Array(newName.utf8), with: editor)
    }
    states[Array(name.utf8)] = nil
    states[Array(newName.utf8)] = state
  }

  // MARK: Ending

  /// Makes the changes the store's newest version; with `.full` durability they are on disk when
  /// this returns.
  ///
  /// A transaction that changed nothing writes nothing and uses up no number.
  ///
  /// - Returns: the number of the commit, or of the one before it when nothing was changed.
  /// - Throws: ``StorageError/noSpaceLeft(path:)``, with the transaction aborted and the store
  ///   usable; ``StorageError/outcomeUnknown(cause:)`` when it is unknown whether the commit
  ///   reached the disk: the store then refuses to write until it is reopened, and shows after that
  ///   either all of the commit or nothing of it; ``StorageError/poisoned(cause:)`` when the store
  ///   refuses to write, and nothing of the commit is in it; ``StorageError/nameLost(path:)`` when
  ///   its file was removed. An error of an earlier change, when that change failed half-way; the
  ///   transaction is then aborted.
  @discardableResult
  public func commit() throws(StorageError) -> CommitNumber {
    try prepareToCommit()
    let (number, pending) = try core.finish(editor)
    if let pending { try core.waitUntilDurable(number, pending) }
    return number
  }

  /// Commits as ``commit()`` does.
  ///
  /// - Returns: the store as this commit left it, which the newest snapshot need not be any more.
  ///   Of a transaction that changed nothing, the store as it began.
  public func commitAndShow(
    file: StaticString = #fileID, line: UInt = #line
  ) throws(StorageError) -> Snapshot {
    let written = try write()
    try written.waitUntilDurable()
    return written.show(file: file, line: line)
  }

  /// Commits without waiting for the disk.
  ///
  /// - Throws: as ``commit()``, but for errors of the disk that are met when the commit is synced.
  package func write() throws(StorageError) -> WrittenCommit {
    try prepareToCommit()
    let (version, parent) = (editor.space, editor.space.parent?.space)
    let (number, pending) = try core.finish(editor)
    let shown = number == version.commit ? version : parent ?? version
    return WrittenCommit(core, number, shown, pending)
  }

  /// Brings all that the trees know into the pages. The transaction has ended then.
  private func prepareToCommit() throws(StorageError) {
    try checkOpen()
    do throws(StorageError) {
      if let failure = editor.failure { throw failure }
      if editor.spillCount > 0 { try spillRest() }
      try catalogueCounts()
    } catch {
      abort()
      throw error
    }
    end()
  }

  /// Waits until a snapshot shows what this transaction began with. Without that, it may show an
  /// earlier commit: while the last one is being written to the disk, the next transaction begins.
  ///
  /// - Throws: ``StorageError`` when that commit cannot be made durable.
  package func waitUntilBaseIsShown() throws(StorageError) {
    try checkOpen()
    try core.waitUntilShown(baseOf: editor)
  }

  /// Enters the counts that changed, in the order of the names: the file must not depend on the
  /// order of a dictionary.
  private func catalogueCounts() throws(StorageError) {
    for known in states.all where !known.state.isCatalogued {
      try editor.operate { () throws(StorageError) in
        try catalog.set(known.state, of: known.name, with: editor)
      }
    }
  }

  /// Forgets the changes. Does nothing in a transaction that has ended, or that is the parent's of
  /// this process.
  public func abort() {
    guard isOpen, core.registry.process.isCurrent else { return }
    end()
    core.abandon(editor)
  }

  private func end() {
    isOpen = false
    for known in states.all { known.state.ending = WriteTransaction.endedError }
    states = TreeStates()
  }

  private static let endedError = StorageError.invalidArgument(
    "the write transaction has ended; begin another one")

  private func checkOpen() throws(StorageError) {
    guard isOpen else { throw WriteTransaction.endedError }
    try core.checkProcess()
  }

  // MARK: Memory

  /// Before the commit of a transaction that has moved leaves already: the rest would be written
  /// twice, into the log and by a checkpoint.
  private func spillRest() throws(StorageError) {
    try editor.operate { () throws(StorageError) in try spill() }
  }

  /// Moves nodes of the trees out of memory: leaves, and if that is not enough, the levels above.
  private func spill() throws(StorageError) {
    guard var spill = try editor.beginSpill() else { return }
    for level in 0..<Tree<RecordLayout>.depthLimit {
      for known in states.all where known.state.hasUnspilledChanges || level > 0 {
        try self.spill(known.state, level: level, &spill)
      }
      try editor.finish(spill)
      for known in states.all { known.state.noteSpilled() }
      guard editor.ownByteCount > editor.byteLimit / 2, let next = try editor.beginSpill() else {
        return
      }
      spill = next
    }
  }

  private func spill(
    _ state: TreeState, level: Int, _ spill: inout PageEditor.Spill
  ) throws(StorageError) {
    switch state.kind {
    case .record:
      try Tree<RecordLayout>(space: editor.space, state: state)
        .spill(level: level, &spill, with: editor)
    case .index:
      try Tree<IndexLayout>(space: editor.space, state: state)
        .spill(level: level, &spill, with: editor)
    }
  }

  // MARK: Trees by name

  private var catalog: Catalog { Catalog(editor.space) }

  private func state(of name: String) throws(StorageError) -> TreeState? {
    try checkOpen()
    let bytes = Array(name.utf8)
    if let state = states[bytes] { return state }
    let state = try catalog.state(of: bytes)
    states[bytes] = state
    return state
  }

  private func existing(_ name: String) throws(StorageError) -> TreeState {
    guard let state = try state(of: name) else {
      throw .invalidArgument("there is no tree \(name)")
    }
    return state
  }

  private func checkFree(_ name: String) throws(StorageError) {
    let limit = editor.space.geometry.keyLimit
    guard name.utf8.count <= limit else {
      throw .keyTooLong(byteCount: name.utf8.count, limit: limit)
    }
    guard try state(of: name) == nil else {
      throw .invalidArgument("there already is a tree \(name)")
    }
  }

  private func create(_ kind: TreeKind, _ name: String) throws(StorageError) -> TreeState {
    try checkFree(name)
    let state = try editor.operate { () throws(StorageError) in
      let type = kind == .record ? RecordLayout.leafType : IndexLayout.leafType
      let (root, _) = try editor.allocate(type, level: 0)
      let state = TreeState(kind: kind, root: root, count: 0)
      try catalog.set(state, of: Array(name.utf8), with: editor)
      return state
    }
    states[Array(name.utf8)] = state
    return state
  }
}
