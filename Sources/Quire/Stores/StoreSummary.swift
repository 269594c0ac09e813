import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a store file says about itself, read without a model and without writing.
public struct StoreSummary: Sendable {
  public struct EntityCount: Sendable {
    public let name: String
    public let objectCount: Int
  }

  /// The store's UUID.
  public let identifier: UUID
  /// The number of the format of rows, links and schema: 5 when the store keeps a history, else 4
  /// while there are values outside of rows, else 2 while a deferred migration is not finished,
  /// else 1.
  public let objectFormat: Int
  /// The name of the model's version, when the model had named versions.
  public let versionName: String?
  /// The version hash of the whole model.
  public let modelChecksum: VersionHash
  /// Concrete entities by name, each with the number of its own objects.
  public let entities: [EntityCount]
  /// The migrations the store has been through, oldest first: the last 50 of them.
  public let migrationHistory: [MigrationRecord]
  /// What a deferred migration has left; `nil` when nothing is.
  public let deferredMigration: DeferredMigration?
  /// How far the store's history reaches; `nil` when it keeps none.
  public let history: PersistentHistorySummary?
  public let statistics: StoreStatistics

  public var objectCount: Int { entities.reduce(0) { $0 + $1.objectCount } }

  /// - Throws: ``PersistenceError/Code/persistentStoreOpen`` when the file is no sound store of
  ///   objects.
  public init(of url: URL) throws { try self.init(of: url, in: DiskFileSystem()) }

  /// The same, on a file system that a test brings.
  package init(of url: URL, in fileSystem: any FileSystem) throws {
    self = try StoreOpening.inspecting(url, in: fileSystem) { snapshot, pages in
      guard let schema = try StoreSchema(from: snapshot) else {
        throw PersistenceError(.persistentStoreOpen, "the store holds no objects: it has no schema")
      }
      return StoreSummary(
        identifier: UUID(pages.identity), objectFormat: Int(schema.currentFormat),
        versionName: schema.versionName,
        modelChecksum: try StoreSchema.model(in: snapshot).versionChecksum,
        entities: try schema.entities.sorted { $0.name < $1.name }.map {
          EntityCount(
            name: $0.name, objectCount: try snapshot.recordTree($0.rowTree)?.count ?? 0)
        },
        migrationHistory: schema.migrations,
        deferredMigration: try DeferredMigration(schema, snapshot),
        history: try PersistentHistorySummary(snapshot), statistics: pages.statistics)
    }
  }

  private init(
    identifier: UUID, objectFormat: Int, versionName: String?, modelChecksum: VersionHash,
    entities: [EntityCount], migrationHistory: [MigrationRecord],
    deferredMigration: DeferredMigration?, history: PersistentHistorySummary?,
    statistics: StoreStatistics
  ) {
    self.identifier = identifier
    self.objectFormat = objectFormat
    self.versionName = versionName
    self.modelChecksum = modelChecksum
    self.entities = entities
    self.migrationHistory = migrationHistory
    self.deferredMigration = deferredMigration
    self.history = history
    self.statistics = statistics
  }
}

extension MigrationPlan {
  /// What opening a store with the options to migrate would do. Nothing is written.
  ///
  /// What stands in the way of a migration is in the plan (``obstacles``), not an error;
  /// ``checkObstacles()`` makes one of it. Of a migration in several steps it is the plan of the
  /// first: what the others find is what that one makes. ``MigrationPath`` has all steps.
  ///
  /// - Parameter configuration: the one that the store would be opened with.
  /// - Returns: `nil` when the store has the current version already.
  /// - Throws: what else opening the store would throw: see
  ///   ``PersistentStoreCoordinator/addPersistentStore(type:configuration:at:options:)``.
  public static func plan(
    forStoreAt url: URL, to model: VersionedModel, configuration: String? = nil,
    options: PersistentStoreOptions = .migrating
  ) throws -> MigrationPlan? {
    try StoreOpening.inspecting(url) { snapshot, _ in
      let opening = try StoreOpening(
        model: model, binding: ModelBinding(model.current), options: options,
        configuration: configuration)
      return try opening.migrationPath(for: snapshot)?.steps.first?.plan(for: snapshot)
    }
  }
}
