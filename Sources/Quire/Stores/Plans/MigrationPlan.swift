import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The plan or the result of a migration: entity by entity and index by index, with numbers of rows
/// and bytes, and an estimate of the time.
///
/// A plan is made from two models and the store itself, before anything is changed. It prints as a
/// table. Its encoded form has the keys of `quire migrate --json`, which never change.
///
/// A migration that cannot be inferred also has a plan: ``obstacles`` has the reasons and the
/// remedies.
public struct MigrationPlan: Sendable, Hashable, Codable {
  /// What a migration does with the objects of an entity.
  public enum Action: String, Sendable, Codable {
    /// The entity's objects are not touched.
    case kept
    /// Every object is rewritten in the new layout.
    case rewritten
    /// The entity's new layout is valid at once; objects are rewritten when they are saved, or when
    /// the migration is finished. See ``PersistentStoreOptions/defersLightweightMigration``.
    case deferred
    /// The entity is new: it has no objects.
    case added
    /// The entity is removed, with its objects.
    case removed
    /// Nothing is done, as no mapping of the entity can be inferred.
    case blocked
  }

  /// What a migration does with one entity.
  public struct EntityStep: Sendable, Hashable, Codable {
    /// The entity's name in the new model; in the old one if it is removed.
    public let name: String
    /// The entity's name in the old model; `nil` if it is added.
    public let sourceName: String?
    /// What is done with its objects.
    public let action: Action
    /// The number of the entity's own objects, without those of subentities; for a deferred entity
    /// an upper bound on the number of those that remain to be rewritten.
    public let objectCount: Int
    /// The approximate size of these rows in the file before the migration, in whole pages.
    public let byteCount: Int
    /// See ``MigrationPlan/estimatedDuration``.
    public let estimatedMilliseconds: Double
    /// The names of properties that the new model has and the old one has not.
    public let addedProperties: [String]
    /// The names of properties that the old model has and the new one has not; their values go.
    public let removedProperties: [String]
    /// The properties that have other names in the new model.
    public let renamedProperties: [PropertyRenaming]

    /// Whether the entity has another name in the new model.
    public var isRenamed: Bool { sourceName.map { $0 != name } ?? false }
  }

  /// A property that both models have, under two names.
  public struct PropertyRenaming: Sendable, Hashable, Codable {
    /// The name in the old model.
    public let from: String
    /// The name in the new model.
    public let to: String
  }

  /// A relationship whose links are rebuilt: in rows, in link trees, or in both.
  public struct RelationshipStep: Sendable, Hashable, Codable {
    /// The entity that declares the relationship, in the new model.
    public let entityName: String
    /// The relationship, in the new model.
    public let name: String
    /// How many links are written.
    public let linkCount: Int
    /// The number of links that are dropped although both objects are kept, mostly because an
    /// inverse is now to-one. All of them were counted in the store.
    public let droppedLinkCount: Int
    /// The first of these, at most ``DroppedLink/limit``.
    public let droppedLinks: [DroppedLink]
  }

  /// A structure beside the rows: the links of a to-many relationship of an entity, a fetch index,
  /// or the index of a uniqueness constraint.
  public struct IndexStep: Sendable, Hashable, Codable {
    /// What an index finds objects by.
    public enum Kind: String, Sendable, Codable {
      /// The links of a to-many relationship, by the object that has the relationship.
      case relationship
      /// A fetch index of the model.
      case fetchIndex
      /// What a uniqueness constraint is checked with.
      case uniquenessConstraint
    }

    /// What a migration does with an index.
    public enum Action: String, Sendable, Codable {
      /// It is not touched.
      case kept
      /// Every entry is written anew.
      case rebuilt
      /// It is new and empty.
      case added
      /// It is removed; rows are not affected.
      case removed
    }

    /// What the index finds objects by.
    public let kind: Kind
    /// The entity whose objects are indexed, in the new model; in the old one if the index is
    /// removed.
    public let entityName: String
    /// The name of the relationship or index in the new model; in the old one if the index is
    /// removed. For a constraint, the names of its properties.
    public let name: String
    /// The name in the old model; `nil` if it is added.
    public let sourceName: String?
    /// What is done with the index.
    public let action: Action
    /// The number of entries that are kept, written or dropped.
    public let entryCount: Int
    /// Their approximate size in the file, in whole pages. Nothing is read for an index that is
    /// kept in a deferred migration, nor for a new one: its texts are counted as numbers.
    public let byteCount: Int
    /// See ``MigrationPlan/estimatedDuration``.
    public let estimatedMilliseconds: Double
  }

