import QuireModel

/// A mapping of the objects of one model to objects of another, entity by entity.
///
/// A mapping model is a plain value. It is written in Swift, inferred from two models, or read from
/// Xcode's documents by `QuireXcode`; a ``MigrationManager`` executes it.
///
/// ```swift
/// var split = EntityMapping(from: "Person", to: nil, .customEntityMappingType)
/// split.entityMigrationPolicy = PersonToTeacherStudentPolicy.self
/// let mapping = MappingModel(entityMappings: [split])
/// ```
public struct MappingModel: Sendable {
  /// In the order of their execution.
  public var entityMappings: [EntityMapping] { didSet { inference = nil } }
  /// The classes for ``EntityMapping/entityMigrationPolicyClassName``, by their names.
  public var migrationPolicies: [String: EntityMigrationPolicy.Type] = [:] {
    didSet { inference = nil }
  }
  /// The `versionChecksum` that the source model must have; `nil` for any.
  ///
  /// When a store is opened, mapping models are chosen by these checksums, or by the hashes of the
  /// entity mappings.
  public var sourceVersionChecksum: VersionHash?
  /// The `versionChecksum` that the destination model must have; `nil` for any.
  public var destinationVersionChecksum: VersionHash?
  /// The class of all objects that policies and expressions get, regardless of the application's
  /// classes. An inferred mapping that is carried out without objects has no use for it.
  public var objectClass: ManagedObject.Type = ManagedObject.self
  /// Whether the objects of entities that no mapping names are removed, as Core Data removes them.
  ///
  /// Otherwise a migration in place in which such an entity is in both models and has objects is
  /// refused with ``PersistenceError/Code/migrationMissingMappingModel``: a mapping that was
  /// forgotten would lose them without a word.
  public var removesUnmappedEntities = false
  /// The models from which the mapping was inferred; `nil` after an edit.
  var inference: Inference?

  struct Inference: Sendable {
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
  }

  /// - Parameter migrationPolicies: the policies that mappings refer to, each by the name of its
  ///   class.
  public init(
    entityMappings: [EntityMapping] = [], migrationPolicies: [EntityMigrationPolicy.Type] = []
  ) {
    self.entityMappings = entityMappings
    for policy in migrationPolicies { self.migrationPolicies[policy.policyName] = policy }
  }

  /// The entity mappings by name; the first one of each name.
  public var entityMappingsByName: [String: EntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether this is a mapping between two models: every entity in it is in the model, with the
  /// hash in the mapping, if there is one, and the models have the checksums, if there are any.
  public func matches(source: ManagedObjectModel, destination: ManagedObjectModel) -> Bool {
    (sourceVersionChecksum.map(source.hasVersionChecksum) ?? true)
      && (destinationVersionChecksum.map(destination.hasVersionChecksum) ?? true)
      && entityMappings.allSatisfy { mapping in
        MappingModel.has(source, mapping.sourceEntityName, mapping.sourceEntityVersionHash)
          && MappingModel.has(
            destination, mapping.destinationEntityName, mapping.destinationEntityVersionHash)
      }
  }

  private static func has(
    _ model: ManagedObjectModel, _ name: String?, _ hash: VersionHash?
  ) -> Bool {
    guard let name else { return true }
    guard let entity = model.entity(named: name) else { return false }
    return hash.map(entity.hasVersionHash) ?? true
  }
}
