import Foundation
import Quire
import Synchronization

/// The classes of applications' stores by the names of their types.
enum StoreClasses {
  private static let registered = Mutex<[String: NSIncrementalStore.Type]>([:])

  static func type(named name: String) -> NSIncrementalStore.Type? {
    registered.withLock { $0[name] }
  }

  static var all: [String: NSIncrementalStore.Type] { registered.withLock { $0 } }

  static func register(_ storeClass: NSIncrementalStore.Type?, _ name: String) {
    registered.withLock { $0[name] = storeClass }
  }
}

extension NSPersistentStoreCoordinator {
  /// Registers the class of the stores of a type, for all coordinators.
  ///
  /// - Parameters:
  ///   - storeClass: a subclass of ``NSIncrementalStore``; `nil` to end the registration. Another
  ///     class stops the program.
  ///   - storeType: a type of the application's own.
  public class func registerStoreClass(
    _ storeClass: AnyClass?, forStoreType storeType: String,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    guard ![NSSQLiteStoreType, NSInMemoryStoreType].contains(storeType) else {
      fatalError(
        "the store type \(storeType) is Quire's own: give the store another name", file: file,
        line: line)
    }
    let incremental = storeClass as? NSIncrementalStore.Type
    if let storeClass, incremental == nil {
      fatalError(
        "a store class is a subclass of NSIncrementalStore, and \(storeClass) is none", file: file,
        line: line)
    }
    StoreClasses.register(incremental, storeType)
  }

  /// Registers the class of the stores of a type, for all coordinators.
  public class func registerStoreClass(
    _ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    registerStoreClass(
      storeClass, forStoreType: storeType.rawValue, file: file, line: line)
  }

  /// The classes of stores by their types: Quire's own, and those that were registered.
  public class var registeredStoreTypes: [String: AnyClass] {
    var classes: [String: AnyClass] = StoreClasses.all
    for name in [NSSQLiteStoreType, NSInMemoryStoreType] { classes[name] = NSPersistentStore.self }
    return classes
  }

  /// Adds a store of an application's own class.
  ///
  /// - Returns: `nil` when no class is registered for the type.
  func addOwnStore(
    _ type: String, _ configuration: String?, _ url: URL?, _ options: [AnyHashable: Any]
  ) throws -> NSPersistentStore? {
    guard let storeClass = StoreClasses.type(named: type) else { return nil }
    let request = OwnStoreRequest(coordinator: self, storeClass: storeClass, options: options)
    let storeType = StoreType(rawValue: type)
    // The options are for the class; these two mean something to a context as well.
    let known = options.filter {
      [NSReadOnlyPersistentStoreOption, NSPersistentHistoryTrackingKey].contains("\($0.key.base)")
    }
    var translated = try PersistentStoreOptions(named: known)
    translated.reportsClassDifferencesAtUse = true
    // One at a time, as each brings its own options.
    let store = try addingOwnStore.withLock {
      try quireCoordinator.registerStoreClass(forStoreType: storeType, request.make)
      defer { try? quireCoordinator.registerStoreClass(forStoreType: storeType, nil) }
      return try quireCoordinator.addPersistentStore(
        type: storeType, configuration: configuration, at: url,
        options: translated)
    }
    let own = wrapped(store, options: options)
    (store.incrementalStore as? StoreAdapter)?.didAdd(to: self)
    return own
  }
}

/// What a store of an application's own class is made of.
///
/// Sound: used by the one call that adds the store.
private struct OwnStoreRequest: @unchecked Sendable {
  let coordinator: NSPersistentStoreCoordinator
  let storeClass: NSIncrementalStore.Type
  let options: [AnyHashable: Any]

  func make(_ place: IncrementalStorePlace) -> any IncrementalStore {
    StoreAdapter(storeClass, at: place, of: coordinator, options: options)
  }
}
