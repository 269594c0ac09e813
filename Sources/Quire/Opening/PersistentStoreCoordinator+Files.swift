import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The files of stores, and operations on whole files.

extension PersistentStoreCoordinator {
  /// The file of a store; `/dev/null` for a store in memory.
  public func url(for store: PersistentStore) -> URL {
    store.url ?? URL(filePath: "/dev/null")
  }

  /// The coordinator's store in a file, by any URL of that file.
  ///
  /// - Returns: `nil` if there is none, and for `/dev/null`. An incremental store is found by the
  ///   URL with which it was added.
  public func persistentStore(for url: URL) -> PersistentStore? {
    if let store = stores.first(where: { $0.incremental != nil && $0.url == url }) { return store }
    guard url.isFileURL else { return nil }
    let inFiles = stores.filter { $0.url != nil && $0.type.hasFile(at: $0.url) }
    let standardized = url.standardizedFileURL
    if let store = inFiles.first(where: { $0.url?.standardizedFileURL == standardized }) {
      return store
    }
    let files = DiskFileSystem()
    guard let found = try? files.identifier(of: url.path(percentEncoded: false)) else { return nil }
    return inFiles.first { store in
      guard let own = store.url?.path(percentEncoded: false) else { return false }
      return (try? files.identifier(of: own)) == found
    }
  }

  /// Continues with the store's file at another location, to which it was moved or copied: a store
  /// with the same UUID and version, which must exist there.
  ///
  /// The former file is closed; saves there that are not in the new file are lost to this
  /// coordinator. Contexts keep their objects, and see the new file with their next access to it.
  ///
  /// A file that was moved is closed before it is opened under its new name; if that fails, remove
  /// the store.
  ///
  /// - Returns: the store that replaces `store` in the coordinator.
  /// - Throws: ``PersistenceError/Code/persistentStoreOpen`` (134080) if the file is no such store;
  ///   ``PersistenceError/Code/persistentStoreOperation`` (134070) if `store` is in memory, or not
  ///   of this coordinator. The store is unchanged then.
  @discardableResult
  public func setURL(_ url: URL, for store: PersistentStore) throws -> PersistentStore {
    try checkOwn(store)
    if store.incremental != nil {
      throw store.refusal(of: "gone on with at another location")
    }
    guard store.type.hasFile(at: store.url) else {
      throw PersistenceError(
        .persistentStoreOperation,
        "a store in memory has no file that could be elsewhere: use migratePersistentStore")
    }
    try Self.checkFile(.quire, url)
    var options = PersistentStoreOptions()
    options.isReadOnly = store.isReadOnly
    let opening = try StoreOpening(
      model: versionedModel, binding: binding, options: options,
      configuration: store.configurationName, mustExist: true)
    if let found = try? DiskFileSystem().identifier(of: url.path(percentEncoded: false)),
      found == store.pages.fileIdentifier
    {
      return try reopen(store, at: url, opening)
    }
    let new = try opening.open(.quire, at: url)
    guard new.identity == store.identity, new.entities.schemaBytes == store.entities.schemaBytes
    else {
      try? new.pages.close()
      throw PersistenceError(
        .persistentStoreOpen,
        "the file at \(url.path(percentEncoded: false)) is no copy of the store: it has the UUID "
          + "\(new.identifier), not \(store.identifier), or other entities")
    }
    try take(new, insteadOf: store)
    // The new store is in use, so that an error of closing the old one does not matter.
    try? store.pages.close()
    return new
  }

  /// Opens the store's file under another name. It is closed first, which brings the log beside it
  /// into the file.
  private func reopen(
    _ store: PersistentStore, at url: URL, _ opening: StoreOpening
  ) throws -> PersistentStore {
    try store.pages.close()
    let new = try opening.open(.quire, at: url)
    try take(new, insteadOf: store)
    return new
  }

  /// Replaces a store with another, which takes over metadata that are not saved yet. If the old
  /// store was removed in the meantime, the new one is closed.
  func take(_ new: PersistentStore, insteadOf store: PersistentStore) throws {
    let pending = store.metadataState.withLock { $0.pending }
    new.metadataState.withLock { $0.pending = pending }
    guard exchange(store, for: new) else {
      try? new.pages.close()
      throw PersistentStoreCoordinator.notOurs
    }
  }

  /// Removes the store in a file from all coordinators of this process that have it, for a call
  /// that destroys or replaces the file. An error of closing it does not matter then.
  package static func removeFromAllCoordinators(storeAt url: URL) {
    for coordinator in AddedStores.coordinators {
      if let store = coordinator.persistentStore(for: url) { try? coordinator.remove(store) }
    }
  }

  // MARK: Destroying

