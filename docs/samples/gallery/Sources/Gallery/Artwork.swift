import Quire

/// A work that the gallery has.
public final class Artwork: ManagedObject {
  @Managed(length: 1...200) public var title: String
  @Managed(range: 0...) public var cost: Double = 0
  @Managed public var artist: Artist?
}
