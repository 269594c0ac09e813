import Foundation
import Quire
import QuireModel
import Synchronization

/// Connects a model and stores, for any number of contexts.
///
/// Classes of objects are found by the names in the model, in the module of the source file that
/// makes the coordinator: see ``NSManagedObject/register(_:)`` for others.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  /// The coordinator of Quire's.
  public let quireCoordinator: PersistentStoreCoordinator
  /// The model, which can no longer be changed.
  public let managedObjectModel: NSManagedObjectModel
  /// The mapping models among which a migration of a store that is added looks for its own, as Core
  /// Data does among the resources of the program.
  public var mappingModels: [NSMappingModel] {
    get { state.withLock { $0.mappings.map(\.content) } }
    set {
      let mappings = newValue.map(Unchecked.init)
      state.withLock { $0.mappings = mappings }
    }
  }
  /// A name for people.
  open var name: String? {
    get { state.withLock { $0.name } }
    set { state.withLock { $0.name = newValue } }
  }
  private var observations: [CoordinatorObservation] = []
  /// What the model's descriptions say of values beyond the model of Quire's.
  let conditions: ValidationConditions

  /// Sound: mappings are not changed after they were given to the coordinator.
  private struct Unchecked<Content>: @unchecked Sendable {
    let content: Content
    init(_ content: Content) { self.content = content }
  }

  private struct State {
    var stores: [Unchecked<NSPersistentStore>] = []
    var mappings: [Unchecked<NSMappingModel>] = []
    var name: String?
  }

  private let state = Mutex(State())
  /// Held while a store of an application's own class is added.
  let addingOwnStore = NSRecursiveLock()

  /// A coordinator without stores. A model with a mistake stops the program.
  public required init(
    managedObjectModel model: NSManagedObjectModel, fileID: String = #fileID,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    ClassLookup.addModule(of: fileID)
    managedObjectModel = model
    let versions = raising(file, line) { try model.freeze() }
    conditions = ValidationConditions(of: model.describedEntities)
    quireCoordinator = PersistentStoreCoordinator(
      versionedModel: versions, classes: ClassLookup.classes(of: versions.current),
      defaultClass: NSManagedObject.self, transformers: NamedTransformer.all(of: versions.current))
    super.init()
    connect()
  }

  /// Wraps a coordinator that Quire has made.
  private init(_ coordinator: PersistentStoreCoordinator) {
    quireCoordinator = coordinator
    conditions = ValidationConditions(of: [])
    managedObjectModel = NSManagedObjectModel(coordinator.versionedModel)
    super.init()
    for store in coordinator.persistentStores { _ = wrapped(store, options: nil) }
  }

  /// A coordinator around one that Quire has made.
  static func of(_ coordinator: PersistentStoreCoordinator) -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(coordinator)
  }

  private func connect() {
    observations = [
      quireCoordinator.observeStores { [weak self] change in self?.post(change) },
      quireCoordinator.observeRemoteChanges { [weak self] change in
        var userInfo: [AnyHashable: Any] = [:]
        for (key, value) in change.userInfo { userInfo[key] = value }
        NotificationCenter.default.post(
          name: .NSPersistentStoreRemoteChange, object: self, userInfo: userInfo)
      },
    ]
  }

  private func post(_ change: StoresChange) {
    var userInfo: [AnyHashable: Any] = [:]
    let added = change.added.map { wrapped($0, options: nil) }
    let removed = change.removed.map { wrapped($0, options: nil) }
    if !added.isEmpty { userInfo[NSAddedPersistentStoresKey] = added }
    if !removed.isEmpty { userInfo[NSRemovedPersistentStoresKey] = removed }
    let left = Set(quireCoordinator.persistentStores.map { ObjectIdentifier($0) })
    state.withLock { state in
      state.stores.removeAll { !left.contains(ObjectIdentifier($0.content.quireStore)) }
    }
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: userInfo)
  }

  func wrapped(
    _ store: PersistentStore, options: [AnyHashable: Any]?
  ) -> NSPersistentStore {
    let own = (store.incrementalStore as? StoreAdapter)?.opened(as: store)
    let new = Unchecked(own ?? NSPersistentStore(store, self, options: options))
    return state.withLock { state in
      if let index = state.stores.firstIndex(where: { $0.content.quireStore === store }) {
        if own == nil, new.content.options != nil { state.stores[index] = new }
        return state.stores[index]
      }
      state.stores.append(new)
      return new
    }.content
  }

  // MARK: Stores

  /// The stores, in the order in which they were added.
  open var persistentStores: [NSPersistentStore] {
    quireCoordinator.persistentStores.map { wrapped($0, options: nil) }
  }

  /// Opens or creates a store.
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try add(storeType, configuration, storeURL, options ?? [:])
  }

  /// Opens or creates the store that a description asks for, and calls a block when it is open.
  open func addPersistentStore(
    with storeDescription: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    let work = Unchecked {
      do {
        try self.add(storeDescription)
        block(storeDescription, nil)
      } catch {
        block(storeDescription, error)
      }
    }
    if storeDescription.shouldAddStoreAsynchronously {
      DispatchQueue.global().async { work.content() }
    } else {
      work.content()
    }
  }

  func add(_ description: NSPersistentStoreDescription) throws {
    try add(
      description.type, description.configuration, description.url, description.options)
  }

  @discardableResult
  private func add(
    _ type: String, _ configuration: String?, _ url: URL?, _ given: [AnyHashable: Any]
  ) throws -> NSPersistentStore {
    try translatingErrors {
      if let store = try addOwnStore(type, configuration, url, given) { return store }
      var options = try PersistentStoreOptions(named: given)
      options.reportsClassDifferencesAtUse = true
      if options.migratesAutomatically {
        options.mappingModels = try mappingModels.map { try $0.resolved() }
      }
      let store = try quireCoordinator.addPersistentStore(
        type: StoreType(named: type), configuration: configuration,
        at: type == NSInMemoryStoreType ? nil : url, options: options)
      return wrapped(store, options: given)
    }
  }

  /// Closes a store.
  open func remove(_ store: NSPersistentStore) throws {
    if persistentStores.contains(store) {
      NotificationCenter.default.post(
        name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
    }
    try translatingErrors { try quireCoordinator.remove(store.quireStore) }
  }

  /// The store in a file.
  open func persistentStore(for url: URL) -> NSPersistentStore? {
    quireCoordinator.persistentStore(for: url).map { wrapped($0, options: nil) }
  }

  /// The file of a store.
  open func url(for store: NSPersistentStore) -> URL { quireCoordinator.url(for: store.quireStore) }

  /// Moves a store to another file, or into memory.
  @discardableResult
  open func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil,
    withType storeType: String
  ) throws -> NSPersistentStore {
    try translatingErrors {
      let new = try quireCoordinator.migratePersistentStore(
        store.quireStore, to: storeType == NSInMemoryStoreType ? nil : url,
        options: try PersistentStoreOptions(named: options), type: StoreType(named: storeType))
      return wrapped(new, options: options)
    }
  }

  /// Removes the file of a store.
  ///
  /// Coordinators of this process that have the store remove it first; it can be added again at
  /// once. The file itself goes, where Core Data may leave an empty one.
  open func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    try translatingErrors {
      if StoreType(named: storeType) == .quire {
        PersistentStoreCoordinator.removeFromAllCoordinators(storeAt: url)
      }
      try quireCoordinator.destroyPersistentStore(
        at: url, type: StoreType(named: storeType),
        options: try PersistentStoreOptions(named: options))
    }
  }

  /// Puts a copy of a store in the place of another.
  ///
  /// Coordinators of this process that have the other one remove it first: add it again to use the
  /// copy.
  open func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    ofType storeType: String
  ) throws {
    try translatingErrors {
      // A store that is to replace itself is an error, and stays.
      if destinationURL.resolvingSymlinksInPath() != sourceURL.resolvingSymlinksInPath() {
        PersistentStoreCoordinator.removeFromAllCoordinators(storeAt: destinationURL)
      }
      try quireCoordinator.replacePersistentStore(
        at: destinationURL,
        destinationOptions: try PersistentStoreOptions(named: destinationOptions),
        withPersistentStoreFrom: sourceURL,
        sourceOptions: try PersistentStoreOptions(named: sourceOptions),
        type: StoreType(named: storeType))
    }
  }

  // MARK: Metadata

  /// What a store says about itself.
  open func metadata(for store: NSPersistentStore) -> [String: Any] {
    let metadata = quireCoordinator.metadata(for: store.quireStore)
    guard let store = store as? NSIncrementalStore else { return metadata }
    return metadata.merging(store.metadata) { $1 }
  }

  /// Sets what the application says about a store; it is written with the next save.
  open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    raising("setMetadata(_:for: \(store))") {
      try quireCoordinator.setMetadata(
        (store as? NSIncrementalStore)?.replaceMetadata(by: metadata ?? [:]) ?? metadata,
        for: store.quireStore)
    }
  }

  /// What the store in a file says about itself, without opening it.
  open class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    if let own = StoreClasses.type(named: storeType) {
      return try own.metadataForPersistentStore(with: url)
    }
    return try translatingErrors {
      try PersistentStoreCoordinator.metadataForPersistentStore(
        type: StoreType(named: storeType), at: url,
        options: try PersistentStoreOptions(named: options))
    }
  }

  /// The same, whatever the type.
  open class func metadataForPersistentStore(at url: URL) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
  }

  /// Sets what the application says about the store in a file, which is not open.
  open class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    if let own = StoreClasses.type(named: storeType) {
      return try own.setMetadata(metadata, forPersistentStoreWith: url)
    }
    try translatingErrors {
      try PersistentStoreCoordinator.setMetadata(
        metadata, type: StoreType(named: storeType), at: url,
        options: try PersistentStoreOptions(named: options))
    }
  }

  // MARK: Deferred migration

  /// Rewrites all objects that a deferred migration has left in their old layout.
  open func finishDeferredLightweightMigration() throws {
    try translatingErrors { try quireCoordinator.finishDeferredLightweightMigration() }
  }

  /// Rewrites some of them, which takes a fraction of a second.
  ///
  /// - Returns: whether objects are left, so that it should be called again.
  @discardableResult
  open func finishDeferredLightweightMigrationTask() throws -> Bool {
    try translatingErrors { try quireCoordinator.finishDeferredLightweightMigrationTask() }
  }

  // MARK: IDs, history, queue

  /// The ID that a URI represents.
  open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    quireCoordinator.managedObjectID(forURIRepresentation: url)
  }

  /// The newest position in the histories of stores; `nil` without a history.
  open func currentPersistentHistoryToken(
    fromStores stores: [Any]?
  ) -> NSPersistentHistoryToken? {
    quireCoordinator.currentPersistentHistoryToken(
      fromStores: stores?.compactMap { ($0 as? NSPersistentStore)?.quireStore })
  }

  /// Runs a block in place, as a coordinator needs no queue.
  open func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result { try block() }

  /// Runs a block in place, as a coordinator needs no queue.
  open func perform(_ block: @escaping () -> Void) { block() }

  /// Runs a block in place, and returns its result, or throws what it throws.
  open func perform<Result, Failure>(
    _ block: @escaping () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try block()
  }
}
