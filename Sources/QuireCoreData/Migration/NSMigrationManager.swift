// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Core Data's names of constants begin with capitals.

import Foundation
import Quire
import QuireModel

/// The variable of mapping expressions for the migration manager.
public let NSMigrationManagerKey = "manager"
/// The variable of mapping expressions for the source object.
public let NSMigrationSourceObjectKey = "source"
/// The variable of mapping expressions for the destination object.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable of mapping expressions for the mapping of the entity.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable of mapping expressions for the mapping of the property.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable of mapping expressions for the policy of the entity.
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// Carries out a mapping model from one store to another.
open class NSMigrationManager: NSObject {
  /// The manager of Quire's.
  public var quireManager: MigrationManager {
    guard let manager = own ?? adopted else {
      fatalError("NSMigrationManager.quireManager: the migration is over")
    }
    return manager
  }
  private let own: MigrationManager?
  /// The manager that this one was made for, which holds it.
  private weak var adopted: MigrationManager?
  /// The model of the source.
  public let sourceModel: NSManagedObjectModel
  /// The model of the destination.
  public let destinationModel: NSManagedObjectModel
  /// Anything of the application's.
  open var userInfo: [AnyHashable: Any]?
  /// Accepted: lightweight mappings are carried out without objects where that is possible.
  open var usesStoreSpecificMigrationManager = true
  private var contexts: [ObjectIdentifier: NSManagedObjectContext] = [:]
  private var wrappedMappings: [String: (NSEntityMapping, EntityMapping)] = [:]
  private var given: NSMappingModel?

  /// A manager for two models.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
    let manager = raising("NSMigrationManager.init(sourceModel:destinationModel:)") {
      MigrationManager(
        sourceModel: try sourceModel.freeze().current,
        destinationModel: try destinationModel.freeze().current)
    }
    own = manager
    super.init()
    manager.userInfo[Self.key] = Connection(manager: self)
  }

  private init(_ manager: MigrationManager) {
    own = nil
    adopted = manager
    sourceModel = NSManagedObjectModel(VersionedModel(manager.sourceModel))
    destinationModel = NSManagedObjectModel(VersionedModel(manager.destinationModel))
  }

  private static let key = "QuireCoreData.manager"

  private struct Connection {
    weak var manager: NSMigrationManager?
  }

  /// The manager around one of Quire's, which keeps it if Quire has made it.
  static func of(_ manager: MigrationManager) -> NSMigrationManager {
    switch manager.userInfo[key] {
    case let known as NSMigrationManager: return known
    case let connection as Connection:
      if let known = connection.manager { return known }
      fallthrough
    default:
      let new = NSMigrationManager(manager)
      manager.userInfo[key] = new
      return new
    }
  }

  // MARK: Migration

  /// Migrates a store to another file.
  open func migrateStore(
    from sourceURL: URL, sourceType: String, options sourceOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL destinationURL: URL, destinationType: String,
    destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    given = mappings
    try translatingErrors {
      try quireManager.migrateStore(
        from: sourceURL, sourceType: StoreType(named: sourceType),
        options: try PersistentStoreOptions(named: sourceOptions), with: try mappings?.resolved(),
        toDestinationURL: destinationURL, destinationType: StoreType(named: destinationType),
        destinationOptions: try PersistentStoreOptions(named: destinationOptions))
    }
  }

  /// Migrates a store to another file: the newer spelling.
  public func migrateStore(
    from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
    options sourceOptions: [AnyHashable: Any]? = nil, mapping mappings: NSMappingModel,
    to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
    options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mappings,
      toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
      destinationOptions: destinationOptions)
  }

  /// Ends the migration with an error.
  open func cancelMigrationWithError(_ error: any Error) {
    quireManager.cancelMigrationWithError(error)
  }

  /// Forgets the last migration.
  open func reset() { quireManager.reset() }

  /// The mapping model that is carried out.
  open var mappingModel: NSMappingModel {
    given ?? NSMappingModel(quireManager.mappingModel ?? MappingModel())
  }

  /// The mapping that is carried out.
  open var currentEntityMapping: NSEntityMapping {
    quireManager.currentEntityMapping.map(wrapped) ?? NSEntityMapping()
  }

  /// How much is done, between 0 and 1.
  open var migrationProgress: Float { quireManager.migrationProgress }

  /// The context of the source objects.
  open var sourceContext: NSManagedObjectContext { context(quireManager.sourceContext) }

  /// The context of the destination objects.
  open var destinationContext: NSManagedObjectContext { context(quireManager.destinationContext) }

  private func context(_ base: ManagedObjectContext) -> NSManagedObjectContext {
    let key = ObjectIdentifier(base)
    if let context = contexts[key], context.quireContext === base { return context }
    let context = NSManagedObjectContext.of(base)
    contexts[key] = context
    return context
  }

  /// The source entity of a mapping.
  open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
  }

  /// The destination entity of a mapping.
  open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
  }

  // MARK: Associations

  /// Records that a destination object was made of a source object.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    raising("associate(… for: \(entityMapping.name ?? ""))") {
      try quireManager.associate(
        sourceInstance: sourceInstance, withDestinationInstance: destinationInstance,
        for: try mapping(of: entityMapping))
    }
  }

  /// The destination objects that a mapping has made of source objects; all for `nil`.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    raising("destinationInstances(forEntityMappingName: \"\(mappingName)\")") {
      try quireManager.destinationInstances(
        forEntityMappingName: mappingName, sourceInstances: sourceInstances)
    }.map { $0 as! NSManagedObject }
  }

  /// The source objects of which a mapping has made destination objects; all for `nil`.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    raising("sourceInstances(forEntityMappingName: \"\(mappingName)\")") {
      try quireManager.sourceInstances(
        forEntityMappingName: mappingName, destinationInstances: destinationInstances)
    }.map { $0 as! NSManagedObject }
  }

  // MARK: Mappings

  /// The mapping of a policy's call, always the same object for one name.
  func wrapped(_ mapping: EntityMapping) -> NSEntityMapping {
    if let known = wrappedMappings[mapping.name] { return known.0 }
    let new = given?.entityMappingsByName[mapping.name] ?? NSEntityMapping(mapping)
    wrappedMappings[mapping.name] = (new, mapping)
    return new
  }

  /// The mapping of Quire's that a policy was called with.
  func mapping(of mapping: NSEntityMapping) throws -> EntityMapping {
    if let known = wrappedMappings[mapping.name], known.0 === mapping { return known.1 }
    return try mapping.resolved()
  }
}
