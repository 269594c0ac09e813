import QuireModel
import QuireStorage

/// Reads the rows of an entity from a snapshot and hands over what they become, in the order of
/// their keys.
///
/// In memory are a few batches of rows, however many there are. The rows of a large entity are read
/// and made on a second thread, while the caller's writes the batch before.
struct RowRewriting: Sendable {
  let snapshot: Snapshot
  /// The entity's number, its tree, and how its rows lie there.
  let stored: StoredEntity
  /// What becomes of rows of the current layout; `nil` when they only are to have it.
  let transformation: RowTransformation?
  /// What rows lead to, for each link that the transformation numbers.
  let links: [SortedLinks]

  /// From this many rows on a second thread is worth its while.
  private static let parallelRowCount = 16_384

  /// - Parameters:
  ///   - body: takes a batch of new rows, which is valid within the call.
  /// - Throws: what `body` throws; ``RowError`` when a row cannot be read.
  func forEach(rowCount: Int, _ body: (RowBatch) throws -> Void) throws {
    // Links are read from trees of the writer's transaction, which belongs to its thread.
    if rowCount >= RowRewriting.parallelRowCount, links.isEmpty {
      let relay = BatchRelay()
      if Threads.run({ relay.produce { try RowReading(self) } }) {
        return try relay.consume(body)
      }
      // The system has no thread to give; one does.
    }
    var reading = try RowReading(self)
    let batch = RowBatch()
    while try reading.fill(batch) { try body(batch) }
  }
}

/// Where a rewriting is in the old tree.
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
  /// - Returns: `false` when there are none left.
  mutating func fill(_ batch: RowBatch) throws -> Bool {
    batch.removeAll()
    guard isInside, var cursor = cursor.take() else { return false }
    // One loop for each, so that what is decided once costs nothing in it.
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

/// Rows and their keys, one after the other in one piece of memory that is used again and again.
///
/// `@unchecked Sendable`: ``BatchRelay`` gives it to one thread at a time.
final class RowBatch: @unchecked Sendable {
  private var memory: UnsafeMutableRawBufferPointer
  private var byteCount = 0
  private var rows: [(key: Int64, end: Int)] = []

  /// Enough that handing over costs nothing, and little enough to stay in a processor's cache.
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

  /// Adds a row that `body` writes to where it is told; it returns how many bytes it wrote.
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
