/// The name of an option for adding a store.
///
/// Raw values are Core Data's. An option that none of the constants names is an error where it is
/// used.
public struct PersistentStoreOption: RawRepresentable, Hashable, Sendable {
  public var rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
}

/// Migrate a store that another version of the model wrote. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let MigratePersistentStoresAutomaticallyOption = PersistentStoreOption(
  rawValue: "NSMigratePersistentStoresAutomaticallyOption")
/// Infer how to migrate from the difference between the two models. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let InferMappingModelAutomaticallyOption = PersistentStoreOption(
  rawValue: "NSInferMappingModelAutomaticallyOption")
/// Open without ever writing. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let ReadOnlyPersistentStoreOption = PersistentStoreOption(
  rawValue: "NSReadOnlyPersistentStoreOption")
/// Let a migration be finished later: see
/// ``PersistentStoreOptions/defersLightweightMigration``. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreDeferredLightweightMigrationOptionKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreDeferredLightweightMigrationOptionKey")
/// The stages by which a store is migrated. A ``StagedMigrationManager``.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreStagedMigrationManagerOptionKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreStagedMigrationManagerOptionKey")
/// How long to wait for another process that has the file: see ``PersistentStoreOptions/timeout``.
/// A number of seconds.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreTimeoutOption = PersistentStoreOption(
  rawValue: "NSPersistentStoreTimeoutOption")
/// Settings of SQLite, by their names. `synchronous` sets ``PersistentStoreOptions/durability``:
/// `OFF` is none, `NORMAL` is ordered, `FULL` and `EXTRA` are full. Others have no meaning here.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let SQLitePragmasOption = PersistentStoreOption(
  rawValue: "NSSQLitePragmasOption")
/// Rewrite the file without free pages when the store is added. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let SQLiteManualVacuumOption = PersistentStoreOption(
  rawValue: "NSSQLiteManualVacuumOption")
/// Keep a history of saves: see ``PersistentStoreOptions/tracksHistory``. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentHistoryTrackingKey = PersistentStoreOption(
  rawValue: "NSPersistentHistoryTrackingKey")
/// Let a file that is no store go when a store is destroyed, replaced or migrated there, and a
/// store when one is migrated there. A `Bool`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreForceDestroyOption = PersistentStoreOption(
  rawValue: "NSPersistentStoreForceDestroyOption")
/// Open a store whatever its version is. `false` alone is possible: rows lie as their version of
/// the model says, and cannot be read by another.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let IgnorePersistentStoreVersioningOption = PersistentStoreOption(
  rawValue: "NSIgnorePersistentStoreVersioningOption")

// MARK: - Without a meaning here

/// Taken, and without a meaning: there are no statistics to bring up to date.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let SQLiteAnalyzeOption = PersistentStoreOption(
  rawValue: "NSSQLiteAnalyzeOption")
/// Taken, and without a meaning: no notices of other coordinators' saves are posted yet.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreRemoteChangeNotificationPostOptionKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreRemoteChangeNotificationPostOptionKey")
/// Taken, and without a meaning: files have the protection of their folder.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreFileProtectionKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreFileProtectionKey")
/// Taken, and without a meaning: readers do not wait for each other.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let PersistentStoreConnectionPoolMaxSizeKey = PersistentStoreOption(
  rawValue: "NSPersistentStoreConnectionPoolMaxSizeKey")
/// Taken, and without a meaning: stores hold no archived objects.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let BinaryStoreSecureDecodingClasses = PersistentStoreOption(
  rawValue: "NSBinaryStoreSecureDecodingClasses")
/// Taken, and without a meaning: stores hold no archived objects.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let BinaryStoreInsecureDecodingCompatibilityOption = PersistentStoreOption(
  rawValue: "NSBinaryStoreInsecureDecodingCompatibilityOption")
/// Taken, and without a meaning: there are no stores of XML.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let ValidateXMLStoreOption = PersistentStoreOption(
  rawValue: "NSValidateXMLStoreOption")

extension PersistentStoreOption {
  /// Options of Core Data that code may go on passing.
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
