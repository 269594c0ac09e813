import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store file's description of itself, read without a model and without writing.
public struct StoreSummary: Sendable {
  /// How many objects of one entity there are, without those of its subentities.
  public struct EntityCount: Sendable {
    /// The name of the entity.
    public let name: String
    /// The number of its own objects.
    public let objectCount: Int
  }

  /// The store's UUID.
  public let identifier: UUID
  /// The number of the format of rows, links and schema: 5 if the store keeps a history, otherwise
  /// 4 if there are values outside of rows, otherwise 3 if it has indexes, otherwise 2 if a
  /// deferred migration is not finished, otherwise 1.
  public let objectFormat: Int
  /// The name of the model's version, if the model had named versions.
  public let versionName: String?
  /// The version hash of the whole model.
  public let modelChecksum: VersionHash
  /// Concrete entities by name, each with the number of its own objects.
  public let entities: [EntityCount]
  /// The migrations of the store, oldest first: the last 50.
  public let migrationHistory: [MigrationRecord]
  /// The work that a deferred migration has left; `nil` if there is none.
  public let deferredMigration: DeferredMigration?
  /// The extent of the store's history; `nil` if it keeps none.
  public let history: PersistentHistorySummary?
  /// Figures of the engine: pages, bytes, commits.
  public let statistics: StoreStatistics
  /// The trees of the file and what is in them.
  package let trees: [StoredTree]

  /// The number of all objects.
  public var objectCount: Int { entities.reduce(0) { $0 + $1.objectCount } }

  /// - Throws: ``PersistenceError/Code/persistentStoreOpen`` if the file is not an intact store of
  ///   objects.
  public init(of url: URL) throws { try self.init(of: url, in: DiskFileSystem()) }

  /// The same on a given file system, for tests.
  package init(of url: URL, in fileSystem: any FileSystem) throws {
    self = try StoreFiles.inspecting(url, in: fileSystem) { snapshot, pages in
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
        history: try PersistentHistorySummary(snapshot), statistics: pages.statistics,
        trees: StoredTree.all(of: schema))
    }
  }

  private init(
    identifier: UUID, objectFormat: Int, versionName: String?, modelChecksum: VersionHash,
    entities: [EntityCount], migrationHistory: [MigrationRecord],
    deferredMigration: DeferredMigration?, history: PersistentHistorySummary?,
    statistics: StoreStatistics, trees: [StoredTree]
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
    self.trees = trees
  }
}
