import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PersistentStoreCoordinator {
  /// The metadata of a store; see ``PersistentStore/metadata``.
  public func metadata(for store: PersistentStore) -> [String: Any] { store.metadata }

  /// Replaces the user's metadata of a store. To keep some, start with those of ``metadata(for:)``.
  /// They are written with the next save of any context of this coordinator, even one without
  /// changed objects, and are lost if the store is removed before.
  ///
  /// - Parameter metadata: strings, integers, doubles, booleans, dates, data, and arrays and
  ///   dictionaries of these; `nil` for none.
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` for other values;
  ///   ``PersistenceError/Code/persistentStoreOperation`` (134070) if the store is read-only or not
  ///   of this coordinator, or if its UUID or type would change.
  public func setMetadata(_ metadata: [String: Any]?, for store: PersistentStore) throws {
    try checkOwn(store)
    try store.setMetadata(metadata ?? [:])
  }

  /// The metadata of a store, which need not be open or of a known model.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOpen`` (134080) if the file is no intact
  ///   store, or is open in another process; ``PersistenceError/Code/persistentStoreInvalidType``
  ///   (134000) if the type has no files.
  public static func metadataForPersistentStore(
    type: StoreType = .quire, at url: URL, options: PersistentStoreOptions? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(type: type, at: url, options: options, in: DiskFileSystem())
  }

  /// Core Data's older spelling of ``metadataForPersistentStore(type:at:options:)``.
  public static func metadataForPersistentStore(
    ofType type: StoreType, at url: URL, options: PersistentStoreOptions? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(type: type, at: url, options: options)
  }

  /// The same on a given file system, for tests.
  package static func metadataForPersistentStore(
    type: StoreType, at url: URL, options: PersistentStoreOptions?, in fileSystem: any FileSystem
  ) throws -> [String: Any] {
    try options?.check()
    try checkFile(type, url)
    return try StoreFiles.inspecting(url, in: fileSystem, timeout: options?.timeout ?? 0) {
      try storedMetadata(in: $0, $1).dictionary
    }
  }

  /// Replaces the user's metadata of a store, which need not be open, in a commit of its own.
  ///
  /// - Parameter metadata: as for ``setMetadata(_:for:)``.
  /// - Throws: as ``setMetadata(_:for:)`` and ``metadataForPersistentStore(type:at:options:)``;
  ///   ``PersistenceError/Code/persistentStoreSave`` (134030) when they cannot be written.
  public static func setMetadata(
    _ metadata: [String: Any]?, type: StoreType = .quire, at url: URL,
    options: PersistentStoreOptions? = nil
  ) throws {
    try setMetadata(metadata, type: type, at: url, options: options, in: DiskFileSystem())
  }

  /// Core Data's older spelling of ``setMetadata(_:type:at:options:)``.
  public static func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType type: StoreType, at url: URL,
    options: PersistentStoreOptions? = nil
  ) throws {
    try setMetadata(metadata, type: type, at: url, options: options)
  }

  /// The same on a given file system, for tests.
  package static func setMetadata(
    _ metadata: [String: Any]?, type: StoreType, at url: URL, options: PersistentStoreOptions?,
    in fileSystem: any FileSystem
  ) throws {
    try options?.check()
    try checkFile(type, url)
    var pageOptions = PageStoreOptions()
    pageOptions.createIfMissing = false
    let pages = try StoreFiles.pages(
      at: url, pageOptions, in: fileSystem, timeout: options?.timeout ?? 0)
    defer { try? pages.close() }
    let user = try pages.read { snapshot in
      try storedMetadata(in: snapshot, pages).userPart(
        of: metadata ?? [:], keyLimit: StoreSchema.metadataKeyLimit(of: pages))
    }
    do {
      try pages.write { try StoreSchema.replaceMetadata(by: user, in: $0) }
      try pages.close()
    } catch let error as StorageError {
      throw PersistenceError(
        .persistentStoreSave,
        "the metadata of the store at \(url.path(percentEncoded: false)) could not be written",
        orUnknown:
          "whether the metadata of the store at \(url.path(percentEncoded: false)) was written",
        error)
    }
  }

  private static func storedMetadata(
    in snapshot: Snapshot, _ pages: PageStore
  ) throws -> StoreMetadata {
    guard let tree = try snapshot.indexTree(StoreSchema.tree) else {
      throw PersistenceError(.persistentStoreOpen, "the store holds no objects: it has no schema")
    }
    return StoreMetadata(
      identity: pages.identity, type: .quire, model: try StoreSchema.model(in: snapshot),
      user: try StoreSchema.metadata(in: tree))
  }

  /// - Throws: ``PersistenceError/Code/persistentStoreInvalidType`` (134000) for a store without a
  ///   file.
  static func checkFile(_ type: StoreType, _ url: URL) throws(PersistenceError) {
    switch type {
    case .quire where type.hasFile(at: url): break
    case .quire, .inMemory:
      throw PersistenceError(
        .persistentStoreInvalidType,
        "a store in memory is nowhere but in the coordinator that has it open")
    default: throw type.refusal
    }
    guard url.isFileURL else {
      throw PersistenceError(
        .persistentStoreOpen, "a store in a file needs a file URL, not \(url.absoluteString)")
    }
  }
}
