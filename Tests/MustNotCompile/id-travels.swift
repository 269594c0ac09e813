// The right way, which compiles: what travels is the ID, and a context that is sent is given up.
import Quire

final class Artist: ManagedObject {
  @Managed var name: String?
}

@MainActor func rename(_ container: PersistentContainer) async throws {
  let artists = try container.viewContext.fetch(FetchRequest<Artist>(entityName: "Artist"))
  guard let id = artists.first?.objectID else { return }
  let name = try await container.performBackgroundTask { context in
    let artist = try context.existingObject(with: id) as? Artist
    artist?.name = "Ada"
    try context.save()
    return artist?.name
  }
  print(name ?? "nobody")
  let context = container.newBackgroundContext()
  Task.detached { try context.save() }
}
