/// Identifies an object of a store by the entity, and the key in the tree of its rows.
///
/// On disk wherever an object refers to another: 64 bits, the entity's number in the upper 16 and
/// the key in the lower 48. As it has the concrete entity, a relationship yields a fault without
/// reading the destination's row.
struct Reference: Hashable, Sendable {
  var rawValue: UInt64

  /// The highest key; keys begin at 1. An entity can have 2^48 - 1 objects.
  static let maximumKey: Int64 = 1 << 48 - 1
  static let keys: ClosedRange<Int64> = 1...maximumKey
  /// The entity number of objects that were never saved.
  static let temporaryEntity: UInt16 = .max

  init(rawValue: UInt64) { self.rawValue = rawValue }

  init(entity: UInt16, key: Int64) {
    rawValue = UInt64(entity) << 48 | UInt64(bitPattern: key) & 0xFFFF_FFFF_FFFF
  }

  var entity: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 48) }
  var key: Int64 { Int64(rawValue & 0xFFFF_FFFF_FFFF) }
  var isTemporary: Bool { entity == Reference.temporaryEntity }
}

extension Reference: Comparable {
  static func < (left: Reference, right: Reference) -> Bool { left.rawValue < right.rawValue }
}
