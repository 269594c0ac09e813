// A child goes to a task, its parent stays: the child reads the parent's objects.
import Quire

func edit(_ parent: ManagedObjectContext) {
  let child = parent.newChildContext()
  Task.detached { try child.save() }  // error: risks causing data races
}
