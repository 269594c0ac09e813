/// What a tree's keys are.
enum KeyKind: Sendable {
  /// 16 bytes: the number in eight big-endian bytes and then "artworks".
  case bytes
  /// The number itself, in 64 bits.
  case integers
}

/// In which order keys are put.
enum KeyOrder: Sendable { case ascending, shuffled }

/// Keys and values of the key-value workloads, made in place so that making them costs next to
/// nothing.
///
/// A value has 100 bytes, the first and the last eight of which depend on the key's number.
final class KeyValueData {
  static let keyByteCount = 16
  static let valueByteCount = 100
  /// Puts between two commits.
  static let batchCount = 1_000

  private let room: UnsafeMutableRawBufferPointer
  private let integer: UnsafeMutableRawBufferPointer
  /// Whose value a key gets: 0 for that of its own number.
  private let valueShift: Int

  init(valueShift: Int = 0) {
    self.valueShift = valueShift
    let byteCount = KeyValueData.keyByteCount + KeyValueData.valueByteCount
    room = .allocate(byteCount: byteCount, alignment: 16)
    integer = .allocate(byteCount: 8, alignment: 8)
    for index in room.indices { room[index] = UInt8(truncatingIfNeeded: index &* 37) }
    for (index, byte) in "artworks".utf8.enumerated() { room[8 + index] = byte }
  }

  deinit {
    room.deallocate()
    integer.deallocate()
  }

  /// Valid until the next call.
  @inline(__always)
  func key(_ number: Int) -> UnsafeRawBufferPointer {
    room.storeBytes(of: UInt64(bitPattern: Int64(number)).bigEndian, as: UInt64.self)
    return UnsafeRawBufferPointer(rebasing: room[..<KeyValueData.keyByteCount])
  }

  /// The number as this machine writes it. Valid until the next call.
  @inline(__always)
  func integerKey(_ number: Int) -> UnsafeRawBufferPointer {
    integer.storeBytes(of: Int64(number), as: Int64.self)
    return UnsafeRawBufferPointer(integer)
  }

  /// Valid until the next call.
  @inline(__always)
  func key(_ number: Int, _ kind: KeyKind) -> UnsafeRawBufferPointer {
    kind == .bytes ? key(number) : integerKey(number)
  }

  /// Valid until the next call.
  @inline(__always)
  func value(_ number: Int) -> UnsafeRawBufferPointer {
    let word = mix(UInt64(bitPattern: Int64(number &+ valueShift)))
    room.storeBytes(of: word, toByteOffset: KeyValueData.keyByteCount, as: UInt64.self)
    room.storeBytes(of: word, toByteOffset: room.count - 8, as: UInt64.self)
    return UnsafeRawBufferPointer(rebasing: room[KeyValueData.keyByteCount...])
  }
}

/// What was read, added up, so that nobody can get away with not reading it: every byte of every
/// value counts.
struct KeyValueSum: Equatable {
  var count = 0
  var keys: UInt64 = 0
  var values: UInt64 = 0

  /// The sum over these numbers, with the keys or of values alone.
  static func expected(
    _ numbers: some Sequence<Int>, withKeys: Bool = true, with data: KeyValueData = KeyValueData()
  ) -> KeyValueSum {
    var sum = KeyValueSum()
    for number in numbers {
      if withKeys { sum.add(key: number) }
      sum.add(value: data.value(number))
    }
    return sum
  }

  static func + (left: KeyValueSum, right: KeyValueSum) -> KeyValueSum {
    KeyValueSum(
      count: left.count + right.count, keys: left.keys &+ right.keys,
      values: left.values &+ right.values)
  }

  @inline(__always)
  mutating func add(key number: Int) { keys &+= UInt64(bitPattern: Int64(number)) }

  /// Adds a key as it is stored: big-endian in byte strings, else as the machine writes it.
  @inline(__always)
  mutating func add(key: UnsafeRawBufferPointer, _ kind: KeyKind) {
    switch kind {
    case .bytes:
      guard key.count == KeyValueData.keyByteCount else { return }
      keys &+= UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
    case .integers:
      guard key.count == 8 else { return }
      keys &+= key.loadUnaligned(as: UInt64.self)
    }
  }

  /// A value of another length is not counted.
  @inline(__always)
  mutating func add(value: UnsafeRawBufferPointer) {
    guard value.count == KeyValueData.valueByteCount, let start = value.baseAddress else { return }
    count &+= 1
    var sum: UInt64 = 0
    var offset = 0
    while offset < 96 {
      sum &+= start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    sum &+= UInt64(start.loadUnaligned(fromByteOffset: 96, as: UInt32.self))
    values &+= sum
  }
}
