import Foundation
import Quire

extension NSPersistentStore {
  /// The type of a store.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    /// Core Data's name of the type.
    public let rawValue: String

    /// The type of a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A store in a file. It is Quire's, whatever the name says.
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    /// A store in memory.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    /// Kept for its name: opening such a store is an error that says what to use.
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
    /// Kept for its name: opening such a store is an error that says what to use.
    public static let xml = StoreType(rawValue: NSXMLStoreType)
  }
}

// The newer spellings of the coordinator's methods, with types in place of texts.

extension NSPersistentStoreCoordinator {
  /// Opens or creates a store.
  @discardableResult
  public func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
  }

  /// Moves a store to another file, or into memory.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: storeURL, options: options, withType: type.rawValue)
  }

  /// Removes the file of a store.
  public func destroyPersistentStore(
    at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
  }

  /// Puts a copy of a store in the place of another.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions,
      withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions, ofType: type.rawValue)
  }

  /// What the store in a file says about itself, without opening it.
  public class func metadataForPersistentStore(
    type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
  }

  /// Sets what the application says about the store in a file, which is not open.
  public class func setMetadata(
    _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(
      metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
  }
}

extension NSPersistentStoreDescription {
  /// Settings of SQLite, of which `synchronous` has a meaning here.
  public var sqlitePragmas: [String: NSObject] {
    options[NSSQLitePragmasOption] as? [String: NSObject] ?? [:]
  }

  /// Sets one of them; `nil` removes it.
  public func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    var pragmas = sqlitePragmas
    pragmas[name] = value
    setOption(pragmas, forKey: NSSQLitePragmasOption)
  }
}
