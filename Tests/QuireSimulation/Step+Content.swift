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
    case .build(let tree, _, _, _):
      if try exists(tree, in: transaction) { try transaction.dropTree(tree.rawValue) }
      var model = StoreModel()
      model.apply(self)
      try build(tree.rawValue, tree, model.entries(of: tree.rawValue), in: transaction)
    case .flip(let tree, let version):
      guard try exists(tree, in: transaction) else { return }
      try flip(tree, version, in: transaction)
    case .commit, .abort, .checkpoint, .beginCheckpoint, .writeCheckpoint, .completeCheckpoint,
      .overlap, .compact, .removeLog, .backUp, .reopen, .die, .hold, .release, .fork:
      break
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

  private func flip(
    _ tree: TreeName, _ version: Int, in transaction: WriteTransaction
  ) throws(StorageError) {
    let name = tree.rawValue
    var entries: [(key: [UInt8], value: [UInt8])] = []
    if tree.isIndex {
      guard var cursor = try transaction.indexTree(name)?.cursor() else { return }
      while try cursor.next() {
        entries.append((try [UInt8](cursor.key), try cursor.storedValue().array))
      }
    } else {
      guard var cursor = try transaction.recordTree(name)?.cursor() else { return }
      while try cursor.next() {
        entries.append((StoreModel.bytes(of: try cursor.key), try cursor.storedValue().array))
      }
    }
    let flipped = entries.map { ($0.key, Step.flipped($0.value, version: version)) }
    try build("beside", tree, flipped, in: transaction)
    try transaction.dropTree(name)
    try transaction.renameTree("beside", to: name)
  }

  private func build(
    _ name: String, _ tree: TreeName, _ entries: [(key: [UInt8], value: [UInt8])],
    in transaction: WriteTransaction
  ) throws(StorageError) {
    do {
      if tree.isIndex {
        try transaction.buildIndexTree(name) { builder in
          for (key, value) in entries { try builder.append(value, for: key) }
        }
      } else {
        try transaction.buildRecordTree(name) { builder in
          for (key, value) in entries {
            try builder.append(value, for: key.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) })
          }
        }
      }
    } catch let error as StorageError {
      throw error
    } catch {
      fatalError("a builder throws errors of storage alone, not \(error)")
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
