/// Keys in memory, one behind the other, to be sorted.
struct KeyList {
  /// A key among the bytes; its first eight are here as a number, which decides nearly always.
  private struct Place {
    var head: UInt64
    var start: Int
    var end: Int

    func key(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }
  }

  private var bytes: [UInt8] = []
  private var places: [Place] = []

  /// What the keys take, apart from where they are.
  var byteCount: Int { bytes.count }
  var isEmpty: Bool { places.isEmpty }

  mutating func append(_ key: [UInt8]) {
    let head = key.withUnsafeBytes(KeyOrder.head)
    places.append(Place(head: head, start: bytes.count, end: bytes.count + key.count))
    bytes.append(contentsOf: key)
  }

  /// Forgets the keys; the memory stays.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  mutating func sort() {
    bytes.withUnsafeBytes { bytes in
      places.sort {
        $0.head != $1.head
          ? $0.head < $1.head : KeyOrder.isLess($0.key(in: bytes), $1.key(in: bytes))
      }
    }
  }

  /// - Parameter body: gets each key, valid within the call.
  func forEach(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try bytes.withUnsafeBytes { bytes in
      for place in places { try body(place.key(in: bytes)) }
    }
  }

  /// - Parameter body: gets two keys that follow each other, for all of them.
  func forEachPair(_ body: ([UInt8], [UInt8]) throws -> Void) rethrows {
    try bytes.withUnsafeBytes { bytes in
      for (one, next) in zip(places, places.dropFirst()) {
        try body(Array(one.key(in: bytes)), Array(next.key(in: bytes)))
      }
    }
  }
}

/// The order of bytes, as trees have it.
enum KeyOrder {
  /// The first eight bytes as a number in that order, with zeros for those that are not there.
  static func head(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    if bytes.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
    return bytes.enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64(56 - 8 * $1.offset) }
  }

  static func isLess(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    let count = min(left.count, right.count)
    var offset = 0
    while offset + 8 <= count {
      let one = UInt64(bigEndian: left.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      let other = UInt64(bigEndian: right.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      if one != other { return one < other }
      offset += 8
    }
    while offset < count {
      if left[offset] != right[offset] { return left[offset] < right[offset] }
      offset += 1
    }
    return left.count < right.count
  }
}
