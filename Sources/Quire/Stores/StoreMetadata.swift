import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What a store says about itself under Core Data's keys, and what the user has added to it.

/// The store's UUID as a text. Cannot be set.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let StoreUUIDKey = "NSStoreUUID"
/// The raw value of the store's ``StoreType``. Cannot be set.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let StoreTypeKey = "NSStoreType"
/// The version identifiers of that model: `[String]`. What is set here is passed over.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let StoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// The version hash of that model as a whole, as a text. What is set here is passed over.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let StoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// The metadata of one store.
struct StoreMetadata {
  let identity: StoreIdentity
  let type: StoreType
  let model: ManagedObjectModel
  var user: [String: MetadataValue]

  /// All of it, under Core Data's keys.
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

  /// The user's part of a dictionary that may be what ``dictionary`` was, with changes.
  ///
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` for what cannot be kept;
  ///   ``PersistenceError/Code/persistentStoreOperation`` when it would give the store another UUID
  ///   or type.
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
  /// The user's metadata, as they are known here.
  struct MetadataState {
    var saved: [String: MetadataValue]
    /// What the next save writes.
    var pending: [String: MetadataValue]?
    /// Counts what was set.
    var setCount = 0
  }

  /// What the store says about itself: Core Data's keys (``StoreUUIDKey`` and its neighbours), and
  /// what was set with ``PersistentStoreCoordinator/setMetadata(_:for:)``, saved or not.
  ///
  /// Of a store that can no longer be read, as it was last known.
  public var metadata: [String: Any] {
    let user =
      metadataState.withLock { $0.pending } ?? (try? readMetadata())
      ?? metadataState.withLock { $0.saved }
    return facts(user).dictionary
  }

  private func facts(_ user: [String: MetadataValue]) -> StoreMetadata {
    StoreMetadata(identity: identity, type: type, model: entities.model, user: user)
  }

  /// Another coordinator may have saved other metadata.
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

  /// Commits a save, and with it the metadata that were set since the last.
  ///
  /// - Parameter body: makes the commit true in a store of another make, where the transaction only
  ///   counts it; gets the metadata.
  /// - Returns: the store as this commit left it.
  /// - Throws: also when the store has left its coordinator since the transaction began: what would
  ///   be committed now, nobody would find.
  @discardableResult
  func commit(
    _ transaction: WriteTransaction, with body: (([String: any Sendable]?) throws -> Void)? = nil
  ) throws -> Snapshot {
    guard !entities.isRetired else {
      throw PersistenceError(
        .persistentStoreSave,
        "the coordinator has let go of the store meanwhile: save again for the one that it has now")
    }
    let (pending, count) = metadataState.withLock { ($0.pending, $0.setCount) }
    if let pending { try StoreSchema.replaceMetadata(by: pending, in: transaction) }
    let snapshot: Snapshot
    if let body {
      try noteCommit(in: transaction)
      try body(pending?.mapValues(\.sendableValue))
      // The store has it now, whether it can be counted or not.
      snapshot = try (try? transaction.commitAndShow()) ?? pages.snapshot()
    } else {
      snapshot = try transaction.commitAndShow()
    }
    guard let pending else { return snapshot }
    metadataState.withLock { state in
      state.saved = pending
      // Others may have been set meanwhile.
      if state.setCount == count { state.pending = nil }
    }
    return snapshot
  }

  /// A transaction that changes nothing is no commit, and nobody would hear of it.
  private func noteCommit(in transaction: WriteTransaction) throws {
    let tree =
      try transaction.mutableIndexTree("commits") ?? transaction.createIndexTree("commits")
    let number = withUnsafeBytes(of: transaction.commitNumber.rawValue.littleEndian) { Array($0) }
    try tree.put(number, for: Array("last".utf8))
  }

  /// Saves metadata alone, if some were set since the last save.
  func saveMetadata() throws {
    guard metadataState.withLock({ $0.pending != nil }) else { return }
    do {
      let transaction = try pages.beginWrite()
      do {
        if let incremental {
          try commit(transaction) { metadata in
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
        .persistentStoreSave, "the store's metadata could not be written", underlying: error)
    }
  }
}
