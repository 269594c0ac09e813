// An object of the main actor's context is used within a background task.
import Quire

@MainActor func rename(_ container: PersistentContainer, _ artist: ManagedObject) async throws {
  try await container.performBackgroundTask { context in
    try artist.setValue("Ada", forKey: "name")  // error: with non-Sendable type 'ManagedObject'
    try context.save()
  }
}
