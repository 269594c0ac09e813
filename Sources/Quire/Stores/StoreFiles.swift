import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The files of stores, opened without a model: to look at one, or to open the store in it.
enum StoreFiles {
  static func pages(
    at url: URL, _ options: PageStoreOptions, in fileSystem: any FileSystem = DiskFileSystem(),
    timeout: Double = 0
  ) throws(PersistenceError) -> PageStore {
    let path = url.path(percentEncoded: false)
    let clock = ContinuousClock()
    // Longer than anybody waits, where a clock cannot count so far: `.infinity`, for one.
    let end = clock.now + .seconds(timeout > 0 ? min(timeout, 1e9) : 0)
    while true {
      do throws(StorageError) {
        return try PageStore.open(path, options: options, in: fileSystem)
      } catch {
        if case .locked = error, timeout > 0 {
          guard clock.now >= end else {
            PageStore.pause(milliseconds: 10)
            continue
          }
          throw PersistenceError(
            .persistentStoreTimeout,
            "the store at \(path) cannot be opened: another process has it, and did not close it "
              + "within \(timeout) seconds, the timeout of the options",
            underlying: error)
        }
        var message = "the store at \(path) cannot be opened"
        if case .notAStore(_, StorageError.sqliteReason) = error {
          message +=
            ". A store that Core Data wrote is brought over by the command `quire import`, or by "
            + "CoreDataStore of QuireXcode, into a new file"
        }
        throw PersistenceError(.persistentStoreOpen, message, underlying: error)
      }
    }
  }

  /// Reads from a store without any claim to it: nothing is written.
  ///
  /// - Parameter readsUnvouchedPages: whether all is of interest that can be read, as the result is
  ///   about damage.
  static func inspecting<Result>(
    _ url: URL, in fileSystem: any FileSystem = DiskFileSystem(), timeout: Double = 0,
    readsUnvouchedPages: Bool = false, _ body: (Snapshot, PageStore) throws -> Result
  ) throws -> Result {
    var options = PageStoreOptions()
    options.isReadOnly = true
    options.readsUnvouchedPages = readsUnvouchedPages
    options.createIfMissing = false
    let pages = try StoreFiles.pages(at: url, options, in: fileSystem, timeout: timeout)
    defer { try? pages.close() }
    return try pages.read { try body($0, pages) }
  }
}

extension PageStore {
  /// The store with its path, for messages: a program may have several.
  var described: String { path.map { "the store at \($0)" } ?? "the store" }
}
