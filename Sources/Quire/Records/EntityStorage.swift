import QuireModel
import QuireStorage
import Synchronization

/// Where the properties of an entity lie in one store: a field or a link tree for each slot.
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
  /// The same where a new object's field is what its slot holds; -1 where it is worked out, or may
  /// lie outside of the row.
  let plainSlotByField: [Int]
  private let linkBySlot: [Int]
  /// Whether rows of the entity may have values outside of them.
  let canHaveExternal: Bool
  /// Whether a row says all that there is to write anew when something in it has changed.
  var canPatchRows: Bool { !canHaveExternal && binding.derivations.isEmpty }
  /// The same as the fields' layout, for reading quickly.
  let table: FieldTable
  /// What nearly all rows of the layout are like.
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
    for place in stored.links.indices {
      if let slot = binding.slot(named: stored.links[place].relationship) {
        linkBySlot[slot] = place
      }
    }
    self.linkBySlot = linkBySlot
  }

  /// The same in another store.
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
    let place = linkBySlot[slot]
    return place < 0 ? nil : stored.links[place]
  }
}

/// The entities of one store, by model index and by number.
final class StoreEntities: Sendable {
  /// The store's UUID.
  let identity: StoreIdentity
  /// The model that the store was opened with: of the coordinator's, what its configuration has.
  let model: ManagedObjectModel
  /// What the schema says about the hashes of that model; in a store of an earlier release that was
  /// not written since, what that said.
  let hashBytes: [UInt8]
  let schema: StoreSchema
  /// What the schema says about where rows and links lie.
  let schemaBytes: [UInt8]
  /// The indexes that the store had when it was opened.
  let indexes: StoreIndexes
  /// By the entity's index in the coordinator's model; `nil` for abstract entities, and for those
  /// that the store's configuration does not have.
  let byIndex: [EntityStorage?]
  /// By the entity's number in the store, which begin at 1 and have few gaps.
  private let byNumber: [EntityStorage?]
  // Sound: held above.
  private let uncountedByNumber: [Unmanaged<EntityStorage>?]
  /// `nil` when the model has no derived attributes.
  let derivations: DerivationPlan?

  /// - Parameters:
  ///   - configuration: `nil` for all entities of the model.
  ///   - hashes: as they stand in the store; `nil` for those of the model.
  init(
    _ model: ModelBinding, schema: StoreSchema, identity: StoreIdentity,
    configuration: ModelSubset? = nil, hashes: [UInt8]? = nil
  ) throws {
    self.identity = identity
    self.model = configuration?.model ?? model.model
    hashBytes =
      hashes ?? configuration.map { StoreSchema.hashBytes(of: $0.model) } ?? model.hashBytes
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
  ///   - new: what a store of the model is when it is new.
  ///   - schema: the same, with what this store has besides.
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

  @inline(__always)
  func uncountedStorage(of reference: Reference) -> Unmanaged<EntityStorage>? {
    let number = Int(reference.entity)
    return number < uncountedByNumber.count ? uncountedByNumber[number] : nil
  }

  func storage(number: UInt16) -> EntityStorage? {
    Int(number) < byNumber.count ? byNumber[Int(number)] : nil
  }

  private let isRetiredFlag = Atomic(false)

  /// Whether the store has left its coordinator: what was read from it is no state to go on with.
  var isRetired: Bool { isRetiredFlag.load(ordering: .relaxed) }
  func retire() { isRetiredFlag.store(true, ordering: .relaxed) }
}
