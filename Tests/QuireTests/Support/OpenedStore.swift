import Quire
import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Opens a store for a moment.
func withStore<Result>(
  _ model: ManagedObjectModel, _ url: URL, _ body: (ManagedObjectContext) throws -> Result
) throws -> Result {
  let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
  let store = try coordinator.addPersistentStore(type: .quire, at: url)
  defer { try? coordinator.remove(store) }
  let context = GotchaHome.context(of: coordinator)
  return try body(context)
}
