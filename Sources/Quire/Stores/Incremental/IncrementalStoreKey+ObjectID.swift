import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension IncrementalStoreKey {
  /// The ID of the row in a store, which need not be open yet.
  ///
  /// - Returns: `nil` when the model has no such entity, or the number is out of range.
  package func objectID(in store: UUID, of model: ManagedObjectModel) -> ManagedObjectID? {
    guard let entity = model.entity(named: entityName),
      (1...Self.maximumNumber).contains(number)
    else { return nil }
    return ManagedObjectID(entity: entity, store: StoreIdentity(store), key: number)
  }
}

extension ManagedObjectID {
  /// Whether the object was saved in the store with a UUID.
  package func isOf(store identifier: UUID) -> Bool {
    permanent.store == StoreIdentity(identifier)
  }
}
