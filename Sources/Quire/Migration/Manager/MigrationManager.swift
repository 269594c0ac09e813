import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Executes a mapping model: reads a store of one model and makes one of another.
///
/// ```swift
/// let manager = MigrationManager(sourceModel: old, destinationModel: new)
/// try manager.migrateStore(
///   from: url, type: .quire, mapping: mapping, to: newURL, type: .quire)
/// ```
///
/// The source is only read. The destination gets its name when it is complete and on disk, so that
/// nothing is left there after a crash, an error or a cancellation. If both are one file, the store
/// keeps its UUID, and one commit replaces its content.
///
/// ## Memory
///
/// Source objects are read one by one. Destination objects are written in batches of a thousand,
/// their relationships in batches of ten thousand, and earlier if rows are long. A store of any
/// size is thus migrated in limited memory: at most 24 bytes for each pair of associated objects,
/// 16 MiB of links, and what policies keep. If a policy or a closure may look for earlier objects,
/// those stay registered in ``destinationContext``, some 100 bytes each, unless
/// ``keepsDestinationObjects`` is `false`.
///
/// ## Several mapping models
///
/// A large migration may be split into several mapping models, executed by one manager one after
/// the other, from one source into one destination. Each adds its objects in one commit. A mapping
/// model does not know the associations of earlier ones, so that related objects must be in one
/// mapping model.
///
/// ## Subclasses
///
/// A subclass may override open members, as in Core Data, and provide functions of its own, which
/// mapping models call by `FUNCTION($manager, …)`. Mappings and policies call the overrides.
///
/// ## Isolation
///
/// A manager, its contexts and its policies belong to the isolation of the caller of
/// ``migrateStore(from:type:options:mapping:to:type:options:)``, and run there.
///
/// ## Example
///
/// Two names become one, which no mapping that is inferred could know:
///
/// ```swift
/// let source = try ManagedObjectModel {
///   Entity("Artist") {
///     Attribute("first", .string); Attribute("last", .string)
///   }
/// }
/// let destination = try ManagedObjectModel { Entity("Artist") { Attribute("name", .string) } }
/// let old = PersistentContainer(name: "Old", managedObjectModel: source)
/// try old.loadPersistentStore(at: oldURL)
/// let context = old.newBackgroundContext()
/// let artist = try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
/// try artist.setValue("Katsushika", forKey: "first")
/// try artist.setValue("Hokusai", forKey: "last")
/// try context.save()
/// try old.close()
///
/// var mapping = EntityMapping(from: "Artist", to: "Artist", .transformEntityMappingType)
/// mapping.attributeMappings = [
///   PropertyMapping(
///     "name",
///     valueExpression: .closure { arguments in
///       let first = try arguments.source?.value(forKey: "first") as? String ?? ""
///       let last = try arguments.source?.value(forKey: "last") as? String ?? ""
///       return "\(first) \(last)"
///     })
/// ]
/// let manager = MigrationManager(sourceModel: source, destinationModel: destination)
/// try manager.migrateStore(
///   from: oldURL, type: .quire, mapping: MappingModel(entityMappings: [mapping]),
///   to: newURL, type: .quire)
///
/// let new = PersistentContainer(name: "New", managedObjectModel: destination)
/// try new.loadPersistentStore(at: newURL)
/// let request = FetchRequest<ManagedObject>(entityName: "Artist")
/// for artist in try new.newBackgroundContext().fetch(request) {
///   print(try artist.value(forKey: "name") ?? "")
/// }
/// try new.close()
/// ```
///
/// prints
///
/// ```
/// Katsushika Hokusai
/// ```
nonisolated open class MigrationManager {
  /// The model of the store that is migrated.
  public let sourceModel: ManagedObjectModel
  /// The model that the store is migrated to.
  public let destinationModel: ManagedObjectModel
  /// The mapping model that is being executed; `nil` before.
  open internal(set) var mappingModel: MappingModel?
  /// The context of the source's objects, which all have the class ``ManagedObject``.
  public final internal(set) var sourceContext = ManagedObjectContext()
  /// The context for new destination objects, which all have the class ``ManagedObject``.
  public final internal(set) var destinationContext = ManagedObjectContext()
  /// The mapping for which a policy is being called.
  open internal(set) var currentEntityMapping: EntityMapping?
  /// The progress, from 0 to 1.
  open internal(set) var migrationProgress: Float = 0
  /// Called when ``migrationProgress`` has changed, a few hundred times in total.
  public final var progressHandler: ((Float) -> Void)?
  /// Storage for policies, which may use it to share data.
  open var userInfo: [String: Any] = [:]
  /// Whether an inferred mapping model that was not edited may be executed on the rows of the
  /// store, without objects, which is by far the fastest way. Objects then keep their keys and
  /// versions.
  open var usesStoreSpecificMigrationManager = true
  /// Whether the objects that a migration makes stay registered in ``destinationContext`` until its
  /// end, so that a policy or a closure finds them there as inserted ones, and among the context's
  /// inserted objects.
  ///
  /// It costs some 100 bytes for each object, if there is any policy or closure. Otherwise, objects
  /// that are not held are released when they are written; fetches in the destination context and
  /// associations find them in either case.
  public final var keepsDestinationObjects = true
  /// Whether a migration may add to an existing store of the destination model. To a destination
  /// that the manager itself has made from the same source it adds in any case.
  public final var addsToDestination = false

  final var associations = MigrationAssociations()
  /// The names of the mappings that have associated source objects of an entity, by its number, in
  /// the order in which they first did: a mapping may read objects of more entities than it names.
  final var mappingNames: [UInt16: [String]] = [:]
  /// The property that is being set, and its object.
  final var evaluated: (property: PropertyMapping?, object: ManagedObject?) = (nil, nil)
  /// Reports progress to the operation in which the manager runs.
  final var step = StepProgress()
  final var cancellation: (any Error)?
  /// The number of unwritten objects, and their approximate number of bytes.
  final var unwrittenCount = 0
  final var unwrittenByteCount = 0
  final var isMigrating = false
  /// The destination that this manager has made last, and its source.
  final var madeDestination: MadeDestination?

  struct MadeDestination: Hashable {
    let source: String
    let destination: String
    let identity: StoreIdentity
  }

  /// A manager that leads from one model to another, of any number of stores, one after the other.
  public init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
  }

  /// Migrates a store to another file, or in place if both URLs are of one file.
  ///
  /// Both are files of Quire's own format. The destination gets a new UUID, unless its options have
  /// one; a store that is migrated in place keeps its UUID. Metadata and the list of migrations are
  /// copied, and this migration is appended. If this manager has made the destination from the same
  /// source before, objects are added to it, and it keeps its UUID and metadata.
  ///
  /// - Parameters:
  ///   - sourceOptions: ``PersistentStoreOptions/migrationBackup`` is made before anything is
  ///     written; a source with ``PersistentStoreOptions/isReadOnly`` cannot be migrated in place.
  ///     Other options are ignored.
  ///   - destinationOptions: ``PersistentStoreOptions/storeUUID`` is the destination's UUID.
  /// - Throws: ``PersistenceError/Code/migrationManagerSourceStore`` (134150) if the source cannot
  ///   be opened or is not of the source model;
  ///   ``PersistenceError/Code/migrationManagerDestinationStore`` (134160) if the destination
  ///   exists and is not to be added to, or cannot be created;
  ///   ``PersistenceError/Code/migrationMissingMappingModel`` (134140) if the mapping is for other
  ///   models; ``PersistenceError/Code/entityMigrationPolicy`` (134170) if a policy is not
  ///   registered; the error given to ``cancelMigrationWithError(_:)``; validation errors of the
  ///   result, as in a save; errors of policies and expressions. The source is then unchanged, and
  ///   so is the destination, if it existed.
  open func migrateStore(
    from sourceURL: URL, type sourceType: StoreType = .quire,
    options sourceOptions: PersistentStoreOptions = [:], mapping: MappingModel,
    to destinationURL: URL, type destinationType: StoreType = .quire,
    options destinationOptions: PersistentStoreOptions = [:]
  ) throws {
    try carryOut(
      mapping, from: (sourceURL, sourceType, sourceOptions),
      to: (destinationURL, destinationType, destinationOptions))
  }

  /// Core Data's older spelling of
  /// ``migrateStore(from:type:options:mapping:to:type:options:)``.
  open func migrateStore(
    from sourceURL: URL, sourceType: StoreType,
    options sourceOptions: PersistentStoreOptions? = nil,
    with mappings: MappingModel?, toDestinationURL destinationURL: URL, destinationType: StoreType,
    destinationOptions: PersistentStoreOptions? = nil
  ) throws {
    guard let mappings else {
      throw PersistenceError(
        .migrationMissingMappingModel, "a migration needs a mapping model, and there is none")
    }
    try migrateStore(
      from: sourceURL, type: sourceType, options: sourceOptions ?? [:], mapping: mappings,
      to: destinationURL, type: destinationType, options: destinationOptions ?? [:])
  }

  /// Ends the migration at the next object: it throws this error, and no destination is left.
  ///
  /// To be called by policies and the progress handler, which run within the migration.
  open func cancelMigrationWithError(_ error: any Error) { cancellation = error }

  /// Removes associations, contexts and a cancellation. Each migration starts with a reset.
  open func reset() { forget() }

  final func forget() {
    mappingModel = nil
    sourceContext = ManagedObjectContext()
    destinationContext = ManagedObjectContext()
    currentEntityMapping = nil
    migrationProgress = 0
    associations = MigrationAssociations()
    mappingNames = [:]
    cancellation = nil
    unwrittenCount = 0
    unwrittenByteCount = 0
  }

  // MARK: Entities

  /// The entity that a mapping reads; `nil` for one that adds.
  open func sourceEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.sourceEntityName.flatMap(sourceModel.entity(named:))
  }

  /// The entity of the objects that a mapping makes; `nil` for one that removes.
  open func destinationEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.destinationEntityName.flatMap(destinationModel.entity(named:))
  }

  // MARK: Associations

  /// Associates a destination object with its source object, so that each can be found by the
  /// other, and the destination's relationships are set.
  ///
  /// - Throws: ``PersistenceError/Code/entityMigrationPolicy`` if an object is not of the manager's
  ///   source or destination context.
  open func associate(
    sourceInstance: ManagedObject, withDestinationInstance destinationInstance: ManagedObject,
    for entityMapping: EntityMapping
  ) throws {
    guard sourceInstance.context === sourceContext else {
      throw foreign(sourceInstance, "source", entityMapping)
    }
    guard destinationInstance.context === destinationContext else {
      throw foreign(destinationInstance, "destination", entityMapping)
    }
    associations.associate(
      sourceInstance.reference, with: destinationInstance, in: entityMapping.name)
    let entity = sourceInstance.reference.entity
    if mappingNames[entity]?.contains(entityMapping.name) != true {
      mappingNames[entity, default: []].append(entityMapping.name)
    }
  }

  private func foreign(
    _ object: ManagedObject, _ side: String, _ mapping: EntityMapping
  ) -> PersistenceError {
    PersistenceError(
      .entityMigrationPolicy,
      "\(object.objectID) was associated in \(mapping.name), but is not of the manager's \(side) "
        + "context")
  }

  /// The destination objects of source objects in the mapping with a name.
  ///
  /// - Parameter sourceInstances: `nil` for all that the mapping has associated.
  /// - Returns: the objects in the order of the sources and of their association, each once.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [ManagedObject]?
  ) throws -> [ManagedObject] {
    guard let sourceInstances else {
      let saved = try (0..<associations.count(in: mappingName)).compactMap { index in
        try associations.pair(index, in: mappingName).map {
          try destinationContext.firstSession().object(at: $0.destination)
        }
      }
      return unique(saved + associations.unsavedDestinations(of: nil, in: mappingName))
    }
    var found: [ManagedObject] = []
    for source in sourceInstances {
      for reference in associations.destinations(of: source.reference, in: mappingName) {
        found.append(try destinationContext.firstSession().object(at: reference))
      }
      found += associations.unsavedDestinations(of: source.reference, in: mappingName)
    }
    return unique(found)
  }

  /// The source objects of destination objects in the mapping with a name.
  ///
  /// - Parameter destinationInstances: `nil` for all that the mapping has associated.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [ManagedObject]?
  ) throws -> [ManagedObject] {
    let objects =
      try destinationInstances
      ?? self.destinationInstances(forEntityMappingName: mappingName, sourceInstances: nil)
    var found: [ManagedObject] = []
    for destination in objects {
      let references =
        destination.isPersistent
        ? associations.sources(of: destination.reference, in: mappingName)
        : associations.unsavedSources(of: destination, in: mappingName)
      for reference in references {
        found.append(try sourceContext.firstSession().object(at: reference))
      }
    }
    return unique(found)
  }

  final func unique(_ objects: [ManagedObject]) -> [ManagedObject] {
    guard objects.count > 1 else { return objects }
    var seen: Set<ObjectIdentifier> = []
    return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  // MARK: `$manager` in expressions

  /// What an expression gets that names a property of the manager, such as `$manager.userInfo`.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when it has none of the name.
  open func value(forKey key: String) throws -> Any? { try answer(toKey: key) }

  /// The result of `FUNCTION($manager, "selector:", …)`. The default knows the selectors that Core
  /// Data's mapping models use.
  ///
  /// - Throws: an error with the selector if it is not one of them.
  open func call(_ selector: String, _ arguments: [Any?]) throws -> Any? {
    try answer(to: selector, arguments)
  }
}

