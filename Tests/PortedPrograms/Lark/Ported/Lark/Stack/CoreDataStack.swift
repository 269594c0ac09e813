import Foundation
import QuireCoreData

/// Three contexts: a root that writes to the disk on a queue of its own, one of the main queue for
/// the user interface, and children of that for editors.
final class CoreDataStack {
  static let modelName = "Lark"
  static let didFailNotification = Notification.Name("CoreDataStackDidFail")

  let managedObjectModel: NSManagedObjectModel
  let persistentStoreCoordinator: NSPersistentStoreCoordinator
  private let storeURL: URL?

  init(storeURL: URL?) throws {
    self.storeURL = storeURL
    managedObjectModel = CoreDataStack.sharedModel
    persistentStoreCoordinator = NSPersistentStoreCoordinator(
      managedObjectModel: managedObjectModel)
    let options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: true,
      NSPersistentHistoryTrackingKey: true as NSNumber,
      NSPersistentStoreRemoteChangeNotificationPostOptionKey: true as NSNumber,
    ]
    if let url = storeURL {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try persistentStoreCoordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    } else {
      try persistentStoreCoordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    }
  }

  /// One model for all stacks, so that entities and classes go together.
  static let sharedModel: NSManagedObjectModel = {
    let bundle = Bundle.module
    guard let url = bundle.url(forResource: modelName, withExtension: "xcdatamodeld"),
      let model = NSManagedObjectModel(contentsOf: url)
    else { fatalError("The model is not in the bundle.") }
    return model
  }()

  /// Where versions of the model are, for tests of migrations.
  static func versionURL(named version: String) -> URL? {
    let name = modelName + ".xcdatamodeld"
    return Bundle.module.resourceURL?
      .appendingPathComponent(name).appendingPathComponent(version + ".xcdatamodel")
  }

  private(set) lazy var rootContext: NSManagedObjectContext = {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.name = "root"
    context.transactionAuthor = "app"
    context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    context.persistentStoreCoordinator = self.persistentStoreCoordinator
    return context
  }()

  private(set) lazy var mainContext: NSManagedObjectContext = {
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.name = "main"
    context.parent = self.rootContext
    context.automaticallyMergesChangesFromParent = true
    context.undoManager = nil
    return context
  }()

  func newChildContext(
    concurrencyType: NSManagedObjectContextConcurrencyType = .mainQueueConcurrencyType,
    name: String = "child"
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: concurrencyType)
    context.name = name
    context.parent = mainContext
    return context
  }

  /// A context beside the others, for imports: what it saves is merged into the root.
  func newImportContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    context.transactionAuthor = "import"
    context.name = "import"
    context.mergePolicy = NSMergeByPropertyStoreTrumpMergePolicy
    return context
  }

  /// Saves the main context, and then the root.
  func save(completion: ((Result<Void, Error>) -> Void)? = nil) {
    mainContext.perform {
      do {
        if self.mainContext.hasChanges { try self.mainContext.save() }
      } catch {
        self.report(error)
        completion?(.failure(error))
        return
      }
      self.rootContext.perform {
        do {
          if self.rootContext.hasChanges { try self.rootContext.save() }
          completion?(.success(()))
        } catch {
          self.report(error)
          completion?(.failure(error))
        }
      }
    }
  }

  func saveAndWait() throws {
    var failure: Error?
    mainContext.performAndWait {
      do { try self.mainContext.save() } catch { failure = error }
    }
    if let failure = failure { throw failure }
    rootContext.performAndWait {
      do { try self.rootContext.save() } catch { failure = error }
    }
    if let failure = failure { throw failure }
  }

  private func report(_ error: Error) {
    let error = error as NSError
    var messages: [String] = []
    if error.domain == NSCocoaErrorDomain, error.code == NSValidationMultipleErrorsError,
      let details = error.userInfo[NSDetailedErrorsKey] as? [NSError]
    {
      messages = details.map { describe($0) }
    } else {
      messages = [describe(error)]
    }
    NotificationCenter.default.post(
      name: CoreDataStack.didFailNotification, object: self, userInfo: ["messages": messages])
  }

  private func describe(_ error: NSError) -> String {
    let key = error.userInfo[NSValidationKeyErrorKey] as? String ?? "?"
    switch error.code {
    case NSValidationMissingMandatoryPropertyError: return "\(key) is missing"
    case NSValidationNumberTooSmallError: return "\(key) is too small"
    case NSValidationNumberTooLargeError: return "\(key) is too large"
    case NSManagedObjectMergeError: return "changed by someone else"
    case NSManagedObjectConstraintMergeError: return "exists already"
    default: return error.localizedDescription
    }
  }

  /// Removes the file, for a user who logs out.
  func destroy() throws {
    guard let url = storeURL else { return }
    mainContext.performAndWait { mainContext.reset() }
    rootContext.performAndWait { rootContext.reset() }
    try persistentStoreCoordinator.destroyPersistentStore(
      at: url, ofType: NSSQLiteStoreType, options: nil)
  }
}
