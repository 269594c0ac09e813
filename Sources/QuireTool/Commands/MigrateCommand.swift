import Foundation
import Quire
import QuireModel

/// `quire migrate`: brings a store to a version of its model.
struct MigrateCommand: Command {
  static let syntax = CommandSyntax(
    name: "migrate", summary: "brings a store to the current version of its model, or another",
    group: .models,
    operands: [.init("STORE", "the store's file")],
    options: [
      .model, .init("to", "VERSION", "the name of a version; the current one unless given"),
      .init("mapping", "FILE", "migrate by this mapping model, .xcmappingmodel or .cdm"),
      .init(
        flag: "remove-unmapped", "remove objects of entities that the mapping model leaves out"),
      .init("backup", "FILE", "copy the store there before; quire restore puts it back"),
      .init(flag: "deferred", "leave objects in their old layout where that is possible"),
      .init(flag: "finish", "rewrite what deferred migrations have left"),
      .init(flag: "dry-run", "only say what would be done"), .json,
    ],
    discussion: """
      The migration is one commit: afterwards the store has the new version, or, whatever
      happens, still the old one. Bytes and times of the plan are estimates. When something is in
      the way, the plan says what to write, and the exit code is 1, also of a dry run. Where one
      step cannot be made and several over the versions in between can, each is a commit; the plan
      is that of the first.
      A mapping model is carried out from the version that the store has, one object after the
      other. One that names policies needs the application that has their classes. One that leaves
      out an entity with objects is refused: with --remove-unmapped they are removed, as Core Data
      does.

      A deferred migration hardly depends on the size of the store, which can be used at once;
      --finish rewrites the objects later. A migration that is not deferred finishes as well.
      """,
    examples: [
      .init(
        "What a migration would do, and how long it would take",
        "quire migrate gallery.quire --model Gallery.xcdatamodeld --dry-run"),
      .init(
        "Migrate, with a copy to go back to",
        "quire migrate gallery.quire --model Gallery.xcdatamodeld --backup before.quire"),
    ])

