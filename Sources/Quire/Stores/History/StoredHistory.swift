import QuireModel
import QuireStorage

/// A store's history: the objects that each save has inserted, updated and deleted.
///
/// It is one tree, `history`, with a record for each transaction. A save writes its record in the
/// same commit as its rows, so that there is never one without the other. The numbers of
/// transactions increase, with gaps: each is the number of its commit, or the last one plus 1 where
/// that is higher. The latter happens when a store was copied into another file, whose commits are
/// numbered from the start.
///
/// The history begins at its ``HistoryMark``. A request for changes after a transaction below the
/// mark is an error.
///
/// Migrations write no record; decision 0034 says what they do with the history.
struct StoredHistory {
  let mark: HistoryMark
  let tree: RecordTree

  /// - Returns: `nil` if the store keeps no history.
  init?(in reader: some TreeReader) throws {
    guard let schema = try reader.indexTree(StoreSchema.tree),
      let mark = try StoreSchema.history(in: schema)
    else { return nil }
    guard let tree = try reader.recordTree(StoreSchema.historyTree) else {
      throw StoreSchema.damaged("tells of a history, and there is no tree of it")
    }
    self.mark = mark
    self.tree = tree
  }

  /// The number of the last transaction; if none is left, a number that no later one will have.
  var lastNumber: Int64 {
    get throws { max(try tree.lastKey ?? 0, mark.purgedNumber) }
  }

  /// The lowest number that the next transaction may have, and the ID of its first change.
  ///
  /// - Throws: an error if one of these numbers, or the ID of the last change, would overflow. That
  ///   happens only in a file that was written by other means.
  func next(changeCount: Int) throws -> (number: Int64, changeID: Int64) {
    let (number, lastID) = (try lastNumber, try lastChangeID)
    guard number < .max, lastID < .max - Int64(clamping: changeCount) else {
      throw PersistenceError(
        .persistentStoreSave,
        "the store's history has come to transaction \(number) and change \(lastID), and there are "
          + "no higher numbers for the next save: add the store with PersistentHistoryTrackingKey "
          + "false, and again with true")
    }
    return (number + 1, lastID + 1)
  }

  private var lastChangeID: Int64 {
    get throws { try lastHead.map { $0.nextChangeID - 1 } ?? mark.purgedChangeID }
  }

  /// The heads of the first and the last transaction in the history.
  var firstHead: HistoryRecord.Head? { get throws { try tree.firstKey.flatMap(head) } }
  var lastHead: HistoryRecord.Head? { get throws { try tree.lastKey.flatMap(head) } }

  private func head(of number: Int64) throws -> HistoryRecord.Head? {
    do {
      return try tree.withValue(for: number) { bytes in
        var reader = ByteReader(bytes)
        return try HistoryRecord.Head(from: &reader)
      }
    } catch let error as ByteReaderError {
      throw StoredHistory.unreadable(number, error)
    }
  }

  /// Calls `body` with each transaction above a number, in order, until it returns `false`.
  func forEach(
    after number: Int64, _ body: (Int64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    guard number < .max else { return }
    var cursor = tree.cursor()
    var isInside = try cursor.seek(to: number + 1)
    while isInside {
      let number = try cursor.key
      do {
        if try !body(number, try cursor.valueBytes) { return }
      } catch let error as ByteReaderError {
        throw StoredHistory.unreadable(number, error)
      } catch let error as ModelArchiveError {
        throw StoredHistory.damaged(number, "has a value that cannot be read: \(error)")
      }
      isInside = try cursor.next()
    }
  }

  private static func unreadable(_ number: Int64, _ error: ByteReaderError) -> PersistenceError {
    damaged(number, "cannot be read at byte \(error.offset): no \(error.expected)")
  }

  private static func damaged(_ number: Int64, _ what: String) -> PersistenceError {
    PersistenceError(
      .persistentStoreOperation, "transaction \(number) of the store's history \(what)")
  }
}

// MARK: - Writing

extension StoredHistory {
  /// Starts a history, if the store keeps none.
  static func begin(in transaction: WriteTransaction) throws {
    try changeSchema(in: transaction) { schema in
      guard schema.history == nil else { return }
      // Tokens of an earlier history of the store are below this number.
      schema.history = HistoryMark(
        purgedNumber: Int64(clamping: transaction.commitNumber.rawValue), purgedChangeID: 0)
      try transaction.createRecordTree(StoreSchema.historyTree)
    }
  }

  /// Removes the history, so that saves are no longer recorded.
  static func end(in transaction: WriteTransaction) throws {
    try changeSchema(in: transaction) { schema in
      guard schema.history != nil else { return }
      schema.history = nil
      try transaction.dropTree(StoreSchema.historyTree)
    }
  }

  /// Starts a new history in a store whose objects are no longer those of `former`, so that all of
  /// its tokens expire.
  static func restart(after former: StoredHistory, in transaction: WriteTransaction) throws {
    let next = try former.next(changeCount: 0)
    try changeSchema(in: transaction) { schema in
      if schema.history != nil { try transaction.dropTree(StoreSchema.historyTree) }
      // Even a token for the end of the former history expires.
      schema.history = HistoryMark(
        purgedNumber: max(next.number, Int64(clamping: transaction.commitNumber.rawValue)),
        purgedChangeID: next.changeID - 1)
      try transaction.createRecordTree(StoreSchema.historyTree)
    }
  }

  /// Removes the transactions up to and including this one.
  static func purge(through number: Int64, in transaction: WriteTransaction) throws {
    guard let history = try StoredHistory(in: transaction),
      let tree = try transaction.mutableRecordTree(StoreSchema.historyTree)
    else { return }
    var mark = history.mark
    // A cursor is invalid after a change of its tree.
    while let first = try tree.firstKey, first <= number {
      let next = try tree.withValue(for: first) { bytes in
        var reader = ByteReader(bytes)
        return try? HistoryRecord.Head(from: &reader).nextChangeID
      }
      // Numbers begin at 1, so that no transaction has a lower one.
      mark.purgedNumber = max(mark.purgedNumber, first)
      // An unreadable record is removed as well.
      if let next = next ?? nil { mark.purgedChangeID = next - 1 }
      try tree.remove(first)
    }
    guard mark != history.mark else { return }
    try changeSchema(in: transaction) { $0.history = mark }
  }

  private static func changeSchema(
    in transaction: WriteTransaction, _ body: (inout StoreSchema) throws -> Void
  ) throws {
    guard var schema = try StoreSchema(from: transaction),
      let tree = try transaction.mutableIndexTree(StoreSchema.tree)
    else { throw StoreSchema.damaged("is missing") }
    let before = schema.history
    try body(&schema)
    if schema.history != before { try schema.writeHistory(to: tree) }
  }

  /// Appends a transaction, assigning its number and the IDs of its changes.
  ///
  /// - Returns: the number; `nil` if the store keeps no history.
  static func append(
    _ record: HistoryRecord, in transaction: WriteTransaction
  ) throws -> Int64? {
    guard let history = try StoredHistory(in: transaction),
      let tree = try transaction.mutableRecordTree(StoreSchema.historyTree)
    else { return nil }
    var record = record
    let next = try history.next(changeCount: record.head.changeCount)
    record.head.firstChangeID = next.changeID
    let number = max(next.number, Int64(clamping: transaction.commitNumber.rawValue))
    try tree.put(record.encoded, for: number)
    return number
  }
}
