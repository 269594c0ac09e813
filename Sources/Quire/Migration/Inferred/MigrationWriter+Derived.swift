import QuireModel
import QuireStorage

// Derived attributes after an inferred migration: new ones have no values yet, and the properties
// from which others are derived may have changed.
extension MigrationDraft {
  /// - Parameter schema: the schema that the transaction has written.
  func writeDerivedValues(
    _ transaction: WriteTransaction, _ schema: StoreSchema, identity: StoreIdentity
  ) throws {
    // Most models have none; a binding would be too costly for finding that out.
    guard model.entities.indices.contains(where: { model.entities[$0].hasDerivedAttributes })
    else { return }
    let binding = ModelBinding(model)
    let changes = Dictionary(
      uniqueKeysWithValues: entities.map { ($0.destination.name, $0.change) })
    let entities = try StoreEntities(binding, schema: schema, identity: identity)
    let writer = StoreWriter(transaction, entities)
    let isAnyNew = try DerivedValues.writeAll(writer) { entity, derivation in
      guard let change = changes[entity.entity.name], change.source != nil else { return false }
      let index = change.attributes.firstIndex {
        $0.destination?.name == derivation.attribute.name
      }
      guard let before = index.flatMap({ change.attributes[$0].source }), !before.isTransient,
        before.derivationExpression == derivation.attribute.derivationExpression,
        before.type == derivation.attribute.type
      else { return true }
      // Whether the properties on its paths are unchanged. `now()` has no paths, and is kept.
      return derivation.paths.contains { path in
        change.kind != .kept || !removed.isEmpty
          || destinations(of: path, from: entity.entity).contains { destination in
            model.family(of: destination).contains {
              changes[$0.name].map { $0.kind != .kept } ?? false
            }
          }
      }
    }
    try writer.writeKeys()
    if isAnyNew { try entities.checkDerivedConstraints(in: transaction) }
  }

  private func destinations(
    of path: [String], from entity: EntityDescription
  ) -> [EntityDescription] {
    var found: [EntityDescription] = []
    var entity = entity
    for name in path {
      guard let relationship = entity.relationship(named: name),
        let destination = model.entity(named: relationship.destination)
      else { break }
      found.append(destination)
      entity = destination
    }
    return found
  }
}