@available(*, unavailable)
extension MigrationManager: Sendable {}

// MARK: - Progress

extension MigrationManager {
  final func checkCancellation() throws {
    try step.check()
    if let cancellation { throw cancellation }
  }

  final func report(_ progress: Float, _ phase: String) {
    migrationProgress = progress
    progressHandler?(progress)
    step.report(Double(progress), phase)
  }

  /// The progress for parts of a migration that do not know managers.
  final var stepProgress: StepProgress {
    var progress = StepProgress()
    progress.report = { self.report(Float($0), $1) }
    progress.cancellation = {
      do {
        try self.checkCancellation()
        return nil
      } catch {
        return error
      }
    }
    return progress
  }
}

// MARK: - Values

extension MigrationManager {
  /// Sets a relationship to the value of an expression: an object, several, or none. A to-one
  /// relationship gets the first.
  final func setRelationship(_ name: String, of object: ManagedObject, to value: Any?) throws {
    guard let relationship = object.entity.relationship(named: name) else {
      throw PersistenceError(
        .undefinedKey, "\(object.entity.name) has no relationship \(name)")
    }
    let objects: [ManagedObject]
    switch value {
    case nil: objects = []
    case let one as ManagedObject: objects = [one]
    case let several as [ManagedObject]: objects = several
    case let several as Set<ManagedObject>:
      objects = several.sorted { $0.reference < $1.reference }
    case let other?:
      throw PersistenceError(
        .unacceptableValue,
        "the mapping of \(object.entity.name).\(name) gave a \(type(of: other)) instead of objects")
    }
    try object.setValue(relationship.isToMany ? objects : objects.first, forKey: name)
  }
}
