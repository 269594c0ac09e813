import QuireModel
import QuireStorage

extension MigrationManager {
  /// Checks that a mapping model which is carried out in place names every entity that is in both
  /// models and has objects: those of another would be gone, though nothing asks for it but
  /// ``MappingModel/removesUnmappedEntities``.
  ///
  /// - Throws: ``PersistenceError/Code/migrationMissingMappingModel`` that names the entities.
  final func checkAllAreMapped(
    _ mapping: MappingModel, _ schema: StoreSchema, in snapshot: Snapshot
  ) throws {
    if mapping.removesUnmappedEntities { return }
    let named = Set(mapping.entityMappings.compactMap(\.sourceEntityName))
    var forgotten: [String] = []
    var remedies: [String] = []
    for change in ModelDifference(from: sourceModel, to: destinationModel).entities {
      guard let source = change.source, let destination = change.destination, !source.isAbstract,
        !named.contains(source.name), let stored = schema.entity(named: source.name)
      else { continue }
      let count = try snapshot.recordTree(stored.rowTree)?.count ?? 0
      if count == 0 { continue }
      forgotten.append("\(source.name) (\(PersistenceError.objects(count)))")
      remedies.append(
        "EntityMapping(from: \"\(source.name)\", to: \"\(destination.name)\", "
          + ".copyEntityMappingType)")
    }
    if forgotten.isEmpty { return }
    throw PersistenceError(
      .migrationMissingMappingModel,
      "the mapping model has no mapping for \(forgotten.joined(separator: ", ")), whose objects "
        + "would be gone: add \(remedies.joined(separator: ", ")); or, if they are to go or a "
        + "policy carries them over, mappings of type removeEntityMappingType, or set the mapping "
        + "model's removesUnmappedEntities")
  }
}
