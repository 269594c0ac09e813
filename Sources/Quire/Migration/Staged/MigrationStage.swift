import QuireModel
import Synchronization

/// A part of the way of a ``StagedMigrationManager``: a ``LightweightMigrationStage`` or a
/// ``CustomMigrationStage``.
public protocol MigrationStage: AnyObject, Sendable {
  /// For people: in errors, in a ``MigrationPath`` and in progress.
  var label: String? { get set }
}

/// Versions of a model that follow each other by inferred migrations.
///
/// A store at any of them goes over the others, in their order, to the model of the next stage, or
/// to the current one after the last. A version whose model the coordinator does not know cannot be
/// stopped at, and is passed over; a store at it can be migrated, for it carries its model.
public final class LightweightMigrationStage: MigrationStage {
  /// ``ManagedObjectModel/versionChecksum`` of each version as text, in the order of their history.
  public let versionChecksums: [String]
  private let text = Mutex<String?>(nil)

  public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }

  public convenience init(_ versionChecksums: [VersionHash]) {
    self.init(versionChecksums.map(\.description))
  }

  public var label: String? {
    get { text.withLock { $0 } }
    set { text.withLock { $0 = newValue } }
  }
}

/// An inferred migration from one version to the next, with code of the application's before and
/// behind it.
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
/// The stage is whole or has not happened: handlers work on a copy of the store, which takes the
/// place of the original by one commit when the last handler has returned. After a crash or an
/// error the store is as it was before the stage, and the next opening begins the stage anew.
public final class CustomMigrationStage: MigrationStage {
  /// Runs where the store is opened. What it throws is thrown by the opening.
  ///
  /// Changes count when a context of ``StagedMigrationManager/container`` was saved.
  public typealias Handler =
    @Sendable (_ manager: StagedMigrationManager, _ stage: CustomMigrationStage) throws -> Void

  private struct State: Sendable {
    var label: String?
    var willMigrate: Handler?
    var didMigrate: Handler?
  }

  /// The version that the stage begins with, and the one it makes.
  public let currentModel: ManagedObjectModelReference
  public let nextModel: ManagedObjectModelReference
  private let state = Mutex(State())

  public init(
    migratingFrom currentModel: ManagedObjectModelReference,
    to nextModel: ManagedObjectModelReference
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
  }

  public var label: String? {
    get { state.withLock { $0.label } }
    set { state.withLock { $0.label = newValue } }
  }

  /// Called with the store at the stage's current version.
  public var willMigrateHandler: Handler? {
    get { state.withLock { $0.willMigrate } }
    set { state.withLock { $0.willMigrate = newValue } }
  }

  /// Called with the store at the stage's next version.
  public var didMigrateHandler: Handler? {
    get { state.withLock { $0.didMigrate } }
    set { state.withLock { $0.didMigrate = newValue } }
  }

  /// A stage without handlers needs no copy of the store.
  var hasHandlers: Bool { willMigrateHandler != nil || didMigrateHandler != nil }
}
