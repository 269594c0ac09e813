import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Carries out a mapping model: reads a store of one model and makes one of another.
///
/// ```swift
/// let manager = MigrationManager(sourceModel: old, destinationModel: new)
/// try manager.migrateStore(
///   from: url, type: .quire, mapping: mapping, to: newURL, type: .quire)
/// ```
///
/// The source is only read. The destination gets its name when it is whole and on disk, so that a
/// crash, an error or a cancellation leaves nothing there. When both are one file, the store keeps
/// its UUID, and one commit makes it the new one.
///
/// ## Memory
///
/// Source objects are read one by one, destination objects are written a thousand at a time and
/// their relationships ten thousand at a time, or sooner where rows are long, so that a store of
/// any size is migrated in little memory: at most 24 bytes for each pair of objects that are
/// associated, 16 MiB of links that wait for others, and what policies keep. Where a policy or a
/// closure may look for objects made before, those stay registered in ``destinationContext`` as
/// faults, some 90 bytes each, unless ``keepsDestinationObjects`` says otherwise.
///
/// ## Several mapping models
///
/// A large migration may be split over several mapping models, carried out by one manager one after
/// the other, from one source into one destination. Each adds its objects to those of the ones
/// before, in one commit. What one has associated is not known to the next, so that what is related
/// belongs into one mapping model.
///
/// ## Subclasses
///
/// A subclass may override what is open, as in Core Data, and answer functions of its own that
/// mapping models name in `FUNCTION($manager, …)`. Mappings and policies ask the overrides.
///
/// ## Isolation
///
/// A manager, its contexts and its policies belong to whoever calls
/// ``migrateStore(from:type:options:mapping:to:type:options:)`` and work where it is called.
nonisolated open class MigrationManager {
  public let sourceModel: ManagedObjectModel
  public let destinationModel: ManagedObjectModel
  /// What is being carried out; `nil` before.
  open internal(set) var mappingModel: MappingModel? {
    didSet {
      let mappings = mappingModel?.entityMappings.filter { $0.sourceEntityName != nil } ?? []
      mappingNames = Dictionary(grouping: mappings) { $0.sourceEntityName ?? "" }
        .mapValues { $0.map(\.name) }
    }
  }
  /// The source's objects, of the class ``ManagedObject`` all of them.
  @exclusivity(unchecked) public final internal(set) var sourceContext = ManagedObjectContext()
  /// Where destination objects are made, of the class ``ManagedObject`` all of them.
  @exclusivity(unchecked) public final internal(set) var destinationContext = ManagedObjectContext()
  /// The mapping that a policy is at work for.
  open internal(set) var currentEntityMapping: EntityMapping?
  /// From 0 to 1.
  open internal(set) var migrationProgress: Float = 0
  /// Called whenever ``migrationProgress`` has changed, a few hundred times in all.
  public final var progressHandler: ((Float) -> Void)?
  /// For policies, to pass things on.
  open var userInfo: [String: Any] = [:]
  /// Whether a mapping model that was inferred, and not edited since, may be carried out on the
  /// rows of the store itself, without objects: by far the fastest way. Objects keep their keys
  /// then, and their versions.
  open var usesStoreSpecificMigrationManager = true
  /// Whether the objects that a migration makes stay registered in ``destinationContext`` until its
  /// end, as faults, so that a policy or a closure finds there what was made before, also among
  /// the context's inserted objects.
  ///
  /// It costs some 90 bytes an object, where any policy or closure is at work. Without it, objects
  /// that nobody holds go when they are written; a fetch in the destination context finds them
  /// either way, and so do associations.
  public final var keepsDestinationObjects = true
  /// Whether a migration may add to a store of the destination model that is there already. What
  /// the manager has itself made of the same source it adds to in any case.
  public final var addsToDestination = false

  @exclusivity(unchecked) final var associations = MigrationAssociations()
  /// The names of the mappings that read an entity, in their order.
  final var mappingNames: [String: [String]] = [:]
  /// Where the manager is at work for somebody who wants to know how far it is.
  final var step = StepProgress()
  final var cancellation: (any Error)?
  /// How many objects wait to be written, and about how many bytes.
  final var unwrittenCount = 0
  final var unwrittenByteCount = 0
  final var isMigrating = false
  /// The destination that this manager has made last, and of what.
  final var madeDestination: MadeDestination?

  struct MadeDestination: Hashable {
    let source: String
    let destination: String
    let identity: StoreIdentity
  }

  public init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
  }

  /// Migrates a store into another file, or in its own place when both URLs are one.
  ///
  /// Both are files of Quire's own format. The destination gets a UUID of its own, unless its
  /// options name one; a store that is migrated in place keeps its. Metadata and the history of
  /// migrations go along, and this migration is entered there. A destination that this manager has
  /// made of the same source before is added to, and keeps UUID and metadata.
  ///
  /// - Parameters:
  ///   - sourceOptions: ``PersistentStoreOptions/migrationBackup`` is made before anything is
  ///     written; a source that ``PersistentStoreOptions/isReadOnly`` cannot be migrated in place.
  ///     The others are for opening a store, and have no say here.
  ///   - destinationOptions: ``PersistentStoreOptions/storeUUID`` is the destination's UUID.
  /// - Throws: ``PersistenceError/Code/migrationManagerSourceStore`` (134150) when the source
  ///   cannot be opened or is not of the source model;
  ///   ``PersistenceError/Code/migrationManagerDestinationStore`` (134160) when the destination is
  ///   there already and not to be added to, or cannot be made;
  ///   ``PersistenceError/Code/migrationMissingMappingModel`` (134140) when the mapping is for
  ///   other models;
  ///   ``PersistenceError/Code/entityMigrationPolicy`` (134170) when a policy is not registered;
  ///   the error that ``cancelMigrationWithError(_:)`` was given; validation errors about the
  ///   outcome, as a save would throw them; what policies and expressions throw. The source is then
  ///   as it was, and so is the destination, if it was there.
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

  /// Ends the migration at the next object: it throws this error, and leaves no destination.
  ///
  /// For policies and the progress handler, which run within the migration.
  open func cancelMigrationWithError(_ error: any Error) { cancellation = error }

  /// Forgets associations, contexts and a cancellation. A migration begins with that by itself.
  open func reset() { forget() }

  final func forget() {
    mappingModel = nil
    sourceContext = ManagedObjectContext()
    destinationContext = ManagedObjectContext()
    currentEntityMapping = nil
    migrationProgress = 0
    associations = MigrationAssociations()
    cancellation = nil
    unwrittenCount = 0
    unwrittenByteCount = 0
  }

  // MARK: Entities

  /// The entity that a mapping reads; `nil` for one that adds.
  open func sourceEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.sourceEntityName.flatMap(sourceModel.entity(named:))
  }

  /// The entity that a mapping makes objects of; `nil` for one that removes.
  open func destinationEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.destinationEntityName.flatMap(destinationModel.entity(named:))
  }

  // MARK: Associations

  /// Notes that a destination object was made of a source object, so that either can be found from
  /// the other, and the destination's relationships are made.
  ///
  /// - Throws: ``PersistenceError/Code/entityMigrationPolicy`` when an object is not of the
  ///   manager's source or destination context.
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
  }

  private func foreign(
    _ object: ManagedObject, _ side: String, _ mapping: EntityMapping
  ) -> PersistenceError {
    PersistenceError(
      .entityMigrationPolicy,
      "\(object.objectID) was associated in \(mapping.name), but is not of the manager's \(side) "
        + "context")
  }

  /// What became of source objects in the mapping of that name.
  ///
  /// - Parameter sourceInstances: `nil` for all that the mapping has associated.
  /// - Returns: in the order of the sources, and of their association; each object once.
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

  /// What destination objects of the mapping of that name were made of.
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

  // MARK: What `$manager` answers in expressions

  open func value(forKey key: String) throws -> Any? { try answer(toKey: key) }

  /// Answers `FUNCTION($manager, "selector:", …)`. Unless overridden: Core Data's selectors, as its
  /// mapping models have them.
  ///
  /// - Throws: an error that names the selector when it is none of them.
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

  /// For the parts of a migration that know nothing of managers.
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
  /// Sets a relationship to what an expression gave: an object, some objects, or nothing. A to-one
  /// relationship takes the first.
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
