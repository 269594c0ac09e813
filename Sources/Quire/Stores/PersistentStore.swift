import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store that a coordinator has opened.
///
/// It is of use until the coordinator removes it, or puts another one in its place
/// (``PersistentStoreCoordinator/migratePersistentStore(_:to:options:type:)``).
public final class PersistentStore: Sendable {
  public let type: StoreType
  /// The file, or `/dev/null`; `nil` for another store in memory.
  public let url: URL?
  public let isReadOnly: Bool
  /// The name of the model's configuration that the store is for; `DefaultConfigurationName` where
  /// it is for all entities.
  public let configurationName: String
  /// What opening the store changed in it; `nil` when it had the current version already.
  public let migrationReport: MigrationReport?
  /// Where rows and links are; in a store of another make nothing but what says which commit comes
  /// after which, and who may write.
  let pages: PageStore
  let entities: StoreEntities
  /// The store, if it is of another make.
  let incremental: IncrementalSource?
  let metadataState: Mutex<MetadataState>
  /// Tells of saves, by whichever coordinator of this process; shared by all that have the file.
  let hub: CommitHub

  init(
    type: StoreType, url: URL?, isReadOnly: Bool, pages: PageStore, entities: StoreEntities,
    migrationReport: MigrationReport?, configurationName: String = DefaultConfigurationName,
    incremental: IncrementalSource? = nil
  ) {
    self.type = type
    self.url = url
    self.isReadOnly = isReadOnly
    self.pages = pages
    self.entities = entities
    self.migrationReport = migrationReport
    self.configurationName = configurationName
    self.incremental = incremental
    metadataState = Mutex(MetadataState(saved: entities.schema.metadata))
    hub = pages.companion { CommitHub() }
    if entities.schema.history != nil { hub.noteHistory() }
  }

  var identity: StoreIdentity { pages.identity }

  /// For people.
  var name: String {
    if incremental != nil { return type.rawValue }
    return url.flatMap { type.hasFile(at: $0) ? $0.lastPathComponent : nil } ?? "memory"
  }

  /// The store's UUID, kept for its whole life and through every migration.
  public var identifier: UUID { UUID(pages.identity) }

  /// The name of the model's version the store has, when its model has named versions.
  public var versionName: String? { entities.schema.versionName }

  /// The migrations the store has been through, oldest first: the last 50 of them.
  public var migrationHistory: [MigrationRecord] { entities.schema.migrations }

  /// What the engine says about the store's pages; of a store of another make nothing of use.
  public var statistics: StoreStatistics { pages.statistics }

  /// The state that a snapshot has; of a store of another make, what it is from now on.
  func view(_ snapshot: Snapshot) -> StoreView {
    StoreView(entities, snapshot, nil, incremental.map { IncrementalRows($0) })
  }

  /// Calls `body` with the trees of the last save.
  package func withSnapshot<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    try body(try pages.snapshot())
  }

  /// To be called by the coordinator that lets go of the store.
  func close() throws {
    let closing = Result { try storage { () throws(StorageError) in try pages.close() } }
    try incremental?.asking(to: "be closed") { try $0.close() }
    try closing.get()
  }

  /// Writes the last save into a new file, which is then a closed store of its own with the same
  /// UUID. The store can be used meanwhile.
  ///
  /// - Throws: when there is a file already, or it cannot be written. No file is left then.
  package func backUp(to url: URL) throws {
    if incremental != nil { throw IncrementalStoreOpening.refusal(of: "copied to a file", self) }
    do {
      try pages.backUp(to: url.path(percentEncoded: false))
    } catch {
      throw PersistenceError(
        .persistentStoreOperation,
        "the store cannot be copied to \(url.path(percentEncoded: false))", underlying: error)
    }
  }
}
