// A child of the main actor's context works elsewhere.
import Quire

@MainActor func edit(_ container: PersistentContainer) {
  let child = container.viewContext.newChildContext()
  Task.detached { try child.save() }  // error: risks causing data races
}