  /// A numeric attribute of another type, whose values are converted to the same number.
  public struct NumberStep: Sendable, Hashable, Codable {
    /// The entity in the new model.
    public let entityName: String
    /// The attribute in the new model; for an element of a composite, its path.
    public let propertyName: String
    /// The types, named as in `AttributeType`: `integer16`.
    public let sourceType: String
    /// The type in the new model.
    public let destinationType: String
    /// Whether the new type has every number of the old one.
    public let direction: NumberConversion.Direction
    /// The number of objects that are checked before anything is written, as their numbers may not
    /// fit the new type: all of the entity's, or none if the new type is wider. A number that does
    /// not fit is error 134110, which names objects and values.
    public let checkedObjectCount: Int
  }

  /// A change for which no mapping can be inferred.
  public struct Obstacle: Sendable, Hashable, Codable {
    /// The entity in the new model.
    public let entityName: String
    /// The entity in the old model, whose objects cannot be mapped.
    public let sourceEntityName: String
    /// The property of the new model, if the obstacle is a property; for an element of a composite,
    /// its path.
    public let propertyName: String?
    /// The change that is the obstacle.
    public let reason: String
    /// The remedy, after which the store can be migrated.
    public let remedy: String
    /// The number of objects of the source entity; where an attribute becomes required, of those
    /// that have no value.
    public let objectCount: Int
    /// Whether the obstacle exists only if the store has objects of the entity.
    public let needsObjects: Bool
  }

  /// The name of the version that the store has.
  public let sourceVersion: String
  /// The name of the version that the store is to have.
  public let destinationVersion: String
  /// Sorted by name.
  public let entities: [EntityStep]
  /// The relationships whose links are made anew; empty when all links stay as they are.
  public let relationships: [RelationshipStep]
  /// Sorted by entity and name.
  public let indexes: [IndexStep]
  /// Sorted by entity and attribute.
  public let numbers: [NumberStep]
  /// Empty if the migration is possible.
  public let obstacles: [Obstacle]
  /// What goes while something of its kind comes, where there are objects: if it was renamed, and
  /// the model does not say so, its values are dropped.
  public let possibleRenamings: [PossibleRenaming]

  /// The entities with which one thing is done, by name.
  public func entities(_ action: Action) -> [EntityStep] { entities.filter { $0.action == action } }

  /// The indexes with which one thing is done, by entity and name.
  public func indexes(_ action: IndexStep.Action) -> [IndexStep] {
    indexes.filter { $0.action == action }
  }

  /// The number of links that are dropped although their objects are kept; see
  /// ``RelationshipStep/droppedLinkCount``.
  public var droppedLinkCount: Int { relationships.reduce(0) { $0 + $1.droppedLinkCount } }

  /// Whether objects, links, or properties of entities with objects are removed.
  public var dropsValues: Bool {
    droppedLinkCount > 0
      || entities.contains { step in
        step.objectCount > 0 && (step.action == .removed || !step.removedProperties.isEmpty)
      }
  }

  /// The number of objects that are rewritten.
  public var rewrittenObjectCount: Int { entities(.rewritten).reduce(0) { $0 + $1.objectCount } }

  /// The number of objects that remain to be rewritten later.
  public var deferredObjectCount: Int { entities(.deferred).reduce(0) { $0 + $1.objectCount } }

  /// Their approximate size in the file.
  public var deferredByteCount: Int { entities(.deferred).reduce(0) { $0 + $1.byteCount } }

  /// The number of entries of indexes that are rewritten.
  public var rebuiltEntryCount: Int { indexes(.rebuilt).reduce(0) { $0 + $1.entryCount } }

  /// The approximate number of bytes written, if rows are as long as before.
  public var writtenByteCount: Int {
    entities(.rewritten).reduce(0) { $0 + $1.byteCount }
      + indexes(.rebuilt).reduce(0) { $0 + $1.byteCount }
  }

  /// - Throws: the error of opening the store if there are ``obstacles``:
  ///   ``PersistenceError/Code/inferredMappingModel`` (134190), or
  ///   ``PersistenceError/Code/migration`` (134110) if objects in the store are the only obstacles.
  public func checkObstacles() throws(PersistenceError) {
    guard !obstacles.isEmpty else { return }
    // All of them in one error, so that they can be resolved together.
    let list = obstacles.map { "\n  \($0)" }.joined()
    guard obstacles.allSatisfy(\.needsObjects) else {
      throw PersistenceError(
        .inferredMappingModel,
        "the mapping from \(sourceVersion) to \(destinationVersion) cannot be inferred:\(list)")
    }
    throw PersistenceError(
      .migration, "objects in the store would lack a value that the new model requires:\(list)")
  }
}

