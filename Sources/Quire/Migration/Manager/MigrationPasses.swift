import QuireModel
import QuireStorage

/// The number of new objects that are written together: large enough that a write costs little for
/// each, and small enough for limited memory. Tests set a small one.
package enum MigrationBatch {
  @TaskLocal package static var instanceCount = 1_000
}

/// The three passes of a migration over the mappings of a model, in Core Data's order.
struct MigrationPasses {
  /// A mapping with the policy that carries it out.
  private struct Step {
    let mapping: EntityMapping
    let policy: EntityMigrationPolicy
    let source: EntityDescription?
    var sourceCount = 0

    /// Whether the step runs code that may look for earlier objects. Expressions and key paths only
    /// read the source, and find destinations by their associations.
    var mayLookAtObjects: Bool {
      type(of: policy) != EntityMigrationPolicy.self
        || (mapping.attributeMappings + mapping.relationshipMappings).contains {
          if case .closure? = $0.valueExpression { true } else { false }
        }
    }
  }

  private let manager: MigrationManager
  private var steps: [Step] = []
  /// The minimum number of calls of policies.
  private var total = 0
  private var done = 0
  /// Whether new objects stay registered to the end.
  private let keepsObjects: Bool

  /// The number of objects whose relationships are written together: they change pages all over the
  /// store, so that a larger batch changes fewer pages for each object.
  private static let relationshipBatchCount = 10_000
  /// The largest number of bytes in the rows of a batch's sources.
  private static let batchByteCount = 16 << 20

