import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Executes the steps of a path, each in one commit.
struct MigrationRun {
  let path: MigrationPath
  let options: PersistentStoreOptions
  /// The store's file.
  let url: URL?
  let fileSystem: any FileSystem

  /// - Returns: the report, and the schema that the last step wrote, if it is known.
  /// - Throws: the error of the step that fails, with the step in its message if there are several.
  ///   The store has the version of the step before.
  func run(in pages: PageStore) throws -> (report: MigrationReport, schema: StoreSchema?) {
    let clock = ContinuousClock()
    let start = clock.now
    let progress = options.migrationProgress
    progress?.begin(stepCount: path.steps.count)
    let backup = url.flatMap { options.migrationBackup.url(forStoreAt: $0) }
    var pending = backup.map { PendingBackup(url: $0, fileSystem: fileSystem) }
    var plans: [MigrationPlan] = []
    var schema: StoreSchema?
    for (index, step) in path.steps.enumerated() {
      let meter = StepProgress(
        progress, step: index, of: path.steps.count, from: step.source.name)
      do {
        try meter.check()
        let outcome = try carryOut(step, in: pages, pending, meter)
        plans.append(outcome.plan)
        schema = outcome.schema
      } catch {
        throw naming(step, index, error)
      }
      pending = nil
      meter.report(1, "\(step.destination.name) is there")
    }
    guard let plan = plans.last else {
      throw PersistenceError(.migration, "there is no step to migrate the store by")
    }
    let report = MigrationReport(
      plan: plan, plans: plans, duration: clock.now - start, backup: backup)
    return (report, schema)
  }

  private func carryOut(
    _ step: MigrationPath.Step, in pages: PageStore, _ backup: PendingBackup?,
    _ progress: StepProgress
  ) throws -> MigrationOutcome {
    if let stage = step.stage as? CustomMigrationStage, stage.hasHandlers,
      let manager = options.stagedMigrationManager
    {
      try backup?.make(of: pages, progress)
      let run = CustomStageRun(
        manager: manager, stage: stage, step: step, url: url, fileSystem: fileSystem,
        progress: progress)
      return MigrationOutcome(plan: try run.run(in: pages), schema: nil)
    }
    return try step.carryOut(in: pages, at: url, fileSystem, backup, progress)
  }

  /// The error with the step in its message, if there are several steps. Errors of mappings,
  /// policies and stages are unchanged.
  private func naming(_ step: MigrationPath.Step, _ index: Int, _ error: any Error) -> any Error {
    guard path.steps.count > 1, var error = error as? PersistenceError else { return error }
    let heading = "step \(index + 1) of \(path.steps.count), \(step)"
    error.message = "\(heading): \(error.message)"
    return error
  }
}

extension MigrationPath.Step {
  /// Migrates a store from the step's source to its destination, in one commit, without the
  /// handlers of a stage.
  func carryOut(
    in pages: PageStore, at url: URL?, _ fileSystem: any FileSystem, _ backup: PendingBackup?,
    _ progress: StepProgress
  ) throws -> MigrationOutcome {
    guard let mappingModel, needsObjects else {
      var migration = Migration(from: source, to: destination)
      migration.defers = defers
      migration.backup = backup
      migration.progress = progress
      return try migration.run(in: pages)
    }
    guard let url else {
      throw PersistenceError(
        .migration, "only a store in a file can be migrated by a mapping model")
    }
    let plan = try pages.read { try self.plan(for: $0) }
    try backup?.make(of: pages, progress)
    let manager = MigrationManager(
      sourceModel: source.model, destinationModel: destination.model)
    manager.step = progress
    try manager.migrate(
      pages, mappingModel, at: fileSystem.destination(of: url.path(percentEncoded: false)),
      versionName: destination.name, in: fileSystem)
    return MigrationOutcome(plan: plan, schema: nil)
  }
}
