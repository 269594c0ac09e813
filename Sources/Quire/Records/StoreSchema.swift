import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store's description of itself: the model with which it was written, and the layout of that
/// model's entities in trees.
///
/// A store contains its whole model, so that tools can read it without one. The schema is one small
/// tree, changed only when a store is created or migrated; `docs/file-format.md` lists its keys.
struct StoreSchema: Hashable, Sendable {
  static let tree = "schema"
  /// The name of the tree of key counters: the last assigned key, a u64, by key space.
  static let keysTree = "keys"
  /// The format of rows, links and schema that this version writes, unless the store's contents
  /// require a higher one. On disk, for ever.
  static let format: UInt32 = 1

  var entities: [StoredEntity]
  /// The highest numbers ever assigned in this store.
  var lastEntityNumber: UInt16
  var lastLinkNumber: UInt16
  var lastIndexNumber: UInt16 = 0
  /// The indexes whose trees the store has.
  var indexes: [StoredIndex] = []
  var versionName: String?
  /// The user's metadata.
  var metadata: [String: MetadataValue]
  /// The last migrations, oldest first.
  var migrations: [MigrationRecord]
  /// The start of the store's history; `nil` if it keeps none.
  var history: HistoryMark?
  /// Whether there are values outside of rows.
  var hasExternalData = false

  /// The schema of a new store.
  ///
  /// - Parameter hasIndexes: whether the store has the model's indexes from the start. For writing
  ///   many rows it is faster to build them at the end.
  /// - Throws: an error if the model has more entities or relationships than a store can number.
  init(
    for model: ManagedObjectModel, versionName: String?, hasIndexes: Bool = true
  ) throws(PersistenceError) {
    entities = []
    lastEntityNumber = 0
    lastLinkNumber = 0
    self.versionName = versionName
    metadata = [:]
    migrations = []
    var keySpaces: [String: UInt16] = [:]
    for entity in model.entities where !entity.isAbstract {
      let number = try takeEntityNumber()
      let keySpace = keySpaces[entity.root.name] ?? number
      keySpaces[entity.root.name] = keySpace
      var links: [StoredEntity.Link] = []
      for relationship in StoredEntity.storedLinks(of: entity) {
        links.append(try takeLink(for: relationship))
      }
      entities.append(
        StoredEntity(
          number: number, name: entity.name, keySpace: keySpace,
          layout: RowLayout(for: entity, number: 1), links: links))
    }
    if hasIndexes { _ = try takeIndexes(of: model) }
  }

  mutating func takeIndexNumber() throws(PersistenceError) -> UInt16 {
    try StoreSchema.count(&lastIndexNumber, "indexes")
    return lastIndexNumber
  }

  mutating func takeEntityNumber() throws(PersistenceError) -> UInt16 {
    try StoreSchema.count(&lastEntityNumber, "entities")
    return lastEntityNumber
  }

  mutating func takeLink(
    for relationship: RelationshipDescription
  ) throws(PersistenceError) -> StoredEntity.Link {
    try StoreSchema.count(&lastLinkNumber, "to-many relationships")
    return StoredEntity.Link(
      relationship: relationship.name, number: lastLinkNumber, isOrdered: relationship.isOrdered)
  }

  /// The highest number is that of unsaved objects.
  private static func count(_ number: inout UInt16, _ what: String) throws(PersistenceError) {
    guard number < Reference.temporaryEntity - 1 else {
      throw PersistenceError(
        .persistentStoreOperation, "the store has used all \(number) numbers for \(what)")
    }
    number += 1
  }

  func entity(named name: String) -> StoredEntity? { entities.first { $0.name == name } }
}

// MARK: - In the store

extension StoreSchema {
  /// Writes the complete schema tree.
  func write(to transaction: WriteTransaction, model: ManagedObjectModel) throws {
    try write(
      to: transaction, archive: ModelArchive.encode(model),
      hashes: StoreSchema.hashBytes(of: model), entityBytes: entityBytes)
  }

