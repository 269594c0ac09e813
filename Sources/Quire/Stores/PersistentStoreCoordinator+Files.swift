import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Where stores are, and whole files of them.

extension PersistentStoreCoordinator {
  /// The file of a store; `/dev/null` for one in memory.
  public func url(for store: PersistentStore) -> URL {
    store.url ?? URL(filePath: "/dev/null")
  }

  /// The coordinator's store that has this file, whatever name the URL gives it.
  ///
  /// - Returns: `nil` when there is none, and for `/dev/null`. A store of another make is found by
  ///   the URL that it was added at.
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

  /// Goes on with the store's file at another place, where somebody has moved or copied it: a store
  /// with the same UUID and the same version, which must be there.
  ///
  /// The file that the store had is closed; what was saved there last, and is not at the new place,
  /// is not there for this coordinator. Contexts keep their objects, and see the new file with
  /// their next look at it.
  ///
  /// A file that was moved is closed before it is opened by its new name; should that fail, remove
  /// the store.
  ///
  /// - Returns: the store that takes the place of `store` in the coordinator.
  /// - Throws: ``PersistenceError/Code/persistentStoreOpen`` (134080) when the file is no such
  ///   store; ``PersistenceError/Code/persistentStoreOperation`` (134070) when `store` is in
  ///   memory, or not of this coordinator. The store is then as it was.
  @discardableResult
  public func setURL(_ url: URL, for store: PersistentStore) throws -> PersistentStore {
    try checkOwn(store)
    if store.incremental != nil {
      throw IncrementalStoreOpening.refusal(of: "gone on with at another place", store)
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
    // The other store is in its place; nobody needs what closing this one could not do.
    try? store.pages.close()
    return new
  }

  /// Opens the store's file by another name: what lies beside it has to move there, too, and is
  /// brought into the file for that by closing it.
  private func reopen(
    _ store: PersistentStore, at url: URL, _ opening: StoreOpening
  ) throws -> PersistentStore {
    try store.pages.close()
    let new = try opening.open(.quire, at: url)
    try take(new, insteadOf: store)
    return new
  }

  /// Puts a store in the place of another, with the metadata that wait for a save; closes it when
  /// that place is taken.
  func take(_ new: PersistentStore, insteadOf store: PersistentStore) throws {
    let pending = store.metadataState.withLock { $0.pending }
    new.metadataState.withLock { $0.pending = pending }
    guard exchange(store, for: new) else {
      try? new.pages.close()
      throw PersistentStoreCoordinator.notOurs
    }
  }

  // MARK: Destroying

  /// Removes a store's file, and all that lies beside it. After a crash the store is there whole,
  /// or gone.
  ///
  /// A damaged store goes, too; a file that is no store stays, unless `options` force its
  /// destruction. There being no store is no error, and one in memory goes with its coordinator.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` (134070) when the store is open,
  ///   in this process or another (remove it from its coordinator first), when the file is no
  ///   store, or when the disk refuses; ``PersistenceError/Code/persistentStoreInvalidType``
  ///   (134000).
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

  /// The same, on a file system that a test brings.
  package func destroyPersistentStore(
    at url: URL, type: StoreType, options: PersistentStoreOptions?, in fileSystem: any FileSystem
  ) throws {
    try options?.check()
    if type == .inMemory || type == .quire && !type.hasFile(at: url) { return }
    try Self.checkFile(type, url)
    let path = url.path(percentEncoded: false)
    try operating("the store at \(path) cannot be destroyed") {
      try PageStore.destroy(
        path, isForced: options?.forcesDestruction ?? false, in: fileSystem)
    }
    PartialStore.removeRemains(of: fileSystem.destination(of: path), in: fileSystem)
  }

  // MARK: Replacing

  /// Puts a copy of a store in the place of another, or where there is none, in one step: after a
  /// crash there is the one or the other, whole.
  ///
  /// The source stays, and may be in use meanwhile; the copy has what was saved when it began. It
  /// has the source's UUID, so that IDs are good in both; `destinationOptions` with a
  /// ``PersistentStoreOptions/storeUUID`` make a store of its own of it.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOpen`` (134080) when the source is no sound
  ///   store of objects; ``PersistenceError/Code/persistentStoreOperation`` (134070) when the
  ///   destination is open, in this process or another, when it is the source, when it is no store
  ///   and `destinationOptions` do not force its destruction, or when the disk refuses. The
  ///   destination is then as it was.
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

  /// The same, on a file system that a test brings.
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
    try StoreOpening.inspecting(
      sourceURL, in: fileSystem, timeout: sourceOptions?.timeout ?? 0
    ) { snapshot, pages in
      guard try snapshot.indexTree(StoreSchema.tree) != nil else {
        throw PersistenceError(
          .persistentStoreOpen, "\(source) holds no objects: it has no schema")
      }
      try operating("the store at \(path) cannot be replaced by the one at \(source)") {
        try pages.replace(
          path, identity: destinationOptions?.storeUUID.map { StoreIdentity($0) },
          isForced: destinationOptions?.forcesDestruction ?? false, in: fileSystem)
      }
    }
  }

  func operating(_ failure: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StorageError {
      throw PersistenceError(.persistentStoreOperation, failure, underlying: error)
    }
  }
}
