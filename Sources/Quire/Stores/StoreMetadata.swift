import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A store's metadata: those under Core Data's keys, and those that the user has set.

/// The store's UUID as a string. Cannot be set.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let StoreUUIDKey = "NSStoreUUID"
/// The raw value of the store's ``StoreType``. Cannot be set.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let StoreTypeKey = "NSStoreType"
/// The version identifiers of the store's model: `[String]`. Ignored when metadata are set.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let StoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// The version hash of the store's whole model, as a string. Ignored when metadata are set.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let StoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// The metadata of one store.
struct StoreMetadata {
  let identity: StoreIdentity
  let type: StoreType
  let model: ManagedObjectModel
  var user: [String: MetadataValue]

  /// All metadata, those under Core Data's keys included.
  var dictionary: [String: Any] {
    var result = user.mapValues(\.plainValue)
    result[StoreUUIDKey] = UUID(identity).uuidString
    result[StoreTypeKey] = type.rawValue
    result[StoreModelVersionHashesKey] = model.entityVersionHashesByName.mapValues {
      Data($0.bytes)
    }
    result[StoreModelVersionIdentifiersKey] = model.versionIdentifiers
    result[StoreModelVersionChecksumKey] = model.versionChecksum.description
    return result
  }

  private static let keysOfModel: Set<String> = [
    StoreModelVersionHashesKey, StoreModelVersionIdentifiersKey, StoreModelVersionChecksumKey,
    "NSStoreModelVersionHashesVersion", "NSStoreModelVersionHashesDigest",
    "NSPersistenceFrameworkVersion", "NSPersistenceMaximumFrameworkVersion",
  ]

  /// The user's part of metadata, which may be a modified ``dictionary``.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` for a value that cannot be stored;
  ///   ``PersistenceError/Code/persistentStoreOperation`` if the store's UUID or type would change.
  func userPart(
    of dictionary: [String: Any], keyLimit: Int
  ) throws(PersistenceError) -> [String: MetadataValue] {
    var result: [String: MetadataValue] = [:]
    for (key, value) in dictionary where !StoreMetadata.keysOfModel.contains(key) {
      switch key {
      case StoreUUIDKey:
        let uuid = value as? UUID ?? (value as? String).flatMap { UUID(uuidString: $0) }
        guard uuid == UUID(identity) else {
          throw StoreMetadata.fixed(
            key, UUID(identity).uuidString, value,
            "replacePersistentStore makes a copy with another UUID")
        }
      case StoreTypeKey:
        guard (value as? String).map({ StoreType(rawValue: $0) }) == type else {
          throw StoreMetadata.fixed(
            key, type.rawValue, value, "migratePersistentStore makes a store of another type")
        }
      default:
        guard key.utf8.count <= keyLimit else {
          throw PersistenceError(
            .unacceptableValue,
            "the metadata key \(key) has \(key.utf8.count) bytes; at most \(keyLimit) are possible")
        }
        result[key] = try MetadataValue(value, at: key)
      }
    }
    return result
  }

  private static func fixed(
    _ key: String, _ own: String, _ given: Any, _ advice: String
  ) -> PersistenceError {
    var error = PersistenceError(
      .persistentStoreOperation,
      "the metadata \(key) of the store are \(own), and cannot be set to \(given): \(advice)")
    error.key = key
    return error
  }
}

extension PersistentStore {
  /// The user's metadata, saved and unsaved.
  struct MetadataState {
    var saved: [String: MetadataValue]
    /// The metadata for the next save; `nil` if none were set.
    var pending: [String: MetadataValue]?
    /// The number of times that metadata were set.
    var setCount = 0
  }

  /// The store's metadata: those under Core Data's keys (``StoreUUIDKey`` and others), and those
  /// that were set with ``PersistentStoreCoordinator/setMetadata(_:for:)``, saved or not.
  ///
  /// If the store can no longer be read, they are the last ones known.
  public var metadata: [String: Any] {
    let user =
      metadataState.withLock { $0.pending } ?? (try? readMetadata())
      ?? metadataState.withLock { $0.saved }
    return facts(user).dictionary
  }

  private func facts(_ user: [String: MetadataValue]) -> StoreMetadata {
    StoreMetadata(identity: identity, type: type, model: entities.model, user: user)
  }

