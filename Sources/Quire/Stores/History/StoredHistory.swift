import QuireModel
import QuireStorage

/// A store's history: which objects each save has inserted, updated and deleted.
///
/// It is one tree, `history`, with a record for each transaction. A save writes its record in the
/// same commit as its rows, so there is never the one without the other. Numbers of transactions
/// rise, with gaps: each is the number of its commit, or one above the last where that is higher,
/// as it is when a store was copied into another file, where commits are counted anew.
///
/// What is in a history is as old as its ``HistoryMark`` says. Whoever asks for what came after a
/// transaction below the mark is told that it is gone.
///
/// Migrations write no record; decision 0034 says what becomes of the history in them.
struct StoredHistory {
  let mark: HistoryMark
  let tree: RecordTree

  /// - Returns: `nil` when the store keeps no history.
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

  /// The number of the last transaction; where none is left, what no later one will have.
  var lastNumber: Int64 {
    get throws { max(try tree.lastKey ?? 0, mark.purgedNumber) }
  }

  /// The least number of a transaction that follows, and the ID of its first change.
  ///
  /// - Throws: when one of them, or that of the last change, is more than there are. No store gets
  ///   there by counting: somebody has written it so.
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

  /// What the first and the last transaction are that are there.
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
  /// Begins a history, if the store keeps none.
  static func begin(in transaction: WriteTransaction) throws {
    try changeSchema(in: transaction) { schema in
      guard schema.history == nil else { return }
      // Tokens of a history that the store had once are below this.
      schema.history = HistoryMark(
        purgedNumber: Int64(clamping: transaction.commitNumber.rawValue), purgedChangeID: 0)
      try transaction.createRecordTree(StoreSchema.historyTree)
    }
  }

  /// Removes the history; saves are not recorded any more.
  static func end(in transaction: WriteTransaction) throws {
    try changeSchema(in: transaction) { schema in
      guard schema.history != nil else { return }
      schema.history = nil
      try transaction.dropTree(StoreSchema.historyTree)
    }
  }

  /// Begins a history anew in a store whose objects are not those that `former` tells of: each of
  /// its tokens expires.
  static func restart(after former: StoredHistory, in transaction: WriteTransaction) throws {
    let next = try former.next(changeCount: 0)
    try changeSchema(in: transaction) { schema in
      if schema.history != nil { try transaction.dropTree(StoreSchema.historyTree) }
      // Also the token of who has seen everything.
      schema.history = HistoryMark(
        purgedNumber: max(next.number, Int64(clamping: transaction.commitNumber.rawValue)),
        purgedChangeID: next.changeID - 1)
      try transaction.createRecordTree(StoreSchema.historyTree)
    }
  }

  /// Removes the first transactions, up to and with this one.
  static func purge(through number: Int64, in transaction: WriteTransaction) throws {
    guard let history = try StoredHistory(in: transaction),
      let tree = try transaction.mutableRecordTree(StoreSchema.historyTree)
    else { return }
    var mark = history.mark
    // A cursor does not outlive a change of its tree.
    while let first = try tree.firstKey, first <= number {
      let next = try tree.withValue(for: first) { bytes in
        var reader = ByteReader(bytes)
        return try? HistoryRecord.Head(from: &reader).nextChangeID
      }
      // Numbers begin at 1; what is below was never a transaction.
      mark.purgedNumber = max(mark.purgedNumber, first)
      // What cannot be read goes as well: that is a way to be rid of it.
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

  /// Enters a transaction, which is given its number and its changes their IDs.
  ///
  /// - Returns: its number; `nil` when the store keeps no history.
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

extension StoreOpening {
  /// Does what the options say about the store's history, unless it is so already.
  func beginOrEndHistory(of pages: PageStore) throws {
    guard let wanted = options.tracksHistory, !options.isReadOnly else { return }
    guard try (pages.read { try StoredHistory(in: $0) } != nil) != wanted else { return }
    try pages.write { transaction in
      if wanted {
        try StoredHistory.begin(in: transaction)
      } else {
        try StoredHistory.end(in: transaction)
      }
      // Coordinators that have the store open already know it before they can save again.
      if wanted { pages.companion { CommitHub() }.noteHistory() }
    }
  }
}
