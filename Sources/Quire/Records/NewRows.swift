import QuireModel
import QuireStorage

/// Appends the rows of new objects of one entity.
final class NewRows {
  let storage: EntityStorage
  let row: RowWriter
  private let rows: RecordAppender
  private let keys: NewRowKeys

  init(_ storage: EntityStorage, _ row: RowWriter, _ writer: StoreWriter) throws {
    self.storage = storage
    self.row = row
    rows = try writer.rows(of: storage.stored).appender()
    keys = try NewRowKeys(storage, writer)
  }

  /// Inserts the row that was built last under a key that was never used before.
  func put(at reference: Reference) throws {
    let wasThere = try row.withBytes { bytes in
      try keys.record(bytes, at: reference)
      return try rows.put(bytes, for: reference.key)
    }
    if wasThere { throw StoreWriter.keyIsTaken(reference, storage) }
  }
}

/// Collects the index keys of rows of new objects of one entity.
struct NewRowKeys {
  private let storage: EntityStorage
  private let upkeep: IndexUpkeep?
  private let indexes: [IndexUpkeep.Item]
  /// Whether constraints are checked by other means.
  private let isUnchecked: Bool

  init(_ storage: EntityStorage, _ writer: StoreWriter, isUnchecked: Bool = false) throws {
    self.storage = storage
    self.isUnchecked = isUnchecked
    upkeep = try writer.indexUpkeep()
    indexes = try upkeep?.items(of: storage) ?? []
  }

  /// Collects the keys of a row that is about to be inserted under a key that was never used
  /// before.
  func record(_ row: UnsafeRawBufferPointer, at reference: Reference) throws {
    if indexes.isEmpty { return }
    try upkeep?.record(row, at: reference, indexes, storage.layout, isUnchecked: isUnchecked)
  }
}
