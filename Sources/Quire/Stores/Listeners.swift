import Synchronization

/// Ends a registration at a coordinator when it is released, or cancelled.
public final class CoordinatorObservation: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// Ends the registration. A call that has begun on another thread may still be running.
  public func cancel() { end() }
}

/// Receivers of changes of one kind: functions and asynchronous sequences.
final class Listeners<Change: Sendable>: Sendable {
  private struct Listener {
    let number: Int
    let body: @Sendable (Change) -> Void
    let end: @Sendable () -> Void
  }

  private struct State {
    /// An array, as there are few; ``AddedStores`` says what the first dictionary of a type costs.
    var listeners: [Listener] = []
    var lastNumber = 0
  }

  private let state = Mutex(State())

  deinit {
    for listener in state.withLock({ $0.listeners }) { listener.end() }
  }

  var isEmpty: Bool { state.withLock { $0.listeners.isEmpty } }

  func tell(_ change: Change) {
    for listener in state.withLock({ $0.listeners }) { listener.body(change) }
  }

  /// - Returns: a token that ends the registration when it is released.
  func observe(_ body: @escaping @Sendable (Change) -> Void) -> CoordinatorObservation {
    let number = add(body) {}
    return CoordinatorObservation { self.remove(number) }
  }

  /// The changes from now on. The sequence buffers changes until they are read, and ends with this
  /// object.
  func changes() -> AsyncStream<Change> {
    let (stream, continuation) = AsyncStream.makeStream(of: Change.self)
    let number = add({ continuation.yield($0) }, atEnd: { continuation.finish() })
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  private func add(
    _ body: @escaping @Sendable (Change) -> Void, atEnd end: @escaping @Sendable () -> Void
  ) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.listeners.append(Listener(number: state.lastNumber, body: body, end: end))
      return state.lastNumber
    }
  }

  private func remove(_ number: Int) {
    // Released outside of the lock, as that may release other objects that call this one.
    let gone = state.withLock { state in
      let gone = state.listeners.filter { $0.number == number }
      state.listeners.removeAll { $0.number == number }
      return gone
    }
    withExtendedLifetime(gone) {}
  }
}
