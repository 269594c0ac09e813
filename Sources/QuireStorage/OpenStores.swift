import Synchronization

/// The stores that this process has open, by the identity of their files: opening one again shares
/// it. A child made by `fork` starts with none.
///
/// A store that was opened with unverified pages is not shared with users that rely on verified
/// ones. Locks of readers do not exclude each other, so that both may be open.
///
/// The registry's mutex is held while a store is opened or closed, or gets its name, so that no
/// other thread finds the file locked by its own process in between. A thread that takes it may
/// hold a store's turnstile, but not the other way round.
final class OpenStores: Sendable {
  private final class Entry {
    var identifier: FileIdentifier
    let core: StoreCore
    var handleCount = 1

    init(_ identifier: FileIdentifier, _ core: StoreCore) {
      self.identifier = identifier
      self.core = core
    }
  }

  /// A list, as a process has few stores open, and the first dictionary of a type costs it more
  /// than looking through many of them: a search for the conformance of its keys.
  private struct Entries {
    private var list: [Entry] = []

    subscript(core: StoreCore) -> Entry? { list.first { $0.core === core } }

    /// Those of a file, of this process.
    func all(of identifier: FileIdentifier) -> some Sequence<Entry> {
      list.lazy.filter { $0.identifier == identifier && $0.core.registry.process.isCurrent }
    }

    mutating func add(_ core: StoreCore, for identifier: FileIdentifier) {
      list.append(Entry(identifier, core))
    }

    mutating func remove(_ entry: Entry) { list.removeAll { $0 === entry } }
  }

  private static let perProcess = PerProcess { OpenStores() }
  private static var ours: OpenStores { perProcess.value }

  private let entries = Mutex(Entries())

  /// The result of opening. (`Result` would make the runtime look up the conformance of its error.)
  private enum Opening {
    case core(StoreCore)
    case failure(StorageError)
  }

  /// The core for a file: the one that is open, or what `open` makes.
  ///
  /// - Throws: ``StorageError/invalidArgument(_:)`` if it is open read-only, and is to be written.
  static func core(
    for identifier: FileIdentifier, _ path: String, _ options: PageStoreOptions,
    open: () throws(StorageError) -> StoreCore
  ) throws(StorageError) -> StoreCore {
    let opening: Opening = ours.entries.withLock { entries in
      for entry in entries.all(of: identifier) {
        guard options.isReadOnly || !entry.core.isReadOnly else {
          return .failure(
            .invalidArgument(
              "\(path) is open read-only in this process; close it there before writing to it"))
        }
        guard entry.core.isShared(by: options) else { continue }
        entry.handleCount += 1
        return .core(entry.core)
      }
      do throws(StorageError) {
        let core = try open()
        entries.add(core, for: identifier)
        return .core(core)
      } catch {
        return .failure(error)
      }
    }
    switch opening {
    case .core(let core): return core
    case .failure(let error): throw error
    }
  }

  /// Calls `body` while no other thread opens or closes a store.
  static func whileNoneOpens(
    _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    let result: Result<Void, StorageError> = ours.entries.withLock { _ in
      do throws(StorageError) {
        return .success(try body())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// Records that a store continues with another file.
  static func move(_ core: StoreCore, to other: FileIdentifier) {
    ours.entries.withLock { $0[core]?.identifier = other }
  }

  /// Releases a handle; for the last one `closing` runs before the file can be opened again.
  static func release(
    _ core: StoreCore, closing: () throws(StorageError) -> Void
  ) throws(StorageError) {
    let result: Result<Void, StorageError> = ours.entries.withLock { entries in
      guard let entry = entries[core] else { return .success(()) }
      guard entry.handleCount == 1 else {
        entry.handleCount -= 1
        return .success(())
      }
      entries.remove(entry)
      do throws(StorageError) {
        return .success(try closing())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