  init(_ model: MappingModel, _ manager: MigrationManager) throws {
    self.manager = manager
    for mapping in model.entityMappings {
      let policy = try MigrationPasses.policy(of: mapping, in: model)
      let source = try MigrationPasses.source(of: mapping, manager)
      let destination = try MigrationPasses.destination(of: mapping, manager)
      let complete = mapping.copyingAll(from: source, to: destination)
      steps.append(Step(mapping: complete, policy: policy, source: source))
    }
    keepsObjects = manager.keepsDestinationObjects && steps.contains { $0.mayLookAtObjects }
    let names = steps.map(\.mapping.name)
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      throw PersistenceError(
        .migration, "the mapping model has two mappings called \(name); give them different names")
    }
  }

  private static func policy(
    of mapping: EntityMapping, in model: MappingModel
  ) throws -> EntityMigrationPolicy {
    if let type = mapping.entityMigrationPolicy { return type.init() }
    guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty else {
      return EntityMigrationPolicy()
    }
    // Xcode's documents include the name of the module.
    let last = name.split(separator: ".").last.map(String.init) ?? name
    guard let type = model.migrationPolicies[name] ?? model.migrationPolicies[last] else {
      throw PersistenceError(
        .entityMigrationPolicy,
        "the mapping \(mapping.name) asks for the policy \(name), which is not registered: add the "
          + "class to the mapping model's migrationPolicies")
    }
    return type.init()
  }

  /// The entity whose objects the mapping reads; `nil` if it reads none.
  private static func source(
    of mapping: EntityMapping, _ manager: MigrationManager
  ) throws -> EntityDescription? {
    switch mapping.mappingType {
    case .addEntityMappingType, .removeEntityMappingType: return nil
    case .undefinedEntityMappingType, .customEntityMappingType, .copyEntityMappingType,
      .transformEntityMappingType:
      guard let name = mapping.sourceEntityName else { return nil }
      guard let entity = manager.sourceModel.entity(named: name) else {
        throw PersistenceError(
          .migration, "the mapping \(mapping.name) reads \(name), which the source model lacks")
      }
      try check(entity, mapping.sourceEntityVersionHash, mapping)
      return entity
    }
  }

  /// The entity whose objects the mapping makes; `nil` if its policy decides.
  private static func destination(
    of mapping: EntityMapping, _ manager: MigrationManager
  ) throws -> EntityDescription? {
    guard let name = mapping.destinationEntityName,
      mapping.mappingType != .removeEntityMappingType
    else { return nil }
    guard let entity = manager.destinationModel.entity(named: name) else {
      throw PersistenceError(
        .migration,
        "the mapping \(mapping.name) makes objects of \(name), which the destination model lacks")
    }
    try check(entity, mapping.destinationEntityVersionHash, mapping)
    return entity
  }

  private static func check(
    _ entity: EntityDescription, _ hash: VersionHash?, _ mapping: EntityMapping
  ) throws {
    guard let hash, !entity.hasVersionHash(hash) else { return }
    throw PersistenceError(
      .migrationMissingMappingModel,
      "the mapping \(mapping.name) is made for another version of \(entity.name)")
  }

  // MARK: Running

  mutating func run(_ sources: MigrationSources) throws {
    for index in steps.indices {
      guard let source = steps[index].source else { continue }
      steps[index].sourceCount = try sources.count(of: source)
      total += 2 * steps[index].sourceCount
    }
    let batchCount = MigrationBatch.instanceCount
    for step in steps {
      try enter(step)
      try step.policy.begin(step.mapping, with: manager)
      if let source = step.source {
        try sources.forEach(of: source, step.mapping, step.policy, manager) { object in
          try step.policy.createDestinationInstances(
            forSource: object, in: step.mapping, manager: manager)
          try advance(object, batchCount)
        }
      }
      try step.policy.endInstanceCreation(forMapping: step.mapping, manager: manager)
      try flush()
    }
    for step in steps {
      try enter(step)
      try createRelationships(step)
      try step.policy.endRelationshipCreation(forMapping: step.mapping, manager: manager)
      try flush()
    }
    for step in steps {
      try enter(step)
      try step.policy.performCustomValidation(forMapping: step.mapping, manager: manager)
      try step.policy.end(step.mapping, manager: manager)
      try flush()
    }
    manager.currentEntityMapping = nil
  }

  private func enter(_ step: Step) throws {
    manager.currentEntityMapping = step.mapping
    try manager.checkCancellation()
  }

  private mutating func createRelationships(_ step: Step) throws {
    let count = manager.associations.count(in: step.mapping.name)
    // The default policy without relationship mappings has nothing to do.
    if step.mapping.relationshipMappings.isEmpty,
      type(of: step.policy) == EntityMigrationPolicy.self
    {
      done += count
      return
    }
    for index in 0..<count {
      guard let pair = manager.associations.pair(index, in: step.mapping.name) else { break }
      let object = try manager.destinationContext.firstSession().object(at: pair.destination)
      try step.policy.createRelationships(
        forDestination: object, in: step.mapping, manager: manager)
      try advance(object, MigrationPasses.relationshipBatchCount)
    }
  }

  /// - Parameter object: the processed source object, whose row is about as long as the new one.
  private mutating func advance(_ object: ManagedObject, _ batchCount: Int) throws {
    done += 1
    manager.unwrittenCount += 1
    manager.unwrittenByteCount += object.row?.byteCount ?? 0
    if manager.unwrittenCount >= batchCount
      || manager.unwrittenByteCount >= MigrationPasses.batchByteCount
    {
      try flush()
    }
    try manager.checkCancellation()
  }

  /// Writes new and changed objects, without validating them yet.
  private func flush() throws {
    let context = manager.destinationContext
    let made = keepsObjects ? context.changes.inserted.objects : []
    try context.flush()
    // Their rows are read when they are used.
    context.migration?.writtenObjects.formUnion(made)
    manager.associations.finish()
    manager.unwrittenCount = 0
    manager.unwrittenByteCount = 0
    let name = manager.currentEntityMapping?.name ?? ""
    // Some of the range is for the work after the passes.
    manager.report(0.9 * (total == 0 ? 1 : min(1, Float(done) / Float(total))), "mapping \(name)")
  }
}
