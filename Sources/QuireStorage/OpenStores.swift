import Synchronization

/// The stores that this process has open, by the identity of their files: opening one again shares
/// it. A child made by `fork` starts with none.
///
/// A store that was opened with unverified pages is not shared with users that rely on verified
/// ones, and one that is only read follows a writer, in this process as in another: so a file may
/// be open more than once.
///
/// The mutex of a volume is held while a store there is opened or closed, or gets its name, so that
/// no other thread finds the file locked by its own process in between. A thread that takes it may
/// hold a store's turnstile, but not the other way round. A file never leaves its volume.
final class OpenStores: Sendable {
  private final class Entry {
    let core: StoreCore
    var handleCount = 1

    init(_ core: StoreCore) { self.core = core }
  }

  /// A list, as a process has few stores open, and the first dictionary of a type costs it more
  /// than looking through many of them: a search for the conformance of its keys.
  private struct Entries {
    private var list: [Entry] = []

    subscript(core: StoreCore) -> Entry? { list.first { $0.core === core } }

    /// Those of a file, of this process. A store may go on with another file.
    func all(of identifier: FileIdentifier) -> [Entry] {
      list.filter { entry in
        entry.core.registry.process.isCurrent
          && entry.core.state.withLock { $0.identifier == identifier }
      }
    }

    mutating func add(_ core: StoreCore) { list.append(Entry(core)) }

    mutating func remove(_ entry: Entry) { list.removeAll { $0 === entry } }
  }

  /// The stores of one volume. Simulated processes have one each, so that they do not wait for each
  /// other in what real ones do side by side.
  private final class Volume: Sendable {
    let number: UInt64
    let entries = Mutex(Entries())

    init(_ number: UInt64) { self.number = number }
  }

  private static let perProcess = PerProcess { OpenStores() }

  private let volumes = Mutex([Volume]())

  private static func entries<R>(
    of volume: UInt64, _ body: (inout Entries) -> sending R
  ) -> sending R {
    let volume = perProcess.value.volumes.withLock { volumes in
      if let known = volumes.first(where: { $0.number == volume }) { return known }
      let new = Volume(volume)
      volumes.append(new)
      return new
    }
    return volume.entries.withLock(body)
  }

  /// The result of opening. (`Result` would make the runtime look up the conformance of its error.)
  private enum Opening {
    case core(StoreCore)
    case failure(StorageError)
  }

  /// The core for a file: the one that is open, or what `open` makes.
  static func core(
    for identifier: FileIdentifier, _ path: String, _ options: PageStoreOptions,
    open: () throws(StorageError) -> StoreCore
  ) throws(StorageError) -> StoreCore {
    let opening: Opening = entries(of: identifier.volume) { entries in
      // A reader sees with the writer's eyes what a follower has to look for.
      let cores = entries.all(of: identifier).sorted { !$0.core.isReadOnly && $1.core.isReadOnly }
      for entry in cores where entry.core.isShared(by: options) {
        entry.handleCount += 1
        return .core(entry.core)
      }
      do throws(StorageError) {
        let core = try open()
        entries.add(core)
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

  /// Calls `body` while no other thread opens or closes a store on the volume of that file.
  static func whileNoneOpens(
    beside file: FileIdentifier, _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    let result: Result<Void, StorageError> = entries(of: file.volume) { _ in
      do throws(StorageError) {
        return .success(try body())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// Releases a handle; for the last one `closing` runs before the file can be opened again.
  static func release(
    _ core: StoreCore, closing: () throws(StorageError) -> Void
  ) throws(StorageError) {
    guard let identifier = core.state.withLock({ $0.identifier }) else { return }
    let result: Result<Void, StorageError> = entries(of: identifier.volume) { entries in
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