  /// Removes a store's file, and all files that belong to it. After a crash the store exists
  /// completely, or not at all.
  ///
  /// A damaged store is removed as well; a file that is no store is kept, unless `options` force
  /// its destruction. It is no error if there is no store in a folder that exists, and a store in
  /// memory is released with its coordinator.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` (134070) if the store is open in
  ///   this process or another (remove it from its coordinator first), if the file is no store, if
  ///   its folder does not exist, or on an error of the disk;
  ///   ``PersistenceError/Code/persistentStoreInvalidType`` (134000).
  public func destroyPersistentStore(
    at url: URL, type: StoreType = .quire, options: PersistentStoreOptions? = nil
  ) throws {
    try destroyPersistentStore(at: url, type: type, options: options, in: DiskFileSystem())
  }

  /// Core Data's older spelling of ``destroyPersistentStore(at:type:options:)``.
  public func destroyPersistentStore(
    at url: URL, ofType type: StoreType, options: PersistentStoreOptions? = nil
  ) throws {
    try destroyPersistentStore(at: url, type: type, options: options)
  }

  /// The same on a given file system, for tests.
  package func destroyPersistentStore(
    at url: URL, type: StoreType, options: PersistentStoreOptions?, in fileSystem: any FileSystem
  ) throws {
    try options?.check()
    if type == .inMemory || type == .quire && !type.hasFile(at: url) { return }
    try Self.checkFile(type, url)
    let path = url.path(percentEncoded: false)
    try checkFolder(of: url, in: fileSystem)
    try operating(
      "the store at \(path) cannot be destroyed",
      orUnknown: "whether the store at \(path) was destroyed"
    ) {
      try PageStore.destroy(
        path, isForced: options?.forcesDestruction ?? false, in: fileSystem)
    }
    PartialStore.removeRemains(of: fileSystem.destination(of: path), in: fileSystem)
  }

  /// A path that was mistyped has no store to destroy, and mostly no folder.
  private func checkFolder(of url: URL, in fileSystem: any FileSystem) throws {
    // Other file systems have no folders.
    guard let disk = fileSystem as? DiskFileSystem else { return }
    let folder = url.deletingLastPathComponent().path(percentEncoded: false)
    if (try? disk.identifier(of: folder)) == nil {
      throw PersistenceError(
        .persistentStoreOperation,
        "the store at \(url.path(percentEncoded: false)) cannot be destroyed: there is no folder "
          + folder)
    }
  }

  // MARK: Replacing

  /// Replaces a store with a copy of another, or creates the copy where there is none, in one step:
  /// after a crash there is one or the other, complete.
  ///
  /// The source is kept, and may be in use meanwhile; the copy has the state that was saved when it
  /// began. It has the source's UUID, so that IDs are valid in both, unless `destinationOptions`
  /// have a ``PersistentStoreOptions/storeUUID`` of its own.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOpen`` (134080) if the source is not an
  ///   intact store of objects; ``PersistenceError/Code/persistentStoreOperation`` (134070) if the
  ///   destination is open in this process or another, if it is the source, if it is no store and
  ///   `destinationOptions` do not force its destruction, or on an error of the disk. The
  ///   destination is unchanged then.
  /// - Complexity: O(bytes of the source).
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: PersistentStoreOptions? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: PersistentStoreOptions? = nil,
    type: StoreType = .quire
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions,
      withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions, type: type,
      in: DiskFileSystem())
  }

  /// Core Data's older spelling of
  /// ``replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)``.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: PersistentStoreOptions? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: PersistentStoreOptions? = nil,
    ofType type: StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions,
      withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions, type: type)
  }

  /// The same on a given file system, for tests.
  package func replacePersistentStore(
    at destinationURL: URL, destinationOptions: PersistentStoreOptions?,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: PersistentStoreOptions?,
    type: StoreType, in fileSystem: any FileSystem
  ) throws {
    try destinationOptions?.check()
    try sourceOptions?.check()
    for url in [sourceURL, destinationURL] { try Self.checkFile(type, url) }
    let path = destinationURL.path(percentEncoded: false)
    let source = sourceURL.path(percentEncoded: false)
    try StoreFiles.inspecting(
      sourceURL, in: fileSystem, timeout: sourceOptions?.timeout ?? 0
    ) { snapshot, pages in
      guard try snapshot.indexTree(StoreSchema.tree) != nil else {
        throw PersistenceError(
          .persistentStoreOpen, "\(source) holds no objects: it has no schema")
      }
      try operating(
        "the store at \(path) cannot be replaced by the one at \(source)",
        orUnknown: "whether the store at \(path) was replaced by the one at \(source)"
      ) {
        try pages.replace(
          path, identity: destinationOptions?.storeUUID.map { StoreIdentity($0) },
          isForced: destinationOptions?.forcesDestruction ?? false, in: fileSystem)
      }
    }
  }

  /// Runs an operation of the engine on files.
  ///
  /// - Parameters:
  ///   - failure: says that it was not done.
  ///   - question: what is unknown where the engine cannot say whether it was.
  func operating(
    _ failure: String, orUnknown question: String, _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch let error as StorageError {
      throw PersistenceError(.persistentStoreOperation, failure, orUnknown: question, error)
    }
  }
}
