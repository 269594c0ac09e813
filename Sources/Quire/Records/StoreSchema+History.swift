import QuireStorage

/// What of a store's history is gone, so that whoever asks for it is told.
struct HistoryMark: Hashable, Sendable {
  /// No transaction up to this number is there, and nobody was told which there were: tokens below
  /// it are of no use.
  var purgedNumber: Int64
  /// The highest ID of a change that is gone.
  var purgedChangeID: Int64
}

/// How the schema tells that a store keeps a history of its saves.
///
/// Such a store has an object format of its own, so that a version of Quire that would save without
/// a word in the history refuses it. A store that keeps none is, byte for byte, what it was before
/// there were histories.
extension StoreSchema {
  /// The format of a store that keeps a history. On disk, for ever.
  static let formatWithHistory: UInt32 = 5
  /// The tree of transactions: their numbers to their records.
  static let historyTree = "history"
  private static let historyKey = "history"

  /// Writes format and mark, and nothing else of the schema.
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
