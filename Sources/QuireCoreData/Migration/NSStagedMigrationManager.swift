import Foundation
import Quire
import QuireModel

/// A stage of an ``NSStagedMigrationManager``: an ``NSLightweightMigrationStage`` or an
/// ``NSCustomMigrationStage``.
open class NSMigrationStage: NSObject {
  /// A label for people, in errors and in progress.
  open var label: String?

  /// Quire's form of the stage.
  func resolved(_ manager: NSStagedMigrationManager) throws -> any MigrationStage {
    throw PersistenceError(
      .migration,
      "\(type(of: self)) is no stage: make an NSLightweightMigrationStage or an "
        + "NSCustomMigrationStage")
  }
}

/// Consecutive versions of a model, connected by inferred migrations.
open class NSLightweightMigrationStage: NSMigrationStage {
  /// ``NSManagedObjectModel/versionChecksum`` of each version, in the order of their history.
  public let versionChecksums: [String]

  /// - Parameter versionChecksums: in the order of the versions' history.
  public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }

  override func resolved(_ manager: NSStagedMigrationManager) throws -> any MigrationStage {
    let stage = LightweightMigrationStage(versionChecksums)
    stage.label = label
    return stage
  }
}

/// An inferred migration from one version to the next, with code of the application before and
/// after it. All of it is done, or nothing.
open class NSCustomMigrationStage: NSMigrationStage {
  /// What an application does before or after a stage, where the store is opened; its errors are
  /// thrown there. ``NSStagedMigrationManager/container`` has the store.
  public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void

  /// The version before the stage.
  public let currentModel: NSManagedObjectModelReference
  /// The version that the stage makes.
  public let nextModel: NSManagedObjectModelReference
  /// Is called when the store has the current version.
  open var willMigrateHandler: Handler?
  /// Is called when the store has the next version.
  open var didMigrateHandler: Handler?

  /// A stage between two versions.
  public init(
    migratingFrom currentModel: NSManagedObjectModelReference,
    to nextModel: NSManagedObjectModelReference
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
  }

  override func resolved(_ manager: NSStagedMigrationManager) throws -> any MigrationStage {
    let stage = CustomMigrationStage(
      migratingFrom: try currentModel.resolved(), to: try nextModel.resolved())
    stage.label = label
    stage.willMigrateHandler = call(willMigrateHandler, manager)
    stage.didMigrateHandler = call(didMigrateHandler, manager)
    return stage
  }

  /// Sound: a handler is called by the thread that opens the store, which waits for it.
  private struct Call: @unchecked Sendable {
    let handler: Handler
    let manager: NSStagedMigrationManager
    let stage: NSCustomMigrationStage
  }

  private func call(
    _ handler: Handler?, _ manager: NSStagedMigrationManager
  ) -> CustomMigrationStage.Handler? {
    guard let handler else { return nil }
    let call = Call(handler: handler, manager: manager, stage: self)
    return { quireManager, _ in
      try call.manager.during(quireManager) { try call.handler(call.manager, call.stage) }
    }
  }
}

/// Migrates stores in stages: the value of the option
/// ``NSPersistentStoreStagedMigrationManagerOptionKey``.
open class NSStagedMigrationManager: NSObject {
  /// The stages, in the order of the versions' history.
  public let stages: [NSMigrationStage]
  /// The store of the stage that is under way, at the version of the stage that the handler is
  /// called for; its objects are of the class `NSManagedObject`. `nil` but within a handler.
  open private(set) var container: NSPersistentContainer?

  /// - Parameter stages: in the order of the versions' history.
  public init(_ stages: [NSMigrationStage]) { self.stages = stages }

  /// Quire's form of the manager, for one store to open.
  func resolved() throws -> StagedMigrationManager {
    StagedMigrationManager(
      try stages.map { try $0.resolved(self) }, objectClass: NSManagedObject.self)
  }

  fileprivate func during(_ manager: StagedMigrationManager, _ body: () throws -> Void) throws {
    container = StageContainer(try manager.requiredContainer)
    defer { container = nil }
    try body()
  }
}

/// A container around one that Quire has made. A class of its own: subclasses of a class with
/// initialisers that they do not see would not have the others.
private final class StageContainer: NSPersistentContainer, @unchecked Sendable {
  private let stageCoordinator: NSPersistentStoreCoordinator

  init(_ container: PersistentContainer) {
    stageCoordinator = .of(container.persistentStoreCoordinator)
    super.init(
      name: container.name,
      managedObjectModel: NSManagedObjectModel(
        container.persistentStoreCoordinator.versionedModel))
  }

  override var persistentStoreCoordinator: NSPersistentStoreCoordinator { stageCoordinator }
}
