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
  /// The stages in the order in which a store goes through them.
  public let stages: [any MigrationStage]
  /// The class of the objects that handlers see.
  let objectClass: ManagedObject.Type
  /// The container of the handler that is being called.
  let current = Mutex<(any HandlerStack)?>(nil)

  /// - Parameters:
  ///   - stages: in the order of the versions' history. They are checked when a store is opened.
  ///   - objectClass: the class of the objects that handlers see, of any entity.
  public init(
    _ stages: [any MigrationStage], objectClass: ManagedObject.Type = ManagedObject.self
  ) {
    self.stages = stages
    self.objectClass = objectClass
  }
}

/// The stack that a handler of a stage gets to work with.
protocol HandlerStack: AnyObject, Sendable {}
