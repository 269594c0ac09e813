import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a migration will do, or did: entity by entity and index by index, with rows, bytes and an
/// estimate of the time.
///
/// A plan is made from two models and the store itself, before anything is changed. It prints as a
/// table, and it encodes: the keys are those of `quire migrate --json`, and stay.
///
/// A migration that cannot be inferred has a plan as well: ``obstacles`` says what stands in the
/// way, why, and what to write.
public struct MigrationPlan: Sendable, Hashable, Codable {
  public enum Action: String, Sendable, Codable {
    /// Not a byte of the entity's objects is touched.
    case kept
    /// Every object is written anew in the new layout.
    case rewritten
    /// The entity's new layout is in force at once; objects are written in it as they are saved, or
    /// when the migration is finished. See
    /// ``PersistentStoreOptions/defersLightweightMigration``.
    case deferred
    /// The entity is new: it has no objects.
    case added
    /// The entity goes, with its objects.
    case removed
    /// Nothing is done, as no mapping of the entity can be inferred.
    case blocked
  }

  public struct EntityStep: Sendable, Hashable, Codable {
    /// The entity's name in the new model; in the old one when it is removed.
    public let name: String
    /// The entity's name in the old model; `nil` when it is added.
    public let sourceName: String?
    public let action: Action
    /// The entity's own objects, which are rows of the store; without those of subentities. Of a
    /// deferred entity those that are left to be rewritten: no more than these.
    public let objectCount: Int
    /// What these rows take of the file before the migration, about: whole pages.
    public let byteCount: Int
    /// See ``MigrationPlan/estimatedDuration``.
    public let estimatedMilliseconds: Double
    public let addedProperties: [String]
    public let removedProperties: [String]
    public let renamedProperties: [PropertyRenaming]

    public var isRenamed: Bool { sourceName.map { $0 != name } ?? false }
  }

  public struct PropertyRenaming: Sendable, Hashable, Codable {
    public let from: String
    public let to: String
  }

  /// A relationship whose links are made anew, wherever they lie: in rows, in indexes, or in both.
  public struct RelationshipStep: Sendable, Hashable, Codable {
    public let entityName: String
    public let name: String
    public let linkCount: Int
    /// How many links go though both their objects stay, as the new model has no place for them:
    /// mostly because an inverse is now to-one. All of them were counted in the store.
    public let droppedLinkCount: Int
    /// The first of these, ``DroppedLink/limit`` at most.
    public let droppedLinks: [DroppedLink]
  }

  /// What the store keeps beside the rows to find objects by: the links of the to-many
  /// relationships of each entity, its fetch indexes, and what its uniqueness constraints are
  /// checked with.
  public struct IndexStep: Sendable, Hashable, Codable {
    public enum Kind: String, Sendable, Codable {
      /// The links of a to-many relationship, by the object they come from.
      case relationship
      case fetchIndex
      case uniquenessConstraint
    }

    public enum Action: String, Sendable, Codable {
      /// Not a byte is touched.
      case kept
      /// Every entry is made anew.
      case rebuilt
      /// New, and without entries.
      case added
      /// The index goes; what rows say stays.
      case removed
    }

    public let kind: Kind
    /// The entity whose objects the index is of, in the new model; in the old one when the index is
    /// removed.
    public let entityName: String
    /// The name of the relationship or index in the new model; in the old one when the index is
    /// removed. Of a constraint, the names of its properties.
    public let name: String
    /// The name in the old model; `nil` when it is added.
    public let sourceName: String?
    public let action: Action
    /// The entries that are kept, made or dropped.
    public let entryCount: Int
    /// What they take of the file, about: whole pages. Of an index that is kept while rows are left
    /// for later nothing is read, nor of one that is new: its texts are counted as numbers.
    public let byteCount: Int
    /// See ``MigrationPlan/estimatedDuration``.
    public let estimatedMilliseconds: Double
  }

  /// A numeric attribute of another type, whose values are converted: each to the same number.
  public struct NumberStep: Sendable, Hashable, Codable {
    /// The entity in the new model.
    public let entityName: String
    /// The attribute in the new model; an element of a composite with its path.
    public let propertyName: String
    /// The types, as ``QuireModel/AttributeType`` has them: `integer16`.
    public let sourceType: String
    public let destinationType: String
    /// Whether the new type has every number of the old one.
    public let direction: NumberConversion.Direction
    /// How many objects are looked at before anything is written, as their numbers may be none of
    /// the new type: all of the entity's, or none where the new type is wider. One that does not
    /// fit is error 134110, which names objects and values.
    public let checkedObjectCount: Int
  }

