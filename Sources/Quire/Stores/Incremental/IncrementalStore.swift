import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store whose rows are kept by other means than Quire's files, such as a server or another
/// database. Contexts use it like any other store.
///
/// A conforming type is registered with a coordinator
/// (``PersistentStoreCoordinator/registerStoreClass(forStoreType:_:)``) and added like any store.
/// It only reads and writes rows by their keys; objects, changes, inverses, delete rules, undo,
/// merging and notices are managed by contexts.
///
/// ## Requirements
///
/// A store provides its identity (``loadMetadata()``), the rows that may match a request
/// (``execute(_:)-(IncrementalStoreFetch)``), the values of rows (``newValues(forObjectsWith:)``)
/// and numbers for new objects (``obtainPermanentIDs(for:)``), and it writes the changes of a save
/// (``execute(_:)-(IncrementalStoreSave)``). Everything else has a default:
///
/// - It may answer a request with all rows of its entities. The context filters, sorts and limits
///   what the store has not, with the same result.
/// - The members of a to-many relationship with a to-one inverse are found by the inverse; the
///   store must provide those of others (``newValue(forRelationship:forObjectWith:)``).
///
/// ## Calls
///
/// Calls are made on demand: a fetch asks for keys, and for rows if it must read their values; a
/// fault asks for its row when it is used, a relationship for its members when it is read. A
/// context keeps the answers until its next fetch, save, merge or refresh. Objects keep their rows
/// until they are refreshed. There are no snapshots: two answers may show two states.
///
/// ## Isolation and errors
///
/// All calls are synchronous and may come from several threads at once, and may read during a save;
/// saves are serialised for each added store. Arguments and results are values. An error that the
/// store throws is thrown where the context was called: unchanged if it is a ``PersistenceError``,
/// otherwise as the ``PersistenceError/underlying`` of one; the context is unchanged then. Answers
/// that contradict the model are errors, too.
public protocol IncrementalStore: Sendable {
  /// The store's description of itself, read once when it is added.
  ///
  /// The identifier is part of every object's ID and never changes.
  func loadMetadata() throws -> IncrementalStoreMetadata

  /// The rows of the request's entities that may match: at least those that satisfy its predicate,
  /// in any order, as keys or with their values.
  func execute(_ request: IncrementalStoreFetch) throws -> IncrementalStoreAnswer

  /// The number of rows that match a request, which has no limit; `nil`, the default, to let the
  /// context count.
  func count(_ request: IncrementalStoreFetch) throws -> Int?

  /// The values of rows, in any order. Rows that do not exist are left out.
  func newValues(forObjectsWith keys: [IncrementalStoreKey]) throws -> [IncrementalStoreNode]

  /// The members of a to-many relationship, in order if it is ordered; `nil`, the default, to let
  /// the context find them by the inverse, which must be to-one, and only for a relationship
  /// without an order.
  func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith key: IncrementalStoreKey
  ) throws -> [IncrementalStoreKey]?

  /// Numbers for new objects, one for each of the entities in their order: from 1 to
  /// ``IncrementalStoreKey/maximumNumber``, and never used before. Numbers of objects that are not
  /// saved stay unused.
  func obtainPermanentIDs(for entityNames: [String]) throws -> [Int64]

  /// Writes all changes of a save, or throws without writing any.
  ///
  /// The context has compared the versions of the rows before this call. A store to which others
  /// write must compare them again (``IncrementalStoreSave/conflicts(_:)``), in the same step in
  /// which it writes, and throw ``IncrementalStoreConflict``: the context then applies its merge
  /// policy.
  ///
  /// - Returns: rows that the store has written differently, such as with another version; mostly
  ///   none.
  func execute(_ request: IncrementalStoreSave) throws -> [IncrementalStoreNode]

  /// Called when the store was removed from its coordinator. The default does nothing.
  func close() throws
}

extension IncrementalStore {
  /// `nil`: rows are looked for and counted.
  public func count(_ request: IncrementalStoreFetch) throws -> Int? { nil }

  /// `nil`: members are looked for by the other side of the relationship.
  public func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith key: IncrementalStoreKey
  ) throws -> [IncrementalStoreKey]? { nil }

  /// Does nothing.
  public func close() throws {}
}

/// An incremental store's description of itself.
public struct IncrementalStoreMetadata: Sendable {
  /// The store's UUID, the same for as long as it exists.
  public var identifier: UUID
  /// The version hashes of the model of its rows; `nil` if the store has none, so that a different
  /// model is not detected.
  public var versionHashes: [String: VersionHash]?
  /// The user's metadata (``PersistentStoreCoordinator/setMetadata(_:for:)``), as last written by
  /// ``IncrementalStoreSave/metadata``.
  public var userMetadata: [String: any Sendable]

  /// What a store says when it is opened.
  ///
  /// - Parameters:
  ///   - identifier: the store's UUID, the same for as long as it exists.
  ///   - versionHashes: of the model that the store was written with; `nil` where it knows none.
  ///   - userMetadata: what the application keeps in the store.
  public init(
    identifier: UUID, versionHashes: [String: VersionHash]? = nil,
    userMetadata: [String: any Sendable] = [:]
  ) {
    self.identifier = identifier
    self.versionHashes = versionHashes
    self.userMetadata = userMetadata
  }
}

/// The location and the purpose for which an incremental store is added.
public struct IncrementalStorePlace: Sendable {
  /// The type that the store was added as.
  public let type: StoreType
  /// The URL with which the store was added; its meaning is up to the store.
  public let url: URL?
  /// The part of the coordinator's model that the store is for.
  public let model: ManagedObjectModel
  /// The name of the configuration; `DefaultConfigurationName` for all entities.
  public let configurationName: String
  /// The options with which the store was added, such as ``PersistentStoreOptions/isReadOnly``.
  public let options: PersistentStoreOptions
}

/// The error for a save whose rows have other versions in the store.
public struct IncrementalStoreConflict: Error, Hashable {
  /// The rows in conflict, for messages: the context determines conflicts itself.
  public var keys: [IncrementalStoreKey]

  /// - Parameter keys: the rows that have other versions.
  public init(_ keys: [IncrementalStoreKey]) { self.keys = keys }
}
