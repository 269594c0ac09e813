import Quire

/// Somebody whose works the gallery has.
///
/// The class is the model: an entity `Artist` with an attribute and a relationship.
public final class Artist: ManagedObject {
  /// There is one artist of each name; the store sees to it.
  @Managed(.unique, length: 1...200) public var name: String
  /// The works go with the artist.
  @Managed(inverse: \Artwork.artist, deleteRule: .cascade) public var artworks: Set<Artwork>
}
