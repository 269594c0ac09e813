import Foundation
import Quire
import QuireModel
import QuireStorage
import QuireXcode

extension MigrateCommand {
  /// Carries a mapping model out, in the store's own place.
  ///
  /// - Parameter still: the store, or for a dry run a copy.
  func migrate(
    _ still: URL, by mapping: URL, to version: VersionedModel.Version, _ console: Console
  ) throws -> ExitCode {
    let source = try Tool.working(on: store) {
      try PersistentStoreCoordinator.managedObjectModel(storedAt: still)
    }
    guard source != version.model else {
      answer(console, version, nil, nil)
      return .good
    }
    let loaded = try XcodeMappingModel(
      contentsOf: mapping, sourceModel: source, destinationModel: version.model)
    var mappingModel = loaded.mappingModel
    mappingModel.removesUnmappedEntities = removesUnmapped
    for note in loaded.notes { console.note("\(mapping.path): \(note)") }
    try checkPolicies(of: mappingModel, mapping)
    if isDryRun {
      answer(console, version, mappingModel, nil)
      return .good
    }
    try checkBackup()
    let clock = ContinuousClock()
    let start = clock.now
    try Tool.working(on: store) {
      let manager = MigrationManager(sourceModel: source, destinationModel: version.model)
      let files = DiskFileSystem()
      let path = files.destination(of: store.path)
      try console.task("copying", .bytes) { task in
        try undoingBackup(if: true) {
          try writeBackup(task)
          manager.progressHandler = { [unowned manager] share in
            task.record(Int(share * 1_000), of: 1_000, "migrating")
            if Interruption.code != nil {
              manager.cancelMigrationWithError(CancellationError())
            }
          }
          try manager.migrateStore(
            from: path, to: path, mappingModel, uuid: nil, versionName: version.name,
            in: files)
        }
      }
    }
    answer(console, version, mappingModel, clock.now - start)
    return .good
  }

  /// The tool has none of the application's classes.
  private func checkPolicies(of model: MappingModel, _ url: URL) throws {
    let policies = model.entityMappings.compactMap { mapping in
      mapping.entityMigrationPolicyClassName.map { "\(mapping.name) needs \($0)" }
    }
    guard !policies.isEmpty else { return }
    throw InputError(
      "\(url.path) needs classes of the application (\(policies.joined(separator: ", "))): let the "
        + "application migrate the store, with a MigrationManager and these policies registered")
  }

  private func writeBackup(_ task: TaskProgress) throws {
    guard let backup else { return }
    var options = PageStoreOptions()
    options.createIfMissing = false
    options.isReadOnly = true
    let pages = try PageStore.open(store.path, options: options)
    defer { try? pages.close() }
    try pages.backUp(replacing: backup.path) { done, total in
      try task.reach(done, of: total)
      return true
    }
  }

  /// - Parameters:
  ///   - model: `nil` when there is nothing to do.
  ///   - duration: `nil` when nothing was done.
  private func answer(
    _ console: Console, _ version: VersionedModel.Version, _ model: MappingModel?,
    _ duration: Duration?
  ) {
    guard isJSON else {
      guard let model else {
        console.print("\(store.path) has version \(version.name): nothing to do.")
        return
      }
      var grid = Grid([("mapping", .left), ("from", .left), ("to", .left)])
      for mapping in model.entityMappings {
        grid.add(
          mapping.name, mapping.sourceEntityName ?? "-", mapping.destinationEntityName ?? "-")
      }
      console.print(grid)
      let copy = backup.map { "; as it was in \($0.path)" } ?? ""
      console.print(
        duration.map { "migrated in \($0.milliText)\(copy)" }
          ?? "Nothing was written: this was a dry run.")
      return
    }
    let mappings: [JSONValue]? = model?.entityMappings.map { mapping in
      [
        "name": .string(mapping.name), "from": JSONValue(mapping.sourceEntityName),
        "to": JSONValue(mapping.destinationEntityName),
      ]
    }
    console.print([
      "store": .string(store.path),
      "to": .string(version.name),
      "isMigrated": JSONValue(duration != nil),
      "milliseconds": duration.map { JSONValue($0.milliseconds) } ?? .null,
      "backup": JSONValue(duration == nil ? nil : backup?.path),
      "mapping": mappings.map { .array($0) } ?? .null,
    ])
  }
}
