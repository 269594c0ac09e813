import QuireStorage

extension Step {
  /// Does to a store's trees what ``StoreModel/apply(_:)`` does to the model's.
  package func perform(in transaction: WriteTransaction) throws(StorageError) {
    switch self {
    case .put(let tree, let keys, let byteCount, let version):
      try put(tree, keys, byteCount, version, in: transaction)
    case .remove(let tree, let keys):
      if tree.isIndex {
        guard let tree = try transaction.mutableIndexTree(tree.rawValue) else { return }
        for key in keys { try tree.remove(Step.indexKey(key)) }
      } else {
        guard let tree = try transaction.mutableRecordTree(tree.rawValue) else { return }
        for key in keys { try tree.remove(Int64(key)) }
      }
    case .drop(let tree):
      if try exists(tree, in: transaction) { try transaction.dropTree(tree.rawValue) }
    case .rename(let old, let new):
      if try exists(old, in: transaction), try !exists(new, in: transaction) {
        try transaction.renameTree(old.rawValue, to: new.rawValue)
      }
    case .commit, .abort, .checkpoint, .reopen, .die, .hold, .release: break
    }
  }

  private func put(
    _ tree: TreeName, _ keys: Range<Int>, _ byteCount: Int, _ version: Int,
    in transaction: WriteTransaction
  ) throws(StorageError) {
    let name = tree.rawValue
    if tree.isIndex {
      var target = try transaction.mutableIndexTree(name)
      if target == nil { target = try transaction.createIndexTree(name) }
      for key in keys {
        try target?.put(
          Step.value(key: key, byteCount: byteCount, version: version), for: Step.indexKey(key))
      }
    } else {
      var target = try transaction.mutableRecordTree(name)
      if target == nil { target = try transaction.createRecordTree(name) }
      for key in keys {
        try target?.put(
          Step.value(key: key, byteCount: byteCount, version: version), for: Int64(key))
      }
    }
  }

  private func exists(
    _ tree: TreeName, in transaction: WriteTransaction
  ) throws(StorageError) -> Bool {
    tree.isIndex
      ? try transaction.indexTree(tree.rawValue) != nil
      : try transaction.recordTree(tree.rawValue) != nil
  }
}
