import Foundation
import QuireCoreData

/// Opens the ledger's store, after it was migrated step by step.
final class LedgerStore {
  let coordinator: NSPersistentStoreCoordinator
  let viewContext: NSManagedObjectContext
  private let url: URL
  private var observers: [NSObjectProtocol] = []
  private(set) var changedTitles: [String] = []

  init(url: URL) throws {
    self.url = url
    try LedgerStore.migrateIfNeeded(at: url)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: LedgerModel.current)
    let options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: true,
      NSPersistentHistoryTrackingKey: true as NSNumber,
      NSSQLitePragmasOption: ["journal_mode": "WAL", "synchronous": "FULL"],
    ]
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    viewContext.persistentStoreCoordinator = coordinator
    viewContext.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    viewContext.name = "view"
    observe()
  }

  deinit {
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }

  func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergeByPropertyStoreTrumpMergePolicy
    context.transactionAuthor = "background"
    return context
  }

  func close() throws {
    viewContext.reset()
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  // MARK: - Changes of other contexts

  private func observe() {
    let center = NotificationCenter.default
    observers.append(
      center.addObserver(
        forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
      ) { [weak self] notification in
        guard let self = self, let context = notification.object as? NSManagedObjectContext,
          context !== self.viewContext,
          context.persistentStoreCoordinator === self.coordinator
        else { return }
        self.viewContext.perform {
          self.viewContext.mergeChanges(fromContextDidSave: notification)
        }
      })
    observers.append(
      center.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: viewContext, queue: nil
      ) { [weak self] notification in
        let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        let updated = notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
        let titles = inserted.union(updated).compactMap { ($0 as? Category)?.title }
        self?.changedTitles += titles.sorted()
      })
  }

  // MARK: - Migration

  /// The place of a store's version among all versions; `nil` for a store that is not there.
  static func version(ofStoreAt url: URL) throws -> Int? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url, options: nil)
    let version = LedgerModel.all.firstIndex { version in
      version.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
    guard let found = version else {
      throw LedgerError.error(
        LedgerError.unknownVersion, "No version of the ledger has a store with this metadata")
    }
    return found
  }

  static func migrateIfNeeded(at url: URL) throws {
    guard try version(ofStoreAt: url) == 0 else { return }
    let (source, destination) = (LedgerModel.all[0].model, LedgerModel.all[1].model)
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    let temporary = url.deletingLastPathComponent().appendingPathComponent("\(UUID()).migrating")
    try manager.migrateStore(
      from: url, sourceType: NSSQLiteStoreType, options: nil,
      with: LedgerMigration.mapping(from: source, to: destination),
      toDestinationURL: temporary, destinationType: NSSQLiteStoreType, destinationOptions: nil)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destination)
    try coordinator.replacePersistentStore(
      at: url, destinationOptions: nil, withPersistentStoreFrom: temporary, sourceOptions: nil,
      ofType: NSSQLiteStoreType)
    try coordinator.destroyPersistentStore(at: temporary, ofType: NSSQLiteStoreType, options: nil)
  }
}
