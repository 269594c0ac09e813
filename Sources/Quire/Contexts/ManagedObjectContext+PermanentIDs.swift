import QuireModel
import QuireStorage

/// Permanent references that new objects were promised before they are saved.
struct PromisedIDs {
  private var references: [Reference: GlobalReference] = [:]
  private var promised: [GlobalReference: Reference] = [:]

  var isEmpty: Bool { references.isEmpty }

  /// The store and permanent reference of the object with a temporary reference.
  func reference(of temporary: Reference) -> GlobalReference? {
    references.isEmpty ? nil : references[temporary]
  }

  /// The temporary reference of the object that a permanent one was promised to.
  func temporary(of reference: Reference, in store: StoreIdentity) -> Reference? {
    promised.isEmpty ? nil : promised[GlobalReference(store: store, reference: reference)]
  }

  mutating func promise(_ reference: Reference, to temporary: Reference, in store: StoreIdentity) {
    let globalReference = GlobalReference(store: store, reference: reference)
    references[temporary] = globalReference
    promised[globalReference] = temporary
  }

  /// Removes the promise to an object, which was saved.
  mutating func keep(_ temporary: Reference) {
    if let reference = references.removeValue(forKey: temporary) { promised[reference] = nil }
  }
}

extension ManagedObjectContext {
  /// Gives objects that were never saved the IDs that they will have when they are.
  ///
  /// Each store records that these IDs are taken, in one commit for all its objects; IDs of objects
  /// that are not saved after all are never assigned again. Objects that have permanent IDs keep
  /// them. Afterwards the object cannot be assigned to another store; see ``assign(_:to:)``.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` (134070) when an object is not
  ///   inserted in this context, no store takes it, or all that would are read-only;
  ///   ``PersistenceError/Code/persistentStoreSave`` (134030) when the engine cannot write. No ID
  ///   has changed then, except those in stores that came before.
  public final func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    _ = try requiredSessions()
    var candidates: [(session: StoreSession, objects: [ManagedObject])] = []
    for object in objects where object.objectID.isTemporaryID {
      if object.context === self { showPermanentID(of: object) }
      if !object.objectID.isTemporaryID { continue }
      guard object.context === self, object.isNew || object.isStored else {
        throw PersistenceError(
          .persistentStoreOperation,
          "the object \(object.objectID) cannot have a permanent ID: it is not inserted in this "
            + "context")
      }
      let session = try promisingSession(of: object)
      if let index = candidates.firstIndex(where: { $0.session === session }) {
        candidates[index].objects.append(object)
      } else {
        candidates.append((session, [object]))
      }
    }
    for candidate in candidates {
      let references = try candidate.session.takeReferences(for: candidate.objects)
      for (object, reference) in zip(candidate.objects, references) {
        promisedIDs.promise(reference, to: object.reference, in: candidate.session.identity)
        guard parent != nil, object.isStored else { continue }
        passPromiseOn(
          GlobalReference(store: candidate.session.identity, reference: reference),
          of: object.reference)
      }
    }
  }
}

extension ManagedObjectContext {
  private func promisingSession(of object: ManagedObject) throws -> StoreSession {
    do {
      return try targetSession(of: object)
    } catch var error as PersistenceError {
      error.code = .persistentStoreOperation
      throw error
    }
  }
}

extension StoreSession {
  /// Takes a key for each object, in one commit.
  fileprivate func takeReferences(for objects: [ManagedObject]) throws -> [Reference] {
    let store = try requiredStore()
    if let incremental {
      return try incremental.takeReferences(
        for: objects.filter { store.entities.byIndex[$0.binding.index] != nil })
    }
    var references: [Reference] = []
    do {
      let transaction = try store.pages.beginWrite()
      do {
        try checkVersion(of: transaction)
        let writer = StoreWriter(transaction, store.entities)
        for object in objects {
          guard let stored = store.entities.byIndex[object.binding.index]?.stored else { continue }
          references.append(
            Reference(entity: stored.number, key: try writer.takeKey(in: stored.keySpace)))
        }
        try writer.writeKeys()
        try store.commit(transaction)
      } catch {
        transaction.abort()
        throw error
      }
    } catch let error as StorageError {
      throw PersistenceError(
        .persistentStoreSave, "the store cannot give objects permanent IDs",
        orUnknown: "whether the store has given objects permanent IDs", error)
    }
    return references
  }
}

extension ManagedObject {
  /// The permanent ID that was promised to an object that is not saved yet.
  final var promisedID: ManagedObjectID? {
    guard let context, let promised = context.promisedIDs.reference(of: reference) else {
      return nil
    }
    return ManagedObjectID(entity: entity, store: promised.store, key: promised.reference.key)
  }
}
