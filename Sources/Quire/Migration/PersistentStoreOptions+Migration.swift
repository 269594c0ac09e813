// Options that only a migration reads.

extension PersistentStoreOptions {
  /// Mapping models that the application has written, for whichever versions: one that fits is
  /// preferred to what would be inferred. See ``MigrationPath`` for which fit, and when.
  public var mappingModels: [MappingModel] {
    get { knownMappings.compactMap { $0 as? MappingModel } }
    set { knownMappings = newValue }
  }

  /// The stages by which a store is migrated, instead of a path that is looked for.
  public var stagedMigrationManager: StagedMigrationManager? {
    get { staging as? StagedMigrationManager }
    set { staging = newValue }
  }
}

extension StagedMigrationManager: MigrationStaging {}
