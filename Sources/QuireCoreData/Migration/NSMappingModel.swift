import Foundation
import Quire
import QuireModel
import QuireXcode

/// Where a property of a destination object gets its value from.
open class NSPropertyMapping: NSObject {
  /// The name of the property.
  open var name: String?
  /// The expression, with the variables `$source`, `$destination`, `$manager`, `$entityMapping`,
  /// `$propertyMapping` and `$entityPolicy`.
  open var valueExpression: NSExpression?
  /// Texts of the application's own.
  open var userInfo: [AnyHashable: Any]? = [:]
  private var given: PropertyMapping?

  /// A mapping without a name.
  public override init() {}

  init(_ mapping: PropertyMapping) {
    given = mapping
    name = mapping.name
    if case .expression(let expression)? = mapping.valueExpression {
      valueExpression = NSExpression(expression)
    }
    if !mapping.userInfo.isEmpty { userInfo = mapping.userInfo }
  }

  /// Whether the other object is a mapping that says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyMapping else { return false }
    return name == other.name && valueExpression == other.valueExpression
      && texts(userInfo) == texts(other.userInfo)
  }

  /// Equal mappings have equal hashes.
  open override var hash: Int { name.hashValue }

  var mapping: PropertyMapping {
    var mapping = given ?? PropertyMapping("")
    mapping.name = name ?? ""
    if let valueExpression {
      mapping.valueExpression = .expression(valueExpression.fetchExpression)
    }
    mapping.userInfo = texts(userInfo)
    return mapping
  }
}

private func texts(_ userInfo: [AnyHashable: Any]?) -> [String: String] {
  (userInfo ?? [:]).reduce(into: [:]) { $0["\($1.key.base)"] = "\($1.value)" }
}

/// The mapping of one entity's objects.
open class NSEntityMapping: NSObject {
  /// The name of the mapping.
  open var name: String!
  /// What is done with the objects.
  open var mappingType: NSEntityMappingType
  /// The entity whose objects are migrated.
  open var sourceEntityName: String?
  /// The entity whose objects are made.
  open var destinationEntityName: String?
  /// Where attributes get their values from.
  open var attributeMappings: [NSPropertyMapping]?
  /// Where relationships lead.
  open var relationshipMappings: [NSPropertyMapping]?
  /// The expression that finds the source objects; `nil` for all of the entity.
  open var sourceExpression: NSExpression?
  /// The name of the class of the policy.
  open var entityMigrationPolicyClassName: String?
  /// Texts of the application's own.
  open var userInfo: [AnyHashable: Any]? = [:]
  private var given: EntityMapping

  /// A mapping without a name.
  public convenience override init() { self.init(EntityMapping()) }

  init(_ mapping: EntityMapping) {
    given = mapping
    name = mapping.name
    mappingType = mapping.mappingType
    sourceEntityName = mapping.sourceEntityName
    destinationEntityName = mapping.destinationEntityName
    attributeMappings = mapping.attributeMappings.map(NSPropertyMapping.init)
    relationshipMappings = mapping.relationshipMappings.map(NSPropertyMapping.init)
    if case .expression(let expression)? = mapping.sourceExpression {
      sourceExpression = NSExpression(expression)
    }
    entityMigrationPolicyClassName =
      mapping.entityMigrationPolicyClassName
      ?? mapping.entityMigrationPolicy.map { String(reflecting: $0) }
    if !mapping.userInfo.isEmpty { userInfo = mapping.userInfo }
  }

  /// The digest that the source entity must have; `nil` for any.
  open var sourceEntityVersionHash: Data? {
    get { given.sourceEntityVersionHash.map { Data($0.bytes) } }
    set { given.sourceEntityVersionHash = newValue.flatMap { VersionHash(bytes: Array($0)) } }
  }

  /// The digest that the destination entity must have; `nil` for any.
  open var destinationEntityVersionHash: Data? {
    get { given.destinationEntityVersionHash.map { Data($0.bytes) } }
    set { given.destinationEntityVersionHash = newValue.flatMap { VersionHash(bytes: Array($0)) } }
  }

