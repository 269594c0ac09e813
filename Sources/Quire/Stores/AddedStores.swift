import QuireStorage
import Synchronization

/// The stores that the coordinators of this process have, by UUID, in the order in which they were
/// added: what an ID alone can be asked for.
enum AddedStores {
  private final class Entry {
    let identity: StoreIdentity
    weak var store: PersistentStore?

    init(_ store: PersistentStore) {
      identity = store.identity
      self.store = store
    }
  }

  /// A list, as it is asked when an ID comes from outside, and as the first dictionary of a type of
  /// our own costs a process some 50 µs: the runtime looks through every conformance there is. Of
  /// objects, as the first array of another type costs one some 4 µs.
  private static let entries = Mutex<[Entry]>([])

  static func add(_ store: PersistentStore) {
    entries.withLock { $0.append(Entry(store)) }
  }

  /// - Complexity: O(stores that were added after this one), apart from moving those in memory.
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
