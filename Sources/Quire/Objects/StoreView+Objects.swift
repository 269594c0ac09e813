import QuireStorage

// Reading of the rows of objects.
extension StoreView {
  /// The row of an object, found by the storage that the object knows.
  func row(of object: ManagedObject) throws -> RowBytes? {
    guard isPlain, let storage = object.storage else { return try row(object.reference)?.bytes }
    guard let tree = try rows(of: storage), let value = try tree.value(for: object.reference.key)
    else { return nil }
    return try RowBytes(value, layout: storage.layout)
  }

  /// Gives a fault its row. Calls no hook.
  ///
  /// - Returns: `false` when the store has none.
  func giveRow(to object: ManagedObject) throws -> Bool {
    guard isPlain, let storage = object.ofArena({ $0.storageReference }) else {
      guard let row = try row(object.reference)?.bytes else { return false }
      object.set(row)
      return true
    }
    // Sound: the object's arena keeps the storage.
    return try storage._withUnsafeGuaranteedRef { try giveRow(to: object, of: $0) }
  }

  private func giveRow(to object: ManagedObject, of storage: EntityStorage) throws -> Bool {
    guard let rows = try knownRows(of: storage) else { return false }
    let isThere = try rows.giveRow(to: object, storage.shape)
    if isThere, !object.hasRow { object.set(try row(of: object)) }
    return isThere
  }

  /// Gives a fault its row, where that needs no more than a search in a tree that was used before.
  /// Calls no hook, and nothing that may release the view.
  ///
  /// - Returns: `false` where there is no row, or it has to be read in another way.
  func givePlainRow(to object: ManagedObject) throws -> Bool {
    guard isPlain, !entities.isRetired, let storage = object.ofArena({ $0.storageReference }) else {
      return false
    }
    // Sound: the object's arena keeps the storage, and the view keeps the trees it has found.
    return try storage._withUnsafeGuaranteedRef { storage in
      guard let rows = foundRows[storage.index] else { return false }
      return try rows._withUnsafeGuaranteedRef { try $0.giveRow(to: object, storage.shape) }
        && object.hasRow
    }
  }
}

extension StoreView.Rows {
  /// - Returns: whether there is a row; the object has it if it is of the usual shape.
  @inline(never)
  func giveRow(to object: ManagedObject, _ shape: RowShape) throws -> Bool {
    try tree.withKeepableValue(for: object.reference.key) { row, owner in
      if let start = row.baseAddress, shape.isRight(start, row.count) {
        object.set(row, keptBy: owner)
      }
    }
  }
}
