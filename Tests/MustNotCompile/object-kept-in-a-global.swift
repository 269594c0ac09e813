// An object is kept where every isolation can reach it.
import Quire

var latest: ManagedObject?  // error: is not concurrency-safe
