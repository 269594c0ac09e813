import QuireModel
import QuireStorage
import Synchronization

/// How one store keeps an entity's properties: a field or a link tree for each slot.
final class EntityStorage: Sendable {
  let binding: EntityBinding
  /// The entity's index in the model.
  let index: Int
  let stored: StoredEntity
  /// The store's UUID.
  let identity: StoreIdentity
  /// The field of each attribute and to-one slot; -1 for slots without one.
  let fieldBySlot: [Int]
  /// The slot of each field.
  let slotByField: [Int]
  /// The same for fields of new objects that are copied from their slots; -1 for derived
  /// attributes, and for values that may be stored outside of the row.
  let plainSlotByField: [Int]
  private let linkBySlot: [Int]
  /// Whether rows of the entity may have values outside of them.
  let canHaveExternal: Bool
  /// Whether a changed row can be written from its old bytes and the changed fields alone.
  var canPatchRows: Bool { !canHaveExternal && binding.derivations.isEmpty }
  /// The layout of the fields in a form for fast reading.
  let table: FieldTable
  /// The form that nearly all rows of the layout have.
  let shape: RowShape

  init(_ binding: EntityBinding, _ stored: StoredEntity, identity: StoreIdentity) {
    self.binding = binding
    index = binding.index
    self.stored = stored
    self.identity = identity
    var fieldBySlot = Array(repeating: -1, count: binding.properties.count)
    slotByField = stored.layout.fields.map { binding.slot(named: $0.name) ?? -1 }
    for (field, slot) in slotByField.enumerated() where slot >= 0 { fieldBySlot[slot] = field }
    self.fieldBySlot = fieldBySlot
    plainSlotByField = slotByField.map { slot in
      slot >= 0 && !binding.traits[slot].isDerived && !binding.traits[slot].isExternal ? slot : -1
    }
    canHaveExternal = stored.layout.fields.contains { $0.kind.canBeExternal }
    table = FieldTable(stored.layout, fieldBySlot, binding.traits)
    shape = RowShape(stored.layout)
    var linkBySlot = Array(repeating: -1, count: binding.properties.count)
    for index in stored.links.indices {
      if let slot = binding.slot(named: stored.links[index].relationship) {
        linkBySlot[slot] = index
      }
    }
    self.linkBySlot = linkBySlot
  }

  /// The same storage in another store.
  init(_ other: EntityStorage, identity: StoreIdentity) {
    binding = other.binding
    index = other.index
    stored = other.stored
    self.identity = identity
    fieldBySlot = other.fieldBySlot
    slotByField = other.slotByField
    plainSlotByField = other.plainSlotByField
    linkBySlot = other.linkBySlot
    canHaveExternal = other.canHaveExternal
    table = other.table
    shape = other.shape
  }

  var layout: RowLayout { stored.layout }

  /// The link tree of a to-many slot; `nil` for other slots and transient relationships.
  func link(_ slot: Int) -> StoredEntity.Link? {
    let index = linkBySlot[slot]
    return index < 0 ? nil : stored.links[index]
  }
}

/// The entities of one store, by model index and by number.
final class StoreEntities: Sendable {
  /// The store's UUID.
  let identity: StoreIdentity
  /// The model that the store has: the coordinator's, or the part of it that the configuration has
  /// which the store was made with.
  let model: ManagedObjectModel
  /// The model's hashes as the schema stores them; in a store of an earlier release that was not
  /// written since, as that release stored them.
  let hashBytes: [UInt8]
  let schema: StoreSchema
  /// The rows and links of all entities as the schema stores them.
  let schemaBytes: [UInt8]
  /// The indexes that the store had when it was opened.
  let indexes: StoreIndexes
  /// By the entity's index in the coordinator's model; `nil` for abstract entities, and for those
  /// outside of the store's configuration.
  let byIndex: [EntityStorage?]
  /// By the entity's number in the store; the numbers begin at 1 and have few gaps.
  private let byNumber: [EntityStorage?]
  // Sound: `byNumber` holds the objects.
  private let uncountedByNumber: [Unmanaged<EntityStorage>?]
  /// `nil` when the model has no derived attributes.
  let derivations: DerivationPlan?

