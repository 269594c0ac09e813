// A context goes on being used after a task got it.
import Quire

func share(_ container: PersistentContainer) async throws {
  let context = container.newBackgroundContext()
  Task.detached { try context.save() }  // error: risks causing data races
  try context.save()
}