  /// The same, with parts that were encoded before.
  func write(
    to transaction: WriteTransaction, archive: [UInt8], hashes: [UInt8], entityBytes: [UInt8]
  ) throws {
    let tree =
      try transaction.mutableIndexTree(StoreSchema.tree)
      ?? transaction.createIndexTree(StoreSchema.tree)
    try tree.removeAll()
    try writeLayouts(to: tree)
    if let indexBytes { try tree.put(indexBytes, for: StoreSchema.indexesKey) }
    if history != nil { try writeHistory(to: tree) }
    try tree.put(archive, for: Array("model".utf8))
    try tree.put(hashes, for: Array("hashes".utf8))
    if let versionName { try tree.put(Array(versionName.utf8), for: Array("version".utf8)) }
    try tree.put(entityBytes, for: Array("entities".utf8))
    if !migrations.isEmpty {
      try tree.put(MigrationRecord.encode(migrations), for: Array(StoreSchema.migrationsKey.utf8))
    }
    try StoreSchema.write(metadata, to: tree)
  }

  /// Entities, their current layouts and their links in encoded form. Every migration that changes
  /// how rows are written changes these bytes; finishing a deferred one does not.
  var entityBytes: [UInt8] {
    var writer = ByteWriter()
    writer.append(lastEntityNumber)
    writer.append(lastLinkNumber)
    writer.append(UInt32(entities.count))
    for entity in entities { entity.write(to: &writer) }
    return writer.bytes
  }

  /// Whether the model in the store is the given one, and has the version name, if one is given.
  static func hasModel(
    _ archive: [UInt8], versionName: String?, in reader: some TreeReader
  ) throws -> Bool {
    func has(_ bytes: [UInt8], _ key: String) throws -> Bool {
      try reader.indexTree(tree)?.value(for: Array(key.utf8))?.isEqual(to: bytes) ?? false
    }
    return try has(archive, "model")
      && versionName.map { try has(Array($0.utf8), "version") } ?? true
  }

  /// Replaces the model in the store with an equal one, and the hashes with those of this release.
  static func putModel(
    _ archive: [UInt8], hashes: [UInt8], versionName: String?, in transaction: WriteTransaction
  ) throws {
    guard let tree = try transaction.mutableIndexTree(tree) else { throw damaged("is missing") }
    try tree.put(archive, for: Array("model".utf8))
    try tree.put(hashes, for: Array("hashes".utf8))
    if let versionName { try tree.put(Array(versionName.utf8), for: Array("version".utf8)) }
  }

  private static let migrationsKey = "migrations"

  /// Appends the record of a migration, in the transaction of the migration, after the schema was
  /// written.
  static func append(_ record: MigrationRecord, in transaction: WriteTransaction) throws {
    guard let tree = try transaction.mutableIndexTree(tree) else { throw damaged("is missing") }
    let value = try tree.value(for: Array(migrationsKey.utf8))
    let records = try decodeMigrations(value) + [record]
    try tree.put(
      MigrationRecord.encode(records.suffix(MigrationRecord.limit)), for: Array(migrationsKey.utf8))
  }

  private static func decodeMigrations(_ value: StoredValue?) throws -> [MigrationRecord] {
    guard let value else { return [] }
    do throws(ByteReaderError) {
      return try value.withBytes { bytes throws(ByteReaderError) in
        try MigrationRecord.decode(bytes)
      }
    } catch {
      throw damaged(
        "has an unreadable list of migrations at byte \(error.offset): "
          + "no \(error.expected)")
    }
  }