  /// Whether the other object is a mapping that says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityMapping else { return false }
    return name == other.name && mappingType == other.mappingType
      && sourceEntityName == other.sourceEntityName
      && destinationEntityName == other.destinationEntityName
      && (attributeMappings ?? []) == (other.attributeMappings ?? [])
      && (relationshipMappings ?? []) == (other.relationshipMappings ?? [])
      && sourceExpression == other.sourceExpression
      && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
      && sourceEntityVersionHash == other.sourceEntityVersionHash
      && destinationEntityVersionHash == other.destinationEntityVersionHash
      && texts(userInfo) == texts(other.userInfo)
  }

  /// Equal mappings have equal hashes.
  open override var hash: Int { (name ?? "").hashValue }

  /// Quire's form of the mapping.
  func resolved() throws -> EntityMapping {
    var mapping = given
    mapping.sourceEntityName = sourceEntityName
    mapping.destinationEntityName = destinationEntityName
    mapping.name =
      name.isEmpty
      ? EntityMapping(from: sourceEntityName, to: destinationEntityName).name : name
    mapping.mappingType = mappingType
    mapping.attributeMappings = (attributeMappings ?? []).map(\.mapping)
    mapping.relationshipMappings = (relationshipMappings ?? []).map(\.mapping)
    if let sourceExpression {
      mapping.sourceExpression = .expression(sourceExpression.fetchExpression)
    }
    mapping.userInfo = texts(userInfo)
    if let className = entityMigrationPolicyClassName, mapping.entityMigrationPolicy == nil {
      guard let policy = ClassLookup.type(named: className) as? EntityMigrationPolicy.Type else {
        throw PersistenceError(
          .entityMigrationPolicy,
          "the mapping \(mapping.name) names the policy \(className), and there is no such class")
      }
      mapping.entityMigrationPolicy = policy
    }
    return mapping
  }
}

/// A mapping of the objects of one model to those of another.
open class NSMappingModel: NSObject {
  /// The mappings of entities, in the order of their execution.
  open var entityMappings: [NSEntityMapping]!
  /// Whether the objects of entities that no mapping names are removed, as Core Data does without
  /// being asked. Otherwise a migration of a store in its own place is refused that would lose them
  /// (error 134140).
  open var removesUnmappedEntities = false
  private var given: MappingModel?

  /// A mapping model without mappings.
  public init(fileID: String = #fileID) {
    ClassLookup.addModule(of: fileID)
    entityMappings = []
  }

  init(_ model: MappingModel) {
    given = model
    entityMappings = model.entityMappings.map(NSEntityMapping.init)
    removesUnmappedEntities = model.removesUnmappedEntities
  }

  /// The mapping model between two models, among Xcode's documents in some bundles; `nil` when
  /// there is none. `nil` for the bundles means the program's.
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel source: NSManagedObjectModel?,
    destinationModel destination: NSManagedObjectModel?, fileID: String = #fileID
  ) {
    ClassLookup.addModule(of: fileID)
    guard let source = try? source?.resolved(), let destination = try? destination?.resolved(),
      let found = try? MappingModel(
        from: Resources.folders(of: bundles), forSourceModel: source, destinationModel: destination)
    else { return nil }
    self.init(found)
  }

  /// The mapping model in a file of Xcode's: an `.xcmappingmodel`, or a `.cdm`, which represents
  /// the former beside it where it does not exist itself.
  ///
  /// Such a file is read together with its two models. They are looked for among those that
  /// coordinators use, the resources of the program and the folder of the file.
  ///
  /// - Returns: `nil` when the file cannot be read, or its models are not found.
  public convenience init?(contentsOf url: URL?, fileID: String = #fileID) {
    ClassLookup.addModule(of: fileID)
    guard let url else { return nil }
    let folder = url.deletingLastPathComponent()
    let versions =
      Resources.versions(inFolders: [folder]) + Resources.versions(in: nil)
      + ModelsInUse.versions
    let document = url.deletingPathExtension().appendingPathExtension("xcmappingmodel")
    let file = FileManager.default.fileExists(atPath: url.path) ? url : document
    guard let found = try? MappingModel(contentsOf: file, among: versions) else {
      return nil
    }
    self.init(found)
  }

  /// The mapping model that follows from the difference of two models.
  open class func inferredMappingModel(
    forSourceModel source: NSManagedObjectModel, destinationModel destination: NSManagedObjectModel
  ) throws -> NSMappingModel {
    try translatingErrors {
      NSMappingModel(
        try MappingModel.inferredMappingModel(
          forSourceModel: source.resolved(), destinationModel: destination.resolved()))
    }
  }

  /// The mappings by name.
  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether the other object is a mapping model with equal mappings in the same order.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSMappingModel)?.entityMappings == entityMappings
  }

  /// Equal mapping models have equal hashes.
  open override var hash: Int { entityMappings.map { $0.name ?? "" }.hashValue }

  /// Quire's form of the mapping model.
  func resolved() throws -> MappingModel {
    var model = given ?? MappingModel()
    model.entityMappings = try entityMappings.map { try $0.resolved() }
    model.objectClass = NSManagedObject.self
    model.removesUnmappedEntities = removesUnmappedEntities
    return model
  }
}
