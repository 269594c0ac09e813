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
/// It can be used until the coordinator removes or replaces it
/// (``PersistentStoreCoordinator/migratePersistentStore(_:to:options:type:)``).
public final class PersistentStore: Sendable {
  /// Whether the store is a file, in memory, or of another make.
  public let type: StoreType
  /// The file, or `/dev/null`; `nil` for a store in memory without a URL.
  public let url: URL?
  /// Whether nothing can be saved to the store.
  public let isReadOnly: Bool
  /// The name of the model's configuration that the store is for; `DefaultConfigurationName` for
  /// all entities.
  public let configurationName: String
  /// The report of the migration when the store was opened; `nil` if it had the current version
  /// already.
  public let migrationReport: MigrationReport?
  /// The trees of rows and links. For an incremental store it only orders commits and serialises
  /// writers.
  let pages: PageStore
  let entities: StoreEntities
  /// The incremental store, if this is one.
  let incremental: IncrementalSource?
  let metadataState: Mutex<MetadataState>
  /// Notifies of saves by all coordinators of this process that have the file open.
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
    hub = pages.attachment { CommitHub() }
    // Another process may begin one at any time.
    if entities.schema.history != nil || pages.isFollowing { hub.recordHistory() }
  }

  var identity: StoreIdentity { pages.identity }

  /// A name for messages.
  var name: String {
    if incremental != nil { return type.rawValue }
    return url.flatMap { type.hasFile(at: $0) ? $0.lastPathComponent : nil } ?? "memory"
  }

  /// The store's UUID, which migrations keep.
  public var identifier: UUID { UUID(pages.identity) }

  /// The name of the store's model version, if its model has named versions.
  public var versionName: String? { entities.schema.versionName }

  /// The migrations of the store, oldest first: the last 50.
  public var migrationHistory: [MigrationRecord] { entities.schema.migrations }

  /// Statistics of the engine about the store's pages; meaningless for an incremental store.
  public var statistics: StoreStatistics { pages.statistics }

  /// Calls `body` with the trees of the last save.
  package func withSnapshot<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    try body(try pages.snapshot())
  }

  /// Lets the hub hear of other processes' commits while somebody listens to it.
  func watch() {
    pages.watch { [weak hub] in hub?.isListened ?? false }
  }

  /// Closes the store. Called by the coordinator that removes it.
  func close() throws {
    let closing = Result { try storage { () throws(StorageError) in try pages.close() } }
    try incremental?.asking(to: "be closed") { try $0.close() }
    try closing.get()
  }
}