  /// Reads the metadata from the store, as another coordinator may have saved them.
  private func readMetadata() throws -> [String: MetadataValue] {
    try pages.read { snapshot in
      guard let tree = try snapshot.indexTree(StoreSchema.tree) else {
        throw StoreSchema.damaged("is missing")
      }
      return try StoreSchema.metadata(in: tree)
    }
  }

  func setMetadata(_ dictionary: [String: Any]) throws {
    guard !isReadOnly else {
      throw PersistenceError(
        .persistentStoreOperation, "the store was opened read-only: its metadata cannot be set")
    }
    let user = try facts([:]).userPart(
      of: dictionary, keyLimit: StoreSchema.metadataKeyLimit(of: pages))
    metadataState.withLock { state in
      state.pending = user
      state.setCount += 1
    }
  }

  // MARK: Saving

  /// A commit whose record is written, and the metadata that it saves.
  struct WrittenSave {
    let commit: WrittenCommit
    fileprivate let metadata: [String: MetadataValue]?
    fileprivate let setCount: Int
  }

  /// Commits a save, with the metadata that were set since the last one.
  ///
  /// - Returns: the state after this commit.
  /// - Throws: an error, also if the store was removed from its coordinator since the transaction
  ///   began, as the commit would be lost.
  @discardableResult
  func commit(_ transaction: WriteTransaction) throws -> Snapshot {
    let save = try write(transaction)
    try save.commit.waitUntilDurable()
    return finish(save)
  }

  /// The same without waiting for the disk: ``finish(_:)`` follows when the commit is durable.
  func write(_ transaction: WriteTransaction) throws -> WrittenSave {
    try requireCurrent()
    let (pending, count) = metadataState.withLock { ($0.pending, $0.setCount) }
    if let pending { try StoreSchema.replaceMetadata(by: pending, in: transaction) }
    return WrittenSave(commit: try transaction.write(), metadata: pending, setCount: count)
  }

  func finish(_ save: WrittenSave) -> Snapshot {
    let snapshot = save.commit.show()
    noteSaved(save.metadata, save.setCount)
    return snapshot
  }

  /// Commits a save to an incremental store, whose commits the transaction only numbers.
  ///
  /// - Parameter body: writes the save; called with the metadata.
  func commit(
    _ transaction: WriteTransaction, with body: ([String: any Sendable]?) throws -> Void
  ) throws -> Snapshot {
    try requireCurrent()
    let (pending, count) = metadataState.withLock { ($0.pending, $0.setCount) }
    if let pending { try StoreSchema.replaceMetadata(by: pending, in: transaction) }
    try recordCommit(in: transaction)
    try body(pending?.mapValues(\.sendableValue))
    // The incremental store has the save, even if the commit that numbers it fails.
    let snapshot = try (try? transaction.commitAndShow()) ?? pages.snapshot()
    noteSaved(pending, count)
    return snapshot
  }

  private func requireCurrent() throws {
    guard entities.isRetired else { return }
    throw PersistenceError(
      .persistentStoreSave,
      "the coordinator has let go of the store meanwhile: save again for the one that it has now")
  }

  private func noteSaved(_ metadata: [String: MetadataValue]?, _ count: Int) {
    guard let metadata else { return }
    metadataState.withLock { state in
      state.saved = metadata
      // Other metadata may have been set in the meantime.
      if state.setCount == count { state.pending = nil }
    }
  }

  /// Makes a change, as a transaction without any is no commit, and would not be noticed by others.
  private func recordCommit(in transaction: WriteTransaction) throws {
    let tree =
      try transaction.mutableIndexTree("commits") ?? transaction.createIndexTree("commits")
    let number = withUnsafeBytes(of: transaction.commitNumber.rawValue.littleEndian) { Array($0) }
    try tree.put(number, for: Array("last".utf8))
  }

  /// Saves only metadata, if some were set since the last save.
  func saveMetadata() throws {
    guard metadataState.withLock({ $0.pending != nil }) else { return }
    do {
      let transaction = try pages.beginWrite()
      do {
        if let incremental {
          _ = try commit(transaction) { metadata in
            var request = IncrementalStoreSave()
            request.metadata = metadata
            _ = try incremental.asking(.persistentStoreSave, to: "write its metadata") {
              try $0.execute(request)
            }
          }
        } else {
          try commit(transaction)
        }
      } catch {
        transaction.abort()
        throw error
      }
    } catch let error as StorageError {
      throw PersistenceError(
        .persistentStoreSave, "the store's metadata could not be written",
        orUnknown: "whether the store's metadata was written", error)
    }
  }
}
