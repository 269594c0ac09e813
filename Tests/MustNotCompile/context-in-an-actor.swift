// An actor hands its context out.
import Quire

actor Importer {
  let context: ManagedObjectContext
  init(_ container: PersistentContainer) { context = container.newBackgroundContext() }
}

func save(_ importer: Importer) async throws {
  try await importer.context.save()  // error: non-Sendable type 'ManagedObjectContext'
}
