import QuireModel
import QuireStorage

/// Where the properties of an entity lie in one store: a field or a link tree for each slot.
final class EntityStorage: Sendable {
  let binding: EntityBinding
  let stored: StoredEntity
  /// The store's UUID.
  let identity: StoreIdentity
  /// The field of each attribute and to-one slot; -1 for slots without one.
  let fieldBySlot: [Int]
  /// The slot of each field.
  let slotByField: [Int]
  private let linkBySlot: [StoredEntity.Link?]

  init(_ binding: EntityBinding, _ stored: StoredEntity, identity: StoreIdentity) {
    self.binding = binding
    self.stored = stored
    self.identity = identity
    var fields: [String: Int] = [:]
    for (index, field) in stored.layout.fields.enumerated() { fields[field.name] = index }
    fieldBySlot = binding.properties.map { fields[$0.name] ?? -1 }
    let slots = binding
    slotByField = stored.layout.fields.map { slots.slot(named: $0.name) ?? -1 }
    linkBySlot = binding.properties.map { stored.link(named: $0.name) }
  }

  var layout: RowLayout { stored.layout }

  /// The link tree of a to-many slot; `nil` for other slots and transient relationships.
  func link(_ slot: Int) -> StoredEntity.Link? { linkBySlot[slot] }
}

/// The entities of one store, by model index and by number.
final class StoreEntities: Sendable {
  let schema: StoreSchema
  /// By the entity's index in the model; `nil` for abstract entities.
  let byIndex: [EntityStorage?]
  private let byNumber: [UInt16: EntityStorage]

  init(_ model: ModelBinding, schema: StoreSchema, identity: StoreIdentity) throws {
    self.schema = schema
    var byIndex: [EntityStorage?] = []
    var byNumber: [UInt16: EntityStorage] = [:]
    for binding in model.entities {
      guard !binding.entity.isAbstract else {
        byIndex.append(nil)
        continue
      }
      guard let stored = schema.entity(named: binding.entity.name) else {
        throw StoreSchema.damaged("has no entity \(binding.entity.name)")
      }
      let storage = EntityStorage(binding, stored, identity: identity)
      byIndex.append(storage)
      byNumber[stored.number] = storage
    }
    self.byIndex = byIndex
    self.byNumber = byNumber
  }

  func storage(of reference: Reference) -> EntityStorage? { byNumber[reference.entity] }
}

/// A row of a store that an object can keep: the bytes, and what keeps them in memory.
struct Row {
  let reader: RowReader
  /// The page, or the assembled value, that the bytes lie in.
  let owner: AnyObject
}
