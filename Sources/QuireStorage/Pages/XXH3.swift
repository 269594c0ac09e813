/// XXH3, 64 bits, with a seed: a published non-cryptographic hash, as fast as memory in its long
/// form.
///
/// Follows the specification of xxHash 0.8 (Yann Collet) for every length; the vectors in the tests
/// come from the reference implementation. On disk: the algorithm never changes within a format
/// version.
package enum XXH3 {
  package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    guard let start = bytes.baseAddress else { return hashUpTo16(secret, 0, seed) }
    switch bytes.count {
    case ...16: return hashUpTo16(start, bytes.count, seed)
    case ...128: return hashUpTo128(start, bytes.count, seed)
    case ...240: return hashUpTo240(start, bytes.count, seed)
    default: return hashLong(start, bytes.count, seed)
    }
  }

  // MARK: Up to 240 bytes

  private static func hashUpTo16(
    _ input: UnsafeRawPointer, _ count: Int, _ seed: UInt64
  ) -> UInt64 {
    if count > 8 {
      let flipLow = (secret.u64(at: 24) ^ secret.u64(at: 32)) &+ seed
      let flipHigh = (secret.u64(at: 40) ^ secret.u64(at: 48)) &- seed
      let low = input.u64(at: 0) ^ flipLow
      let high = input.u64(at: count - 8) ^ flipHigh
      return avalanche(UInt64(count) &+ low.byteSwapped &+ high &+ foldedProduct(low, high))
    }
    if count >= 4 {
      let seed = seed ^ UInt64(UInt32(truncatingIfNeeded: seed).byteSwapped) << 32
      let flip = (secret.u64(at: 8) ^ secret.u64(at: 16)) &- seed
      let both = UInt64(input.u32(at: count - 4)) &+ UInt64(input.u32(at: 0)) << 32
      return strongAvalanche(both ^ flip, UInt64(count))
    }
    if count > 0 {
      let first = UInt32(input.load(as: UInt8.self))
      let middle = UInt32(input.load(fromByteOffset: count >> 1, as: UInt8.self))
      let last = UInt32(input.load(fromByteOffset: count - 1, as: UInt8.self))
      let combined = first << 16 | middle << 24 | last | UInt32(count) << 8
      let flip = UInt64(secret.u32(at: 0) ^ secret.u32(at: 4)) &+ seed
      return avalanche64(UInt64(combined) ^ flip)
    }
    return avalanche64(seed ^ (secret.u64(at: 56) ^ secret.u64(at: 64)))
  }

  private static func hashUpTo128(
    _ input: UnsafeRawPointer, _ count: Int, _ seed: UInt64
  ) -> UInt64 {
    var hash = UInt64(count) &* prime64n1
    for round in stride(from: (count - 1) / 32, through: 0, by: -1) {
      hash &+= mix16(input + 16 * round, 32 * round, seed)
      hash &+= mix16(input + count - 16 * (round + 1), 32 * round + 16, seed)
    }
    return avalanche(hash)
  }

  private static func hashUpTo240(
    _ input: UnsafeRawPointer, _ count: Int, _ seed: UInt64
  ) -> UInt64 {
    var hash = UInt64(count) &* prime64n1
    for round in 0..<8 { hash &+= mix16(input + 16 * round, 16 * round, seed) }
    hash = avalanche(hash)
    for round in 8..<(count / 16) { hash &+= mix16(input + 16 * round, 16 * (round - 8) + 3, seed) }
    hash &+= mix16(input + count - 16, 136 - 17, seed)
    return avalanche(hash)
  }

  // MARK: Mixing

  @inline(__always)
  private static func mix16(_ input: UnsafeRawPointer, _ offset: Int, _ seed: UInt64) -> UInt64 {
    foldedProduct(
      input.u64(at: 0) ^ (secret.u64(at: offset) &+ seed),
      input.u64(at: 8) ^ (secret.u64(at: offset + 8) &- seed))
  }

  @inline(__always)
  static func foldedProduct(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let (high, low) = left.multipliedFullWidth(by: right)
    return high ^ low
  }

  static func avalanche(_ hash: UInt64) -> UInt64 {
    var hash = hash
    hash ^= hash >> 37
    hash &*= 0x1656_6791_9E37_79F9
    return hash ^ hash >> 32
  }

  private static func avalanche64(_ hash: UInt64) -> UInt64 {
    var hash = hash
    hash ^= hash >> 33
    hash &*= prime64n2
    hash ^= hash >> 29
    hash &*= prime64n3
    return hash ^ hash >> 32
  }

  private static func strongAvalanche(_ hash: UInt64, _ count: UInt64) -> UInt64 {
    var hash = hash
    hash ^= (hash << 49 | hash >> 15) ^ (hash << 24 | hash >> 40)
    hash &*= 0x9FB2_1C65_1E98_DF25
    hash ^= hash >> 35 &+ count
    hash &*= 0x9FB2_1C65_1E98_DF25
    return hash ^ hash >> 28
  }

  // MARK: Constants

  static let prime32n1: UInt64 = 0x9E37_79B1
  static let prime32n2: UInt64 = 0x85EB_CA77
  static let prime32n3: UInt64 = 0xC2B2_AE3D
  static let prime64n1: UInt64 = 0x9E37_79B1_85EB_CA87
  static let prime64n2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  static let prime64n3: UInt64 = 0x1656_67B1_9E37_79F9
  static let prime64n4: UInt64 = 0x85EB_CA77_C2B2_AE63
  static let prime64n5: UInt64 = 0x27D4_EB2F_1656_67C5

  static let secretByteCount = 192

  /// The default secret of the specification.
  ///
  /// `nonisolated(unsafe)`: filled once, before it is visible to others, then only read; never
  /// freed.
  nonisolated(unsafe) static let secret: UnsafeRawPointer = {
    let words: [UInt64] = [
      0xBE4B_A423_396C_FEB8, 0x1CAD_21F7_2C81_017C, 0xDB97_9083_E96D_D4DE, 0x1F67_B3B7_A4A4_4072,
      0x78E5_C0CC_4EE6_79CB, 0x2172_FFCC_7DD0_5A82, 0x8E24_43F7_7446_08B8, 0x4C26_3A81_E690_35E0,
      0xCB00_C391_BB52_283C, 0xA32E_531B_8B65_D088, 0x4EF9_0DA2_9748_6471, 0xD8AC_DEA9_46EF_1938,
      0x3F34_9CE3_3F76_FAA8, 0x1D4F_0BC7_C7BB_DCF9, 0x3159_B4CD_4BE0_518A, 0x6473_78D9_C97E_9FC8,
      0xC3EB_D334_83AC_C5EA, 0xEB63_13FA_FFA0_81C5, 0x49DA_F0B7_51DD_0D17, 0x9E68_D429_2655_16D3,
      0xFCA1_477D_58BE_162B, 0xCE31_D07A_D1B8_F88F, 0x2804_1695_8F3A_CB45, 0x7E40_4BBB_CAFB_D7AF,
    ]
    let room = UnsafeMutableRawPointer.allocate(byteCount: secretByteCount, alignment: 8)
    for (index, word) in words.enumerated() { room.setU64(word, at: 8 * index) }
    return UnsafeRawPointer(room)
  }()
}
