import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store of another make: its rows are wherever it keeps them, and contexts work with them as
/// with any other store's.
///
/// A type that conforms is registered with a coordinator
/// (``PersistentStoreCoordinator/registerStoreClass(forStoreType:_:)``) and added like any store.
/// It answers a few questions about rows by their keys; objects, changes, inverses, delete rules,
/// undo, merging and notices are the contexts' business.
///
/// ## What a store has to say
///
/// Which store it is (``loadMetadata()``), which rows there may be for a request
/// (``execute(_:)-(IncrementalStoreFetch)``), what they hold (``newValues(forObjectsWith:)``),
/// which numbers new objects get (``obtainPermanentIDs(for:)``); and it takes what a save changes
/// (``execute(_:)-(IncrementalStoreSave)``). Everything else has a default:
///
/// - It may answer a request with all rows of its entities: what it did not filter, sort or cut is
///   filtered, sorted and cut by the context, with the same result.
/// - The members of a to-many relationship whose inverse is to-one are found by the inverse; the
///   store has to know those of others (``newValue(forRelationship:forObjectWith:)``).
///
/// ## When it is asked
///
/// On demand: a fetch asks for keys, and for rows as far as it has to look into them; a fault asks
/// for its row when it is used, a relationship for its members when it is read. A context keeps
/// what was answered until its next fetch, save, merge or refresh. Objects keep their rows, as
/// anywhere, until they are refreshed. There are no snapshots: two answers may show two states.
///
/// ## Isolation and errors
///
/// All calls are synchronous and may come from several threads at once, reading ones beside a save;
/// of saves there is one at a time for each added store. What is given and what is answered are
/// values. An error that is thrown arrives where the context was asked, as it is if it is a
/// ``PersistenceError``, otherwise as the ``PersistenceError/underlying`` of one; nothing in the
/// context has changed then. Answers that contradict the model are errors, too.
public protocol IncrementalStore: Sendable {
  /// What the store says about itself, asked once when it is added.
  ///
  /// The identifier is part of every object's ID and never changes.
  func loadMetadata() throws -> IncrementalStoreMetadata

  /// The rows of the entities that a request names: those that satisfy its predicate at least, in
  /// any order, as keys or with what they hold.
  func execute(_ request: IncrementalStoreFetch) throws -> IncrementalStoreAnswer

  /// How many rows satisfy a request, which has no limit; `nil` to let the context count. The
  /// default.
  func count(_ request: IncrementalStoreFetch) throws -> Int?

  /// What rows hold, in any order. Those that are not there are left out.
  func newValues(forObjectsWith keys: [IncrementalStoreKey]) throws -> [IncrementalStoreNode]

  /// The members of a to-many relationship, in order if it has one; `nil` to let the context find
  /// them by the inverse, the default, where the inverse is to-one and the relationship has no
  /// order.
  func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith key: IncrementalStoreKey
  ) throws -> [IncrementalStoreKey]?

  /// Numbers for new objects, one for each of the entities in their order: never given before, from
  /// 1 to ``IncrementalStoreKey/maximumNumber``. Those of objects that are not saved after all stay
  /// unused.
  func obtainPermanentIDs(for entityNames: [String]) throws -> [Int64]

  /// Writes all of a save, or nothing and throws.
  ///
  /// The context has compared the versions of what it writes before this call. A store that others
  /// write to compares them again (``IncrementalStoreSave/conflicts(_:)``), in the same step in
  /// which it writes, and throws ``IncrementalStoreConflict``: the context's merge policy is asked
  /// then.
  ///
  /// - Returns: rows that are otherwise than they were given, such as with another version; mostly
  ///   none.
  func execute(_ request: IncrementalStoreSave) throws -> [IncrementalStoreNode]

  /// Called when the store has left its coordinator. The default does nothing.
  func close() throws
}

extension IncrementalStore {
  public func count(_ request: IncrementalStoreFetch) throws -> Int? { nil }

  public func newValue(
    forRelationship relationship: RelationshipDescription, forObjectWith key: IncrementalStoreKey
  ) throws -> [IncrementalStoreKey]? { nil }

  public func close() throws {}
}

/// What a store of another make says about itself.
public struct IncrementalStoreMetadata: Sendable {
  /// The store's UUID, the same for as long as it exists.
  public var identifier: UUID
  /// The version hashes of the model that its rows are of; `nil` when the store keeps none: then
  /// nobody notices that the model is another one.
  public var versionHashes: [String: VersionHash]?
  /// What the user has set (``PersistentStoreCoordinator/setMetadata(_:for:)``), as
  /// ``IncrementalStoreSave/metadata`` gave it.
  public var userMetadata: [String: any Sendable]

  public init(
    identifier: UUID, versionHashes: [String: VersionHash]? = nil,
    userMetadata: [String: any Sendable] = [:]
  ) {
    self.identifier = identifier
    self.versionHashes = versionHashes
    self.userMetadata = userMetadata
  }
}

/// Where and for what a store of another make is added.
public struct IncrementalStorePlace: Sendable {
  public let type: StoreType
  /// What the store was added at, whatever that means to it.
  public let url: URL?
  /// What of the coordinator's model the store is for.
  public let model: ManagedObjectModel
  /// The name of the configuration; `DefaultConfigurationName` for all entities.
  public let configurationName: String
  /// ``PersistentStoreOptions/isReadOnly`` among others, as far as they mean something to the
  /// store.
  public let options: PersistentStoreOptions
}

/// The store has other versions of rows than a save was made on.
public struct IncrementalStoreConflict: Error, Hashable {
  /// For people: conflicts are looked for anew.
  public var keys: [IncrementalStoreKey]

  public init(_ keys: [IncrementalStoreKey]) { self.keys = keys }
}
