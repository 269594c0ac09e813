import Synchronization

/// The stores that this process has open, by the identity of their files: opening one again shares
/// it. A child made by `fork` has none open to begin with.
///
/// The registry's mutex is held while a store is opened or closed, so that nobody finds a file
/// locked by its own process half-way. Whoever takes it may hold a store's turnstile, never the
/// other way round.
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

    subscript(identifier: FileIdentifier) -> Entry? {
      list.first { $0.identifier == identifier && $0.core.registry.process.isCurrent }
    }

    mutating func add(_ core: StoreCore, for identifier: FileIdentifier) {
      list.append(Entry(identifier, core))
    }

    mutating func remove(_ entry: Entry) { list.removeAll { $0 === entry } }
  }

  private static let perProcess = PerProcess { OpenStores() }
  private static var ours: OpenStores { perProcess.value }

  private let entries = Mutex(Entries())

  /// What `open` made, or why it did not. (`Result` would have the runtime look up that the error
  /// is one.)
  private enum Opening {
    case core(StoreCore)
    case failure(StorageError)
  }

  /// The core for a file: the one that is open, or what `open` makes.
  static func core(
    for identifier: FileIdentifier, open: () throws(StorageError) -> StoreCore
  ) throws(StorageError) -> StoreCore {
    let opening: Opening = ours.entries.withLock { entries in
      if let entry = entries[identifier] {
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

  /// A store goes on with another file.
  static func move(_ identifier: FileIdentifier, to other: FileIdentifier) {
    ours.entries.withLock { $0[identifier]?.identifier = other }
  }

  /// Gives a handle back; the last one runs `closing` before anybody can open the file again.
  static func release(
    _ identifier: FileIdentifier, closing: () throws(StorageError) -> Void
  ) throws(StorageError) {
    let result: Result<Void, StorageError> = ours.entries.withLock { entries in
      guard let entry = entries[identifier] else { return .success(()) }
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
