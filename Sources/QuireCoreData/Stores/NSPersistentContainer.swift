import Foundation
import Quire
import QuireModel
import Synchronization

/// The store that a container is to open: where, and with which options.
open class NSPersistentStoreDescription: NSObject, NSCopying {
  /// The file.
  open var url: URL?
  /// `NSSQLiteStoreType` or `NSInMemoryStoreType`.
  open var type = NSSQLiteStoreType
  /// The configuration whose entities the store has; `nil` for all.
  open var configuration: String?
  /// Whether the store is opened on another thread.
  open var shouldAddStoreAsynchronously = false
  /// All options by their names.
  open private(set) var options: [String: Any] = [
    NSMigratePersistentStoresAutomaticallyOption: true,
    NSInferMappingModelAutomaticallyOption: true,
  ]

  /// A store in a file.
  public init(url: URL) { self.url = url }

  /// A store whose location or type is set later. Until then it is at `/dev/null`, which is a store
  /// in memory.
  public override init() { url = URL(fileURLWithPath: "/dev/null") }

  /// Sets an option; `nil` removes it.
  open func setOption(_ option: Any?, forKey key: String) {
    options[key] = option.map(optionValue)
  }

  /// Whether a store of an earlier version is migrated.
  open var shouldMigrateStoreAutomatically: Bool {
    get { options[NSMigratePersistentStoresAutomaticallyOption] as? Bool ?? false }
    set { options[NSMigratePersistentStoresAutomaticallyOption] = newValue }
  }

  /// Whether mappings of a migration are inferred.
  open var shouldInferMappingModelAutomatically: Bool {
    get { options[NSInferMappingModelAutomaticallyOption] as? Bool ?? false }
    set { options[NSInferMappingModelAutomaticallyOption] = newValue }
  }

  /// Whether the store is only read.
  open var isReadOnly: Bool {
    get { options[NSReadOnlyPersistentStoreOption] as? Bool ?? false }
    set { options[NSReadOnlyPersistentStoreOption] = newValue }
  }

  /// How long another process that has the file open is waited for.
  open var timeout: TimeInterval {
    get { options[NSPersistentStoreTimeoutOption] as? TimeInterval ?? 0 }
    set { options[NSPersistentStoreTimeoutOption] = newValue }
  }

  /// A copy, which can be changed without changing this one.
  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreDescription()
    copy.url = url
    copy.type = type
    copy.configuration = configuration
    copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    copy.options = options
    return copy
  }
}

/// A model, a coordinator and its stores behind one name.
///
/// The model is looked for among the resources of the program by its name, and classes in the
/// module of the source file that makes the container.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  /// The name of the container, and of its first store's file.
  public let name: String
  /// The coordinator that all contexts share.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }
  private let coordinator: NSPersistentStoreCoordinator
  private let state: Mutex<State>

  // Sound: descriptions are set up before stores are loaded, and the context belongs to the main
  // queue.
  private struct State: @unchecked Sendable {
    var context: NSManagedObjectContext?
    var descriptions: [NSPersistentStoreDescription]
  }

  /// A container whose model has its name. Without such a model the program stops, as Core Data's
  /// container has none then either.
  public convenience init(
    name: String, fileID: String = #fileID, file: StaticString = #fileID, line: UInt = #line
  ) {
    guard let url = Resources.model(named: name),
      let model = NSManagedObjectModel(contentsOf: url, fileID: fileID)
    else {
      fatalError(
        "there is no model \(name).xcdatamodeld among the resources of the program: copy it there "
          + "in Package.swift", file: file, line: line)
    }
    self.init(name: name, managedObjectModel: model, fileID: fileID, file: file, line: line)
  }

  /// A container of a model.
  public init(
    name: String, managedObjectModel model: NSManagedObjectModel, fileID: String = #fileID,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    self.name = name
    coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: model, fileID: fileID, file: file, line: line)
    let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).quire")
    state = Mutex(State(descriptions: [NSPersistentStoreDescription(url: url)]))
  }

  /// The folder of stores that are given no other location: `Application Support` of this program.
  open class func defaultDirectoryURL() -> URL { PersistentContainer.defaultDirectoryURL() }

  /// The model.
  open var managedObjectModel: NSManagedObjectModel {
    persistentStoreCoordinator.managedObjectModel
  }

  /// The context of the main queue.
  open var viewContext: NSManagedObjectContext {
    state.withLock { state in
      if let context = state.context { return Sent(context) }
      let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
      context.persistentStoreCoordinator = persistentStoreCoordinator
      context.name = "viewContext"
      state.context = context
      return Sent(context)
    }.content
  }

  /// Sound: see `State`.
  private struct Sent<Content>: @unchecked Sendable {
    let content: Content
    init(_ content: Content) { self.content = content }
  }

  /// The stores to open: at first one, in a file of the container's name.
  open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
    get { state.withLock { Sent($0.descriptions) }.content }
    set {
      let new = Sent(newValue)
      state.withLock { $0.descriptions = new.content }
    }
  }

  /// Opens the stores, and calls a block for each when it is open or cannot be opened.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      makeDefaultDirectory(for: description)
      persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
    }
  }

  /// Makes the folder of a store that no one has chosen another location for. Where it cannot be
  /// made, opening the store says so.
  private func makeDefaultDirectory(for description: NSPersistentStoreDescription) {
    let folder = type(of: self).defaultDirectoryURL()
    guard description.type == NSSQLiteStoreType, let url = description.url,
      url.deletingLastPathComponent().standardizedFileURL.pathComponents
        == folder.standardizedFileURL.pathComponents
    else { return }
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// A context with a queue of its own.
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs a block on a queue, later, with a context of its own.
  open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs a block on a queue with a context of its own, and returns its result, or throws what it
  /// throws.
  open func performBackgroundTask<Result, Failure>(
    _ block: @escaping (NSManagedObjectContext) throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) in try block(context) }
  }
}
