// A class of managed objects that declares itself Sendable is not.
import Quire

final class Artist: ManagedObject, Sendable {  // warning: already unavailable
  @Managed var name: String?
}

func later(_ artist: Artist) {
  Task.detached { print(artist.hasChanges) }  // error: risks causing data races
}
