import QuireStorage

/// Passes batches of rows from the thread that makes them to the one that writes them, and empty
/// ones back.
///
/// `@unchecked Sendable`: all mutable state is accessed with the monitor's lock held.
final class BatchRelay: @unchecked Sendable {
  private let monitor = Monitor()
  private var empty = (0..<3).map { _ in RowBatch() }
  private var full: [RowBatch] = []
  private var hasEnded = false
  private var isCancelled = false
  private var failure: (any Error)?

  /// Fills batches until all rows are read or the consumer has stopped.
  func produce(_ open: () throws -> RowReading) {
    var error: (any Error)?
    do {
      var reading = try open()
      while let batch = takeEmpty(), try reading.fill(batch) {
        locked { full.append(batch) }
      }
    } catch let failure {
      error = failure
    }
    // The reading has been released before this point.
    locked {
      failure = error
      hasEnded = true
    }
  }

  /// Calls `body` with each batch, and returns when the other thread has ended.
  func consume(_ body: (RowBatch) throws -> Void) throws {
    defer {
      locked { isCancelled = true }
      monitor.lock()
      while !hasEnded { monitor.wait() }
      monitor.unlock()
    }
    while let batch = try takeFull() {
      try body(batch)
      locked { empty.append(batch) }
    }
  }

  private func locked(_ body: () -> Void) {
    monitor.lock()
    body()
    monitor.wakeAll()
    monitor.unlock()
  }

  private func takeEmpty() -> RowBatch? {
    monitor.lock()
    defer { monitor.unlock() }
    while empty.isEmpty, !isCancelled { monitor.wait() }
    return isCancelled ? nil : empty.popLast()
  }

  private func takeFull() throws -> RowBatch? {
    monitor.lock()
    defer { monitor.unlock() }
    while full.isEmpty, !hasEnded { monitor.wait() }
    if !full.isEmpty { return full.removeFirst() }
    if let failure { throw failure }
    return nil
  }
}
