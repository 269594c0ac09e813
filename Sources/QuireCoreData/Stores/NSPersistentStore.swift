import Foundation
import Quire

/// A store of a coordinator.
open class NSPersistentStore: NSObject {
  /// The store of Quire's.
  public let quireStore: PersistentStore
  /// The coordinator that has the store.
  open internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  /// The options that the store was added with.
  public let options: [AnyHashable: Any]?

  init(
    _ store: PersistentStore, _ coordinator: NSPersistentStoreCoordinator?,
    options: [AnyHashable: Any]?
  ) {
    quireStore = store
    persistentStoreCoordinator = coordinator
    self.options = options
  }

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

  /// Whether the other object stands for the same store.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSPersistentStore)?.quireStore === quireStore
  }

  /// Equal stores have equal hashes.
  open override var hash: Int { ObjectIdentifier(quireStore).hashValue }
}
