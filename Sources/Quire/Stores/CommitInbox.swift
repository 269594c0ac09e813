import QuireStorage
import Synchronization

/// Where others' saves wait until a context can merge them, in its own isolation.
///
/// Only references are kept, each once: the objects are read from the store when the context
/// merges. So a context that never looks costs no more than the objects of its store, and beyond
/// ``referenceLimit`` nothing at all.
final class CommitInbox: CommitListener {
  /// What waits.
  struct Content: Sendable {
    struct Change {
      /// The last save that has changed the object.
      var commit: CommitNumber
      /// Whether it was inserted.
      var isInsertion: Bool
    }

    var references: [Reference: Change] = [:]
    /// The saves whose references are all here.
    var commits: [CommitNumber] = []
    /// Whether too much has happened to tell it one by one: everything is to be refreshed.
    var isTooMuch = false

    var isEmpty: Bool { references.isEmpty && !isTooMuch }
  }

  /// How many references wait at most, one by one.
  static let referenceLimit = 100_000

  private struct State {
    var content = Content()
    /// What was saved up to here is known to the context.
    var knownCommit: CommitNumber?
  }

  private let state = Mutex(State())
  private let hasContent = Atomic(false)
  private let wake: (@Sendable () -> Void)?

  /// - Parameter wake: called when something begins to wait.
  init(wake: (@Sendable () -> Void)?) { self.wake = wake }

  var isListening: Bool { true }

  /// O(1), without a lock.
  var isWaiting: Bool { hasContent.load(ordering: .acquiring) }

  func take(_ notice: CommitNotice) {
    guard notice.origin !== self else { return }
    let isFirst = state.withLock { state in
      let changes = notice.changes
      if let known = state.knownCommit, changes.commit <= known { return false }
      let wasEmpty = state.content.isEmpty
      state.content.record(changes)
      let isFirst = wasEmpty && !state.content.isEmpty
      if isFirst { hasContent.store(true, ordering: .releasing) }
      return isFirst
    }
    if isFirst { wake?() }
  }

  func takeUnknown(through commit: CommitNumber, of store: StoreIdentity) {
    let isFirst = state.withLock { state in
      if let known = state.knownCommit, commit <= known { return false }
      let wasEmpty = state.content.isEmpty
      state.content = Content()
      state.content.isTooMuch = true
      hasContent.store(true, ordering: .releasing)
      return wasEmpty
    }
    if isFirst { wake?() }
  }

  func takeAll() -> Content {
    state.withLock { state in
      defer { state.content = Content() }
      hasContent.store(false, ordering: .releasing)
      return state.content
    }
  }

  func removeAll() { _ = takeAll() }

  /// Drops what was saved up to a commit, and what will be told of it later.
  func forget(through commit: CommitNumber) {
    state.withLock { state in
      if let known = state.knownCommit, known >= commit { return }
      state.knownCommit = commit
      state.content.references = state.content.references.filter { $0.value.commit > commit }
      state.content.commits.removeAll { $0 <= commit }
      hasContent.store(!state.content.isEmpty, ordering: .releasing)
    }
  }

  /// Makes the inbox one for another store.
  ///
  /// - Parameter missesSome: whether something was saved that nobody will tell.
  func begin(missesSome: Bool) {
    state.withLock { state in
      state = State()
      state.content.isTooMuch = missesSome
      hasContent.store(missesSome, ordering: .releasing)
    }
  }
}

extension CommitInbox.Content {
  mutating func record(_ changes: SavedChanges) {
    if isTooMuch { return }
    commits.append(changes.commit)
    let count = changes.inserted.count + changes.updated.count + changes.deleted.count
    guard count <= CommitInbox.referenceLimit else {
      references = [:]
      isTooMuch = true
      return
    }
    for reference in changes.inserted { record(reference, changes.commit, isInsertion: true) }
    for update in changes.updated { record(update.reference, changes.commit, isInsertion: false) }
    for reference in changes.deleted { record(reference, changes.commit, isInsertion: false) }
    if references.count > CommitInbox.referenceLimit {
      references = [:]
      isTooMuch = true
    }
  }

  private mutating func record(_ reference: Reference, _ commit: CommitNumber, isInsertion: Bool) {
    if let change = references[reference] {
      references[reference]?.commit = max(change.commit, commit)
      references[reference]?.isInsertion = change.isInsertion || isInsertion
    } else {
      references[reference] = Change(commit: commit, isInsertion: isInsertion)
    }
  }
}
