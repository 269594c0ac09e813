import QuireModel

// What the handlers of stages work with.
extension StagedMigrationManager {
  /// The store of the stage that is under way, at the version of the stage that the handler is
  /// called for. All its objects are plain ``ManagedObject``s, or of the manager's own class.
  ///
  /// `nil` but within a handler. Its contexts have no store when the handler has returned.
  public var container: PersistentContainer? { current.withLock { $0 as? PersistentContainer } }

  /// The same, where it is there for certain.
  ///
  /// - Throws: ``PersistenceError/Code/migration`` when no handler is being called.
  public var requiredContainer: PersistentContainer {
    get throws {
      if let container { return container }
      throw PersistenceError(
        .migration, "a staged migration has a container while a handler of a stage is called only")
    }
  }

  /// Calls a handler with a store that is somebody else's to close.
  func with(
    _ store: PersistentStore, of version: VersionedModel.Version, _ body: () throws -> Void
  ) throws {
    let container = PersistentContainer(
      name: version.name,
      persistentStoreCoordinator: PersistentStoreCoordinator(
        managedObjectModel: version.model, defaultClass: objectClass))
    let coordinator = container.persistentStoreCoordinator
    coordinator.attach(store)
    defer { coordinator.detach() }
    let isFree = current.withLock { current in
      guard current == nil else { return false }
      current = container
      return true
    }
    guard isFree else {
      throw PersistenceError(
        .migration, "the staged migration manager is at work on another store")
    }
    defer { current.withLock { $0 = nil } }
    try body()
  }
}

extension PersistentContainer: HandlerStack {}
