import Foundation
import Quire

/// A work that the gallery has, or had.
public final class Artwork: ManagedObject {
  @Managed(length: 1...200) public var title: String
  /// `cost` until 1.1, and a binary number until 2.0: stores of all releases open, and have the
  /// same prices.
  @Managed(.indexed, range: 0..., renamedFrom: "cost") public var price: Decimal = 0
  @Managed(range: 1...2100) public var year: Int16?
  @Managed public var artist: Artist?
  @Managed(deleteRule: .cascade) public var sale: Sale?
}
