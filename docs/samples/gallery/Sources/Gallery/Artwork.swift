import Quire

/// A work that the gallery has.
public final class Artwork: ManagedObject {
  @Managed(length: 1...200) public var title: String
  @Managed(.indexed, range: 0..., renamedFrom: "cost") public var price: Double = 0
  @Managed(range: 1...2100) public var year: Int16?
  @Managed public var artist: Artist?
}
