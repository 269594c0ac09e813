/// Keys and values of the key-value workloads, made in place so that making them costs next to nothing.
///
/// Key *i* is *i* in eight big-endian bytes and then "artworks"; its value has 100 bytes, the first and
/// the last eight of which depend on *i*.
final class KeyValueData {
  static let keyByteCount = 16
  static let valueByteCount = 100
  /// Puts between two commits.
  static let batchCount = 1_000

  private let room: UnsafeMutableRawBufferPointer

  init() {
    let byteCount = KeyValueData.keyByteCount + KeyValueData.valueByteCount
    room = .allocate(byteCount: byteCount, alignment: 16)
    for index in room.indices { room[index] = UInt8(truncatingIfNeeded: index &* 37) }
    for (index, byte) in "artworks".utf8.enumerated() { room[8 + index] = byte }
  }

  deinit { room.deallocate() }

  /// Valid until the next call.
  @inline(__always)
  func key(_ number: Int) -> UnsafeRawBufferPointer {
    room.storeBytes(of: UInt64(number).bigEndian, as: UInt64.self)
    return UnsafeRawBufferPointer(rebasing: room[..<KeyValueData.keyByteCount])
  }

  /// Valid until the next call.
  @inline(__always)
  func value(_ number: Int) -> UnsafeRawBufferPointer {
    let word = mix(UInt64(number))
    room.storeBytes(of: word, toByteOffset: KeyValueData.keyByteCount, as: UInt64.self)
    room.storeBytes(of: word, toByteOffset: room.count - 8, as: UInt64.self)
    return UnsafeRawBufferPointer(rebasing: room[KeyValueData.keyByteCount...])
  }
}

/// What was read, added up, so that nobody can get away with not reading it.
struct KeyValueSum: Equatable {
  var count = 0
  var keys: UInt64 = 0
  var values: UInt64 = 0

  /// The sum over the keys from 0 to below `count`.
  static func expected(_ count: Int) -> KeyValueSum {
    var sum = KeyValueSum()
    for number in 0..<count {
      sum.count += 1
      sum.keys &+= UInt64(number)
      sum.values &+= 2 &* mix(UInt64(number))
    }
    return sum
  }

  @inline(__always)
  mutating func add(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    guard key.count == KeyValueData.keyByteCount else { return }
    keys &+= UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
    add(value: value)
  }

  @inline(__always)
  mutating func add(value: UnsafeRawBufferPointer) {
    guard value.count == KeyValueData.valueByteCount else { return }
    count &+= 1
    values &+= value.loadUnaligned(as: UInt64.self)
    values &+= value.loadUnaligned(fromByteOffset: value.count - 8, as: UInt64.self)
  }
}
