import QuireModel

/// The translation between an incremental store and the object layer: keys become references, nodes
/// become rows, and answers that contradict the model become errors.
final class IncrementalSource: Sendable {
  let store: any IncrementalStore
  let entities: StoreEntities
  private let type: StoreType
  /// By the names of the entities.
  private let storages: [String: EntityStorage]

  init(_ store: any IncrementalStore, _ type: StoreType, _ entities: StoreEntities) {
    self.store = store
    self.type = type
    self.entities = entities
    storages = Dictionary(
      uniqueKeysWithValues: entities.byIndex.compactMap { $0 }.map { ($0.binding.entity.name, $0) })
  }

  /// The same source with another store in front of its own.
  init(_ front: any IncrementalStore, of source: IncrementalSource) {
    store = front
    entities = source.entities
    type = source.type
    storages = source.storages
  }

  /// Calls the store, and converts its errors to those of the object layer.
  func asking<Result>(
    _ code: PersistenceError.Code = .persistentStoreOperation, to task: String,
    _ body: (any IncrementalStore) throws -> Result
  ) throws -> Result {
    do {
      return try body(store)
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError(
        code, "the store of type \(type.rawValue) could not \(task)", underlying: error)
    }
  }

  /// The error for an answer that contradicts the model.
  func contradiction(_ what: String, underlying: RowError? = nil) -> PersistenceError {
    PersistenceError(
      .persistentStoreOperation, "the store of type \(type.rawValue) \(what)",
      underlying: underlying)
  }

  // MARK: Keys and references

  func reference(of key: IncrementalStoreKey) throws -> Reference {
    guard let storage = storages[key.entityName] else {
      throw contradiction("answered with \(key): it is for no concrete entity of that name")
    }
    guard (1...IncrementalStoreKey.maximumNumber).contains(key.number) else {
      throw contradiction(
        "answered with \(key): numbers go from 1 to \(IncrementalStoreKey.maximumNumber)")
    }
    return Reference(entity: storage.stored.number, key: key.number)
  }

  /// The reference must be of an entity of this store.
  func key(of reference: Reference) throws -> IncrementalStoreKey {
    guard let storage = entities.storage(of: reference) else {
      throw contradiction("has no entity number \(reference.entity)")
    }
    return IncrementalStoreKey(storage.binding.entity.name, reference.key)
  }

  /// The reference of a destination in the store's answer.
  func destination(
    _ key: IncrementalStoreKey, of relationship: RelationshipDescription,
    _ owner: IncrementalStoreKey
  ) throws -> Reference {
    let reference = try reference(of: key)
    var level: EntityDescription? = storages[key.entityName]?.binding.entity
    while let entity = level, entity.name != relationship.destination { level = entity.parent }
    if level == nil {
      throw contradiction(
        "answered that \(relationship.name) of \(owner) refers to \(key), which is no "
          + relationship.destination)
    }
    return reference
  }

  // MARK: Nodes and rows

  /// The values of a node as a row.
  func row(of node: IncrementalStoreNode) throws -> (reference: Reference, row: Row) {
    let reference = try reference(of: node.key)
    guard let storage = entities.storage(of: reference), node.version > 0 else {
      throw contradiction("answered with version 0 of \(node.key): versions begin at 1")
    }
    let binding = storage.binding
    for name in [node.values.keys.sorted(), node.destinations.keys.sorted()].joined() {
      guard let slot = binding.slot(named: name), storage.fieldBySlot[slot] >= 0,
        (binding.traits[slot].attributeType != nil) == (node.values[name] != nil)
      else {
        throw contradiction(
          "answered with \(name) of \(node.key), which is no attribute or to-one relationship that "
            + "a store keeps")
      }
    }
    let writer = RowWriter(storage.layout)
    do {
      try writer.write(version: node.version) { field in
        let slot = storage.slotByField[field]
        guard slot >= 0 else { return nil }
        let name = binding.name(of: slot)
        if let value = node.values[name] { return .value(value) }
        guard let key = node.destinations[name] else { return nil }
        return .reference(try destination(key, of: binding.relationship(slot), node.key))
      }
      let row = try writer.withBytes {
        try Row(EncodedRow($0, isSaved: true), layout: storage.layout)
      }
      return (reference, row)
    } catch let error as RowError {
      throw contradiction("answered with values of \(node.key) that cannot be", underlying: error)
    }
  }

  func node(of row: Row, at reference: Reference) throws -> IncrementalStoreNode {
    var node = IncrementalStoreNode(key: try key(of: reference), version: row.version)
    guard let storage = entities.storage(of: reference) else { return node }
    for (field, slot) in storage.slotByField.enumerated() where slot >= 0 {
      let name = storage.binding.name(of: slot)
      if storage.binding.traits[slot].attributeType != nil {
        node.values[name] = try row.value(field)
      } else {
        node.destinations[name] = try row.reference(field).map(key(of:))
      }
    }
    return node
  }
}

// MARK: - Questions

extension IncrementalSource {
  /// The rows that exist, by reference.
  func rows(at references: [Reference]) throws -> [Reference: Row] {
    let keys = try references.map(key(of:))
    let nodes = try asking(to: "read \(keys.count == 1 ? "\(keys[0])" : "\(keys.count) objects")") {
      try $0.newValues(forObjectsWith: keys)
    }
    let wanted = Set(references)
    var rows: [Reference: Row] = [:]
    for node in nodes {
      let (reference, row) = try row(of: node)
      guard wanted.contains(reference) else {
        throw contradiction("was asked for other objects, and answered with \(node.key)")
      }
      rows[reference] = row
    }
    return rows
  }

  /// References that no object has ever had.
  ///
  /// - Parameter numbers: asks the store for numbers.
  func takeReferences(
    for names: [String], _ numbers: (any IncrementalStore) throws -> [Int64]
  ) throws -> [Reference] {
    if names.isEmpty { return [] }
    let numbers = try asking(
      .persistentStoreSave, to: "give \(names.count) objects IDs", numbers)
    guard numbers.count == names.count else {
      throw contradiction("was asked for \(names.count) IDs, and gave \(numbers.count)")
    }
    let references = try zip(names, numbers).map { name, number in
      try reference(of: IncrementalStoreKey(name, number))
    }
    guard Set(references).count == references.count else {
      throw contradiction("gave an ID to two objects")
    }
    return references
  }
}
