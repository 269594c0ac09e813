// An object of the main actor's context is used by a task of its own.
import Quire

@MainActor func count(_ container: PersistentContainer) async throws {
  let artists = try container.viewContext.fetch(FetchRequest<ManagedObject>(entityName: "Artist"))
  guard let artist = artists.first else { return }
  await Task.detached {  // error: risks causing data races
    print(artist.hasChanges)
  }.value
}
