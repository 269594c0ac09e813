import QuireModel
import QuireStorage

/// Makes the trees of indexes from the rows that a transaction has.
struct IndexBuilding {
  let transaction: WriteTransaction
  let entities: StoreEntities
  /// Told of rows that were read.
  var advance: (Int) throws -> Void = { _ in }

  private static let reportCount = 1_024

  /// Makes what is to be made and drops what is to go.
  func carryOut(_ changes: StoreSchema.IndexChanges) throws {
    for index in changes.dropped { try drop(index) }
    for index in changes.added { try build(index) }
  }

  func drop(_ index: StoredIndex) throws {
    if try transaction.indexTree(index.tree) != nil { try transaction.dropTree(index.tree) }
  }

  /// Makes the tree of an index, which has none.
  ///
  /// - Throws: ``PersistenceError/Code/migrationConstraintViolation`` when two objects have the
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
    // A sorter that puts keys aside makes other trees, and leaves this one as it is.
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
  /// Gives a store the indexes of a model that is the store's own but for its indexes, if it has
  /// others.
  ///
  /// - Parameter binding: of that model.
  static func exchangeIndexes(for binding: ModelBinding, in transaction: WriteTransaction) throws {
    guard var schema = try StoreSchema(from: transaction),
      let tree = try transaction.mutableIndexTree(StoreSchema.tree)
    else { throw damaged("is missing") }
    let changes = try schema.takeIndexes(of: binding.model)
    if changes.isEmpty { return }
    let entities = try StoreEntities(
      binding, schema: schema, identity: StoreIdentity(high: 0, low: 0))
    try IndexBuilding(transaction: transaction, entities: entities).carryOut(changes)
    try schema.writeIndexes(to: tree)
  }

  /// Takes all indexes of a store away, for many rows to be written; ``exchangeIndexes(for:in:)``
  /// makes them anew.
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

  /// Whether a store has other indexes than those of a model that is its own but for its indexes.
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
