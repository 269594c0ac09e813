import Synchronization

/// The stores that this process has open, by the identity of their files: opening one again shares
/// it.
///
/// The registry's mutex is held while a store is opened or closed, so that nobody finds a file
/// locked by its own process half-way. Whoever takes it may hold a store's turnstile, never the
/// other way round.
enum OpenStores {
  struct Entry {
    var core: StoreCore
    var handleCount: Int
  }

  private static let entries = Mutex<[FileIdentifier: Entry]>([:])

  /// The core for a file: the one that is open, or what `open` makes.
  static func core(
    for identifier: FileIdentifier, open: () throws(StorageError) -> StoreCore
  ) throws(StorageError) -> StoreCore {
    let result: Result<StoreCore, StorageError> = entries.withLock { entries in
      if let entry = entries[identifier] {
        entries[identifier]?.handleCount += 1
        return .success(entry.core)
      }
      do throws(StorageError) {
        let core = try open()
        entries[identifier] = Entry(core: core, handleCount: 1)
        return .success(core)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// A store goes on with another file.
  static func move(_ identifier: FileIdentifier, to other: FileIdentifier) {
    entries.withLock { entries in
      entries[other] = entries.removeValue(forKey: identifier)
    }
  }

  /// Gives a handle back; the last one runs `closing` before anybody can open the file again.
  static func release(
    _ identifier: FileIdentifier, closing: () throws(StorageError) -> Void
  ) throws(StorageError) {
    let result: Result<Void, StorageError> = entries.withLock { entries in
      guard let entry = entries[identifier] else { return .success(()) }
      guard entry.handleCount == 1 else {
        entries[identifier]?.handleCount -= 1
        return .success(())
      }
      entries[identifier] = nil
      do throws(StorageError) {
        return .success(try closing())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
