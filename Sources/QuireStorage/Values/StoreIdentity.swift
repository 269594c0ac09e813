/// The 16 bytes that identify a store; they seed all its checksums.
public struct StoreIdentity: Hashable, Sendable {
  /// The first eight bytes, read big-endian.
  public var high: UInt64
  /// The last eight bytes, read big-endian.
  public var low: UInt64

  /// The identity with these 16 bytes.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The 16 bytes, first to last, as a UUID prints them.
  public var bytes: [UInt8] {
    [high, low].flatMap { word in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
  }

  /// A fresh identity, with the version and variant bits of a random UUID (RFC 9562, version 4).
  public static func random() -> StoreIdentity {
    var generator = SystemRandomNumberGenerator()
    let high = generator.next() as UInt64
    let low = generator.next() as UInt64
    return StoreIdentity(
      high: high & ~0xF000 | 0x4000,
      low: low & (UInt64.max >> 2) | 1 << 63)
  }
}

extension StoreIdentity: CustomStringConvertible {
  /// The identity as a UUID is written: `8-4-4-4-12` upper-case hexadecimal digits.
  public var description: String {
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      if byte < 16 { text += "0" }
      text += String(byte, radix: 16, uppercase: true)
    }
    return text
  }
}
