import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PersistentContainer {
  /// Where stores are that nobody has given a place: the folder for the data of this program,
  /// named like it, in the user's folder for such data (on Linux `$XDG_DATA_HOME`, or
  /// `~/.local/share`). The folder need not exist.
  public static func defaultDirectoryURL() -> URL {
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    let folder = folders.first ?? FileManager.default.temporaryDirectory
    return folder.appending(path: ProcessInfo.processInfo.processName, directoryHint: .isDirectory)
  }

  /// Opens the stores that ``persistentStoreDescriptions`` ask for, creating and migrating them as
  /// they say, and calls `block` for each of them when it is open, or cannot be opened.
  ///
  /// For a description that does not ask for it otherwise
  /// (``PersistentStoreDescription/shouldAddStoreAsynchronously``) that has happened when this
  /// returns; `block` runs on this thread. For one that does, `block` runs on another.
  ///
  /// Stores are added in the order of their descriptions, but for those that are opened
  /// asynchronously; the order says where new objects go, see
  /// ``ManagedObjectContext/assign(_:to:)``.
  ///
  /// - Parameter block: gets the description, and the error that
  ///   ``PersistentStoreCoordinator/addPersistentStore(type:configuration:at:options:)`` threw.
  public func loadPersistentStores(
    completionHandler block: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      @Sendable func load() {
        do {
          try add(description)
          block(description, nil)
        } catch {
          block(description, error)
        }
      }
      if description.shouldAddStoreAsynchronously {
        Task.detached { load() }
      } else {
        load()
      }
    }
  }

  /// Opens the stores that ``persistentStoreDescriptions`` ask for, off the caller's actor.
  ///
  /// - Returns: the stores, in the order of their descriptions.
  /// - Throws: the first error that
  ///   ``PersistentStoreCoordinator/addPersistentStore(type:configuration:at:options:)`` throws;
  ///   the stores before that are open, those after it are not.
  @concurrent
  @discardableResult
  public func loadPersistentStores() async throws -> [PersistentStore] {
    try persistentStoreDescriptions.map(add)
  }

  @discardableResult
  private func add(_ description: PersistentStoreDescription) throws -> PersistentStore {
    let type = description.type
    if type.hasFile(at: description.url), let url = description.url {
      try Self.makeDefaultDirectory(for: url)
    }
    return try persistentStoreCoordinator.addPersistentStore(
      type: type, configuration: description.configuration,
      at: type == .inMemory ? nil : description.url, options: description.options)
  }

  /// Nobody was asked to make the folder that nobody has named.
  private static func makeDefaultDirectory(for url: URL) throws {
    let folder = defaultDirectoryURL()
    guard url.deletingLastPathComponent().standardizedFileURL == folder.standardizedFileURL else {
      return
    }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw PersistenceError(
        .persistentStoreOpen,
        "the folder \(folder.path(percentEncoded: false)) cannot be made: \(error)")
    }
  }
}
