/// The name of an option for adding a store.
///
/// The raw values are those of Core Data. An option without a constant here is an error where it is
/// used.
public struct PersistentStoreOption: RawRepresentable, Hashable, Sendable {
  public var rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
}

/// Whether to migrate a store that another version of the model wrote. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let MigratePersistentStoresAutomaticallyOption = PersistentStoreOption(
  rawValue: "NSMigratePersistentStoresAutomaticallyOption")
/// Whether to infer a migration from the difference between the two models. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let InferMappingModelAutomaticallyOption = PersistentStoreOption(
  rawValue: "NSInferMappingModelAutomaticallyOption")
/// Whether to open the store without ever writing to it. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let ReadOnlyPersistentStoreOption = PersistentStoreOption(
  rawValue: "NSReadOnlyPersistentStoreOption")
/// Whether a migration may be finished later: see
/// ``PersistentStoreOptions/defersLightweightMigration``. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreDeferredLightweightMigrationOptionKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreDeferredLightweightMigrationOptionKey")
/// The stages of a store's migration. A ``StagedMigrationManager``.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreStagedMigrationManagerOptionKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreStagedMigrationManagerOptionKey")
/// The time to wait for another process that has the file open: see
/// ``PersistentStoreOptions/timeout``. A number of seconds.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreTimeoutOption = PersistentStoreOption(
  rawValue: "NSPersistentStoreTimeoutOption")
/// Settings of SQLite, by their names. `synchronous` sets ``PersistentStoreOptions/durability``:
/// `OFF` is none, `NORMAL` is ordered, `FULL` and `EXTRA` are full. Others are ignored.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let SQLitePragmasOption = PersistentStoreOption(
  rawValue: "NSSQLitePragmasOption")
/// Whether to rewrite the file without free pages when the store is added. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let SQLiteManualVacuumOption = PersistentStoreOption(
  rawValue: "NSSQLiteManualVacuumOption")
/// Whether to keep a history of saves: see ``PersistentStoreOptions/tracksHistory``. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentHistoryTrackingKey = PersistentStoreOption(
  rawValue: "NSPersistentHistoryTrackingKey")
/// Whether to overwrite a file that is no store when a store is destroyed, replaced or migrated
/// there, and also a store when one is migrated there. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreForceDestroyOption = PersistentStoreOption(
  rawValue: "NSPersistentStoreForceDestroyOption")
/// Whether to open a store of any version. Only `false` is possible, as rows can be read only with
/// the version of the model that wrote them.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let IgnorePersistentStoreVersioningOption = PersistentStoreOption(
  rawValue: "NSIgnorePersistentStoreVersioningOption")

// MARK: - Ignored

/// Accepted and ignored: there are no statistics to update.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let SQLiteAnalyzeOption = PersistentStoreOption(
  rawValue: "NSSQLiteAnalyzeOption")
/// Accepted and ignored: ``PersistentStoreCoordinator/observeRemoteChanges(_:)`` needs no option.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreRemoteChangeNotificationPostOptionKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreRemoteChangeNotificationPostOptionKey")
/// Accepted and ignored: files have the protection of their folder.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreFileProtectionKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreFileProtectionKey")
/// Accepted and ignored: readers do not wait for each other.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreConnectionPoolMaxSizeKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreConnectionPoolMaxSizeKey")
/// Accepted and ignored: stores have no archived objects.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let BinaryStoreSecureDecodingClasses = PersistentStoreOption(
  rawValue: "NSBinaryStoreSecureDecodingClasses")
/// Accepted and ignored: stores have no archived objects.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let BinaryStoreInsecureDecodingCompatibilityOption = PersistentStoreOption(
  rawValue: "NSBinaryStoreInsecureDecodingCompatibilityOption")
/// Accepted and ignored: there are no XML stores.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let ValidateXMLStoreOption = PersistentStoreOption(
  rawValue: "NSValidateXMLStoreOption")

extension PersistentStoreOption {
  /// Options of Core Data that are accepted and ignored.
  static let meaningless: Set<PersistentStoreOption> = [
    SQLiteAnalyzeOption,
    PersistentStoreRemoteChangeNotificationPostOptionKey,
    PersistentStoreFileProtectionKey,
    PersistentStoreConnectionPoolMaxSizeKey,
    BinaryStoreSecureDecodingClasses,
    BinaryStoreInsecureDecodingCompatibilityOption,
    ValidateXMLStoreOption,
  ]
}
