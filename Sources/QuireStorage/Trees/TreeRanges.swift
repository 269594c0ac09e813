/// The entries of a record tree with keys in a range, lowest first or highest first.
///
/// `next()` must be called before each entry; `key` and `valueBytes` are then those of the entry,
/// borrowed as from a cursor. Nothing is allocated for an entry.
public struct RecordRange {
  private var cursor: RecordCursor
  private let range: ClosedRange<Int64>?
  private let isReversed: Bool
  private var state = State.new
  private enum State { case new, inside, ended }

  init(_ cursor: RecordCursor, _ range: ClosedRange<Int64>?, isReversed: Bool) {
    self.cursor = cursor
    self.range = range
    self.isReversed = isReversed
  }

  /// Moves to the next entry.
  ///
  /// - Returns: `false` if there is none left.
  public mutating func next() throws(StorageError) -> Bool {
    guard let range, state != .ended else { return false }
    let isThere: Bool
    if isReversed {
      isThere =
        state == .new ? try cursor.seek(atOrBefore: range.upperBound) : try cursor.previous()
    } else {
      isThere = state == .new ? try cursor.seek(to: range.lowerBound) : try cursor.next()
    }
    let isInside = isThere ? range.contains(try cursor.key) : false
    state = isInside ? .inside : .ended
    return isInside
  }

  /// The key of the entry.
  public var key: Int64 { get throws(StorageError) { try cursor.key } }
  /// The entry's value, borrowed until the next move.
  public var valueBytes: UnsafeRawBufferPointer {
    mutating get throws(StorageError) { try cursor.valueBytes }
  }
  /// The entry's value with its owner, to be kept for as long as wanted.
  public func storedValue() throws(StorageError) -> StoredValue { try cursor.storedValue() }
}

extension RecordTree {
  /// The entries with keys in `range`.
  public func entries(
    in range: ClosedRange<Int64>, reversed: Bool = false
  ) -> RecordRange {
    RecordRange(cursor(), range, isReversed: reversed)
  }

  /// The entries with keys in `range`, whose upper bound is not part of it.
  public func entries(in range: Range<Int64>, reversed: Bool = false) -> RecordRange {
    // An empty range has no last key.
    RecordRange(
      cursor(), range.isEmpty ? nil : range.lowerBound...(range.upperBound - 1),
      isReversed: reversed)
  }
}

/// The entries of an index tree with keys from one bound to another, or with a prefix, lowest first
/// or highest first; used like ``RecordRange``.
public struct IndexRange {
  private var cursor: IndexCursor
  private let lower: [UInt8]
  /// The first key that is not part of it; `nil` for the end of the tree.
  private let upper: [UInt8]?
  private let isReversed: Bool
  private var state = State.new
  private enum State { case new, inside, ended }

  init(_ cursor: IndexCursor, from lower: [UInt8], to upper: [UInt8]?, isReversed: Bool) {
    self.cursor = cursor
    self.lower = lower
    self.upper = upper
    self.isReversed = isReversed
  }

  /// Moves to the next entry.
  ///
  /// - Returns: `false` if there is none left.
  public mutating func next() throws(StorageError) -> Bool {
    if state == .ended { return false }
    var isThere: Bool
    if !isReversed {
      isThere = state == .new ? try cursor.seek(to: lower) : try cursor.next()
    } else if state == .inside {
      isThere = try cursor.previous()
    } else if let upper {
      isThere = try cursor.seek(atOrBefore: upper)
      // The bound itself is not part of it.
      if isThere, order(try cursor.key, upper) == 0 { isThere = try cursor.previous() }
    } else {
      isThere = try cursor.last()
    }
    if isThere {
      let key = try cursor.key
      if isReversed {
        isThere = order(key, lower) >= 0
      } else if let upper {
        isThere = order(key, upper) < 0
      }
    }
    state = isThere ? .inside : .ended
    return isThere
  }

  private func order(_ key: UnsafeRawBufferPointer, _ bound: [UInt8]) -> Int {
    bound.withUnsafeBytes { KeyBytes.compare(key, $0) }
  }

  /// The key of the entry, borrowed until the next move.
  public var key: UnsafeRawBufferPointer { get throws(StorageError) { try cursor.key } }
  /// The entry's value, borrowed until the next move.
  public var valueBytes: UnsafeRawBufferPointer {
    mutating get throws(StorageError) { try cursor.valueBytes }
  }
  /// The entry's value with its owner, to be kept for as long as wanted.
  public func storedValue() throws(StorageError) -> StoredValue { try cursor.storedValue() }
}

extension IndexTree {
  /// The entries with keys at or above `lower` and below `upper`; without it, to the end.
  public func entries(
    from lower: [UInt8] = [], to upper: [UInt8]? = nil, reversed: Bool = false
  ) -> IndexRange {
    IndexRange(cursor(), from: lower, to: upper, isReversed: reversed)
  }

  /// The entries whose keys begin with `prefix`.
  public func entries(withPrefix prefix: [UInt8], reversed: Bool = false) -> IndexRange {
    // The first key after all of them: the prefix with its last byte below 255 raised by one.
    var upper: [UInt8]?
    if let last = prefix.lastIndex(where: { $0 < 255 }) {
      upper = Array(prefix[..<last]) + [prefix[last] + 1]
    }
    return IndexRange(cursor(), from: prefix, to: upper, isReversed: reversed)
  }
}

// The same in a transaction, including its own changes; a change of the tree ends the iteration
// with an error, as it does for a cursor.
extension MutableRecordTree {
  /// The entries with keys in `range`.
  public func entries(
    in range: ClosedRange<Int64>, reversed: Bool = false
  ) -> RecordRange { reading.entries(in: range, reversed: reversed) }

  /// The entries with keys in `range`, whose upper bound is not part of it.
  public func entries(in range: Range<Int64>, reversed: Bool = false) -> RecordRange {
    reading.entries(in: range, reversed: reversed)
  }
}

extension MutableIndexTree {
  /// The entries with keys at or above `lower` and below `upper`; without it, to the end.
  public func entries(
    from lower: [UInt8] = [], to upper: [UInt8]? = nil, reversed: Bool = false
  ) -> IndexRange { reading.entries(from: lower, to: upper, reversed: reversed) }

  /// The entries whose keys begin with `prefix`.
  public func entries(withPrefix prefix: [UInt8], reversed: Bool = false) -> IndexRange {
    reading.entries(withPrefix: prefix, reversed: reversed)
  }
}
