import QuireModel
import Synchronization

/// A stage of a ``StagedMigrationManager``: a ``LightweightMigrationStage`` or a
/// ``CustomMigrationStage``.
public protocol MigrationStage: AnyObject, Sendable {
  /// A label for errors, for a ``MigrationPath`` and for progress.
  var label: String? { get set }
}

/// Consecutive versions of a model, connected by inferred migrations.
///
/// A store of any of them is migrated through those that follow, in their order, to the model of
/// the next stage, or after the last stage to the current one. A version whose model the
/// coordinator does not have is skipped; a store of that version can be migrated, as it contains
/// its model.
public final class LightweightMigrationStage: MigrationStage {
  /// `ManagedObjectModel.versionChecksum` of each version as a string, in the order of their
  /// history.
  public let versionChecksums: [String]
  private let text = Mutex<String?>(nil)

  /// - Parameter versionChecksums: `ManagedObjectModel.versionChecksum` of each version, as 64
  ///   hexadecimal digits, in the order of the versions' history.
  public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }

  /// - Parameter versionChecksums: `ManagedObjectModel.versionChecksum` of each version, in the
  ///   order of the versions' history.
  public convenience init(_ versionChecksums: [VersionHash]) {
    self.init(versionChecksums.map(\.description))
  }

  /// For people: in errors, in a ``MigrationPath`` and in progress; `nil` for none.
  public var label: String? {
    get { text.withLock { $0 } }
    set { text.withLock { $0 = newValue } }
  }
}

/// An inferred migration from one version to the next, with code of the application before and
/// after it.
///
/// ```swift
/// let stage = CustomMigrationStage(migratingFrom: v2, to: v3)
/// stage.willMigrateHandler = { manager, _ in
///   let context = try manager.requiredContainer.newBackgroundContext()
///   …                                                      // the store has version 2
///   try context.save()
/// }
/// ```
///
/// The stage is executed completely or not at all: handlers work on a copy of the store, which
/// replaces the original in one commit after the last handler. After a crash or an error the store
/// is as it was before the stage, and the next opening starts the stage again.
public final class CustomMigrationStage: MigrationStage {
  /// A handler, called where the store is opened. Its errors are thrown there.
  ///
  /// Its changes take effect if a context of ``StagedMigrationManager/container`` is saved.
  public typealias Handler =
    @Sendable (_ manager: StagedMigrationManager, _ stage: CustomMigrationStage) throws -> Void

  private struct State: Sendable {
    var label: String?
    var willMigrate: Handler?
    var didMigrate: Handler?
  }

  /// The version before the stage, and the one after it.
  public let currentModel: ManagedObjectModelReference
  /// The version that the stage makes.
  public let nextModel: ManagedObjectModelReference
  private let state = Mutex(State())

  /// A stage without handlers, whose values are those of an inferred migration.
  public init(
    migratingFrom currentModel: ManagedObjectModelReference,
    to nextModel: ManagedObjectModelReference
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
  }

  /// For people: in errors, in a ``MigrationPath`` and in progress; `nil` for none.
  public var label: String? {
    get { state.withLock { $0.label } }
    set { state.withLock { $0.label = newValue } }
  }

  /// Called when the store has the stage's current version.
  public var willMigrateHandler: Handler? {
    get { state.withLock { $0.willMigrate } }
    set { state.withLock { $0.willMigrate = newValue } }
  }

  /// Called when the store has the stage's next version.
  public var didMigrateHandler: Handler? {
    get { state.withLock { $0.didMigrate } }
    set { state.withLock { $0.didMigrate = newValue } }
  }

  /// A stage without handlers needs no copy of the store.
  var hasHandlers: Bool { willMigrateHandler != nil || didMigrateHandler != nil }
}
