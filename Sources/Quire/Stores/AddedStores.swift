import QuireStorage
import Synchronization

/// The stores that the coordinators of this process have added, by UUID and in the order of
/// addition. It finds the store of an object ID without a coordinator.
enum AddedStores {
  private final class Entry {
    let identity: StoreIdentity
    weak var store: PersistentStore?
    weak var coordinator: PersistentStoreCoordinator?

    init(_ store: PersistentStore, _ coordinator: PersistentStoreCoordinator) {
      identity = store.identity
      self.store = store
      self.coordinator = coordinator
    }
  }

  /// A list, as look-ups are rare, and as the first dictionary of a new type costs a process some
  /// 50 µs, in which the runtime scans all conformances. Its elements are objects, as the first
  /// array of another type costs some 4 µs.
  private static let entries = Mutex<[Entry]>([])

  static func add(_ store: PersistentStore, to coordinator: PersistentStoreCoordinator) {
    entries.withLock { $0.append(Entry(store, coordinator)) }
  }

  /// The coordinators that have stores, each once.
  static var coordinators: [PersistentStoreCoordinator] {
    // Outside of the lock, as releasing the last reference to a coordinator takes it.
    let all = entries.withLock { $0 }.compactMap(\.coordinator)
    var known: Set<ObjectIdentifier> = []
    return all.filter { known.insert(ObjectIdentifier($0)).inserted }
  }

  /// - Complexity: O(stores that were added after this one), apart from moving these in memory.
  static func remove(_ store: PersistentStore) {
    entries.withLock { entries in
      let index = entries.lastIndex { $0.identity == store.identity && $0.store === store }
      if let index { entries.remove(at: index) }
    }
  }

  /// - Complexity: O(stores of the process).
  static func first(with identity: StoreIdentity) -> PersistentStore? {
    entries.withLock { entries in
      entries.lazy.filter { $0.identity == identity }.compactMap(\.store).first
    }
  }
}
