import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The kind of a store.
public struct StoreType: RawRepresentable, Hashable, Sendable {
  public var rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A file of Quire's own format.
  public static let quire = StoreType(rawValue: "Quire")
  /// The same engine without a file: the data go with the store.
  public static let inMemory = StoreType(rawValue: "InMemory")
  /// The name under which Core Data code asks for its durable store: ``quire``.
  public static let sqlite = quire
}

// Core Data's names, so that code ports by search and replace.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let SQLiteStoreType = StoreType.sqlite
// swift-format-ignore: AlwaysUseLowerCamelCase
public let InMemoryStoreType = StoreType.inMemory

/// The name of an option for adding a store.
public struct PersistentStoreOption: RawRepresentable, Hashable, Sendable {
  public var rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
}

/// Migrate a store that another version of the model wrote.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let MigratePersistentStoresAutomaticallyOption = PersistentStoreOption(
  rawValue: "NSMigratePersistentStoresAutomaticallyOption")
/// Infer how to migrate from the difference between the two models.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let InferMappingModelAutomaticallyOption = PersistentStoreOption(
  rawValue: "NSInferMappingModelAutomaticallyOption")
/// Open without ever writing.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let ReadOnlyPersistentStoreOption = PersistentStoreOption(
  rawValue: "NSReadOnlyPersistentStoreOption")

/// Let a migration be finished later: see ``PersistentStoreOptions/defersLightweightMigration``.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreDeferredLightweightMigrationOptionKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreDeferredLightweightMigrationOptionKey")

/// How to add a store. Written as a dictionary of Core Data's option names, or property by
/// property.
public struct PersistentStoreOptions: Sendable, ExpressibleByDictionaryLiteral {
  public var migratesAutomatically = false
  public var infersMappingModel = false
  public var isReadOnly = false
  /// Whether an inferred migration leaves objects in their old layout, where all that changes is
  /// attributes and the like: the store can be used at once, however large it is. The objects are
  /// read as if they had been rewritten, and written anew when they are saved, or by
  /// ``PersistentStoreCoordinator/finishDeferredLightweightMigration()``.
  ///
  /// Until that has happened, earlier versions of Quire than this one refuse the store. Has a
  /// meaning only together with ``migratesAutomatically`` and ``infersMappingModel``; without it a
  /// migration also rewrites what earlier ones have deferred.
  public var defersLightweightMigration = false
  /// Whether a store that is migrated is copied before, and where to; of several steps, before the
  /// first.
  public var migrationBackup = MigrationBackup.none
  /// Mapping models that the application has written, for whichever versions: one that fits is
  /// preferred to what would be inferred. See ``MigrationPath`` for which fit, and when.
  public var mappingModels: [MappingModel] = []
  /// How a store of an earlier version gets to the current one.
  public var migrationRoute = MigrationRoute.shortest
  /// Told how far the migration is; ends it when it is cancelled.
  public var migrationProgress: MigrationProgress?
  /// The stages by which a store is migrated, instead of a path that is looked for.
  public var stagedMigrationManager: StagedMigrationManager?
  /// The UUID of a store that is created; a random one when `nil`.
  public var storeUUID: UUID?

  public init() {}

  public init(dictionaryLiteral elements: (PersistentStoreOption, Bool)...) {
    for (option, value) in elements {
      switch option {
      case MigratePersistentStoresAutomaticallyOption: migratesAutomatically = value
      case InferMappingModelAutomaticallyOption: infersMappingModel = value
      case ReadOnlyPersistentStoreOption: isReadOnly = value
      case PersistentStoreDeferredLightweightMigrationOptionKey: defersLightweightMigration = value
      default: break
      }
    }
  }

  /// Migrate, and infer how.
  public static let migrating: PersistentStoreOptions = [
    MigratePersistentStoresAutomaticallyOption: true, InferMappingModelAutomaticallyOption: true,
  ]

  /// Migrate, infer how, and leave for later what can be left.
  public static let deferring: PersistentStoreOptions = [
    MigratePersistentStoresAutomaticallyOption: true, InferMappingModelAutomaticallyOption: true,
    PersistentStoreDeferredLightweightMigrationOptionKey: true,
  ]
}

/// A store that a coordinator has opened.
public final class PersistentStore: Sendable {
  public let type: StoreType
  /// The file; `nil` for a store in memory.
  public let url: URL?
  public let isReadOnly: Bool
  /// What opening the store changed in it; `nil` when it had the current version already.
  public let migrationReport: MigrationReport?
  let pages: PageStore
  let entities: StoreEntities
  /// Tells of saves, by whichever coordinator of this process; shared by all that have the file.
  let hub: CommitHub

  init(
    type: StoreType, url: URL?, isReadOnly: Bool, pages: PageStore, entities: StoreEntities,
    migrationReport: MigrationReport?
  ) {
    self.type = type
    self.url = url
    self.isReadOnly = isReadOnly
    self.pages = pages
    self.entities = entities
    self.migrationReport = migrationReport
    hub = pages.companion { CommitHub() }
  }

  var identity: StoreIdentity { pages.identity }

  /// The store's UUID, kept for its whole life and through every migration.
  public var identifier: UUID { UUID(pages.identity) }

  /// The name of the model's version the store has, when its model has named versions.
  public var versionName: String? { entities.schema.versionName }

  /// The migrations the store has been through, oldest first: the last 50 of them.
  public var migrationHistory: [MigrationRecord] { entities.schema.migrations }

  /// What the engine says about the store's pages.
  public var statistics: StoreStatistics { pages.statistics }

  /// Writes the last save into a new file, which is then a closed store of its own with the same
  /// UUID. The store can be used meanwhile.
  ///
  /// - Throws: when there is a file already, or it cannot be written. No file is left then.
  package func backUp(to url: URL) throws {
    do {
      try pages.backUp(to: url.path(percentEncoded: false))
    } catch {
      throw PersistenceError(
        .persistentStoreOperation,
        "the store cannot be copied to \(url.path(percentEncoded: false))", underlying: error)
    }
  }
}
