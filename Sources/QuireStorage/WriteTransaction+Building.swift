extension WriteTransaction {
  /// Builds a new record tree from entries in ascending order: faster than putting them one by one,
  /// and in little memory, however many there are.
  ///
  /// To replace a tree, build the new one under another name, drop the old one, rename: whatever
  /// the size, the commit then is small, and a crash finds the old tree or the new one.
  ///
  /// - Parameters:
  ///   - fill: how much of each page to use, from 0.5 to 1; leave some free where entries will be
  ///     added in between.
  ///   - body: appends the entries.
  /// - Throws: ``StorageError/invalidArgument(_:)`` if the name is taken; an error of `body`, after
  ///   which the transaction can only be aborted.
  @discardableResult
  public func buildRecordTree(
    _ name: String, fill: Double = 1, _ body: (borrowing RecordTreeBuilder) throws -> Void
  ) throws -> MutableRecordTree {
    let tree = try createRecordTree(name)
    let builder = TreeBuilder(tree.reading.tree, editor, fill: fill)
    try building {
      try body(RecordTreeBuilder(builder: builder, editor: editor))
      try editor.operate { () throws(StorageError) in try builder.finish() }
    }
    return tree
  }

  /// Builds a new index tree from entries in ascending order; see
  /// ``buildRecordTree(_:fill:_:)``.
  @discardableResult
  public func buildIndexTree(
    _ name: String, fill: Double = 1, _ body: (borrowing IndexTreeBuilder) throws -> Void
  ) throws -> MutableIndexTree {
    try buildIndexTree(name, fill: fill, isTemporary: false, body)
  }

  /// Builds an index tree that this transaction drops again, such as a sorted run that waits to be
  /// merged. However many there are, they take none of the transaction's memory in a file: apart
  /// from their roots, all pages go around the log.
  @discardableResult
  package func buildTemporaryIndexTree(
    _ name: String, _ body: (borrowing IndexTreeBuilder) throws -> Void
  ) throws -> MutableIndexTree {
    try buildIndexTree(name, fill: 1, isTemporary: true, body)
  }

  private func buildIndexTree(
    _ name: String, fill: Double, isTemporary: Bool,
    _ body: (borrowing IndexTreeBuilder) throws -> Void
  ) throws -> MutableIndexTree {
    let tree = try createIndexTree(name)
    let builder = TreeBuilder(tree.reading.tree, editor, fill: fill, isTemporary: isTemporary)
    try building {
      try body(IndexTreeBuilder(builder: builder, editor: editor))
      try editor.operate { () throws(StorageError) in try builder.finish() }
    }
    return tree
  }

  /// A tree that is half built has pages that nothing refers to.
  private func building(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      editor.failure =
        editor.failure
        ?? .invalidArgument("building a tree failed; the transaction can only be aborted")
      throw error
    }
  }
}
