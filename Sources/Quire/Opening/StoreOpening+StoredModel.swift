import QuireModel
import QuireStorage

// Stores of an unknown version, which contain the model with which they were written.
extension StoreOpening {
  /// The migration path from the model in the store, for a store whose hashes no known version has,
  /// as when a model was edited without adding a version.
  ///
  /// - Throws: ``PersistenceError/Code/migrationMissingSourceModel`` if the store's version has a
  ///   name that none of the known versions has, which can only come from a model with several
  ///   versions, if there are objects of an entity that the model does not have, or if the store
  ///   was migrated from the program's model to the one that it has, and values would go.
  func pathFromStoredModel(
    of snapshot: Snapshot, _ hashes: [String: VersionHash]
  ) throws -> MigrationPath {
    let schema = try StoreSchema(from: snapshot)
    let name = schema?.versionName
    if let name, model.hasNamedVersions, model.version(named: name) == nil {
      throw refusal(
        of: hashes,
        "the store has the version \(name) of its model, which is none of those known here; nearest "
          + "is \(nearestVersion(hashes)). A newer version of the program may have written it. If "
          + "\(name) is an earlier version that was taken away, put it back among the versions")
    }
    let source = VersionedModel.Version(
      "\(name ?? model.name) (the store's own model)", try StoreSchema.model(in: snapshot))
    var path = try MigrationPathSearch(model, source, options, snapshot).path()
    path.isFromStoredModel = true
    if let step = path.steps.first, step.mappingModel == nil {
      try checkEntities(of: step.plan(for: snapshot), hashes)
    }
    try checkDirection(of: path, from: schema?.migrations ?? [], snapshot, hashes)
    return path
  }

  /// Checks that the migration does not lead back to a model that the store has left: the program
  /// is then an earlier version of the one that wrote the store, and what its model does not have
  /// would be lost. A way back that loses nothing is as good as any.
  private func checkDirection(
    of path: MigrationPath, from records: [MigrationRecord], _ snapshot: Snapshot,
    _ hashes: [String: VersionHash]
  ) throws {
    guard !options.migratesToFormerModels,
      let left = records.last(where: { model.current.hasVersionChecksum($0.sourceChecksum) }),
      let plan = try path.steps.lazy.map({ try $0.plan(for: snapshot) }).first(where: \.dropsValues)
    else { return }
    let lost = plan.entities.filter { $0.objectCount > 0 }.flatMap { step in
      step.removedProperties.map { "\(step.name).\($0)" }
    }
    throw refusal(
      of: hashes,
      "the store had this program's model until it was migrated on \(left.date), so that a newer "
        + "version of the program has written it; going back would drop "
        + "\(lost.isEmpty ? "links" : lost.sorted().joined(separator: ", ")). Open it with the newer "
        + "version, or restore a backup. To let these values go, put the store's own model among the "
        + "versions, before the present one")
  }

  /// Checks that no entity with objects is removed. An edit of a model rarely does that; more
  /// probably the store belongs to another program, or its model was merged from several.
  private func checkEntities(
    of plan: MigrationPlan, _ hashes: [String: VersionHash]
  ) throws {
    let removed = plan.entities(.removed).filter { $0.objectCount > 0 }
    if removed.isEmpty { return }
    let names = removed.map {
      "\($0.name) (\($0.objectCount) \($0.objectCount == 1 ? "object" : "objects"))"
    }
    throw refusal(
      of: hashes,
      "no known version of the model fits the store, and the model has no entity for objects in it: "
        + "\(names.joined(separator: ", ")). It may be another's store, or that of a newer version of "
        + "the program. To let these objects go, put the store's own model among the versions, "
        + "before the present one")
  }

  private func refusal(
    of hashes: [String: VersionHash], _ message: String
  ) -> PersistenceError {
    PersistenceError(
      .migrationMissingSourceModel,
      message + ": PersistentStoreCoordinator.managedObjectModel(storedAt:) reads it from the store"
        + mergingHint(hashes) + fullModel.remarkOnUnreadableVersions)
  }
}
