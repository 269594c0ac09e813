/// One bit a page in the body of a bitmap page: bit *n* is bit *n* mod 8 of byte *n* / 8.
enum Bitmap {
  @inline(__always)
  static func isSet(_ bit: Int, in page: Page) -> Bool {
    let byte = page.base.load(fromByteOffset: PageHeader.byteCount + bit >> 3, as: UInt8.self)
    return byte & (1 << UInt8(bit & 7)) != 0
  }

  static func set(_ bit: Int, to value: Bool, in page: MutablePage) {
    let offset = PageHeader.byteCount + bit >> 3
    let mask = 1 << UInt8(bit & 7) as UInt8
    let byte = page.base.load(fromByteOffset: offset, as: UInt8.self)
    page.base.storeBytes(
      of: value ? byte | mask : byte & ~mask, toByteOffset: offset, as: UInt8.self)
  }

  /// The first clear bit at or after `bit`, looking at 64 pages at a time.
  static func firstClear(in page: Page, from bit: Int, geometry: PageGeometry) -> Int? {
    let end = geometry.capacity * 8
    var word = bit >> 6
    // Bits before the first one wanted count as set.
    var mask = (1 << UInt64(bit & 63) as UInt64) &- 1
    while word << 6 < end {
      let bits = page.base.u64(at: PageHeader.byteCount + word << 3) | mask
      if bits != .max { return word << 6 + (~bits).trailingZeroBitCount }
      mask = 0
      word += 1
    }
    return nil
  }

  /// The number of set bits below `limit`.
  static func countSet(in page: Page, below limit: Int) -> Int {
    var count = 0
    for word in 0..<((limit + 63) >> 6) {
      var bits = page.base.u64(at: PageHeader.byteCount + word << 3)
      if limit - word << 6 < 64 { bits &= (1 << UInt64(limit - word << 6)) &- 1 }
      count += bits.nonzeroBitCount
    }
    return count
  }
}
