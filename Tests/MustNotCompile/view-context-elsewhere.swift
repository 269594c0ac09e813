// The main actor's context is used outside the main actor.
import Quire

func save(_ container: PersistentContainer) throws {
  try container.viewContext.save()  // error: main actor-isolated property 'viewContext'
}
