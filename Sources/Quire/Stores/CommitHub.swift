import QuireStorage
import Synchronization

/// A save of a store, for notifying all contexts and coordinators that have the store open.
struct CommitNotice: Sendable {
  let changes: SavedChanges
  let author: String?
  let contextName: String?
  /// The inbox of the context that saved, if it has one; it is not notified of its own save.
  let origin: CommitInbox?
}

/// A receiver of notices of saves, called on the thread that saves.
protocol CommitListener: AnyObject, Sendable {
  /// Whether anything would happen with a notice.
  var isListening: Bool { get }
  func take(_ notice: CommitNotice)
  /// Another process has committed, up to that commit; what, is not known.
  func takeUnknown(through commit: CommitNumber, of store: StoreIdentity)
}

/// Notifies all listeners of a store, through any coordinator of this process, of each save; and of
/// those of another process, when a store that is only read here is found to have some.
///
/// A hub belongs to the open store, which coordinators share, so that two of them with one file are
/// notified of each other's saves. It holds its listeners weakly. Concurrent saves may be notified
/// in either order: a notice has its commit number, and merging reads the state of the store
/// itself.
final class CommitHub: StoreAttachment {
  // A class, for the reason given at ``AddedStores``.
  private final class Entry {
    weak var listener: (any CommitListener)?
    init(_ listener: any CommitListener) { self.listener = listener }
  }

  private let entries = Mutex<[Entry]>([])
  /// Whether the store may have had a history since it was opened. If not, a save need not read it.
  private let hasHadHistory = Atomic(false)

  var mayHaveHistory: Bool { hasHadHistory.load(ordering: .acquiring) }
  func recordHistory() { hasHadHistory.store(true, ordering: .releasing) }

  func add(_ listener: any CommitListener) { set(listener, isListed: true) }
  func remove(_ listener: any CommitListener) { set(listener, isListed: false) }

  private func set(_ listener: any CommitListener, isListed: Bool) {
    let held = entries.withLock { entries in
      let listeners = entries.map(\.listener)
      entries.removeAll { $0.listener == nil || $0.listener === listener }
      if isListed { entries.append(Entry(listener)) }
      return listeners
    }
    // Listeners are released here, outside of the lock, as releasing one may call the hub.
    withExtendedLifetime(held) {}
  }

  /// Whether a notice would be received. If not, none need be made.
  var isListened: Bool {
    let listeners = entries.withLock { $0.compactMap(\.listener) }
    return listeners.contains { $0.isListening }
  }

  /// Notifies the listeners of a durable save. They may call the hub.
  func publish(_ notice: CommitNotice) {
    let listeners = entries.withLock { $0.compactMap(\.listener) }
    for listener in listeners where listener.isListening { listener.take(notice) }
  }

  /// Notifies the listeners of commits of another process.
  func store(_ identity: StoreIdentity, didMoveTo commit: CommitNumber) {
    let listeners = entries.withLock { $0.compactMap(\.listener) }
    for listener in listeners where listener.isListening {
      listener.takeUnknown(through: commit, of: identity)
    }
  }
}
