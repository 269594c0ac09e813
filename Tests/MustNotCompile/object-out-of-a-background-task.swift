// A background task returns an object of its context.
import Quire

func first(_ all: PersistentContainer) async throws {
  let artist = try await all.performBackgroundTask {  // error: of 'ManagedObject' to 'Sendable'
    try $0.fetch(FetchRequest<ManagedObject>(entityName: "Artist"))[0]
  }
  print(artist)
}
