/// An object's place in a store: which entity's tree, and which key in it.
///
/// On disk wherever one object names another: 64 bits, the entity's number in the upper 16 and the
/// key in the lower 48. Knowing the concrete entity, a relationship yields a fault without a look
/// at the destination's row.
struct Reference: Hashable, Sendable {
  var rawValue: UInt64

  /// Keys run from 1 to this; 2^48 objects an entity.
  static let maximumKey: Int64 = 1 << 48 - 1
  static let keys: ClosedRange<Int64> = 1...maximumKey
  /// The entity number of objects that no store has seen yet.
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
