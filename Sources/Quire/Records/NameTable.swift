/// An index of names that are often looked up: of an entity's properties, or a model's entities.
///
/// A dictionary of strings compares by canonical equivalence and hashes with a random key, which
/// take several times as long as the rest of a look-up. This table compares bytes first. A name in
/// another Unicode normal form is found too, but more slowly.
struct NameTable: Sendable {
  private let names: [String]
  /// The indices of the names in a hash table, -1 for an empty slot. Its size is a power of two,
  /// and at most half of it is used.
  private let positions: [Int32]

  /// - Parameter names: if a name occurs twice, its last index counts.
  init(_ names: [String]) {
    self.names = names
    var size = 4
    while size < 2 * names.count { size *= 2 }
    var positions = Array(repeating: Int32(-1), count: size)
    for (position, name) in names.enumerated() {
      var index = NameTable.hash(name) & (size - 1)
      while positions[index] >= 0, names[Int(positions[index])] != name {
        index = (index + 1) & (size - 1)
      }
      positions[index] = Int32(position)
    }
    self.positions = positions
  }

  func name(at position: Int) -> String { names[position] }

  /// The index of a name.
  subscript(name: String) -> Int? {
    let mask = positions.count - 1
    var index = NameTable.hash(name) & mask
    while positions[index] >= 0 {
      let position = Int(positions[index])
      if names[position] == name { return position }
      index = (index + 1) & mask
    }
    // In another normal form than the name it equals, or unknown.
    return names.lastIndex(of: name)
  }

  /// A hash of all bytes, eight at a time.
  private static func hash(_ name: String) -> Int {
    let hash = name.utf8.withContiguousStorageIfAvailable { text -> UInt64 in
      let bytes = UnsafeRawBufferPointer(text)
      var hash = UInt64(truncatingIfNeeded: bytes.count)
      var offset = 0
      while offset &+ 8 <= bytes.count {
        hash = mixed(hash, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        offset &+= 8
      }
      var rest: UInt64 = 0
      while offset < bytes.count {
        rest = rest &<< 8 | UInt64(bytes[offset])
        offset &+= 1
      }
      return mixed(hash, rest)
    }
    // Only bridged strings on Apple's platforms may have no contiguous bytes.
    return Int(truncatingIfNeeded: hash ?? 0)
  }

  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product &>> 29
  }
}
