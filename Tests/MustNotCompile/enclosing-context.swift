// A background task saves the context of the one who began it, instead of its own.
import Quire

@MainActor func save(_ container: PersistentContainer) async throws {
  let context = container.viewContext
  try await container.performBackgroundTask { _ in
    try context.save()  // error: with non-Sendable type 'ManagedObjectContext'
  }
}
