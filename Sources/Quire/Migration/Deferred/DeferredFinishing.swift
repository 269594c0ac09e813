import QuireStorage

/// Rewrites the objects that deferred migrations have left in older layouts.
///
/// It needs only the store: the schema describes how a row of each older layout is converted to the
/// current one. Readers are not affected: a row has the same values and version before and after. A
/// coordinator that opened the store while old rows were left keeps the older layouts in memory,
/// which is harmless, as their numbers are not used again.
///
/// A slice is one transaction, which also records its progress. The last one also removes the older
/// layouts from the schema.
struct DeferredFinishing {
  let pages: PageStore

  /// The largest amount of work in a slice.
  enum Limit {
    case objects(Int)
    case duration(Duration)
  }

  /// Rewrites all remaining objects in one transaction: each entity is copied to a new tree, which
  /// replaces the old one, as in a migration that is not deferred.
  ///
  /// The rows are read from a snapshot, which does not show commits that are still being written to
  /// the disk. If there are any, a slice is done instead, which needs no snapshot, and the attempt
  /// is repeated.
  ///
  /// - Parameter progress: is called from time to time, in rows of the trees that are copied.
  func finishAll(_ progress: (StoreProgress) throws -> Void) throws {
    while true {
      var isCurrent = true
      let isLeft = try write { transaction, schema in
        let snapshot = try pages.snapshot()
        guard transaction.begins(with: snapshot.contentCommit) else {
          isCurrent = false
          return
        }
        let unfinished = schema.entities.indices.filter { schema.entities[$0].unfinished != nil }
        let total = try unfinished.reduce(0) {
          $0 + (try snapshot.recordTree(schema.entities[$1].rowTree)?.count ?? 0)
        }
        var done = 0
        for index in unfinished {
          try rebuild(schema.entities[index], snapshot, transaction) { count in
            done += count
            try progress(StoreProgress(completedUnitCount: done, totalUnitCount: total))
          }
          schema.entities[index] = schema.entities[index].finished
        }
      }
      if isCurrent || !isLeft { return }
      if try !finishSlice(.objects(DeferredFinishing.sliceObjectCount)) { return }
    }
  }

  private static let sliceObjectCount = 10_000

  /// Rewrites some of the remaining objects, in the order of keys, in one transaction.
  ///
  /// - Returns: whether objects are left.
  func finishSlice(_ limit: Limit) throws -> Bool {
    var progress = Progress(limit)
    return try write { transaction, schema in
      for index in schema.entities.indices where schema.entities[index].unfinished != nil {
        try finishSlice(of: &schema.entities[index], &progress, transaction)
        if schema.entities[index].unfinished != nil { return }
      }
    }
  }

  /// - Parameter body: changes rows, and the schema accordingly.
  /// - Returns: whether objects are left.
  @discardableResult
  private func write(
    _ body: (WriteTransaction, inout StoreSchema) throws -> Void
  ) throws -> Bool {
    // Without work to do, do not wait for another writer.
    guard try schema(in: pages.snapshot()).hasOlderLayouts else { return false }
    let transaction = try pages.beginWrite()
    do {
      let before = try schema(in: transaction)
      var schema = before
      if before.hasOlderLayouts { try body(transaction, &schema) }
      guard schema.entities != before.entities else {
        transaction.abort()
        return before.hasOlderLayouts
      }
      guard let tree = try transaction.mutableIndexTree(StoreSchema.tree) else {
        throw StoreSchema.damaged("is missing")
      }
      try schema.writeLayouts(to: tree)
      try transaction.commit()
      return schema.hasOlderLayouts
    } catch {
      transaction.abort()
      throw error
    }
  }

  private func schema(in reader: some TreeReader) throws -> StoreSchema {
    guard let schema = try StoreSchema(from: reader) else {
      throw StoreSchema.damaged("is missing")
    }
    return schema
  }

  // MARK: Complete

  /// - Parameter advance: is called with the number of rows copied since the last call.
  private func rebuild(
    _ entity: StoredEntity, _ snapshot: Snapshot, _ transaction: WriteTransaction,
    _ advance: (Int) throws -> Void
  ) throws {
    guard let count = try snapshot.recordTree(entity.rowTree)?.count else { return }
    let rewriting = RowRewriting(
      snapshot: snapshot, stored: entity, transformation: nil, links: [])
    let newTree = entity.rowTree + "/new"
    let tree = try transaction.buildRecordTree(newTree) { builder in
      try rewriting.forEach(rowCount: count) { batch in
        var rowCount = 0
        try batch.forEach { row, key in
          try builder.append(row, for: key)
          rowCount += 1
        }
        try advance(rowCount)
      }
    }
    guard tree.count == count else {
      throw PersistenceError(
        .migration,
        "\(entity.name) has \(tree.count) objects after its migration, and had \(count)")
    }
    try transaction.dropTree(entity.rowTree)
    try transaction.renameTree(newTree, to: entity.rowTree)
  }

  // MARK: In slices

  private static let chunkRowCount = 64

  /// In portions that are first read and then written, as a cursor is invalid after a change of its
  /// tree.
  private func finishSlice(
    of entity: inout StoredEntity, _ progress: inout Progress, _ transaction: WriteTransaction
  ) throws {
    guard let unfinished = entity.unfinished,
      let tree = try transaction.mutableRecordTree(entity.rowTree)
    else {
      entity = entity.finished
      return
    }
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    let chunk = RowBatch()
    var (next, left) = (Optional(unfinished.firstKey), unfinished.count)
    while let first = next {
      var (isStopped, count) = (false, 0)
      chunk.removeAll()
      var cursor = tree.cursor()
      var isInside = try cursor.seek(to: first)
      while isInside, !chunk.isFull, count < DeferredFinishing.chunkRowCount {
        isStopped = !progress.advance()
        if isStopped { break }
        count += 1
        if try add(try cursor.valueBytes, try cursor.key, entity, to: chunk, scratch) { left -= 1 }
        isInside = try cursor.next()
      }
      next = isInside ? try cursor.key : nil
      try chunk.forEach { try tree.put($0, for: $1) }
      if isStopped, let next {
        entity = entity.with(
          entity.layout, unfinished: UnfinishedRows(firstKey: next, count: max(0, left)))
        return
      }
    }
    entity = entity.finished
  }

  /// - Returns: whether the row has an older layout, and was added.
  private func add(
    _ bytes: UnsafeRawBufferPointer, _ key: Int64, _ entity: StoredEntity, to chunk: RowBatch,
    _ scratch: RowScratch
  ) throws -> Bool {
    if RowReader.isCurrent(bytes, entity.layout) { return false }
    do {
      let row = try RowReader(bytes, layout: entity.layout, scratch).bytes
      try chunk.append(key: key, byteLimit: row.count) { target in
        if let start = row.baseAddress { target.copyMemory(from: start, byteCount: row.count) }
        return row.count
      }
    } catch let error as RowError {
      throw PersistenceError(
        .migration, "\(entity.name)/p\(key) cannot be rewritten: \(error)")
    }
    return true
  }

  /// The part of a slice's limit that is used up.
  private struct Progress {
    private let limit: Limit
    private let start = ContinuousClock.now
    private var count = 0

    init(_ limit: Limit) { self.limit = limit }

    /// Whether another row may be processed. The first one always may, so that each slice makes
    /// progress.
    mutating func advance() -> Bool {
      defer { count += 1 }
      switch limit {
      case .objects(let limit): return count < max(1, limit)
      case .duration(let duration): return count == 0 || ContinuousClock.now - start < duration
      }
    }
  }
}
