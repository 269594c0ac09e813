import QuireStorage
import Synchronization

/// One save of a store, for whoever else has the store open.
struct CommitNotice: Sendable {
  let changes: SavedChanges
  let author: String?
  let contextName: String?
  /// Of the context that saved, if others' saves wait there: its own are no news to it.
  let origin: CommitInbox?
}

/// Who is told of saves, on the thread of whoever saves.
protocol CommitListener: AnyObject, Sendable {
  /// Whether there is anybody behind it who wants to know.
  var isListening: Bool { get }
  func take(_ notice: CommitNotice)
}

/// Tells everybody who has a store open, by whichever coordinator of this process, of each save.
///
/// A hub belongs to the open store below all coordinators, so that two of them on one file hear of
/// each other. It holds its listeners weakly. Saves of two threads at once may be told in either
/// order: a notice says by its commit number where it belongs, and whoever merges looks at the
/// store itself.
final class CommitHub: Sendable {
  // A class, as ``AddedStores`` explains.
  private final class Entry {
    weak var listener: (any CommitListener)?
    init(_ listener: any CommitListener) { self.listener = listener }
  }

  private let entries = Mutex<[Entry]>([])
  /// Whether the store has kept a history since somebody has it open: only then a save looks.
  private let hasHadHistory = Atomic(false)

  var mayHaveHistory: Bool { hasHadHistory.load(ordering: .acquiring) }
  func noteHistory() { hasHadHistory.store(true, ordering: .releasing) }

  func add(_ listener: any CommitListener) { set(listener, isListed: true) }
  func remove(_ listener: any CommitListener) { set(listener, isListed: false) }

  private func set(_ listener: any CommitListener, isListed: Bool) {
    let held = entries.withLock { entries in
      let listeners = entries.map(\.listener)
      entries.removeAll { $0.listener == nil || $0.listener === listener }
      if isListed { entries.append(Entry(listener)) }
      return listeners
    }
    // Who was let go of meanwhile goes here, as what it takes along may lead back to the hub.
    withExtendedLifetime(held) {}
  }

  /// Whether a notice would be heard: otherwise none need be made.
  var isListened: Bool {
    let listeners = entries.withLock { $0.compactMap(\.listener) }
    return listeners.contains { $0.isListening }
  }

  /// Tells of a save that is durable. What listeners do may lead back here.
  func publish(_ notice: CommitNotice) {
    let listeners = entries.withLock { $0.compactMap(\.listener) }
    for listener in listeners where listener.isListening { listener.take(notice) }
  }
}
