import QuireStorage

/// A record tree or an index tree, asked by the ranks of keys.
struct ModelTree {
  let record: RecordTree?
  let index: IndexTree?
  let keys: KeyUniverse

  var count: Int { record?.count ?? index?.count ?? 0 }

  func value(_ key: Int) throws -> StoredValue? {
    if let record { return try record.value(for: keys.numbers[key]) }
    return try index?.value(for: keys.bytes(key))
  }

  /// The value's bytes, by way of a look at them.
  func seenValue(_ key: Int) throws -> [UInt8]? {
    if let record { return try record.withValue(for: keys.numbers[key]) { [UInt8]($0) } }
    return try index?.withValue(for: keys.bytes(key)) { [UInt8]($0) }
  }

  func contains(_ key: Int) throws -> Bool {
    if let record { return try record.contains(keys.numbers[key]) }
    return try index?.contains(keys.bytes(key)) ?? false
  }

  func cursor() -> ModelCursor {
    ModelCursor(record: record?.cursor(), index: index?.cursor(), keys: keys)
  }
}

/// The same for changing.
struct ModelMutableTree {
  let record: MutableRecordTree?
  let index: MutableIndexTree?
  let keys: KeyUniverse

  var reading: ModelTree { ModelTree(record: record?.reading, index: index?.reading, keys: keys) }

  func put(_ value: UnsafeRawBufferPointer, _ key: Int) throws -> Bool {
    if let record { return try record.put(value, for: keys.numbers[key]) }
    return try index?.put(value, for: keys.bytes(key)) ?? false
  }

  func remove(_ key: Int) throws -> Bool {
    if let record { return try record.remove(keys.numbers[key]) }
    return try index?.remove(keys.bytes(key)) ?? false
  }

  /// Puts the value a cursor lends, straight from its page.
  func put(lentBy cursor: inout ModelCursor, _ key: Int) throws -> Bool {
    defer { withExtendedLifetime(cursor) {} }
    if let record, let value = try cursor.record?.valueBytes {
      return try record.put(value, for: keys.numbers[key])
    }
    guard let value = try cursor.index?.valueBytes else { return false }
    return try index?.put(value, for: keys.bytes(key)) ?? false
  }

  /// Removes the key a cursor lends, straight from the page that is about to change.
  func remove(lentBy cursor: ModelCursor) throws -> Bool {
    defer { withExtendedLifetime(cursor) {} }
    if let record, let key = try cursor.record?.key { return try record.remove(key) }
    guard let key = try cursor.index?.key else { return false }
    return try index?.remove(key) ?? false
  }

  func removeAll() throws {
    try record?.removeAll()
    try index?.removeAll()
  }
}

/// A cursor of either kind of tree, placed by the ranks of keys.
struct ModelCursor {
  // Two cursors instead of an enum: an enum would have to be taken apart, and its path copied, for
  // every move.
  var record: RecordCursor?
  var index: IndexCursor?
  let keys: KeyUniverse

  /// The bound that lies between a key and the next is the lowest that is above the key.
  mutating func seek(_ key: Int, isBetween: Bool, before: Bool) throws -> Bool {
    if record != nil {
      let (number, overflows) = keys.numbers[key].addingReportingOverflow(isBetween ? 1 : 0)
      // Above the highest number there is nothing.
      if overflows {
        if before { return try record?.last() ?? false }
        _ = try record?.last()
        return try record?.next() ?? false
      }
      return try before
        ? record?.seek(atOrBefore: number) ?? false : record?.seek(to: number) ?? false
    }
    guard isBetween else {
      return try before
        ? index?.seek(atOrBefore: keys.bytes(key)) ?? false
        : index?.seek(to: keys.bytes(key)) ?? false
    }
    let bound = [UInt8](keys.bytes(key)) + [0]
    return try before ? index?.seek(atOrBefore: bound) ?? false : index?.seek(to: bound) ?? false
  }

  mutating func next() throws -> Bool { try record?.next() ?? index?.next() ?? false }
  mutating func previous() throws -> Bool { try record?.previous() ?? index?.previous() ?? false }
  var isAtEntry: Bool { record?.isAtEntry ?? index?.isAtEntry ?? false }

  /// Whether the cursor is at this key.
  func isAt(_ key: Int) throws -> Bool {
    if let record { return try record.key == keys.numbers[key] }
    guard let index else { return false }
    let isAt = areEqual(try index.key, keys.bytes(key))
    withExtendedLifetime(index) {}
    return isAt
  }

  /// Whether the entry's value is this one, borrowed and owned.
  mutating func holds(_ value: UnsafeRawBufferPointer) throws -> Bool {
    defer { withExtendedLifetime(self) {} }
    let borrowed = try record?.valueBytes ?? index?.valueBytes
    guard let borrowed, areEqual(borrowed, value) else { return false }
    return try storedValue().map { stored in
      withExtendedLifetime(stored.owner) { areEqual(stored.bytes, value) }
    } ?? false
  }

  /// Whether moving and reading are both refused, as they must be after the tree was changed.
  mutating func refuses() throws -> Bool {
    do {
      _ = try next()
      return false
    } catch StorageError.invalidArgument {}
    do {
      _ = try storedValue()
      return false
    } catch StorageError.invalidArgument {
      return true
    }
  }

  func storedValue() throws -> StoredValue? { try record?.storedValue() ?? index?.storedValue() }
}
