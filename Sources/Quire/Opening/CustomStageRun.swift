import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Executes a stage with handlers, on a copy that then replaces the store.
struct CustomStageRun {
  let manager: StagedMigrationManager
  let stage: CustomMigrationStage
  let step: MigrationPath.Step
  let url: URL?
  let fileSystem: any FileSystem
  let progress: StepProgress

  /// - Throws: an error, also of the handlers. The store is unchanged then.
  func run(in pages: PageStore) throws -> MigrationPlan {
    guard let url else {
      throw PersistenceError(
        .migration, "only a store in a file can be migrated by a stage with handlers")
    }
    let part = try copy(of: pages, at: url)
    defer { part.discard() }
    let before = try pages.snapshot().contentCommit
    if let handler = stage.willMigrateHandler {
      try progress.reach(0.2, "before \(name)")
      try call(handler, part.pages, step.source, url)
    }
    try progress.check()
    let plan = try step.carryOut(
      in: part.pages, at: url.appendingToName(CustomStageRun.suffix), fileSystem, nil,
      progress.scaled(from: 0.2, to: 0.7)
    ).plan
    if let handler = stage.didMigrateHandler {
      try progress.reach(0.7, "after \(name)")
      try call(handler, part.pages, step.destination, url)
    }
    try progress.reach(0.8, "committing \(name)")
    try pages.replaceContent(by: try part.pages.snapshot(), since: before, progress)
    return plan
  }

  private static let suffix = "-migrating"

  private var name: String { stage.label ?? step.destination.name }

  private func copy(of pages: PageStore, at url: URL) throws -> PartialStore {
    try progress.reach(0, "copying for \(name)")
    var options = PageStoreOptions()
    options.identity = pages.identity
    // Never opened again, so that it need not be durable.
    options.durability = .none
    let part = try PartialStore(
      path: fileSystem.destination(of: url.path(percentEncoded: false)),
      suffix: CustomStageRun.suffix, mustNotExist: false, model: step.source.model,
      versionName: nil, options: options, in: fileSystem)
    do {
      let snapshot = try pages.snapshot()
      try part.pages.write { transaction in
        try transaction.copyTrees(of: snapshot) { _, _ in progress.goesOn }
      }
    } catch {
      part.discard()
      throw progress.error(for: error)
    }
    return part
  }

  private func call(
    _ handler: CustomMigrationStage.Handler, _ pages: PageStore,
    _ version: VersionedModel.Version, _ url: URL
  ) throws {
    let schema = try pages.read { try StoreSchema(from: $0) }
    guard let schema else { throw StoreSchema.damaged("is missing") }
    let store = PersistentStore(
      type: .quire, url: url, isReadOnly: false, pages: pages,
      entities: try StoreEntities(
        ModelBinding(version.model), schema: schema, identity: pages.identity),
      migrationReport: nil)
    try manager.with(store, of: version) { try handler(manager, stage) }
  }
}

extension URL {
  fileprivate func appendingToName(_ suffix: String) -> URL {
    URL(filePath: CompanionName.path(of: path(percentEncoded: false), suffix))
  }
}

extension StepProgress {
  /// The progress of a part of the step.
  func scaled(from start: Double, to end: Double) -> StepProgress {
    var part = self
    let report = report
    part.report = { report(start + $0 * (end - start), $1) }
    return part
  }
}
