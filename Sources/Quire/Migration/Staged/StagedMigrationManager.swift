import QuireModel
import Synchronization

/// Migrates stores in stages that the application defines: inferred ones, and ones with custom
/// code.
///
/// ```swift
/// var options = PersistentStoreOptions.migrating
/// options.stagedMigrationManager = StagedMigrationManager([
///   LightweightMigrationStage([v1.versionChecksum]), split, LightweightMigrationStage(later),
/// ])
/// ```
///
/// The stages contain the versions of the model in the order of their history. A store starts at
/// its own version and continues to the coordinator's current model, which need not be in a stage
/// if it can be inferred from the last version. Each step is one commit; after a crash or an error
/// the next opening continues after the last completed one.
///
/// A manager can be used from any thread, for one store at a time.
public final class StagedMigrationManager: Sendable {
  public let stages: [any MigrationStage]
  private let current = Mutex<PersistentContainer?>(nil)

  public init(_ stages: [any MigrationStage]) { self.stages = stages }

  /// The store of the stage in progress, in the version for which the handler is called. All its
  /// objects are plain ``ManagedObject``s.
  ///
  /// `nil` outside of handlers. Its contexts have no store after the handler has returned.
  public var container: PersistentContainer? { current.withLock { $0 } }

  /// The container, within a handler.
  ///
  /// - Throws: ``PersistenceError/Code/migration`` outside of handlers.
  public var requiredContainer: PersistentContainer {
    get throws {
      if let container { return container }
      throw PersistenceError(
        .migration, "a staged migration has a container while a handler of a stage is called only")
    }
  }

  /// Calls a handler with a store that the caller closes.
  func with(
    _ store: PersistentStore, of version: VersionedModel.Version, _ body: () throws -> Void
  ) throws {
    let container = PersistentContainer(name: version.name, managedObjectModel: version.model)
    let coordinator = container.persistentStoreCoordinator
    coordinator.attach(store)
    defer { coordinator.detach() }
    let isFree = current.withLock { current in
      guard current == nil else { return false }
      current = container
      return true
    }
    guard isFree else {
      throw PersistenceError(
        .migration, "the staged migration manager is at work on another store")
    }
    defer { current.withLock { $0 = nil } }
    try body()
  }
}
