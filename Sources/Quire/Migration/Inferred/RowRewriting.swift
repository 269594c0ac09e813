import QuireModel
import QuireStorage

/// Converts the rows of an entity in a snapshot to the new layout, in the order of their keys.
///
/// A few batches of rows are in memory at a time. The rows of a large entity are read and converted
/// on a second thread, while the calling thread writes the previous batch.
struct RowRewriting: Sendable {
  let snapshot: Snapshot
  /// The entity in the old schema: its number, tree and layout.
  let stored: StoredEntity
  /// The conversion of rows of the current layout; `nil` to convert only older layouts.
  let transformation: RowTransformation?
  /// The destinations in rows, for each link number of the transformation.
  let links: [SortedLinks]

  /// - Parameters:
  ///   - body: called with a batch of new rows, which is valid within the call.
  /// - Throws: the errors of `body`; ``RowError`` if a row cannot be read.
  func forEach(rowCount: Int, _ body: (RowBatch) throws -> Void) throws {
    // Links are read from trees of the writer's transaction, which belongs to its thread.
    if rowCount >= RewritingThreads.rowCount, links.isEmpty {
      let relay = BatchRelay()
      if Threads.run({ relay.produce { try RowReading(self) } }) {
        return try relay.consume(body)
      }
      // If no thread can be created, this one is used.
    }
    var reading = try RowReading(self)
    let batch = RowBatch()
    while try reading.fill(batch) { try body(batch) }
  }
}

/// The number of rows from which a second thread is used. Tests set a small one.
package enum RewritingThreads {
  @TaskLocal package static var rowCount = 16_384
}

/// The position of a rewriting in the old tree.
struct RowReading {
  private let rewriting: RowRewriting
  private var cursor: RecordCursor?
  private var isInside = false
  private let scratch = RowScratch()

  init(_ rewriting: RowRewriting) throws {
    self.rewriting = rewriting
    cursor = try rewriting.snapshot.recordTree(rewriting.stored.rowTree)?.cursor()
    isInside = try cursor?.first() ?? false
  }

  /// Makes the next rows.
  ///
  /// - Returns: `false` if none are left.
  mutating func fill(_ batch: RowBatch) throws -> Bool {
    batch.removeAll()
    guard isInside, var cursor = cursor.take() else { return false }
    // Separate loops, so that the case is not tested for each row.
    if let transformation = rewriting.transformation {
      try fill(batch, &cursor, transformation)
    } else {
      try copy(to: batch, &cursor)
    }
    self.cursor = cursor
    return true
  }

  private mutating func fill(
    _ batch: RowBatch, _ cursor: inout RecordCursor, _ transformation: RowTransformation
  ) throws {
    let (layout, links) = (rewriting.stored.layout, rewriting.links)
    let entity = rewriting.stored.number
    while isInside, !batch.isFull {
      let key = try cursor.key
      let row = try RowReader(try cursor.valueBytes, layout: layout, scratch)
      let converted = try transformation.converted(row)
      let limit = transformation.byteLimit(for: row, converted)
      try batch.append(key: key, byteLimit: limit) { target in
        try transformation.write(row, converted, to: target) { number in
          try links[number].destination(of: Reference(entity: entity, key: key))
        }
      }
      isInside = try cursor.next()
    }
  }

  private mutating func copy(to batch: RowBatch, _ cursor: inout RecordCursor) throws {
    let layout = rewriting.stored.layout
    while isInside, !batch.isFull {
      let row = try RowReader(try cursor.valueBytes, layout: layout, scratch)
      try batch.append(key: try cursor.key, byteLimit: row.bytes.count) { target in
        if let bytes = row.bytes.baseAddress {
          target.copyMemory(from: bytes, byteCount: row.bytes.count)
        }
        return row.bytes.count
      }
      isInside = try cursor.next()
    }
  }
}

/// Rows and their keys, stored one after the other in memory that is reused.
///
/// `@unchecked Sendable`: ``BatchRelay`` gives it to one thread at a time.
final class RowBatch: @unchecked Sendable {
  private var memory: UnsafeMutableRawBufferPointer
  private var byteCount = 0
  private var rows: [(key: Int64, end: Int)] = []

  /// Large enough that passing a batch costs little, and small enough for a processor's cache.
  private static let usualByteCount = 1 << 18

  init() {
    memory = .allocate(byteCount: RowBatch.usualByteCount, alignment: 16)
  }

  deinit { memory.deallocate() }

  var count: Int { rows.count }

  var isFull: Bool { byteCount >= RowBatch.usualByteCount / 2 }

  func removeAll() {
    byteCount = 0
    rows.removeAll(keepingCapacity: true)
  }

  /// Adds a row. `body` writes it to the given memory, and returns the number of bytes.
  func append(
    key: Int64, byteLimit: Int, _ body: (UnsafeMutableRawPointer) throws -> Int
  ) throws {
    if byteCount + byteLimit > memory.count { grow(to: byteCount + byteLimit) }
    guard let base = memory.baseAddress else { return }
    byteCount += try body(base + byteCount)
    rows.append((key, byteCount))
  }

  private func grow(to count: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<byteCount]))
    memory.deallocate()
    memory = larger
  }

  /// Calls `body` with each row and its key; the bytes are valid within the call.
  func forEach(_ body: (UnsafeRawBufferPointer, Int64) throws -> Void) rethrows {
    var start = 0
    for (key, end) in rows {
      try body(UnsafeRawBufferPointer(rebasing: memory[start..<end]), key)
      start = end
    }
  }
}
