import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The stores of a context, and the store of each of its objects.
extension ManagedObjectContext {
  /// The sessions of the coordinator's stores, in their order.
  final func presentSessions() -> [StoreSession] {
    let stores = persistentStoreCoordinator?.stores ?? []
    if stores.count == 1, sessions.count == 1, sessions[0].store === stores[0] { return sessions }
    match(stores)
    return sessions
  }

  /// The sessions of the coordinator's stores, in their order.
  ///
  /// - Throws: when there is no coordinator or no store.
  final func requiredSessions() throws -> [StoreSession] {
    let sessions = presentSessions()
    if !sessions.isEmpty { return sessions }
    throw PersistenceError(
      .persistentStoreOperation,
      persistentStoreCoordinator == nil
        ? "the context has no coordinator: set persistentStoreCoordinator first"
        : "the context's coordinator has no store: add one first")
  }

  /// The session of the one store that there is, or of the first.
  final func firstSession() throws -> StoreSession { try requiredSessions()[0] }

  final func session(with identity: StoreIdentity) -> StoreSession? {
    presentSessions().first { $0.identity == identity }
  }

  final func matchSessions() { match(persistentStoreCoordinator?.stores ?? []) }

  private func match(_ stores: [PersistentStore]) {
    var left = sessions + formerSessions
    sessions = stores.map { store in
      if let index = left.firstIndex(where: { $0.canFollow(store) }) {
        let session = left.remove(at: index)
        session.follow(store)
        return session
      }
      return StoreSession(self, store)
    }
    for (position, session) in sessions.enumerated() { session.position = position }
    for session in left { session.position = sessions.count }
    formerSessions = left
    if mergesCommits { for session in sessions { session.joinCommits() } }
  }

  /// Whether there may be objects of several stores.
  final var hasSeveralStores: Bool { sessions.count + formerSessions.count > 1 }

  // MARK: Removed stores

  /// Makes objects of removed stores faults, and drops their changes.
  final func leaveRemovedStores() {
    guard sessions.contains(where: \.isRetired) || !formerSessions.isEmpty else { return }
    matchSessions()
    for session in formerSessions where !session.hasLeft { leave(session) }
  }

  private func leave(_ session: StoreSession) {
    session.hasLeft = true
    session.leaveCommits()
    session.view = nil
    session.pinnedView = nil
    session.formerVersions = [:]
    let objects = session.objects
    // Undoing could refer to objects that are gone.
    if !objects.isEmpty { forgetUndo() }
    for object in objects {
      watched.remove(object)
      if object.isNew {
        release(object)
      } else if !object.isUnread || object.hasChanges {
        object.turnIntoFault()
        notices?.didRefresh(object)
      }
    }
  }

  // MARK: New objects

  /// Chooses the store in which a new object is saved.
  ///
  /// Without this an object goes to the first of the coordinator's stores, in the order in which
  /// they were added, that is not read-only and whose configuration has the object's entity. Where
  /// it is related to an object of another store the save fails; an assignment avoids that.
  ///
  /// The last assignment counts. The next fetch or save throws
  /// ``PersistenceError/Code/persistentStoreOperation`` (134070) when the object was saved before,
  /// has a permanent ID already, or is not of this context; when the store is not of its
  /// coordinator, is read-only, or has no such entity in its configuration. Nothing is assigned
  /// then.
  public final func assign(_ object: ManagedObject, to store: PersistentStore) {
    do {
      try checkAssignment(of: object, to: store)
      assignedStores[object.reference] = store.identity
      preparation?.isOutdated = true
    } catch {
      report(error)
    }
  }

  private func checkAssignment(of object: ManagedObject, to store: PersistentStore) throws {
    func refuse(_ reason: String) -> PersistenceError {
      var error = PersistenceError(
        .persistentStoreOperation,
        "\(object.objectID) cannot be assigned to the store \(store.identifier): \(reason)")
      error.entityName = object.entity.name
      error.objectID = object.objectID
      return error
    }
    guard object.context === self else { throw refuse("it is not an object of this context") }
    if let identity = object.session?.identity ?? object.promisedID?.store {
      if identity == store.identity { return }
      throw refuse("it has a permanent ID of another store")
    }
    guard let session = session(with: store.identity), session.store === store else {
      throw refuse("the store is not of the context's coordinator")
    }
    if store.isReadOnly { throw refuse("the store was opened read-only") }
    if !session.takes(object) {
      throw refuse("the store's configuration \(store.configurationName) lacks its entity")
    }
  }

  /// The store that an object is in, or that the next save puts it in.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreSave`` (134030) when there is none.
  final func targetSession(of object: ManagedObject) throws -> StoreSession {
    if let session = object.session { return session }
    let sessions = presentSessions()
    if !assignedStores.isEmpty || !promisedIDs.isEmpty,
      let identity = promisedIDs.reference(of: object.reference)?.store
        ?? assignedStores[object.reference]
    {
      if let session = sessions.first(where: { $0.identity == identity }) { return session }
      throw noStore(
        for: object, "the store \(UUID(identity)) it was assigned to is not there any more")
    }
    if let session = sessions.first(where: { !$0.store.isReadOnly && $0.takes(object) }) {
      return session
    }
    let readable = sessions.first { $0.takes(object) }
    throw noStore(
      for: object,
      readable == nil
        ? "no store of the coordinator has a configuration with the entity"
        : "the stores for it were opened read-only: open one for writing to save")
  }

  private func noStore(for object: ManagedObject, _ reason: String) -> PersistenceError {
    var error = PersistenceError(
      .persistentStoreSave,
      "\(object.objectID), of the entity \(object.entity.name), cannot be saved: \(reason)")
    error.entityName = object.entity.name
    error.objectID = object.objectID
    return error
  }
}

extension StoreSession {
  /// Whether the store's configuration has the object's entity.
  func takes(_ object: ManagedObject) -> Bool {
    let index = object.binding.index
    return index < entities.byIndex.count && entities.byIndex[index] != nil
  }
}
