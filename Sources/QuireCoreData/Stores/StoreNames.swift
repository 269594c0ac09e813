// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Core Data's names of constants begin with capitals.

import Foundation
import Quire

/// A store in a file. It is Quire's, whatever the name says.
public let NSSQLiteStoreType = "SQLite"
/// A store in memory.
public let NSInMemoryStoreType = "InMemory"
/// Kept for its name: opening such a store is an error that says what to use.
public let NSBinaryStoreType = "Binary"
/// Kept for its name: opening such a store is an error that says what to use.
public let NSXMLStoreType = "XML"

/// The UUID of a store, in its metadata.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The type of a store, in its metadata.
public let NSStoreTypeKey = "NSStoreType"
/// The digests of a store's entities, in its metadata.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// The identifiers of a store's version of the model, in its metadata.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

/// The option to migrate a store of an earlier version of the model.
public let NSMigratePersistentStoresAutomaticallyOption =
  "NSMigratePersistentStoresAutomaticallyOption"
/// The option to infer mappings of a migration.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// The option to open a store without writing to it.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// The option to wait for another process that has the file open, in seconds.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Settings of SQLite; `synchronous` is how durable a save is.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Accepted, and without a meaning here.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// The option to rewrite a store without free pages.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// The option to open a store of any version, which is impossible here.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// The option to keep a history of saves.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// The option to leave objects in their old layout where a migration can; see
/// ``NSPersistentStoreCoordinator/finishDeferredLightweightMigration()``.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// The option to migrate in stages: an ``NSStagedMigrationManager``.
public let NSPersistentStoreStagedMigrationManagerOptionKey =
  "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Accepted: notifications of other coordinators' saves need no option.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  "NSPersistentStoreRemoteChangeNotificationPostOptionKey"
/// The option to destroy or replace a file that is no store.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Accepted: files have the protection of their folder.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"

/// The stores that were added, in a notification of a coordinator.
public let NSAddedPersistentStoresKey = "added"
/// The stores that were removed, in a notification of a coordinator.
public let NSRemovedPersistentStoresKey = "removed"
/// The former and the new UUID of a store that another one has replaced: kept for its name, as a
/// replaced store is removed and added.
public let NSUUIDChangedPersistentStoresKey = "changed"
/// The file of the store, in a notification of another coordinator's save.
public let NSPersistentStoreURLKey = "storeURL"
/// The token of the history, in a notification of another coordinator's save.
public let NSPersistentHistoryTokenKey = "historyToken"

extension Notification.Name {
  /// A coordinator is about to add or remove stores: kept for its name, as Core Data posts it for
  /// iCloud alone.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Self(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// A coordinator is about to remove a store, which is the notification's object.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Self(
    "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
  /// A coordinator has added or removed stores.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Self(StoresChange.name)
  /// Another coordinator has saved to a store of this one.
  public static let NSPersistentStoreRemoteChange = Self(StoreRemoteChange.name)
}

extension StoreType {
  /// The type by Core Data's name of it.
  init(named name: String) {
    switch name {
    case NSSQLiteStoreType: self = .quire
    case NSInMemoryStoreType: self = .inMemory
    default: self.init(rawValue: name)
    }
  }

  /// Core Data's name of the type.
  var name: String {
    self == .quire ? NSSQLiteStoreType : self == .inMemory ? NSInMemoryStoreType : rawValue
  }
}

extension PersistentStoreOptions {
  /// Options by Core Data's names of them.
  ///
  /// - Throws: what is wrong with the stages of a staged migration.
  init(named options: [AnyHashable: Any]?) throws {
    var plain: [String: Any] = [:]
    for (key, value) in options ?? [:] {
      let name = "\(key.base)"
      switch value {
      case let manager as NSStagedMigrationManager: plain[name] = try manager.resolved()
      case is NSNumber: plain[name] = optionValue(value)
      default: plain[name] = value
      }
    }
    self.init(plain)
    ignoreUnknownOptions()
  }
}

/// A flag or a number of an option, without `NSNumber`.
func optionValue(_ value: Any) -> Any {
  guard let number = value as? NSNumber else { return value }
  if let flag = number as? Bool { return flag }
  return number.doubleValue
}