  /// Reads the schema without the model, which is needed only for migrations and tools.
  ///
  /// - Returns: `nil` if the store has no schema, as no object was ever saved in it.
  init?(from reader: some TreeReader) throws {
    guard let tree = try reader.indexTree(StoreSchema.tree) else { return nil }
    let format = try StoreSchema.checkedFormat(in: tree)
    (lastEntityNumber, lastLinkNumber, entities) = try StoreSchema.entities(in: tree)
    versionName = try StoreSchema.versionName(in: tree)
    migrations = try StoreSchema.migrations(in: tree)
    metadata = try StoreSchema.metadata(in: tree)
    history = try StoreSchema.history(in: tree)
    hasExternalData = try reader.recordTree(ExternalValue.tree) != nil
    try readLayouts(in: tree)
    try readIndexes(in: tree)
    guard format == currentFormat else {
      throw StoreSchema.damaged(
        "has format \(format), and what is in the store makes it format \(currentFormat)")
    }
  }

  /// What is left of the schema of a damaged store.
  ///
  /// - Parameters:
  ///   - tree: the entries that were found.
  ///   - model: the model of the store. Without the entry of the entities, they are taken to be
  ///     numbered as in a new store, which is so if the store was never migrated.
  ///   - lost: what is missing and was replaced.
  init(
    salvagedFrom tree: IndexTree, model: ManagedObjectModel, lost: inout [String]
  ) throws {
    self = try StoreSchema(for: model, versionName: nil, hasIndexes: false)
    func attempt(_ what: String, _ body: () throws -> Void) {
      do { try body() } catch { lost.append(what) }
    }
    attempt(StoreSchema.entitiesTitle) {
      (lastEntityNumber, lastLinkNumber, entities) = try StoreSchema.entities(in: tree)
    }
    attempt("name of the version") { versionName = try StoreSchema.versionName(in: tree) }
    attempt("list of migrations") { migrations = try StoreSchema.migrations(in: tree) }
    attempt("metadata") { metadata = try StoreSchema.metadata(in: tree) }
    attempt("mark of the history") { history = try StoreSchema.history(in: tree) }
    attempt("layouts of objects that a deferred migration has left") { try readLayouts(in: tree) }
  }

  private static let entitiesTitle = "numbers and layouts of entities"

  /// Numbers the entities as in a new store.
  ///
  /// - Returns: what is given up.
  mutating func numberEntitiesAnew(for model: ManagedObjectModel) throws -> String {
    let new = try StoreSchema(for: model, versionName: nil, hasIndexes: false)
    (lastEntityNumber, lastLinkNumber) = (new.lastEntityNumber, new.lastLinkNumber)
    entities = new.entities
    return StoreSchema.entitiesTitle
  }

  /// Reads the entities, and the highest numbers of entities and links ever given.
  private static func entities(
    in tree: IndexTree
  ) throws -> (lastEntity: UInt16, lastLink: UInt16, [StoredEntity]) {
    guard let value = try tree.value(for: Array("entities".utf8)) else {
      throw damaged("has no entities")
    }
    let found: (lastEntity: UInt16, lastLink: UInt16, entities: [StoredEntity])
    do throws(ByteReaderError) {
      found = try value.withBytes { bytes throws(ByteReaderError) in
        var reader = ByteReader(bytes)
        let lastEntity = try reader.read(UInt16.self)
        let lastLink = try reader.read(UInt16.self)
        var entities: [StoredEntity] = []
        for _ in 0..<(try reader.readCount(minimumWidth: 16)) {
          entities.append(try StoredEntity(from: &reader))
        }
        guard reader.isAtEnd else { throw reader.failure("end") }
        return (lastEntity, lastLink, entities)
      }
    } catch {
      throw damaged("cannot be read at byte \(error.offset): no \(error.expected)")
    }
    try check(found.entities, found.lastEntity, found.lastLink)
    return found
  }

  private static func versionName(in tree: IndexTree) throws -> String? {
    try tree.value(for: Array("version".utf8)).map {
      $0.withBytes { String(decoding: $0, as: UTF8.self) }
    }
  }

  private static func migrations(in tree: IndexTree) throws -> [MigrationRecord] {
    try decodeMigrations(tree.value(for: Array(migrationsKey.utf8)))
  }

