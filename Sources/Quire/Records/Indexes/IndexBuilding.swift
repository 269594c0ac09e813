import QuireModel
import QuireStorage

/// Builds the trees of indexes from the rows in a transaction.
struct IndexBuilding {
  let transaction: WriteTransaction
  let entities: StoreEntities
  /// Called with the number of rows read since the last call.
  var advance: (Int) throws -> Void = { _ in }

  private static let reportCount = 1_024

  /// Drops the trees of removed indexes, and builds those of added ones.
  func carryOut(_ changes: StoreSchema.IndexChanges) throws {
    for index in changes.dropped { try drop(index) }
    for index in changes.added { try build(index) }
  }

  func drop(_ index: StoredIndex) throws {
    if try transaction.indexTree(index.tree) != nil { try transaction.dropTree(index.tree) }
  }

  /// Builds the tree of an index, which must not exist yet.
  ///
  /// - Throws: ``PersistenceError/Code/migrationConstraintViolation`` if two objects have the same
  ///   values of a constraint.
  func build(_ index: StoredIndex) throws {
    let sorter = KeySorter(transaction, index.tree + "/run")
    for number in index.entities {
      guard let storage = entities.storage(number: number) else { continue }
      try addKeys(of: EntityIndex(index, storage), storage, to: sorter)
    }
    guard index.kind == .unique else { return try sorter.build(index.tree) }
    var group = DuplicateSearch(index, transaction, entities)
    try sorter.build(index.tree) { try group.compare($0, $1) }
  }

  private func addKeys(
    of index: EntityIndex, _ storage: EntityStorage, to sorter: KeySorter
  ) throws {
    guard let tree = try transaction.recordTree(storage.stored.rowTree) else { return }
    let filter = try PartialIndexFilter(index, storage.layout)
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    var key = IndexKeyWriter()
    var unreported = 0
    // The cursor stays valid: the sorter writes to other trees only.
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let row = try RowReader(try cursor.valueBytes, layout: storage.layout, scratch)
      if try filter?.includes(row) ?? true {
        key.removeAll()
        try index.appendElements(of: row, to: &key)
        key.append(Reference(entity: storage.stored.number, key: try cursor.key))
        try sorter.add(key.bytes)
      }
      unreported += 1
      if unreported == IndexBuilding.reportCount {
        try advance(unreported)
        unreported = 0
      }
      isInside = try cursor.next()
    }
    try advance(unreported)
  }
}

extension StoreSchema {
  /// Gives a store the indexes of a model, if its own are others. Apart from indexes the model must
  /// be the store's.
  ///
  /// - Parameters:
  ///   - binding: the binding of that model.
  ///   - advance: called with the number of rows read since the last call.
  static func exchangeIndexes(
    for binding: ModelBinding, in transaction: WriteTransaction,
    advance: (Int) throws -> Void = { _ in }
  ) throws {
    guard var schema = try StoreSchema(from: transaction),
      let tree = try transaction.mutableIndexTree(StoreSchema.tree)
    else { throw damaged("is missing") }
    let changes = try schema.takeIndexes(of: binding.model)
    if changes.isEmpty { return }
    let entities = try StoreEntities(
      binding, schema: schema, identity: StoreIdentity(high: 0, low: 0))
    try withoutActuallyEscaping(advance) { advance in
      try IndexBuilding(transaction: transaction, entities: entities, advance: advance)
        .carryOut(changes)
    }
    try schema.writeIndexes(to: tree)
  }

  /// Drops all indexes of a store before many rows are written; ``exchangeIndexes(for:in:)`` builds
  /// them again.
  ///
  /// - Returns: the schema without them.
  static func dropIndexes(in transaction: WriteTransaction) throws -> StoreSchema {
    guard var schema = try StoreSchema(from: transaction),
      let tree = try transaction.mutableIndexTree(StoreSchema.tree)
    else { throw damaged("is missing") }
    if schema.indexes.isEmpty { return schema }
    for index in schema.indexes where try transaction.indexTree(index.tree) != nil {
      try transaction.dropTree(index.tree)
    }
    schema.indexes = []
    schema.lastIndexNumber = 0
    try schema.writeIndexes(to: tree)
    return schema
  }

  /// Whether a store has other indexes than a model, which apart from indexes must be the store's.
  static func hasOtherIndexes(
    than model: ManagedObjectModel, in reader: some TreeReader
  ) throws -> Bool {
    let isPlain = model.entities.allSatisfy {
      $0.declaration.indexes.isEmpty && $0.declaration.uniquenessConstraints.isEmpty
    }
    if isPlain, try reader.indexTree(tree)?.contains(indexesKey) != true { return false }
    guard var schema = try StoreSchema(from: reader) else { return false }
    return try !schema.takeIndexes(of: model).isEmpty
  }
}
