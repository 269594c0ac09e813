import Foundation
import Quire

/// The sale of a work. Works that are not sold have none.
public final class Sale: ManagedObject {
  @Managed(length: 1...200) public var buyer: String
  @Managed public var amount: Decimal = 0
  @Managed public var date: Date
  /// A sale belongs to a work: it cannot be saved without one, and goes with it.
  @Managed(inverse: \Artwork.sale) public var artwork: Artwork
}
