import Foundation
import Quire
import QuireModel

/// `quire migrate`: brings a store to a version of its model.
struct MigrateCommand: Command {
  static let syntax = CommandSyntax(
    name: "migrate", summary: "brings a store to the current version of its model, or another",
    operands: [.init("STORE", "the store's file")],
    options: [
      .model, .init("to", "VERSION", "the name of a version; the current one unless given"),
      .init("backup", "FILE", "copy the store there before; quire restore puts it back"),
      .init(flag: "deferred", "leave objects in their old layout where that is possible"),
      .init(flag: "finish", "rewrite what deferred migrations have left"),
      .init(flag: "dry-run", "only say what would be done"), .json,
    ],
    discussion: """
      The migration is one commit: afterwards the store has the new version, or, whatever
      happens, still the old one. Bytes and times of the plan are estimates. When something is in
      the way, the plan says what to write, and the exit code is 1, also of a dry run.

      A deferred migration hardly depends on the size of the store, which can be used at once;
      --finish rewrites the objects later. A migration that is not deferred finishes as well.
      """)

  private let store: URL
  private let modelPath: String
  private let version: String?
  private let backup: URL?
  private let isDeferred: Bool
  private let finishes: Bool
  private let isDryRun: Bool
  private let isJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    store = URL(filePath: arguments.operands[0])
    modelPath = arguments.requiredValue(of: "model")
    version = arguments.value(of: "to")
    backup = arguments.value(of: "backup").map { URL(filePath: $0) }
    isDeferred = arguments.has(flag: "deferred")
    finishes = arguments.has(flag: "finish")
    guard !(isDeferred && finishes) else {
      throw UsageError(
        "--deferred leaves for later what --finish does: use one of them.",
        usage: Self.syntax.usage)
    }
    isDryRun = arguments.has(flag: "dry-run")
    isJSON = arguments.has(flag: "json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let model = try destination(in: ModelFile.load(modelPath, console))
    let plan = try Tool.working(on: store) {
      try MigrationPlan.plan(forStoreAt: store, to: model, deferring: isDeferred)
    }
    guard let plan else {
      try answerCurrent(console, model)
      return .good
    }
    warnOfTheWayBack(plan, model, console)
    guard plan.obstacles.isEmpty else {
      answer(console, model, plan, nil)
      console.complain(
        "\(store.path) cannot be migrated from \(plan.sourceVersion) to "
          + "\(plan.destinationVersion): see the plan for what is in the way, and what to write")
      return .bad
    }
    if isDryRun {
      answer(console, model, plan, nil)
      return .good
    }
    if let backup, FileManager.default.fileExists(atPath: backup.path) {
      throw InputError("\(backup.path) is there already: name another file for the backup")
    }
    if !isJSON {
      console.print(plan.description)
      console.output.flush()
    }
    let (done, duration) = try Tool.working(on: store) { try migrate(to: model) }
    answer(console, model, done, duration)
    return .good
  }

  /// - Returns: what was done, and the time from the open call to the durable commit.
  private func migrate(to model: VersionedModel) throws -> (MigrationPlan?, Duration) {
    let clock = ContinuousClock()
    let start = clock.now
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    var options = isDeferred ? PersistentStoreOptions.deferring : .migrating
    if let backup { options.migrationBackup = .copy(to: backup) }
    let opened = try coordinator.addPersistentStore(type: .quire, at: store, options: options)
    let duration = clock.now - start
    try coordinator.remove(opened)
    return (opened.migrationReport?.plan, duration)
  }

  /// Of a store that has the version already.
  private func answerCurrent(_ console: Console, _ model: VersionedModel) throws {
    let left = try Tool.working(on: store) { try StoreSummary(of: store).deferredMigration }
    guard let left else { return answer(console, model, nil, nil) }
    let objects = "\(left.objectCount.counting("object")) of \(left.byteCount.grouped) bytes"
    guard finishes else {
      answer(console, model, nil, nil)
      console.note("a deferred migration has left up to \(objects): --finish rewrites them")
      return
    }
    let duration = isDryRun ? nil : try Tool.working(on: store) { try finish(model) }
    if isJSON {
      answer(console, model, nil, nil, left, duration)
    } else if let duration {
      console.print("finished in \(duration.milliText): up to \(objects) rewritten")
    } else {
      console.print("To rewrite: up to \(objects).\nNothing was written: this was a dry run.")
    }
  }

  private func finish(_ model: VersionedModel) throws -> Duration {
    let start = ContinuousClock.now
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    let opened = try coordinator.addPersistentStore(type: .quire, at: store)
    try coordinator.finishDeferredLightweightMigration()
    let duration = ContinuousClock.now - start
    try coordinator.remove(opened)
    return duration
  }

  private func destination(in model: VersionedModel) throws -> VersionedModel {
    guard let version else { return model }
    let name = try model.existingVersion(named: version).name
    return model.endingAt(name) ?? model
  }

  private func warnOfTheWayBack(
    _ plan: MigrationPlan, _ model: VersionedModel, _ console: Console
  ) {
    let names = model.versions.map(\.name)
    guard let source = names.firstIndex(of: plan.sourceVersion),
      let destination = names.firstIndex(of: plan.destinationVersion), destination < source
    else { return }
    console.note(
      "\(plan.destinationVersion) comes before \(plan.sourceVersion): what it has no place for "
        + "is dropped")
  }

  /// - Parameters:
  ///   - plan: `nil` when there is nothing to do.
  ///   - duration: `nil` when nothing was done.
  ///   - finished: what deferred migrations had left, and was or would be rewritten now.
  private func answer(
    _ console: Console, _ model: VersionedModel, _ plan: MigrationPlan?, _ duration: Duration?,
    _ finished: DeferredMigration? = nil, _ finishing: Duration? = nil
  ) {
    guard isJSON else {
      if let duration {
        let objects = (plan?.rewrittenObjectCount ?? 0).counting("object")
        let copy = backup.map { "; as it was in \($0.path)" } ?? ""
        let left = plan?.deferredObjectCount ?? 0
        let later = left > 0 ? ", \(left.grouped) left for later" : ""
        console.print("migrated in \(duration.milliText), \(objects) rewritten\(later)\(copy)")
      } else if let plan {
        console.print(plan.description)
        if plan.obstacles.isEmpty { console.print("Nothing was written: this was a dry run.") }
      } else {
        console.print("\(store.path) has version \(model.currentVersion.name): nothing to do.")
      }
      return
    }
    console.print([
      "store": .string(store.path),
      "to": .string(model.currentVersion.name),
      "isMigrated": JSONValue(duration != nil),
      "milliseconds": duration.map { JSONValue($0.milliseconds) } ?? .null,
      "backup": JSONValue(duration == nil ? nil : backup?.path),
      "plan": plan.map { JSONValue($0) } ?? .null,
      "finished": finished.map { left in
        [
          "objects": JSONValue(left.objectCount), "bytes": JSONValue(left.byteCount),
          "milliseconds": finishing.map { JSONValue($0.milliseconds) } ?? .null,
        ]
      } ?? .null,
    ])
  }
}