  let store: URL
  private let modelPaths: [String]
  private let version: String?
  private let mapping: URL?
  let removesUnmapped: Bool
  let backup: URL?
  private let isDeferred: Bool
  private let finishes: Bool
  let isDryRun: Bool
  let isJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    store = URL(filePath: arguments.operands[0])
    modelPaths = arguments.values(of: "model")
    version = arguments.value(of: "to")
    mapping = arguments.value(of: "mapping").map { URL(filePath: $0) }
    removesUnmapped = arguments.has(flag: "remove-unmapped")
    guard mapping != nil || !removesUnmapped else {
      throw UsageError(
        "--remove-unmapped is about what a --mapping leaves out: give one.",
        usage: Self.syntax.usage)
    }
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
    guard isDryRun else { return try run(on: store, console) }
    return try Tool.still(store, console) { try run(on: $0, console) }
  }

  /// - Parameter still: the store, or for a dry run a copy.
  private func run(on still: URL, _ console: Console) throws -> ExitCode {
    let model = try destination(in: ModelFile.load(merging: modelPaths, console))
    if let mapping {
      return try migrate(still, by: mapping, to: model.currentVersion, console)
    }
    let (path, plan) = try Tool.working(on: store) {
      (
        try MigrationPath.path(forStoreAt: still, to: model, options: options),
        try MigrationPlan.plan(forStoreAt: still, to: model, options: options)
      )
    }
    guard let path, let plan else {
      try answerCurrent(still, console, model)
      return .good
    }
    warnOfTheWayBack(plan, model, console)
    guard plan.obstacles.isEmpty else {
      answer(console, model, path, plan, nil)
      console.complain(
        "\(store.path) cannot be migrated from \(plan.sourceVersion) to "
          + "\(plan.destinationVersion): see the plan for what is in the way, and what to write")
      return .bad
    }
    if isDryRun {
      answer(console, model, path, plan, nil)
      return .good
    }
    try checkBackup()
    if !isJSON {
      print(path, plan, console)
      console.output.flush()
    }
    let (done, duration) = try Tool.working(on: store) {
      try undoingBackup(if: path.steps.count == 1) { try migrate(to: model, console) }
    }
    answer(console, model, path, done, duration)
    return .good
  }

  private var options: PersistentStoreOptions {
    var options: PersistentStoreOptions = isDeferred ? .deferring : .migrating
    options.migratesToFormerModels = true
    return options
  }

  /// - Throws: when the backup's file is there already.
  func checkBackup() throws {
    guard let backup, FileManager.default.fileExists(atPath: backup.path) else { return }
    throw InputError("\(backup.path) is there already: name another file for the backup")
  }

  private func print(_ path: MigrationPath, _ plan: MigrationPlan, _ console: Console) {
    if path.steps.count > 1 {
      console.print("In \(path.steps.count) steps, each one commit:\n\(path)\n")
    }
    console.print(plan.description)
  }

  /// - Returns: what was done, and the time from the open call to the durable commit.
  private func migrate(
    to model: VersionedModel, _ console: Console
  ) throws -> (MigrationPlan?, Duration) {
    let clock = ContinuousClock()
    let start = clock.now
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    var options = options
    if let backup { options.migrationBackup = .copy(to: backup) }
    let opened = try console.task("migrating", .parts) { task in
      options.migrationProgress = MigrationProgress { progress in
        task.record(progress.completedUnitCount, of: progress.totalUnitCount, progress.phase)
        if Interruption.code != nil { progress.cancel() }
      }
      return try coordinator.addPersistentStore(type: .quire, at: store, options: options)
    }
    let duration = clock.now - start
    try coordinator.remove(opened)
    return (opened.migrationReport?.plan, duration)
  }

  /// Removes the backup when the process was asked to end and the store is as before: the migration
  /// is to be called again with the same words.
  ///
  /// - Parameter isUnchanged: whether an error leaves the store as it was.
  func undoingBackup<Result>(if isUnchanged: Bool, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      if isUnchanged, Interruption.code != nil, let backup {
        try? FileManager.default.removeItem(at: backup)
      }
      throw error
    }
  }

  /// Answers for a store that already has the version.
  private func answerCurrent(
    _ still: URL, _ console: Console, _ model: VersionedModel
  ) throws {
    let left = try Tool.working(on: store) { try StoreSummary(of: still).deferredMigration }
    guard let left else { return answer(console, model, nil, nil, nil) }
    let objects = "\(left.objectCount.counting("object")) of \(left.byteCount.grouped) bytes"
    guard finishes else {
      answer(console, model, nil, nil, nil)
      console.note("a deferred migration has left up to \(objects): --finish rewrites them")
      return
    }
    let duration =
      isDryRun
      ? nil
      : try console.task("rewriting", .objects) { task in
        try Tool.working(on: store) { try finish(model, task) }
      }
    if isJSON {
      answer(console, model, nil, nil, nil, left, duration)
    } else if let duration {
      console.print("finished in \(duration.milliText): up to \(objects) rewritten")
    } else {
      console.print("To rewrite: up to \(objects).\nNothing was written: this was a dry run.")
    }
  }

  private func finish(_ model: VersionedModel, _ task: TaskProgress) throws -> Duration {
    let start = ContinuousClock.now
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    let opened = try coordinator.addPersistentStore(type: .quire, at: store)
    defer { try? coordinator.remove(opened) }
    try coordinator.finishDeferredLightweightMigration {
      try task.reach($0.completedUnitCount, of: $0.totalUnitCount)
    }
    let duration = ContinuousClock.now - start
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
      "\(plan.destinationVersion) comes before \(plan.sourceVersion): what it does not have "
        + "is dropped")
  }

  /// - Parameters:
  ///   - path: `nil` when there is nothing to do, like the plan.
  ///   - duration: `nil` when nothing was done.
  ///   - finished: what deferred migrations had left, and was or would be rewritten now.
  private func answer(
    _ console: Console, _ model: VersionedModel, _ path: MigrationPath?, _ plan: MigrationPlan?,
    _ duration: Duration?, _ finished: DeferredMigration? = nil, _ finishing: Duration? = nil
  ) {
    guard isJSON else {
      if let duration {
        let objects = (plan?.rewrittenObjectCount ?? 0).counting("object")
        let copy = backup.map { "; as it was in \($0.path)" } ?? ""
        let left = plan?.deferredObjectCount ?? 0
        let later = left > 0 ? ", \(left.grouped) left for later" : ""
        console.print("migrated in \(duration.milliText), \(objects) rewritten\(later)\(copy)")
      } else if let path, let plan {
        print(path, plan, console)
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
      "steps": .array(
        (path?.steps ?? []).map {
          [
            "from": .string($0.source.name), "to": .string($0.destination.name),
            "method": .string($0.method.rawValue),
          ]
        }),
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
