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

  /// Rewrites everything that is left, in one transaction: each entity into a new tree that takes
  /// the place of the old one, as a migration that is not deferred does.
  func finishAll() throws {
    try write { snapshot, transaction, schema in
      for index in schema.entities.indices where schema.entities[index].unfinished != nil {
        try rebuild(schema.entities[index], snapshot, transaction)
        schema.entities[index].finish()
      }
    }
  }

  /// Rewrites some of what is left, in one transaction, in the order of keys.
  ///
  /// - Returns: whether something is left.
  func finishSlice(_ limit: Limit) throws -> Bool {
    var progress = Progress(limit)
    return try write { snapshot, transaction, schema in
      for index in schema.entities.indices where schema.entities[index].unfinished != nil {
        try finishSlice(of: &schema.entities[index], &progress, snapshot, transaction)
        if schema.entities[index].unfinished != nil { return }
      }
    }
  }

  /// - Parameter body: changes rows, and the schema accordingly.
  /// - Returns: whether something is left.
  @discardableResult
  private func write(
    _ body: (Snapshot, WriteTransaction, inout StoreSchema) throws -> Void
  ) throws -> Bool {
    // Nobody has to wait for a writer when there is nothing to do.
    guard try schema(of: pages.snapshot()).hasOlderLayouts else { return false }
    let transaction = try pages.beginWrite()
    do {
      let snapshot = try pages.snapshot()
      var schema = try schema(of: snapshot)
      guard schema.hasOlderLayouts else {
        transaction.abort()
        return false
      }
      try body(snapshot, transaction, &schema)
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

  private func schema(of snapshot: Snapshot) throws -> StoreSchema {
    guard let schema = try StoreSchema(from: snapshot) else {
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
      try rewriting.forEach(rowCount: count) { row, key in try builder.append(row, for: key) }
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

  private func finishSlice(
    of entity: inout StoredEntity, _ progress: inout Progress, _ snapshot: Snapshot,
    _ transaction: WriteTransaction
  ) throws {
    guard let unfinished = entity.unfinished, let old = try snapshot.recordTree(entity.rowTree),
      let tree = try transaction.mutableRecordTree(entity.rowTree)
    else {
      entity.finish()
      return
    }
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    var left = unfinished.count
    var cursor = old.cursor()
    var isInside = try cursor.seek(to: unfinished.firstKey)
    while isInside {
      let key = try cursor.key
      guard progress.advance() else {
        entity.unfinished = UnfinishedRows(firstKey: key, count: max(0, left))
        return
      }
      let bytes = try cursor.valueBytes
      if !RowReader.isCurrent(bytes, entity.layout) {
        do {
          try tree.put(try RowReader(bytes, layout: entity.layout, scratch).bytes, for: key)
        } catch let error as RowError {
          throw PersistenceError(
            .migration, "\(entity.name)/p\(key) cannot be rewritten: \(error)")
        }
        left -= 1
      }
      isInside = try cursor.next()
    }
    entity.finish()
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
