// Core Data's habit: an object is taken along to another queue.
import Dispatch
import Quire

func later(_ artist: ManagedObject) {
  DispatchQueue.global().async {
    print(artist.hasChanges)  // error: with non-Sendable type 'ManagedObject'
  }
}
