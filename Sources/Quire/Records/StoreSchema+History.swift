import QuireStorage

/// The part of a store's history that was purged, so that requests for it can be rejected.
struct HistoryMark: Hashable, Sendable {
  /// No transaction up to this number is left in the history. A token below it cannot be used.
  var purgedNumber: Int64
  /// The highest ID of a change that is gone.
  var purgedChangeID: Int64
}

/// The storage of a store's history settings in the schema.
///
/// A store with a history has an object format of its own, so that a version of Quire that would
/// save without recording the history refuses it. A store without one has the same bytes as before
/// histories were introduced.
extension StoreSchema {
  /// The format of a store that keeps a history. On disk, for ever.
  static let formatWithHistory: UInt32 = 5
  /// The name of the tree of transactions: their records by their numbers.
  static let historyTree = "history"
  private static let historyKey = "history"

  /// Writes the format and the mark, and nothing else of the schema.
  func writeHistory(to tree: MutableIndexTree) throws {
    try writeFormat(to: tree)
    let key = Array(StoreSchema.historyKey.utf8)
    guard let history else {
      _ = try tree.remove(key)
      return
    }
    var writer = ByteWriter()
    writer.append(history.purgedNumber)
    writer.append(history.purgedChangeID)
    try tree.put(writer.bytes, for: key)
  }

  static func history(in tree: IndexTree) throws -> HistoryMark? {
    guard let value = try tree.value(for: Array(historyKey.utf8)) else { return nil }
    do throws(ByteReaderError) {
      return try value.withBytes { bytes throws(ByteReaderError) in
        var reader = ByteReader(bytes)
        let mark = HistoryMark(
          purgedNumber: try reader.read(), purgedChangeID: try reader.read())
        guard mark.purgedNumber >= 0, mark.purgedChangeID >= 0, reader.isAtEnd else {
          throw reader.failure("two numbers that are not negative, and an end")
        }
        return mark
      }
    } catch {
      throw damaged(
        "has an unreadable mark of its history at byte \(error.offset): no \(error.expected)")
    }
  }
}
