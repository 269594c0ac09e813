// A to-many relationship is never nil, and the compiler says so where one is declared to be.
import Quire

final class Artwork: ManagedObject {
  @Managed var title: String?
}

final class Artist: ManagedObject {
  @Managed var artworks: Set<Artwork>
  @Managed var tags: Set<String>?
  @Managed var others: Set<Artwork>?  // error: is never nil, only empty
  @Managed var ordered: [Artwork]?  // error: is never nil, only empty
}
