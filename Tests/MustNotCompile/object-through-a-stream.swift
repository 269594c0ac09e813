// A stream carries objects from one task to another.
import Quire

func fill(_ stream: AsyncStream<ManagedObject>.Continuation, _ artist: ManagedObject) {
  stream.yield(artist)  // error: risks causing data races
}
