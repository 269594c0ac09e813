import QuireStorage
import Synchronization

/// The stores that the coordinators of this process have, by UUID, in the order in which they were
/// added: what an ID alone can be asked for.
enum AddedStores {
  private struct Entry {
    weak var store: PersistentStore?
  }

  private static let entries = Mutex<[StoreIdentity: [Entry]]>([:])

  static func add(_ store: PersistentStore) {
    entries.withLock { $0[store.identity, default: []].append(Entry(store: store)) }
  }

  static func remove(_ store: PersistentStore) {
    entries.withLock { entries in
      entries[store.identity]?.removeAll { $0.store == nil || $0.store === store }
      if entries[store.identity]?.isEmpty == true { entries[store.identity] = nil }
    }
  }

  static func first(with identity: StoreIdentity) -> PersistentStore? {
    entries.withLock { entries in
      entries[identity]?.lazy.compactMap(\.store).first
    }
  }
}
