import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PersistentStoreCoordinator {
  /// Moves a store to another location: from one file to another, from a file into memory, or from
  /// memory into a file.
  ///
  /// The new store has everything that was saved, the same UUID and the same keys: IDs remain
  /// valid, and contexts keep their objects with all unsaved changes, which are saved to the new
  /// store. A save that another thread starts meanwhile waits, and may then fail, as the store it
  /// was for is closed; when repeated, it is saved to the new store.
  ///
  /// The old store is removed from the coordinator. Its file is kept, closed: remove it with
  /// ``destroyPersistentStore(at:type:options:)``, as IDs cannot distinguish two stores with one
  /// UUID.
  ///
  /// - Parameters:
  ///   - url: the new file, which must not exist unless `options` force its destruction; ignored
  ///     for a store in memory.
  ///   - options: the options of the new store, as for adding it.
  /// - Returns: the new store.
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` (134070) if `store` is not of
  ///   this coordinator, if a file exists already, or on an error of the disk;
  ///   ``PersistenceError/Code/persistentStoreInvalidType`` (134000). The coordinator then keeps
  ///   the old store, and there is no new file.
  /// - Complexity: O(bytes of the store).
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore, to url: URL?, options: PersistentStoreOptions? = nil, type: StoreType
  ) throws -> PersistentStore {
    try migratePersistentStore(store, to: url, options: options, type: type, in: DiskFileSystem())
  }

  /// Core Data's older spelling of ``migratePersistentStore(_:to:options:type:)``.
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore, to url: URL?, options: PersistentStoreOptions? = nil,
    withType type: StoreType
  ) throws -> PersistentStore {
    try migratePersistentStore(store, to: url, options: options, type: type)
  }

  /// The same on a given file system, for tests.
  @discardableResult
  package func migratePersistentStore(
    _ store: PersistentStore, to url: URL?, options: PersistentStoreOptions?, type: StoreType,
    in fileSystem: any FileSystem
  ) throws -> PersistentStore {
    let options = options ?? PersistentStoreOptions()
    try options.check()
    try checkOwn(store)
    if store.incremental != nil { throw store.refusal(of: "migrated") }
    guard type == .quire || type == .inMemory else { throw type.refusal }
    guard options.storeUUID == nil || options.storeUUID == store.identifier else {
      throw PersistenceError(
        .persistentStoreOperation,
        "a store keeps its UUID when it is migrated, as the IDs of objects have it; "
          + "replacePersistentStore makes a copy with another")
    }
    var new: PersistentStore?
    let location = url.map(\.absoluteString) ?? "memory"
    try operating(
      "the store cannot be migrated to \(location)",
      orUnknown: "whether the store was migrated to \(location)"
    ) {
      let writer = try store.isReadOnly ? nil : quiescentWriter(of: store.pages)
      // Nothing is written; the transaction blocks writes that the new store would not have.
      defer { writer?.abort() }
      let opening = try StoreOpening(
        model: versionedModel, binding: binding, options: options,
        configuration: store.configurationName, fileSystem: fileSystem, mustExist: true)
      new =
        try type.hasFile(at: url)
        ? copyToFile(store, url, opening) : copyToMemory(store, type, url, opening)
    }
    guard let new else { throw PersistentStoreCoordinator.notOurs }
    // The new store is in use, so that an error of closing the old one does not matter.
    try? store.pages.close()
    return new
  }

  /// A write transaction whose base is the state of snapshots, so that no commit is between them.
  private func quiescentWriter(of pages: PageStore) throws -> WriteTransaction {
    while true {
      let writer = try pages.beginWrite()
      do {
        let snapshot = try pages.snapshot()
        if writer.begins(with: snapshot.contentCommit) { return writer }
      } catch {
        writer.abort()
        throw error
      }
      // A commit is being written to the disk; a checkpoint waits for it.
      writer.abort()
      try pages.checkpoint()
    }
  }

  private func copyToMemory(
    _ store: PersistentStore, _ type: StoreType, _ url: URL?, _ opening: StoreOpening
  ) throws -> PersistentStore {
    let pages = PageStore.inMemory(pageSize: store.pages.pageSize, identity: store.identity)
    let snapshot = try store.pages.snapshot()
    try pages.write { try $0.copyTrees(of: snapshot) { _, _ in true } }
    let new = try opening.open(type, at: type == .quire ? url : nil, with: pages)
    try take(new, insteadOf: store)
    return new
  }

  private func copyToFile(
    _ store: PersistentStore, _ url: URL?, _ opening: StoreOpening
  ) throws -> PersistentStore {
    guard let url, url.isFileURL else {
      throw PersistenceError(
        .persistentStoreOperation,
        "a store in a file needs a file URL, not \(url.map(\.absoluteString) ?? "none")")
    }
    let path = url.path(percentEncoded: false)
    let files = opening.fileSystem
    if opening.options.forcesDestruction {
      try store.pages.replace(path, isForced: true, in: files)
    } else {
      try store.pages.backUp(to: path, in: files)
    }
    do {
      let new = try opening.open(.quire, at: url)
      try take(new, insteadOf: store)
      return new
    } catch {
      try? PageStore.remove(path, of: store.identity, in: files)
      throw error
    }
  }
}
