import QuireModel
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A model, a coordinator and its stores behind one name, which hands out contexts.
public final class PersistentContainer: Sendable {
  public let name: String
  public let persistentStoreCoordinator: PersistentStoreCoordinator

  /// The context of the main actor.
  @MainActor public var viewContext: ManagedObjectContext {
    if let context = main.context { return context }
    let context = ManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    context.name = "viewContext"
    context.wakeOnCommit = { [weak main] in
      Task { @MainActor [weak main] in main?.context?.processPendingChanges() }
    }
    main.context = context
    return context
  }

  /// Keeps the main actor's context within the main actor.
  @MainActor private final class Main {
    var context: ManagedObjectContext?
    nonisolated init() {}
  }

  private let main = Main()
  /// Made when somebody asks for them: finding the folder takes longer than making a stack.
  private let descriptions = Mutex<[PersistentStoreDescription]?>(nil)

  public init(
    name: String, versionedModel: VersionedModel, classes: [ManagedObject.Type] = [],
    transformers: ValueTransformers = [:]
  ) {
    self.name = name
    persistentStoreCoordinator = PersistentStoreCoordinator(
      versionedModel: versionedModel, classes: classes, transformers: transformers)
  }

  public convenience init(
    name: String, managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [],
    transformers: ValueTransformers = [:]
  ) {
    self.init(
      name: name, versionedModel: VersionedModel(managedObjectModel), classes: classes,
      transformers: transformers)
  }

  public var managedObjectModel: ManagedObjectModel {
    persistentStoreCoordinator.managedObjectModel
  }

  /// Which stores ``loadPersistentStores(completionHandler:)`` opens: to begin with, one named like
  /// the container in ``defaultDirectoryURL()``.
  public var persistentStoreDescriptions: [PersistentStoreDescription] {
    get {
      descriptions.withLock { descriptions in
        if let descriptions { return descriptions }
        let url = Self.defaultDirectoryURL().appending(path: "\(name).quire")
        let made = [PersistentStoreDescription(url: url)]
        descriptions = made
        return made
      }
    }
    set { descriptions.withLock { $0 = newValue } }
  }

  /// Opens or creates the container's store, at a place of its own.
  ///
  /// - Parameter url: the file; `nil` for a store in memory.
  /// - Throws: what
  ///   ``PersistentStoreCoordinator/addPersistentStore(type:configuration:at:options:)`` throws.
  @discardableResult
  public func loadPersistentStore(
    at url: URL?, options: PersistentStoreOptions = .migrating
  ) throws -> PersistentStore {
    try persistentStoreCoordinator.addPersistentStore(
      type: url == nil ? .inMemory : .quire, at: url, options: options)
  }

  /// A context for whoever asks, to be sent to the isolation that will use it.
  public func newBackgroundContext() -> sending ManagedObjectContext {
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs `body` off the caller's actor, with a context of its own.
  @concurrent
  public func performBackgroundTask<Result: Sendable>(
    _ body: @Sendable (ManagedObjectContext) async throws -> Result
  ) async rethrows -> Result {
    try await body(newBackgroundContext())
  }
}
