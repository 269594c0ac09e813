import QuireModel
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A model, a coordinator and its stores under one name, which hands out contexts.
///
/// ## Subclasses
///
/// A subclass says where stores are (``defaultDirectoryURL()``), how they are loaded, and how
/// contexts are set up:
///
/// ```swift
/// final class Library: PersistentContainer, @unchecked Sendable {
///   override class func defaultDirectoryURL() -> URL { sharedFolder }
///   override func newBackgroundContext() -> sending ManagedObjectContext {
///     let context = super.newBackgroundContext()
///     context.transactionAuthor = "library"
///     return context
///   }
/// }
/// ```
///
/// Containers are shared by all isolations, and Swift asks a subclass to say so again:
/// `@unchecked Sendable`. It should have constants and locked properties alone, as this class has.
///
/// `@unchecked`: all stored properties are constants of types that are `Sendable`, which the
/// compiler checks of final classes only.
nonisolated open class PersistentContainer: @unchecked Sendable {
  /// The name of the container, and of the file of its first store unless a description says
  /// otherwise.
  public let name: String
  /// The coordinator that all contexts of the container share.
  public let persistentStoreCoordinator: PersistentStoreCoordinator

  /// The context of the main actor.
  ///
  /// At the end of an event, which is the main actor's next turn, it processes what has changed by
  /// itself (``ManagedObjectContext/processPendingChanges()``): lists that follow it move without a
  /// save. For code that the compiler does not know to be on the main actor see
  /// `docs/isolation.md`.
  @MainActor open var viewContext: ManagedObjectContext {
    if let context = main.context { return context }
    let context = ManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    context.name = "viewContext"
    context.wakeOnCommit = { [weak main] in
      Task { @MainActor [weak main] in main?.context?.processPendingChanges() }
    }
    context.requestEndOfEvent = { [weak main] in
      Task { @MainActor [weak main] in main?.context?.endEvent() }
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

  /// A container without a store, for a model with its earlier versions.
  ///
  /// - Parameters:
  ///   - name: also that of the file in ``defaultDirectoryURL()``.
  ///   - classes: as for a ``PersistentStoreCoordinator``.
  ///   - transformers: what turns values of transformable attributes into bytes and back.
  public init(
    name: String, versionedModel: VersionedModel, classes: [ManagedObject.Type] = [],
    transformers: ValueTransformers = [:]
  ) {
    self.name = name
    persistentStoreCoordinator = PersistentStoreCoordinator(
      versionedModel: versionedModel, classes: classes, transformers: transformers)
  }

  /// The same, for a model that has one version.
  public init(
    name: String, managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [],
    transformers: ValueTransformers = [:]
  ) {
    self.name = name
    persistentStoreCoordinator = PersistentStoreCoordinator(
      managedObjectModel: managedObjectModel, classes: classes, transformers: transformers)
  }

  /// A container of a coordinator that is there already, with the stores that it has.
  // Public, as subclasses in other modules have no initialisers at all where one is hidden.
  public init(name: String, persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.name = name
    self.persistentStoreCoordinator = persistentStoreCoordinator
  }

  /// The current version of the model.
  public final var managedObjectModel: ManagedObjectModel {
    persistentStoreCoordinator.managedObjectModel
  }

  /// Which stores ``loadPersistentStores(completionHandler:)`` opens: to begin with, one named like
  /// the container in ``defaultDirectoryURL()``.
  open var persistentStoreDescriptions: [PersistentStoreDescription] {
    get {
      descriptions.withLock { descriptions in
        if let descriptions { return descriptions }
        let url = type(of: self).defaultDirectoryURL().appending(path: "\(name).quire")
        let made = [PersistentStoreDescription(url: url)]
        descriptions = made
        return made
      }
    }
    set { descriptions.withLock { $0 = newValue } }
  }

  // MARK: Loading

  /// Where stores are that nobody has given a location: the folder for the data of this program,
  /// named like it, in the user's folder for such data (on Linux `$XDG_DATA_HOME`, or
  /// `~/.local/share`). The folder need not exist.
  open class func defaultDirectoryURL() -> URL {
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    let folder = folders.first ?? FileManager.default.temporaryDirectory
    return folder.appending(path: ProcessInfo.processInfo.processName, directoryHint: .isDirectory)
  }

  /// Opens the stores that ``persistentStoreDescriptions`` ask for, creating and migrating them as
  /// they say, and calls `block` for each of them when it is open, or cannot be opened.
  ///
  /// For a description that does not ask for it otherwise
  /// (``PersistentStoreDescription/shouldAddStoreAsynchronously``) that has happened when this
  /// returns; `block` runs on this thread. For one that does, `block` runs on another.
  ///
  /// Stores are added in the order of their descriptions, but for those that are opened
  /// asynchronously; the order says where new objects go, see
  /// ``ManagedObjectContext/assign(_:to:)``.
  ///
  /// - Parameter block: gets the description, and the error that
  ///   ``PersistentStoreCoordinator/addPersistentStore(type:configuration:at:options:)`` threw.
  open func loadPersistentStores(
    completionHandler block: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      @Sendable func load() {
        do {
          try add(description)
          block(description, nil)
        } catch {
          block(description, error)
        }
      }
      if description.shouldAddStoreAsynchronously {
        StoreExecutor.start(load)
      } else {
        load()
      }
    }
  }

  /// Opens the stores that ``persistentStoreDescriptions`` ask for, off the caller's actor, on a
  /// thread of the stores'.
  ///
  /// - Returns: the stores, in the order of their descriptions.
  /// - Throws: the first error that
  ///   ``PersistentStoreCoordinator/addPersistentStore(type:configuration:at:options:)`` throws;
  ///   the stores before that are open, those after it are not.
  @concurrent
  @discardableResult
  open func loadPersistentStores() async throws -> [PersistentStore] {
    try await StoreExecutor.run { try persistentStoreDescriptions.map(add) }
  }

  /// Opens or creates the container's store, at a location of its own.
  ///
  /// - Parameter url: the file; `nil` for a store in memory.
  /// - Throws: what
  ///   ``PersistentStoreCoordinator/addPersistentStore(type:configuration:at:options:)`` throws.
  @discardableResult
  public final func loadPersistentStore(
    at url: URL?, options: PersistentStoreOptions = .migrating
  ) throws -> PersistentStore {
    try persistentStoreCoordinator.addPersistentStore(
      type: url == nil ? .inMemory : .quire, at: url, options: options)
  }

  /// Closes all stores, for an orderly end: each is one file then, without a log beside it. They
  /// can be loaded again.
  ///
  /// Contexts let go of what they have read, and what they have not saved is lost; see
  /// ``PersistentStoreCoordinator/remove(_:)``. A program that ends without this loses nothing that
  /// was saved: what is in a log then is recovered when the store is opened next.
  ///
  /// - Throws: what contexts have kept and not thrown (``ManagedObjectContext/keptErrors``), so
  ///   that a program that reads and ends learns of it, and the first error of
  ///   ``PersistentStoreCoordinator/remove(_:)``; of several one with the others as its
  ///   ``PersistenceError/detailedErrors``. All stores are closed all the same.
  open func close() throws {
    var failure: (any Error)?
    for store in persistentStoreCoordinator.persistentStores {
      do {
        try persistentStoreCoordinator.remove(store)
      } catch {
        failure = failure ?? error
      }
    }
    try persistentStoreCoordinator.throwKeptErrors(and: failure)
  }

  // MARK: Contexts

  /// A context for whoever asks, to be sent to the isolation that will use it.
  open func newBackgroundContext() -> sending ManagedObjectContext {
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs `body` off the caller's actor, with a context of its own.
  ///
  /// It runs on a thread of the stores', apart from those that Swift runs tasks on, and may block
  /// it. A closure of an actor runs where its actor does.
  @concurrent
  open func performBackgroundTask<Result: Sendable>(
    _ body: @Sendable (ManagedObjectContext) async throws -> Result
  ) async rethrows -> Result {
    try await StoreExecutor.run { try await body(newBackgroundContext()) }
  }
}