  /// What no mapping can be inferred for.
  public struct Obstacle: Sendable, Hashable, Codable {
    /// The entity in the new model.
    public let entityName: String
    /// The entity in the old model, whose objects are in the way.
    public let sourceEntityName: String
    /// The property of the new model, if the obstacle is one; an element of a composite with its
    /// path.
    public let propertyName: String?
    /// What happened to it.
    public let reason: String
    /// What to write so that the store can be migrated.
    public let remedy: String
    /// The objects of the source entity.
    public let objectCount: Int
    /// Whether there would be no obstacle in a store without objects of the entity.
    public let needsObjects: Bool
  }

  public let sourceVersion: String
  public let destinationVersion: String
  /// By name.
  public let entities: [EntityStep]
  public let relationships: [RelationshipStep]
  /// By entity and name.
  public let indexes: [IndexStep]
  /// By entity and attribute.
  public let numbers: [NumberStep]
  /// Empty when the migration can be made.
  public let obstacles: [Obstacle]

  public func entities(_ action: Action) -> [EntityStep] { entities.filter { $0.action == action } }

  public func indexes(_ action: IndexStep.Action) -> [IndexStep] {
    indexes.filter { $0.action == action }
  }

  /// How many links go though their objects stay; see ``RelationshipStep/droppedLinkCount``.
  public var droppedLinkCount: Int { relationships.reduce(0) { $0 + $1.droppedLinkCount } }

  /// Whether objects go, or links, or properties of entities that have objects.
  public var dropsValues: Bool {
    droppedLinkCount > 0
      || entities.contains { step in
        step.objectCount > 0 && (step.action == .removed || !step.removedProperties.isEmpty)
      }
  }

  /// How many objects are written anew.
  public var rewrittenObjectCount: Int { entities(.rewritten).reduce(0) { $0 + $1.objectCount } }

  /// How many objects are left to be written anew later.
  public var deferredObjectCount: Int { entities(.deferred).reduce(0) { $0 + $1.objectCount } }

  /// What these take of the file, about.
  public var deferredByteCount: Int { entities(.deferred).reduce(0) { $0 + $1.byteCount } }

  /// How many entries of indexes are written anew.
  public var rebuiltEntryCount: Int { indexes(.rebuilt).reduce(0) { $0 + $1.entryCount } }

  /// The bytes that are written, about: rows are taken to be as long as before.
  public var writtenByteCount: Int {
    entities(.rewritten).reduce(0) { $0 + $1.byteCount }
      + indexes(.rebuilt).reduce(0) { $0 + $1.byteCount }
  }

  /// - Throws: what opening the store would throw because of the ``obstacles``:
  ///   ``PersistenceError/Code/inferredMappingModel`` (134190), or
  ///   ``PersistenceError/Code/migration`` (134110) when objects in the store are what is in the
  ///   way.
  public func checkObstacles() throws(PersistenceError) {
    guard !obstacles.isEmpty else { return }
    // All of them at once, or somebody would mend one to be told of the next.
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

/// A migration that has happened.
public struct MigrationReport: Sendable, CustomStringConvertible {
  /// What was done; of several steps, what the last one did.
  public let plan: MigrationPlan
  /// The plans of all steps, each made when its turn had come.
  public let plans: [MigrationPlan]
  /// From the first look at the models to the last durable commit.
  public let duration: Duration
  /// The store as it was, where a backup was asked for:
  /// ``PersistentStoreOptions/migrationBackup``.
  public let backup: URL?

  /// How many links went in all steps though their objects stayed. Which, the ``plans`` say:
  /// ``MigrationPlan/RelationshipStep/droppedLinks``.
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

// What `quire migrate --json` prints and documents. They stay.

extension MigrationPlan {
  private enum CodingKeys: String, CodingKey {
    case sourceVersion = "from"
    case destinationVersion = "to"
    case entities, relationships, indexes, numbers, obstacles
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
      // Plans of earlier releases have none.
      numbers: try values.decodeIfPresent([NumberStep].self, forKey: .numbers) ?? [],
      obstacles: try values.decode([Obstacle].self, forKey: .obstacles))
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

  /// The last two keys came later: a plan that was encoded before says nothing of such links.
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
