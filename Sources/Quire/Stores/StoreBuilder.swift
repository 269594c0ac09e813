import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Builds a store of objects with given keys, for an import or a fixture.
///
/// It is a ``PartialStore`` until it is finished: a crash leaves nothing that could be taken for an
/// empty store.
package final class StoreBuilder {
  /// An object by entity and key.
  package struct ObjectKey: Hashable, Sendable {
    package var entityName: String
    package var key: Int64

    package init(_ entityName: String, _ key: Int64) {
      self.entityName = entityName
      self.key = key
    }
  }

  private let part: PartialStore
  private let writer: StoreWriter
  private var isFinished = false
  private var entities: StoreEntities { part.entities }

  /// - Throws: an error if a file exists already, if none can be created, or if another builder is
  ///   using the same name.
  package init(
    creating url: URL, model: ManagedObjectModel, versionName: String?, uuid: UUID
  ) throws {
    var options = PageStoreOptions()
    options.identity = StoreIdentity(uuid)
    part = try PartialStore(
      path: url.path(percentEncoded: false), model: model, versionName: versionName,
      options: options)
    let transaction = try part.pages.beginWrite()
    try part.entities.schema.write(to: transaction, model: model)
    writer = StoreWriter(transaction, part.entities)
  }

  deinit {
    if !isFinished { writer.transaction.abort() }
  }

  /// Adds an object. References may be to objects that are added later.
  ///
  /// - Parameter version: the number of saves of the object, at least 1.
  package func insert(
    _ object: ObjectKey, version: UInt32 = 1, attributes: [String: AttributeValue],
    toOne: [String: ObjectKey]
  ) throws {
    let storage = try storage(of: object.entityName)
    guard (1...Reference.maximumKey).contains(object.key) else {
      throw PersistenceError(
        .persistentStoreSave,
        "\(object.key) is not a key: keys run from 1 to \(Reference.maximumKey)")
    }
    let row = RowWriter(storage.layout)
    try row.write(version: max(version, 1)) { field in
      let name = storage.layout.fields[field].name
      if storage.layout.fields[field].kind == .reference {
        return try toOne[name].map { .reference(try self.reference($0)) }
      }
      return try writer.placing(attributes[name].map(RowWriter.Field.value), field, storage)
    }
    if try writer.putRow(row, at: try reference(object), in: storage) {
      throw PersistenceError(
        .persistentStoreSave, "\(object.entityName) \(object.key) was added before")
    }
    try writer.recordKey(object.key, in: storage.stored.keySpace)
  }

  /// Sets the members of a to-many relationship, in order if it is ordered.
  package func link(
    _ owner: ObjectKey, _ relationship: String, to members: [ObjectKey]
  ) throws {
    let storage = try storage(of: owner.entityName)
    guard let link = storage.stored.link(named: relationship) else {
      throw PersistenceError(
        .undefinedKey, "\(owner.entityName) has no to-many relationship \(relationship)")
    }
    try writer.setLinks(link, from: owner.key, to: members.map { try self.reference($0) })
  }

  /// Ensures that new objects of the entity's family get higher keys than this one.
  package func reserveKeys(upTo key: Int64, forEntityNamed name: String) throws {
    try writer.recordKey(key, in: try storage(of: name).stored.keySpace)
  }

  /// Makes the store durable, closes it, and renames it to its final name.
  ///
  /// - Throws: an error, also if a file of that name was created in the meantime.
  package func finish() throws {
    // Only absent values: imported ones were valid at their source, and `now()` could not be
    // repeated.
    try DerivedValues.writeAll(writer, onlyMissing: true)
    try writer.writeKeys()
    try StoreSchema.exchangeIndexes(for: part.binding, in: writer.transaction)
    try writer.transaction.commit()
    isFinished = true
    try part.publish()
  }

  private func storage(of name: String) throws -> EntityStorage {
    guard
      let storage = entities.byIndex.lazy.compactMap({ $0 }).first(where: { $0.stored.name == name }
      )
    else {
      throw PersistenceError(
        .undefinedKey, "the model has no entity \(name) that can have objects")
    }
    return storage
  }

  private func reference(_ object: ObjectKey) throws -> Reference {
    Reference(entity: try storage(of: object.entityName).stored.number, key: object.key)
  }
}
