import QuireModel

/// Makes an incremental store for a location and a model.
public typealias IncrementalStoreMaker =
  @Sendable (IncrementalStorePlace) throws -> any IncrementalStore

extension PersistentStoreCoordinator {
  /// Registers a function that makes the stores of a type, for this coordinator.
  ///
  /// Stores of the type are then added like others, by
  /// ``addPersistentStore(type:configuration:at:options:)`` or by a description that names the
  /// type:
  ///
  /// ```swift
  /// let type = StoreType(rawValue: "Rows")
  /// try coordinator.registerStoreClass(forStoreType: type) { place in
  ///   try RowStore(at: place.url, for: place.model)
  /// }
  /// try coordinator.addPersistentStore(type: type, at: url)
  /// ```
  ///
  /// - Parameter make: called whenever a store of the type is added; `nil` to end the registration.
  ///   Stores that were added before are kept.
  /// - Throws: ``PersistenceError/Code/persistentStoreInvalidType`` (134000) for Quire's own types.
  public func registerStoreClass(
    forStoreType type: StoreType, _ make: IncrementalStoreMaker?
  ) throws(PersistenceError) {
    guard type != .quire, type != .inMemory else {
      throw PersistenceError(
        .persistentStoreInvalidType,
        "the store type \(type.rawValue) is Quire's own: give the store another name")
    }
    storeMakers.withLock { $0[type] = make }
  }
}

extension PersistentStore {
  /// The incremental store that this one reads and writes; `nil` for Quire's own stores.
  public var incrementalStore: (any IncrementalStore)? { incremental?.store }

  /// The ID of an object by its row in an incremental store. It is needed to notify contexts of
  /// changes by others (``ManagedObjectContext/mergeChanges(fromRemoteContextSave:into:)``).
  ///
  /// - Returns: `nil` if this is no incremental store, or does not have the entity or the number.
  public func objectID(for key: IncrementalStoreKey) -> ManagedObjectID? {
    guard let reference = try? incremental?.reference(of: key),
      let storage = entities.storage(of: reference)
    else { return nil }
    return ManagedObjectID(entity: storage.binding.entity, store: identity, key: key.number)
  }

  /// Why something that is done with files and pages cannot be done with this store.
  func refusal(of task: String) -> PersistenceError {
    PersistenceError(
      .persistentStoreOperation,
      "a store of type \(type.rawValue) cannot be \(task): its rows are wherever it keeps them. "
        + "Copy objects from context to context")
  }
}
