import Synchronization

/// One open store, however many ``PageStore`` handles of this process share it.
///
/// The newest version is behind a mutex that is held for a pointer's exchange only. Everything that
/// writes, log and file included, belongs to whoever is through the turnstile.
final class StoreCore: Sendable {
  let identity: StoreIdentity
  let geometry: PageGeometry
  private let turnstile = Turnstile()
  private let state: Mutex<State>

  private struct State {
    var current: PageSpace
    /// Set when a write failed; the answer to everybody who wants to write.
    var poison: StorageError?
    var isClosed = false
  }

  init(identity: StoreIdentity, current: PageSpace) {
    self.identity = identity
    geometry = current.geometry
    state = Mutex(State(current: current))
  }

  var current: PageSpace { state.withLock { $0.current } }

  var statistics: StoreStatistics {
    let current = current
    return StoreStatistics(
      pageSize: geometry.pageSize, pageCount: Int(current.pageCount),
      freePageCount: current.freePageCount, fileByteCount: 0, logByteCount: 0,
      commitNumber: current.commit)
  }

  // MARK: Writing

  func beginWrite() throws(StorageError) -> PageEditor {
    try turnstile.enter()
    let (current, refusal) = state.withLock { state in
      (state.current, state.isClosed ? .closed : state.poison)
    }
    if let refusal {
      turnstile.leave()
      throw refusal
    }
    return PageEditor(current.successor())
  }

  /// Publishes a transaction's changes and lets the next writer in.
  func finish(_ editor: PageEditor) throws(StorageError) -> CommitNumber {
    defer { turnstile.leave() }
    guard !editor.touched.isEmpty else { return current.commit }
    editor.space.publish()
    state.withLock { $0.current = editor.space }
    return editor.commit
  }

  /// Lets the next writer in; the editor's changes go with the editor.
  func abandon() {
    turnstile.leave()
  }
}
