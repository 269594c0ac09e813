import Synchronization

/// Room on the disk that a store's file keeps after its end, so that a full disk refuses growth
/// alone: pages that are committed have room before a checkpoint writes them; a log can be begun
/// for a transaction that needs no new page, or that removes something; and after a crash the log
/// can be copied, as recovery does.
///
///     |  pages in the file  |  pages of commits in the log  |  reserve  |
///                           end of the file
///
/// The file's length does not show it, and no content depends on it. When the log, or the images of
/// a checkpoint, find no room, the reserve is given up for them. They go with the store's closing
/// at the latest, and it is kept anew. Only some file systems can do this (``File/reserve(to:)``);
/// with others, or with ``PageStoreOptions/reserveByteLimit`` 0, there is none.
///
/// (What CockroachDB calls a ballast file, inside the store's own file.)
package final class DiskReserve: Sendable {
  private let file: any File
  private let limit: Int
  private let state: Mutex<State>
  /// The log that the reserve can take: each commit looks here.
  private let logByteCount = Atomic(DiskReserve.least)

  private struct State {
    /// What all pages need, those included that the file does not have yet.
    var pagesByteCount: Int
    /// Up to where there is surely room: not known after opening.
    var end = 0
    /// Whether the file system can.
    var isPossible: Bool
    var extent = Extent.whole
    /// The number of operations that may make the file longer.
    var growthCount = 0
  }

  /// How much of the reserve is kept.
  private enum Extent: Int {
    case none, part, whole
  }

  /// The least that is worth it, for the removal of some hundred objects; and the most without a
  /// large log.
  private static let least = 256 << 10
  private static let most = 1 << 20

  /// - Parameters:
  ///   - pagesByteCount: what the pages of the newest version need.
  ///   - limit: the most that is kept; 0 for none.
  package init(_ file: any File, pagesByteCount: Int, limit: Int) {
    self.file = file
    self.limit = limit
    state = Mutex(State(pagesByteCount: pagesByteCount, isPossible: limit > 0))
  }

  /// A part of what the file has, or as much as the log if that is more.
  private func byteCount(after pages: Int) -> Int {
    min(limit, max(min(pages / 64, DiskReserve.most), logByteCount.load(ordering: .relaxed)))
  }

  private func extend(to end: Int, _ state: inout State) throws(StorageError) {
    guard state.isPossible, end > state.end else { return }
    state.isPossible = try file.reserve(to: end)
    state.end = end
  }

  /// Before a commit of new pages: finds room for all of them, and for the reserve after them.
  ///
  /// - Parameters:
  ///   - pages: the bytes of all pages.
  ///   - isForRemoval: whether the reserve may become smaller for it.
  /// - Throws: ``StorageError/noSpaceLeft(path:)``.
  func prepare(growthTo pages: Int, isForRemoval: Bool) throws(StorageError) {
    let reserve = byteCount(after: pages)
    let failure: StorageError? = state.withLock { state in
      if state.isPossible, pages + reserve > state.end {
        do throws(StorageError) {
          // With some more, so that the next commits need not ask.
          try extend(to: pages + reserve + reserve / 4, &state)
        } catch {
          do throws(StorageError) {
            try extend(to: isForRemoval ? pages : pages + reserve, &state)
          } catch {
            return error
          }
        }
        if state.end >= pages + reserve { state.extent = .whole }
      }
      state.pagesByteCount = max(state.pagesByteCount, pages)
      return nil
    }
    if let failure { throw failure }
  }

  /// After a commit: the log's file has become so long. Recovery needs as much once more.
  func note(logByteCount byteCount: Int) {
    guard byteCount > logByteCount.load(ordering: .relaxed) else { return }
    logByteCount.store(2 * byteCount, ordering: .relaxed)
    state.withLock { if $0.extent == .whole { renew(&$0) } }
  }

  /// Keeps the reserve after all pages, if there is room for it.
  private func renew(_ state: inout State) {
    let end = state.pagesByteCount + byteCount(after: state.pagesByteCount)
    do throws(StorageError) {
      try extend(to: end, &state)
      state.extent = .whole
    } catch {
      // Without it the store goes on.
    }
  }

  /// After a checkpoint: the log has room again, and the reserve is kept anew.
  func renew() { state.withLock { renew(&$0) } }

  /// When there is no log: keeps as much as the file alone is worth.
  func settle() {
    logByteCount.store(DiskReserve.least, ordering: .relaxed)
    state.withLock { state in
      let reserve = byteCount(after: state.pagesByteCount)
      if state.end > state.pagesByteCount + 2 * reserve {
        // Nothing is lost with it, nor if it cannot be kept again.
        do throws(StorageError) { try release(&state) } catch {}
      }
      renew(&state)
    }
  }

  /// The file was cut off after its pages, and with it the reserve.
  func noteCut(to pages: Int) {
    state.withLock { state in
      state.pagesByteCount = pages
      state.end = pages
    }
  }

  /// The length of the file stays, and what is reserved after it goes.
  private func release(_ state: inout State) throws(StorageError) {
    guard state.growthCount == 0 else { return }
    try file.truncate(to: try file.byteCount())
    state.end = 0
  }

  /// Gives the room back that the reserve takes, for something that found none.
  ///
  /// - Parameter log: for a log that is so long: as much is kept as a recovery will need that
  ///   copies it.
  /// - Returns: whether there may be more room now.
  package func giveUp(forLogOf log: Int? = nil) -> Bool {
    state.withLock { state in
      let extent: Extent = log == nil ? .none : .part
      guard state.isPossible, state.growthCount == 0, extent.rawValue < state.extent.rawValue
      else { return false }
      let reserve = byteCount(after: state.pagesByteCount)
      let kept = log.map { (reserve + $0) / 2 } ?? 0
      // Recovery would need all of it for so long a log.
      guard kept < reserve else { return false }
      state.extent = extent
      do throws(StorageError) {
        try release(&state)
        try extend(to: state.pagesByteCount + kept, &state)
      } catch {
        return false
      }
      return state.isPossible
    }
  }

  /// Lets an operation make the file longer, which is not to be cut off meanwhile.
  package func duringGrowth(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    state.withLock { $0.growthCount += 1 }
    defer { state.withLock { $0.growthCount -= 1 } }
    try body()
  }
}
