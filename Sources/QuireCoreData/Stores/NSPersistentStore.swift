import Foundation
import Quire

/// A store of a coordinator.
open class NSPersistentStore: NSObject {
  /// The store of Quire's. An ``NSIncrementalStore`` has none before a coordinator has added it.
  public var quireStore: PersistentStore {
    guard let opened else {
      fatalError("no coordinator has added the store \(Swift.type(of: self))")
    }
    return opened
  }
  private(set) var opened: PersistentStore?
  /// The coordinator that has the store.
  open internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  /// The options that the store was added with.
  public let options: [AnyHashable: Any]?

  init(
    _ store: PersistentStore, _ coordinator: NSPersistentStoreCoordinator?,
    options: [AnyHashable: Any]?
  ) {
    opened = store
    persistentStoreCoordinator = coordinator
    self.options = options
  }

  /// A store of the application's own, which is about to be added.
  init(_ coordinator: NSPersistentStoreCoordinator?, options: [AnyHashable: Any]?) {
    persistentStoreCoordinator = coordinator
    self.options = options
  }

  /// Takes the store of Quire's that represents this one.
  func open(as store: PersistentStore) { opened = store }

  /// The file.
  open var url: URL? { quireStore.url }
  /// The store's UUID.
  open var identifier: String! { quireStore.identifier.uuidString }
  /// `NSSQLiteStoreType` or `NSInMemoryStoreType`.
  open var type: String { quireStore.type.name }
  /// The configuration whose entities the store has.
  open var configurationName: String { quireStore.configurationName }
  /// Whether the store is only read.
  open var isReadOnly: Bool { quireStore.isReadOnly }
  /// What the store says about itself, and what the application has added.
  open var metadata: [String: Any]! {
    get { quireStore.metadata }
    set { persistentStoreCoordinator?.setMetadata(newValue, for: self) }
  }

  /// Called when a coordinator has added the store, of an ``NSIncrementalStore``.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

  /// Called when the coordinator no longer uses the store, of an ``NSIncrementalStore``.
  ///
  /// - Parameter coordinator: `nil` where the coordinator itself has ended.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

  // MARK: Without opening

  /// What the store in a file says about itself, without opening it.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(at: url)
  }

  /// Sets what the application says about the store in a file, which is not open.
  open class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreWith url: URL
  ) throws {
    try NSPersistentStoreCoordinator.setMetadata(
      metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: url)
  }

  /// Whether the other object represents the same store.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSPersistentStore)?.quireStore === quireStore
  }

  /// Equal stores have equal hashes.
  open override var hash: Int { ObjectIdentifier(quireStore).hashValue }
}
