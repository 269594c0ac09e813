import QuireModel
import QuireStorage

// Stores of an unknown version, which contain the model with which they were written.
extension StoreOpening {
  /// The migration path from the model in the store, for a store whose hashes no known version has,
  /// as when a model was edited without adding a version.
  ///
  /// - Throws: ``PersistenceError/Code/migrationMissingSourceModel`` if the store's version has a
  ///   name that none of the known versions has, which can only come from a model with several
  ///   versions, or if there are objects of an entity that the model does not have.
  func pathFromStoredModel(
    of snapshot: Snapshot, _ hashes: [String: VersionHash]
  ) throws -> MigrationPath {
    let name = try StoreSchema(from: snapshot)?.versionName
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
    return path
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
      "no known version of the model fits the store, and the model has no place for objects in it: "
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