/// The report of a completed migration.
public struct MigrationReport: Sendable, CustomStringConvertible {
  /// The plan that was executed; for several steps, that of the last one.
  public let plan: MigrationPlan
  /// The plans of all steps, each made just before its execution.
  public let plans: [MigrationPlan]
  /// The time from the comparison of the models to the last durable commit.
  public let duration: Duration
  /// The backup of the former store, if one was requested:
  /// ``PersistentStoreOptions/migrationBackup``.
  public let backup: URL?

  /// The number of links that all steps have dropped although their objects are kept. The ``plans``
  /// list them: ``MigrationPlan/RelationshipStep/droppedLinks``.
  public var droppedLinkCount: Int { plans.reduce(0) { $0 + $1.droppedLinkCount } }

  public var description: String {
    "migrated \(plans.map(\.description).joined(separator: "\n\n")) in \(duration)"
  }
}

extension MigrationPlan.Obstacle: CustomStringConvertible {
  init(_ obstacle: Obstacle, objectCount: Int, needsObjects: Bool) {
    entityName = obstacle.destinationEntity
    sourceEntityName = obstacle.sourceEntity
    propertyName = obstacle.property
    reason = obstacle.explanation
    remedy = obstacle.remedy
    self.objectCount = objectCount
    self.needsObjects = needsObjects
  }

  public var description: String {
    "\(propertyName.map { "\(entityName).\($0)" } ?? entityName) \(reason): \(remedy)"
  }
}

// MARK: - Keys

// The keys that `quire migrate --json` prints and documents. Never change them.

extension MigrationPlan {
  private enum CodingKeys: String, CodingKey {
    case sourceVersion = "from"
    case destinationVersion = "to"
    case entities, relationships, indexes, numbers, obstacles, possibleRenamings
  }
}

extension MigrationPlan {
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      sourceVersion: try values.decode(String.self, forKey: .sourceVersion),
      destinationVersion: try values.decode(String.self, forKey: .destinationVersion),
      entities: try values.decode([EntityStep].self, forKey: .entities),
      relationships: try values.decode([RelationshipStep].self, forKey: .relationships),
      indexes: try values.decode([IndexStep].self, forKey: .indexes),
      // Plans encoded by earlier releases have none.
      numbers: try values.decodeIfPresent([NumberStep].self, forKey: .numbers) ?? [],
      obstacles: try values.decode([Obstacle].self, forKey: .obstacles),
      possibleRenamings: try values.decodeIfPresent(
        [PossibleRenaming].self, forKey: .possibleRenamings) ?? [])
  }
}

extension MigrationPlan.NumberStep {
  private enum CodingKeys: String, CodingKey {
    case entityName = "entity"
    case propertyName = "property"
    case sourceType = "from"
    case destinationType = "to"
    case direction
    case checkedObjectCount = "checkedObjects"
  }
}

extension MigrationPlan.EntityStep {
  private enum CodingKeys: String, CodingKey {
    case name, sourceName, action
    case objectCount = "objects"
    case byteCount = "bytes"
    case estimatedMilliseconds
    case addedProperties = "added"
    case removedProperties = "removed"
    case renamedProperties = "renamed"
  }
}

extension MigrationPlan.RelationshipStep {
  private enum CodingKeys: String, CodingKey {
    case entityName = "entity"
    case name
    case linkCount = "links"
    case droppedLinkCount = "dropped"
    case droppedLinks = "firstDropped"
  }

  /// The last two keys are missing in plans encoded by earlier releases.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    entityName = try values.decode(String.self, forKey: .entityName)
    name = try values.decode(String.self, forKey: .name)
    linkCount = try values.decode(Int.self, forKey: .linkCount)
    droppedLinkCount = try values.decodeIfPresent(Int.self, forKey: .droppedLinkCount) ?? 0
    droppedLinks =
      try values.decodeIfPresent([MigrationPlan.DroppedLink].self, forKey: .droppedLinks) ?? []
  }
}

extension MigrationPlan.IndexStep {
  private enum CodingKeys: String, CodingKey {
    case kind
    case entityName = "entity"
    case name, sourceName, action
    case entryCount = "entries"
    case byteCount = "bytes"
    case estimatedMilliseconds
  }
}

extension MigrationPlan.Obstacle {
  private enum CodingKeys: String, CodingKey {
    case entityName = "entity"
    case sourceEntityName = "sourceEntity"
    case propertyName = "property"
    case reason, remedy
    case objectCount = "objects"
    case needsObjects
  }
}
