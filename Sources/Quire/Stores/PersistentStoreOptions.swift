import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Options for adding a store, written as a dictionary of Core Data's option names, or set by
/// property.
public struct PersistentStoreOptions: Sendable, ExpressibleByDictionaryLiteral {
  /// Whether a store of an earlier version is migrated when it is added; otherwise adding it is
  /// error 134100.
  public var migratesAutomatically = false
  /// Whether a migration for which there is no mapping model is inferred from the two models. Only
  /// together with ``migratesAutomatically``.
  public var infersMappingModel = false
  /// Whether nothing can be saved to the store, and nothing is written to its file.
  ///
  /// Another process may write the store at the same time, and does not notice. Each fetch shows
  /// what it has saved last; contexts and listeners hear of its saves
  /// (``StoreRemoteChange/isOfAnotherProcess``).
  public var isReadOnly = false
  /// Whether other processes may have the store open for writing, too: an app and its extension, a
  /// server and its workers. They save in turn, and each hears of the others' saves
  /// (``StoreRemoteChange/isOfAnotherProcess``).
  ///
  /// The store keeps the mark: from then on every process that opens it for writing shares it, with
  /// or without this option, and releases that do not know it refuse the store. A save waits for
  /// its turn, by default 10 seconds, or as long as ``timeout`` says, and then throws
  /// ``PersistenceError/Code/persistentStoreTimeout``. See
  /// ``PersistentContainer/suspend()`` for processes that the system suspends.
  public var isShared = false
  /// Whether a store may be shared on a file system of a network, or on a folder that a host shares
  /// with its virtual machines, of which it is known that locks hold between machines; otherwise
  /// opening it there is an error that names the type: see `PageStoreOptions.trustsNetworkLocks`.
  public var trustsNetworkLocks = false
  /// Whether pages without a verifiable checksum are read, if their page map is damaged: see
  /// `PageStoreOptions.readsUnvouchedPages`. It is for recovering data from a damaged store without
  /// a backup; the data read may be of different saves. Only together with ``isReadOnly``.
  public var readsUnvouchedPages = false
  /// Whether an inferred migration leaves objects in their old layout, if only attributes and the
  /// like change: the store can be used at once, however large it is. The objects are read as if
  /// they had been rewritten, and are rewritten when they are saved, or by
  /// ``PersistentStoreCoordinator/finishDeferredLightweightMigration(progress:)``.
  ///
  /// Until then, earlier versions of Quire refuse the store. It has an effect only together with
  /// ``migratesAutomatically`` and ``infersMappingModel``; without it a migration also rewrites
  /// what earlier ones have deferred.
  public var defersLightweightMigration = false
  /// Whether the store keeps a history of its saves, for ``PersistentHistoryChangeRequest``; `nil`
  /// keeps the present setting.
  ///
  /// A store with a history records the saves of all coordinators and contexts, until it is opened
  /// with `false`, which deletes the history. Versions of Quire without support for histories
  /// refuse the store until then. Ignored for a store that is opened read-only.
  public var tracksHistory: Bool?
  /// Whether and where a store is copied before it is migrated; once, before the first of several
  /// steps.
  public var migrationBackup = MigrationBackup.none
  /// Whether a store of a newer version of the program is migrated back even if that drops values:
  /// for tools, which are asked for it.
  package var migratesToFormerModels = false
  /// The mapping models, of which stores know no more.
  var knownMappings: [any Sendable] = []
  /// How a store of an earlier version gets to the current one.
  public var migrationRoute = MigrationRoute.shortest
  /// Reports the progress of the migration, and can cancel it.
  public var migrationProgress: MigrationProgress?
  /// The stages by which a store is migrated.
  var staging: (any MigrationStaging)?
  /// Whether a store is added although properties of classes have other names or types than the
  /// model's.
  ///
  /// Such a difference is otherwise an error of adding the store. With this option it is an error
  /// of using the property: it reads as empty, and the context throws the error from its next fetch
  /// or save, or from ``PropertyReading/value(of:)`` at once. It is for programs that open a store
  /// under an earlier version of the model with the classes of today.
  /// ``PersistentStoreCoordinator/checkClasses()`` tells all differences in any case.
  public var reportsClassDifferencesAtUse = false
  /// The UUID of a store that is created; a random one when `nil`.
  public var storeUUID: UUID?

  /// The time at which changes reach the disk. If this process has the store open already, the
  /// option of the first opening applies.
  public var durability = Durability.full
  /// The time after the last save when the log beside the file is brought into it and removed, so
  /// that an idle store is one file; `nil` to do so only when the store is closed. If this process
  /// has the store open already, the option of the first opening applies.
  public var idleLogLimit: Duration? = .seconds(10)
  /// The time in seconds to wait, with a blocked thread, for another process that has the file
  /// open; `.infinity` waits without a limit. A store that this process has open is shared, without
  /// waiting.
  public var timeout = 0.0
  /// Whether the store takes little memory, for processes that have little, as app extensions: at
  /// most 24 MB (24 · 2²⁰ bytes) more at the peak than a program that does nothing, with a million
  /// objects, a fetch, a save and a merge.
  ///
  /// Pages of the file take 2 MiB in place of 64, those that a save changes 4 in place of 128, and
  /// those that pinned contexts still show 4 in place of 256, beyond which the oldest pin expires:
  /// `PageStoreOptions.saveMemory()`. Not limited are the objects of contexts, the result of a
  /// fetch, and all keys of a fetch that is sorted and has no limit. If this process has the store
  /// open already, the option of the first opening applies.
  public var savesMemory = false
  /// Whether the file is rewritten without free pages when the store is added.
  public var compactsStore = false
  /// Whether to overwrite a file that is no store when a store is destroyed, replaced or migrated
  /// there, and also a store when one is migrated there.
  public var forcesDestruction = false

  /// Mistakes in a dictionary of options. They are thrown when the options are used, as a literal
  /// cannot throw.
  var mistakes: [PersistentStoreOption: String] = [:]
  /// Options that Quire does not have.
  var unknownOptions: Set<PersistentStoreOption> = []

  /// What the properties say as their defaults: a store that is created if it is missing, not
  /// migrated, and written with full durability.
  public init() {}

  /// Options by name. A value of another type than the option's, or an unknown key, is error 134070
  /// when the options are used.
  public init(dictionaryLiteral elements: (PersistentStoreOption, Any)...) {
    for (option, value) in elements { set(value, for: option) }
  }

  /// Options by name, as strings.
  public init(_ options: [String: Any]) {
    for (name, value) in options { set(value, for: PersistentStoreOption(rawValue: name)) }
  }

  /// Options to migrate with an inferred mapping.
  public static let migrating: PersistentStoreOptions = [
    MigratePersistentStoresAutomaticallyOption: true, InferMappingModelAutomaticallyOption: true,
  ]

  /// Options to migrate with an inferred mapping, and to defer the rewriting of objects.
  public static let deferring: PersistentStoreOptions = [
    MigratePersistentStoresAutomaticallyOption: true, InferMappingModelAutomaticallyOption: true,
    PersistentStoreDeferredLightweightMigrationOptionKey: true,
  ]
}

/// Stages of a migration, as the options of a store hand them on.
protocol MigrationStaging: AnyObject, Sendable {}