  static func checkedFormat(in tree: IndexTree) throws -> UInt32 {
    guard let found = try tree.value(for: Array("format".utf8))?.integer(UInt32.self) else {
      throw damaged("has no format number")
    }
    if found > latestFormat {
      throw PersistenceError(
        .persistentStoreOpen,
        "the store's objects have format \(found); this version reads up to \(latestFormat)")
    }
    return found
  }

  /// The version hashes of the model with which a store was written, as this release computes them.
  ///
  /// An earlier release included delete rules in its hashes. Such hashes are recognised with the
  /// help of the model in the store, and replaced with those of this release.
  static func hashes(in reader: some TreeReader) throws -> [String: VersionHash] {
    let hashes = try writtenHashes(in: reader)
    guard let stored = try? model(in: reader), hashes != stored.entityVersionHashesByName,
      hashes == stored.formerVersionHashesByName
    else { return hashes }
    return stored.entityVersionHashesByName
  }

  /// The version hashes that the store has.
  private static func writtenHashes(in reader: some TreeReader) throws -> [String: VersionHash] {
    guard let tree = try reader.indexTree(tree),
      let value = try tree.value(for: Array("hashes".utf8))
    else { return [:] }
    do throws(ByteReaderError) {
      return try value.withBytes { bytes throws(ByteReaderError) in
        var hashes: [String: VersionHash] = [:]
        var reader = ByteReader(bytes)
        for _ in 0..<(try reader.readCount(minimumWidth: 40)) {
          let name = try reader.readString()
          guard let hash = VersionHash(bytes: Array(try reader.readSlice())) else {
            throw reader.failure("a version hash of 32 bytes")
          }
          hashes[name] = hash
        }
        return hashes
      }
    } catch {
      throw damaged("has unreadable version hashes at byte \(error.offset): no \(error.expected)")
    }
  }

  /// The encoded version hashes that the store has.
  static func hashBytes(in reader: some TreeReader) throws -> [UInt8]? {
    try reader.indexTree(tree)?.value(for: Array("hashes".utf8))?.withBytes { Array($0) }
  }

  /// The encoded version hashes of a model: equal bytes for equal models.
  static func hashBytes(of model: ManagedObjectModel) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt32(model.entities.count))
    for entity in model.entities {
      writer.append(entity.name)
      writer.append(contentsOf: entity.versionHash.bytes)
    }
    return writer.bytes
  }

  /// Whether the entities and layouts of the store are those of ``entityBytes``.
  static func hasEntities(_ bytes: [UInt8], in reader: some TreeReader) throws -> Bool {
    guard let value = try reader.indexTree(tree)?.value(for: Array("entities".utf8)) else {
      return false
    }
    return value.isEqual(to: bytes)
  }

  /// Whether the store has exactly these encoded hashes.
  static func matches(_ hashes: [UInt8], in reader: some TreeReader) throws -> Bool {
    guard let value = try reader.indexTree(tree)?.value(for: Array("hashes".utf8)) else {
      return false
    }
    return value.isEqual(to: hashes)
  }

  /// Whether the store was written with this model, by any release.
  ///
  /// - Parameter hashes: the encoded hashes of the model.
  static func isOf(
    _ model: ManagedObjectModel, _ hashes: [UInt8], in reader: some TreeReader
  ) throws -> Bool {
    try matches(hashes, in: reader)
      || self.hashes(in: reader) == model.entityVersionHashesByName
  }

  /// The model with which a store was written.
  static func model(in reader: some TreeReader) throws -> ManagedObjectModel {
    guard let tree = try reader.indexTree(tree),
      let value = try tree.value(for: Array("model".utf8))
    else { throw damaged("has no model") }
    do {
      return try value.withBytes { try ModelArchive.decode($0) }
    } catch {
      throw damaged("has a model that cannot be read: \(error)")
    }
  }

  static func damaged(_ what: String) -> PersistenceError {
    PersistenceError(.persistentStoreIncompatibleSchema, "the store's schema \(what)")
  }
}