  /// - Parameters:
  ///   - configuration: `nil` for all entities of the model.
  ///   - isOfWholeModel: whether the store has all entities nevertheless, and is opened for those
  ///     of the configuration.
  ///   - hashes: the hashes that the store has; `nil` for those of the model.
  init(
    _ model: ModelBinding, schema: StoreSchema, identity: StoreIdentity,
    configuration: ModelSubset? = nil, isOfWholeModel: Bool = false, hashes: [UInt8]? = nil
  ) throws {
    self.identity = identity
    let part = isOfWholeModel ? nil : configuration?.model
    self.model = part ?? model.model
    hashBytes = hashes ?? part.map { StoreSchema.hashBytes(of: $0) } ?? model.hashBytes
    self.schema = schema
    schemaBytes = schema.entityBytes
    var byIndex: [EntityStorage?] = []
    var byNumber = [EntityStorage?](
      repeating: nil, count: (schema.entities.map { Int($0.number) }.max() ?? 0) + 1)
    for binding in model.entities {
      let isHere = configuration?.entityNames.contains(binding.entity.name) ?? true
      let storage = isHere ? try schema.storage(of: binding, identity: identity) : nil
      byIndex.append(storage)
      if let storage { byNumber[Int(storage.stored.number)] = storage }
    }
    self.byIndex = byIndex
    self.byNumber = byNumber
    uncountedByNumber = byNumber.map { $0.map { .passUnretained($0) } }
    indexes = try StoreIndexes(schema.indexes, schema.indexBytes) { number in
      Int(number) < byNumber.count ? byNumber[Int(number)] : nil
    }
    derivations = DerivationPlan(model.entities, model.model)
  }

  /// - Parameters:
  ///   - new: the parts that all new stores of the model share.
  ///   - schema: the schema of this store, with its own additions.
  init(_ model: ModelBinding, _ new: NewStore, schema: StoreSchema, identity: StoreIdentity) {
    self.identity = identity
    self.model = model.model
    hashBytes = model.hashBytes
    self.schema = schema
    schemaBytes = new.entityBytes
    byIndex = new.storages.map { $0.map { EntityStorage($0, identity: identity) } }
    var byNumber = [EntityStorage?](repeating: nil, count: Int(schema.lastEntityNumber) + 1)
    for case let storage? in byIndex { byNumber[Int(storage.stored.number)] = storage }
    self.byNumber = byNumber
    uncountedByNumber = byNumber.map { $0.map { .passUnretained($0) } }
    indexes = new.indexes
    derivations = DerivationPlan(model.entities, model.model)
  }

  func storage(of reference: Reference) -> EntityStorage? { storage(number: reference.entity) }

  /// - Returns: `nil` for an object of another store, or of none.
  func reference(of id: ManagedObjectID) -> Reference? {
    let id = id.permanent
    guard id.store == identity, let stored = schema.entity(named: id.entity.name) else {
      return nil
    }
    return Reference(entity: stored.number, key: id.key)
  }

  func uncountedStorage(of reference: Reference) -> Unmanaged<EntityStorage>? {
    let number = Int(reference.entity)
    return number < uncountedByNumber.count ? uncountedByNumber[number] : nil
  }

  func storage(number: UInt16) -> EntityStorage? {
    Int(number) < byNumber.count ? byNumber[Int(number)] : nil
  }

  private let isRetiredFlag = Atomic(false)

  /// Whether the store was removed from its coordinator, so that states read from it are stale.
  var isRetired: Bool { isRetiredFlag.load(ordering: .relaxed) }
  func retire() { isRetiredFlag.store(true, ordering: .relaxed) }
}
