/// Comparing keys that are byte strings. Pointers and counts, as parts of keys lie apart from each
/// other.
enum KeyBytes {
  /// The number of equal leading bytes, at most `count`.
  @inline(__always)
  static func commonByteCount(
    _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, count: Int
  ) -> Int {
    var offset = 0
    while offset &+ 8 <= count {
      let difference = left.u64(at: offset) ^ right.u64(at: offset)
      if difference != 0 { return offset &+ difference.trailingZeroBitCount >> 3 }
      offset &+= 8
    }
    while offset < count,
      left.load(fromByteOffset: offset, as: UInt8.self)
        == right.load(fromByteOffset: offset, as: UInt8.self)
    {
      offset &+= 1
    }
    return offset
  }

  /// The number of leading bytes that two keys share.
  static func commonByteCount(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Int {
    guard let one = left.baseAddress, let other = right.baseAddress else { return 0 }
    return commonByteCount(one, other, count: min(left.count, right.count))
  }

  /// Below zero, zero or above, as the first `count` bytes compare.
  @inline(__always)
  static func compare(
    _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, count: Int
  ) -> Int {
    // Eight bytes at a time: read big-endian, they compare as numbers the way bytes compare in
    // order.
    var offset = 0
    while offset &+ 8 <= count {
      let a = left.u64(at: offset).byteSwapped
      let b = right.u64(at: offset).byteSwapped
      if a != b { return a < b ? -1 : 1 }
      offset &+= 8
    }
    while offset < count {
      let a = left.load(fromByteOffset: offset, as: UInt8.self)
      let b = right.load(fromByteOffset: offset, as: UInt8.self)
      if a != b { return a < b ? -1 : 1 }
      offset &+= 1
    }
    return 0
  }

  /// Below zero, zero or above, as `left` is below, equal to or above `right`.
  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    guard let one = left.baseAddress, let other = right.baseAddress else {
      return left.count - right.count
    }
    let order = compare(one, other, count: min(left.count, right.count))
    return order != 0 ? order : left.count - right.count
  }

  /// The first four bytes as a number that compares as they do, zeros for those that are missing.
  @inline(__always)
  static func head(_ start: UnsafeRawPointer, count: Int) -> UInt32 {
    if count >= 4 { return start.u32(at: 0).byteSwapped }
    var head: UInt32 = 0
    var offset = 0
    while offset < count {
      let byte = start.load(fromByteOffset: offset, as: UInt8.self)
      head |= UInt32(byte) &<< UInt32(24 &- 8 &* offset)
      offset &+= 1
    }
    return head
  }
}
