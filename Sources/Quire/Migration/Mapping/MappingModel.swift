import QuireModel

/// Says how the objects of one model become objects of another, entity by entity.
///
/// A mapping model is a plain value. It is written in Swift, inferred from two models, or read from
/// Xcode's documents by `QuireXcode`; a ``MigrationManager`` carries it out.
///
/// ```swift
/// var split = EntityMapping(from: "Person", to: nil, .customEntityMappingType)
/// split.entityMigrationPolicy = PersonToTeacherStudentPolicy.self
/// let mapping = MappingModel(entityMappings: [split])
/// ```
public struct MappingModel: Sendable {
  /// In the order in which they are carried out.
  public var entityMappings: [EntityMapping] { didSet { inference = nil } }
  /// The classes that ``EntityMapping/entityMigrationPolicyClassName`` may name, under their names.
  public var migrationPolicies: [String: EntityMigrationPolicy.Type] = [:] {
    didSet { inference = nil }
  }
  /// The `versionChecksum` that the source model must have; any when `nil`.
  ///
  /// What opens a store chooses among mapping models by these checksums, or by the hashes of the
  /// entity mappings.
  public var sourceVersionChecksum: VersionHash?
  /// The `versionChecksum` that the destination model must have; any when `nil`.
  public var destinationVersionChecksum: VersionHash?
  /// The models that the mapping was inferred of, as long as nobody has edited it.
  var inference: Inference?

  struct Inference: Sendable {
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
  }

  /// - Parameter migrationPolicies: the policies that mappings name; each under the name of its
  ///   class.
  public init(
    entityMappings: [EntityMapping] = [], migrationPolicies: [EntityMigrationPolicy.Type] = []
  ) {
    self.entityMappings = entityMappings
    for policy in migrationPolicies { self.migrationPolicies[policy.policyName] = policy }
  }

  public var entityMappingsByName: [String: EntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether this is a mapping between those models: every entity it names is in the model, with
  /// the hash that it names, if it names one, and the models have the checksums that it names.
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
