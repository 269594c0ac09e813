import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension MigrationPlan {
  /// What opening a store with the options to migrate would do. Nothing is written.
  ///
  /// What stands in the way of a migration is in the plan (``obstacles``), not an error;
  /// ``checkObstacles()`` makes one of it. Of a migration in several steps it is the plan of the
  /// first: what the others find is what that one makes. ``MigrationPath`` has all steps.
  ///
  /// - Parameter configuration: the one that the store would be opened with.
  /// - Returns: `nil` when the store has the current version already.
  /// - Throws: what else opening the store would throw: see
  ///   ``PersistentStoreCoordinator/addPersistentStore(type:configuration:at:options:)``.
  public static func plan(
    forStoreAt url: URL, to model: VersionedModel, configuration: String? = nil,
    options: PersistentStoreOptions = .migrating
  ) throws -> MigrationPlan? {
    try StoreFiles.inspecting(url) { snapshot, _ in
      let opening = try StoreOpening(
        model: model, binding: ModelBinding(model.current), options: options,
        configuration: configuration
      ).adapted(to: snapshot)
      return try opening.migrationPath(for: snapshot)?.steps.first?.plan(for: snapshot)
    }
  }
}

extension MigrationPath {
  /// What opening a store with these options would do. Nothing is written.
  ///
  /// - Parameter configuration: the one that the store would be opened with.
  /// - Returns: `nil` when the store has the current version already.
  /// - Throws: what opening the store would throw before it begins.
  public static func path(
    forStoreAt url: URL, to model: VersionedModel, configuration: String? = nil,
    options: PersistentStoreOptions = .migrating
  ) throws -> MigrationPath? {
    try StoreFiles.inspecting(url) { snapshot, _ in
      try StoreOpening(
        model: model, binding: ModelBinding(model.current), options: options,
        configuration: configuration
      ).adapted(to: snapshot).migrationPath(for: snapshot)
    }
  }
}
