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
/// associated, 16 MiB of links that wait for others, and what policies keep.
///
/// ## Isolation
///
/// A manager, its contexts and its policies belong to whoever calls
/// ``migrateStore(from:type:options:mapping:to:type:options:)`` and work where it is called.
open class MigrationManager {
  public let sourceModel: ManagedObjectModel
  public let destinationModel: ManagedObjectModel
  /// What is being carried out; `nil` before.
  public final internal(set) var mappingModel: MappingModel? {
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
  public final internal(set) var currentEntityMapping: EntityMapping?
  /// From 0 to 1.
  public final internal(set) var migrationProgress: Float = 0
  /// Called whenever ``migrationProgress`` has changed, a few hundred times in all.
  public final var progressHandler: ((Float) -> Void)?
  /// For policies, to pass things on.
  public final var userInfo: [String: Any] = [:]
  /// Whether a mapping model that was inferred, and not edited since, may be carried out on the
  /// rows of the store itself, without objects: by far the fastest way. Objects keep their keys
  /// then, and their versions.
  public final var usesStoreSpecificMigrationManager = true

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

  public init(sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
  }

  /// Ends the migration at the next object: it throws
  /// ``PersistenceError/Code/migrationCancelled`` with this error, and leaves no destination.
  ///
  /// For policies and the progress handler, which run within the migration.
  public final func cancelMigrationWithError(_ error: any Error) { cancellation = error }

  /// Forgets associations, contexts and a cancellation, so that the manager can be used again.
  public final func reset() {
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
}

@available(*, unavailable)
extension MigrationManager: Sendable {}

// MARK: - Progress

extension MigrationManager {
  final func checkCancellation() throws {
    try step.check()
    guard let error = cancellation else { return }
    throw PersistenceError(
      .migrationCancelled, "the migration was cancelled: \(error)", underlying: error)
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
        return error as? PersistenceError
      }
    }
    return progress
  }
}

// MARK: - Entities

extension MigrationManager {
  /// The entity that a mapping reads; `nil` for one that adds.
  public final func sourceEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.sourceEntityName.flatMap(sourceModel.entity(named:))
  }

  /// The entity that a mapping makes objects of; `nil` for one that removes.
  public final func destinationEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.destinationEntityName.flatMap(destinationModel.entity(named:))
  }
}

// MARK: - Associations

extension MigrationManager {
  /// Notes that a destination object was made of a source object, so that either can be found from
  /// the other, and the destination's relationships are made.
  ///
  /// - Throws: ``PersistenceError/Code/entityMigrationPolicy`` when an object is not of the
  ///   manager's source or destination context.
  public final func associate(
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
  public final func destinationInstances(
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
  public final func sourceInstances(
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
