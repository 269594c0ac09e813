import QuireModel
import QuireStorage

/// The places in the store that objects have been promised before they are saved.
struct PromisedPlaces {
  /// The store they are in.
  private var identity: StoreIdentity?
  private var places: [Reference: Reference] = [:]
  private var promised: [Reference: Reference] = [:]

  var isEmpty: Bool { places.isEmpty }

  /// Where the object with a temporary reference will be.
  func place(of temporary: Reference, in store: StoreIdentity?) -> Reference? {
    places.isEmpty || identity != store ? nil : places[temporary]
  }

  /// The temporary reference of the object that will be in a place.
  func temporary(of place: Reference, in store: StoreIdentity) -> Reference? {
    promised.isEmpty || identity != store ? nil : promised[place]
  }

  mutating func promise(_ place: Reference, to temporary: Reference, in store: StoreIdentity) {
    if identity != store { self = PromisedPlaces() }
    identity = store
    places[temporary] = place
    promised[place] = temporary
  }
}

extension ManagedObjectContext {
  /// Gives objects that were never saved the IDs that they will have when they are.
  ///
  /// The store is told that these IDs are taken, in one commit for all objects; IDs of objects that
  /// are not saved after all are never given again. Objects that have permanent IDs keep them.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` (134070) when an object is not
  ///   inserted in this context, or the store is read-only;
  ///   ``PersistenceError/Code/persistentStoreSave`` (134030) when the engine cannot write. No ID
  ///   has changed then.
  public final func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    let store = try requiredStore()
    var candidates: [(reference: Reference, storage: EntityStorage)] = []
    for object in objects where object.objectID.isTemporaryID {
      guard object.context === self, object.isInserted,
        let storage = store.entities.byIndex[object.binding.index]
      else {
        throw PersistenceError(
          .persistentStoreOperation,
          "the object \(object.objectID) cannot have a permanent ID: it is not inserted in this "
            + "context")
      }
      candidates.append((object.reference, storage))
    }
    guard !candidates.isEmpty else { return }
    guard !store.isReadOnly else {
      throw PersistenceError(
        .persistentStoreOperation,
        "the store was opened read-only: it cannot give objects permanent IDs")
    }
    var places: [Reference] = []
    do {
      let transaction = try store.pages.beginWrite()
      do {
        try checkVersion(of: transaction)
        let writer = StoreWriter(transaction, store.entities)
        for candidate in candidates {
          let stored = candidate.storage.stored
          places.append(
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
        .persistentStoreSave, "the store cannot give objects permanent IDs", underlying: error)
    }
    for (candidate, place) in zip(candidates, places) {
      promisedPlaces.promise(place, to: candidate.reference, in: store.identity)
    }
  }
}

extension ManagedObject {
  /// The permanent ID that was promised to an object that is not saved yet.
  final var promisedID: ManagedObjectID? {
    guard let context, !context.promisedPlaces.isEmpty, let identity = context.store?.identity,
      let place = context.promisedPlaces.place(of: reference, in: identity)
    else { return nil }
    return ManagedObjectID(entity: entity, store: identity, key: place.key)
  }
}
