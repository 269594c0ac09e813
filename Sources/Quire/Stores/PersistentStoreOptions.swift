import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How to add a store. Written as a dictionary of Core Data's option names, or property by
/// property.
public struct PersistentStoreOptions: Sendable, ExpressibleByDictionaryLiteral {
  public var migratesAutomatically = false
  public var infersMappingModel = false
  public var isReadOnly = false
  /// Whether pages are read that nothing vouches for, as their page map is damaged: see
  /// `PageStoreOptions.readsUnvouchedPages`. For saving what there is of a damaged store without a
  /// backup; what is read may be of different saves. Only together with ``isReadOnly``.
  public var readsUnvouchedPages = false
  /// Whether an inferred migration leaves objects in their old layout, where all that changes is
  /// attributes and the like: the store can be used at once, however large it is. The objects are
  /// read as if they had been rewritten, and written anew when they are saved, or by
  /// ``PersistentStoreCoordinator/finishDeferredLightweightMigration()``.
  ///
  /// Until that has happened, earlier versions of Quire than this one refuse the store. Has a
  /// meaning only together with ``migratesAutomatically`` and ``infersMappingModel``; without it a
  /// migration also rewrites what earlier ones have deferred.
  public var defersLightweightMigration = false
  /// Whether the store keeps a history of its saves, for ``PersistentHistoryChangeRequest``; `nil`
  /// leaves that as it is.
  ///
  /// A store that keeps one does so for every coordinator and context that saves to it, until it is
  /// opened with `false`: then its history is deleted. Versions of Quire that know of no history
  /// refuse the store until then. Without a meaning for a store that is opened read-only.
  public var tracksHistory: Bool?
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

  /// When changes reach the disk. Of a store that this process has open already, what it was opened
  /// with holds.
  public var durability = Durability.full
  /// How long after the last save the log beside the file is brought into it and removed, so that a
  /// store that nobody saves to is one file; `nil` for not before the store is closed. Of a store
  /// that this process has open already, what it was opened with holds.
  public var idleLogLimit: Duration? = .seconds(10)
  /// How long to wait for another process that has the file open, in seconds; the thread sleeps
  /// meanwhile; `.infinity` waits until it is let go of. A store that other threads of this process
  /// have open is shared and no reason to wait.
  public var timeout = 0.0
  /// Whether the file is rewritten without free pages when the store is added.
  public var compactsStore = false
  /// Whether a file that is no store goes when a store is destroyed, replaced or migrated there;
  /// and a store, when one is migrated there.
  public var forcesDestruction = false

  /// What was written in a dictionary and cannot be an option: told when the options are used, as a
  /// literal cannot throw.
  var mistakes: [PersistentStoreOption: String] = [:]

  public init() {}

  /// Values of other types than the option's, and keys that are no option, are error 134070 when
  /// the options are used.
  public init(dictionaryLiteral elements: (PersistentStoreOption, Any)...) {
    for (option, value) in elements { set(value, for: option) }
  }

  /// Options as Core Data code has them, by their names as texts.
  public init(_ options: [String: Any]) {
    for (name, value) in options { set(value, for: PersistentStoreOption(rawValue: name)) }
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
