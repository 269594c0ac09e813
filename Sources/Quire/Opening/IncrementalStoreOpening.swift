import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Adds one incremental store to a coordinator.
struct IncrementalStoreOpening {
  let type: StoreType
  let make: IncrementalStoreMaker
  let model: VersionedModel
  let binding: ModelBinding
  let options: PersistentStoreOptions
  let configuration: String?
  let forbidden: [StoreIdentity]

  func open(at url: URL?) throws -> PersistentStore {
    try options.check()
    let subset = try ModelSubset(configuration, of: model.current)
    let model = subset?.model ?? model.current
    try checkModel(model, subset)
    if options.tracksHistory == true {
      throw refusal("keeps no history: what it was told is not written down a second time")
    }
    let place = IncrementalStorePlace(
      type: type, url: url, model: model,
      configurationName: subset?.name ?? DefaultConfigurationName, options: options)
    let store = try opening("made") { try make(place) }
    do {
      let metadata = try opening("asked for its metadata") { try store.loadMetadata() }
      try checkVersion(metadata, model)
      return try finish(store, metadata, subset, place)
    } catch {
      // The first error is thrown, whatever closing throws.
      try? store.close()
      throw error
    }
  }

  private func opening<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError(
        .persistentStoreOpen, "the store of type \(type.rawValue) could not be \(what)",
        underlying: error)
    }
  }

  private func finish(
    _ store: any IncrementalStore, _ metadata: IncrementalStoreMetadata, _ subset: ModelSubset?,
    _ place: IncrementalStorePlace
  ) throws -> PersistentStore {
    let identity = StoreIdentity(metadata.identifier)
    if forbidden.contains(identity) { throw StoreOpening.isThere(identity) }
    let name = model.hasNamedVersions ? model.currentVersion.name : nil
    var schema = try StoreSchema(for: place.model, versionName: name, hasIndexes: false)
    for (key, value) in metadata.userMetadata {
      schema.metadata[key] = try MetadataValue(value, at: key)
    }
    let pages = PageStore.inMemory(identity: identity)
    do {
      try pages.write { try schema.write(to: $0, model: place.model) }
    } catch let error as StorageError {
      throw PersistenceError(
        .persistentStoreOpen, "the store of type \(type.rawValue) cannot be added",
        underlying: error)
    }
    let entities = try StoreEntities(
      binding, schema: schema, identity: identity, configuration: subset)
    return PersistentStore(
      type: type, url: place.url, isReadOnly: options.isReadOnly, pages: pages,
      entities: entities, migrationReport: nil, configurationName: place.configurationName,
      incremental: IncrementalSource(store, type, entities))
  }

  // MARK: Errors

  private func checkVersion(
    _ metadata: IncrementalStoreMetadata, _ model: ManagedObjectModel
  ) throws {
    guard let hashes = metadata.versionHashes, hashes != model.entityVersionHashesByName,
      hashes != model.formerVersionHashesByName
    else { return }
    throw PersistenceError(
      .persistentStoreIncompatibleVersionHash,
      "the store of type \(type.rawValue) is of another version of the model "
        + "(\(VersionDifferences.text(hashes, model))); a store of another make is not migrated "
        + "here: it has to bring its rows to the new version itself, before it says so")
  }

  /// Checks that the model needs nothing that an incremental store cannot maintain.
  private func checkModel(_ model: ManagedObjectModel, _ subset: ModelSubset?) throws {
    for entity in model.entities where subset?.entityNames.contains(entity.name) ?? true {
      if let constraint = entity.uniquenessConstraints.first {
        throw refusal(
          "cannot keep \(constraint.joined(separator: ", ")) of \(entity.name) unique, for want of "
            + "an index: leave the constraint out of the model, or the entity out of the store's "
            + "configuration", entity)
      }
      guard let binding = binding.entity(named: entity.name),
        let derivation = binding.derivations.first(where: { !$0.isOwn })
      else { continue }
      throw refusal(
        "cannot keep \(entity.name).\(derivation.attribute.name) up to date, which is derived from "
          + "other objects: their changes do not update it. Leave the attribute out of the model, "
          + "or the entity out of the store's configuration", entity)
    }
  }

  private func refusal(_ reason: String, _ entity: EntityDescription? = nil) -> PersistenceError {
    var error = PersistenceError(
      .persistentStoreOperation, "a store of type \(type.rawValue) \(reason)")
    error.entityName = entity?.name
    return error
  }
}
