import QuireModel
import QuireStorage
import Synchronization

/// A model whose entities are prepared for use at run time.
///
/// One is made for each stack; that is cheap, as the prepared parts are kept with the model.
final class ModelBinding: Sendable {
  let model: ManagedObjectModel
  /// In the order of the model's entities.
  let entities: [EntityBinding]
  private let plan: ModelPlan

  init(_ model: ManagedObjectModel, _ transformers: ValueTransformers = [:]) {
    self.model = model
    // Transformers belong to a coordinator; without any, all stacks of a model share one plan.
    plan =
      transformers.isEmpty
      ? model.attachments.object { ModelPlan(model) } : ModelPlan(model, transformers)
    entities = plan.entities
  }

  /// The hashes of the model's entities as the schema of a store has them.
  var hashBytes: [UInt8] { plan.hashBytes }

  func entity(named name: String) -> EntityBinding? { plan.names[name].map { entities[$0] } }

  /// The entity that another binding is of, which mostly is a binding of this model.
  func entity(as other: EntityBinding) -> EntityBinding? {
    if other.index < entities.count, entities[other.index] === other { return other }
    return entity(named: other.entity.name)
  }

  var hasDerivations: Bool { entities.contains { !$0.derivations.isEmpty } }

  /// What an upper floor works out of the model once, for all of its stacks; see ``Attachments``.
  func attachment<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    plan.attachments.object(make)
  }

  /// The parts that all new stores of this model share.
  func newStore() throws -> NewStore { try plan.newStore(of: model) }
}

/// The prepared parts of a model, shared by its stacks. It refers to the entities but not to the
/// model, which holds it.
private final class ModelPlan: Sendable {
  let entities: [EntityBinding]
  let hashBytes: [UInt8]
  let names: NameTable
  let attachments = Attachments()
  private let madeStore = Mutex<NewStore?>(nil)

  init(_ model: ManagedObjectModel, _ transformers: ValueTransformers = [:]) {
    let names = NameTable(model.entities.map(\.name))
    self.names = names
    entities = model.entities.enumerated().map {
      EntityBinding($1, index: $0, in: model, names, transformers)
    }
    hashBytes = StoreSchema.hashBytes(of: model)
  }

  func newStore(of model: ManagedObjectModel) throws -> NewStore {
    try madeStore.withLock { made in
      if let made { return made }
      let new = try NewStore(model, entities)
      made = new
      return new
    }
  }
}

/// The schema of a new store of a whole model, and its encoded form.
struct NewStore: Sendable {
  let schema: StoreSchema
  let archive: [UInt8]
  let entityBytes: [UInt8]
  /// By the entity's index in the model; without the UUID of a store.
  let storages: [EntityStorage?]
  let indexes: StoreIndexes

  init(_ model: ManagedObjectModel, _ entities: [EntityBinding]) throws {
    let schema = try StoreSchema(for: model, versionName: nil)
    self.schema = schema
    archive = ModelArchive.encode(model)
    entityBytes = schema.entityBytes
    let identity = StoreIdentity(high: 0, low: 0)
    let storages = try entities.map { try schema.storage(of: $0, identity: identity) }
    self.storages = storages
    indexes = try StoreIndexes(schema.indexes, schema.indexBytes) { number in
      storages.first { $0?.stored.number == number } ?? nil
    }
  }
}

extension StoreSchema {
  /// - Returns: `nil` for an abstract entity.
  func storage(
    of binding: EntityBinding, identity: StoreIdentity
  ) throws(PersistenceError) -> EntityStorage? {
    if binding.entity.isAbstract { return nil }
    guard let stored = entity(named: binding.entity.name) else {
      throw StoreSchema.damaged("has no entity \(binding.entity.name)")
    }
    let storage = EntityStorage(binding, stored, identity: identity)
    try storage.check()
    return storage
  }
}
