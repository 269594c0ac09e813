// Synchronous code that belongs to no actor: a context of its own, handed on from function to
// function; and a callback that is always made on the main actor, though its type does not say so.
import Quire

func importNames(_ names: [String], into container: PersistentContainer) throws {
  let context = container.newBackgroundContext()
  for name in names { try add(name, to: context) }
  try context.performAndWait { try context.save() }
}

private func add(_ name: String, to context: ManagedObjectContext) throws {
  try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
    .setValue(name, forKey: "name")
}

protocol Table: AnyObject {
  func rowCount() -> Int
}

@MainActor final class List: Table {
  let container: PersistentContainer
  init(_ container: PersistentContainer) { self.container = container }

  nonisolated func rowCount() -> Int {
    MainActor.assumeIsolated {
      (try? container.viewContext.count(for: FetchRequest<ManagedObject>(entityName: "Artist")))
        ?? 0
    }
  }
}
