import Foundation
import QuireCoreData

/// Migrates a store version by version, each into a temporary file.
public final class Migrator {
  public private(set) var log: [String] = []

  public init() {}

  public func requiresMigration(at storeURL: URL, toVersion version: ModelVersion) -> Bool {
    guard let metadata = NSPersistentStoreCoordinator.metadata(at: storeURL) else { return false }
    return ModelVersion.compatible(withMetadata: metadata) != version
  }

  public func migrateStore(at storeURL: URL, toVersion version: ModelVersion) throws {
    try forceWALCheckpointing(at: storeURL)
    var currentURL = storeURL
    for step in try steps(at: storeURL, to: version) {
      let manager = CourierMigrationManager(
        sourceModel: step.sourceModel, destinationModel: step.destinationModel)
      let destinationURL = URL(fileURLWithPath: NSTemporaryDirectory(), isDirectory: true)
        .appendingPathComponent(UUID().uuidString)
      do {
        try manager.migrateStore(
          from: currentURL, sourceType: NSSQLiteStoreType, options: nil, with: step.mappingModel,
          toDestinationURL: destinationURL, destinationType: NSSQLiteStoreType,
          destinationOptions: nil)
      } catch let error as NSError {
        log.append("failed from \(step.sourceVersion.rawValue): \(error.localizedDescription)")
        throw error
      }
      log.append("\(step.sourceVersion.rawValue): \(manager.entitySteps.joined(separator: ", "))")
      if currentURL != storeURL {
        try NSPersistentStoreCoordinator.destroyStore(at: currentURL)
      }
      currentURL = destinationURL
    }
    try NSPersistentStoreCoordinator.replaceStore(at: storeURL, withStoreAt: currentURL)
    if currentURL != storeURL {
      try NSPersistentStoreCoordinator.destroyStore(at: currentURL)
    }
  }

  private func steps(at storeURL: URL, to destination: ModelVersion) throws -> [MigrationStep] {
    guard let metadata = NSPersistentStoreCoordinator.metadata(at: storeURL),
      var source = ModelVersion.compatible(withMetadata: metadata)
    else { throw CourierError.noModel(storeURL.lastPathComponent) }
    var steps: [MigrationStep] = []
    while source != destination {
      guard let next = source.next() else { throw CourierError.noPath(from: source.rawValue) }
      steps.append(try MigrationStep(from: source, to: next))
      source = next
    }
    return steps
  }

  /// Writes what is in the log into the file, so that the file alone can be migrated.
  private func forceWALCheckpointing(at storeURL: URL) throws {
    guard let metadata = NSPersistentStoreCoordinator.metadata(at: storeURL),
      let version = ModelVersion.compatible(withMetadata: metadata)
    else { return }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version.model)
    let options = [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
    let store = try coordinator.addStore(at: storeURL, options: options)
    try coordinator.remove(store)
  }
}

/// A manager that tells what it does.
final class CourierMigrationManager: NSMigrationManager {
  private(set) var entitySteps: [String] = []

  override func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    super.associate(
      sourceInstance: sourceInstance, withDestinationInstance: destinationInstance,
      for: entityMapping)
    let name = entityMapping.destinationEntityName ?? "?"
    if entitySteps.last?.hasPrefix(name) != true { entitySteps.append(name) }
  }
}
