import QuireStorage

/// Rewrites the objects that deferred migrations have left in older layouts.
///
/// Nothing but the store itself is needed: its schema says how a row of each older layout becomes
/// one of the current layout. Readers do not notice: a row gives the same before and after, and
/// keeps its version. Whoever has opened the store while rows were left goes on knowing the older
/// layouts, which does no harm; their numbers are not used again.
///
/// A slice is one transaction, which also writes how far it came. When it is the last one, the
/// older layouts go from the schema in the same commit.
struct DeferredFinishing {
  let pages: PageStore

  /// What a slice is allowed to take.
  enum Limit {
    case objects(Int)
    case duration(Duration)
  }

  /// Rewrites everything that is left: each entity into a new tree that takes the place of the old
  /// one, as a migration that is not deferred does, in one transaction.
  ///
  /// That reads from a snapshot, which does not show what others have committed and what is on its
  /// way to the disk. Then a slice is made instead, which needs no snapshot, until there is no such
  /// commit or nothing left.
  func finishAll() throws {
    while true {
      var isCurrent = true
      let isLeft = try write { transaction, schema in
        let snapshot = try pages.snapshot()
        guard transaction.begins(with: snapshot.contentCommit) else {
          isCurrent = false
          return
        }
        for index in schema.entities.indices where schema.entities[index].unfinished != nil {
          try rebuild(schema.entities[index], snapshot, transaction)
          schema.entities[index] = schema.entities[index].finished
        }
      }
      if isCurrent || !isLeft { return }
      if try !finishSlice(.objects(DeferredFinishing.sliceObjectCount)) { return }
    }
  }

  private static let sliceObjectCount = 10_000

  /// Rewrites some of what is left, in one transaction, in the order of keys.
  ///
  /// - Returns: whether something is left.
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
  /// - Returns: whether something is left.
  @discardableResult
  private func write(
    _ body: (WriteTransaction, inout StoreSchema) throws -> Void
  ) throws -> Bool {
    // Nobody has to wait for a writer when there is nothing to do.
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

  // MARK: All at once

  private func rebuild(
    _ entity: StoredEntity, _ snapshot: Snapshot, _ transaction: WriteTransaction
  ) throws {
    guard let count = try snapshot.recordTree(entity.rowTree)?.count else { return }
    let rewriting = RowRewriting(
      snapshot: snapshot, stored: entity, transformation: nil, links: [])
    let newTree = entity.rowTree + "/new"
    let tree = try transaction.buildRecordTree(newTree) { builder in
      try rewriting.forEach(rowCount: count) { batch in
        try batch.forEach { row, key in try builder.append(row, for: key) }
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

  /// In chunks that are read and then written: a cursor does not outlive a change of its tree.
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

  /// How much of its limit a slice has used up.
  private struct Progress {
    private let limit: Limit
    private let start = ContinuousClock.now
    private var count = 0

    init(_ limit: Limit) { self.limit = limit }

    /// Whether another row may be looked at. The first one always may, so that each slice gets
    /// further.
    mutating func advance() -> Bool {
      defer { count += 1 }
      switch limit {
      case .objects(let limit): return count < max(1, limit)
      case .duration(let duration): return count == 0 || ContinuousClock.now - start < duration
      }
    }
  }
}
