import QuireModel
import QuireStorage

extension MigrationPlan {
  /// The plan of a mapping model that a manager executes: every object that a mapping reads is made
  /// anew. The number of objects that policies make is not known.
  init(
    of mapping: MappingModel, from source: VersionedModel.Version,
    to destination: VersionedModel.Version, _ snapshot: Snapshot
  ) throws {
    let difference = ModelDifference(from: source.model, to: destination.model)
    guard let schema = try StoreSchema(from: snapshot) else {
      throw StoreSchema.damaged("is missing")
    }
    let readers = mapping.entityMappings.filter(\.readsObjects)
    var steps: [EntityStep] = []
    for reader in readers {
      guard let name = reader.sourceEntityName else { continue }
      let size = try schema.size(of: name, in: snapshot)
      let change = reader.destinationEntityName.flatMap(difference.change(toDestination:))
      let properties = PropertyNames(change?.source?.name == name ? change : nil)
      steps.append(
        EntityStep(
          name: reader.destinationEntityName ?? name, sourceName: name, action: .rewritten,
          objectCount: size.objects, byteCount: size.bytes,
          estimatedMilliseconds: MigrationEstimate.mapping(objects: size.objects),
          addedProperties: properties.added, removedProperties: properties.removed,
          renamedProperties: properties.renamed))
    }
    let made = Set(steps.map(\.name))
    for entity in destination.model.entities where !entity.isAbstract {
      guard !made.contains(entity.name) else { continue }
      steps.append(EntityStep(entity.name, source: nil, .added, (0, 0)))
    }
    let read = Set(readers.compactMap(\.sourceEntityName))
    for entity in schema.entities where !read.contains(entity.name) {
      steps.append(
        EntityStep(
          entity.name, source: entity.name, .removed,
          try schema.size(of: entity.name, in: snapshot)))
    }
    self.init(
      sourceVersion: source.name, destinationVersion: destination.name,
      entities: steps.sorted { ($0.name, $0.action.rawValue) < ($1.name, $1.action.rawValue) },
      relationships: [], indexes: [], numbers: [], obstacles: [], possibleRenamings: [])
  }
}

extension MigrationPlan.EntityStep {
  fileprivate init(
    _ name: String, source: String?, _ action: MigrationPlan.Action,
    _ size: (objects: Int, bytes: Int)
  ) {
    self.init(
      name: name, sourceName: source, action: action, objectCount: size.objects,
      byteCount: size.bytes, estimatedMilliseconds: MigrationEstimate.dropping(bytes: size.bytes),
      addedProperties: [], removedProperties: [], renamedProperties: [])
  }
}

extension EntityMapping {
  fileprivate var readsObjects: Bool {
    switch mappingType {
    case .addEntityMappingType, .removeEntityMappingType: false
    case .undefinedEntityMappingType, .customEntityMappingType, .copyEntityMappingType,
      .transformEntityMappingType:
      sourceEntityName != nil
    }
  }
}

extension StoreSchema {
  fileprivate func size(
    of entity: String, in snapshot: Snapshot
  ) throws -> (objects: Int, bytes: Int) {
    guard let stored = self.entity(named: entity),
      let tree = try snapshot.recordTree(stored.rowTree)
    else { return (0, 0) }
    return (tree.count, try tree.extent().byteCount)
  }
}
