/// The places of names that are looked up again and again: of properties in an entity, of entities
/// in a model.
///
/// A dictionary of strings hashes with a key of the process's own, and so that names which look the
/// same are the same; both take several times as long as all else a look-up does. Here bytes are
/// compared. Who spells a name in another form of Unicode is answered too, only more slowly.
struct NameTable: Sendable {
  private let names: [String]
  /// The places of the names, -1 where there is none; a power of two, at most half full.
  private let places: [Int32]

  /// - Parameter names: of equal ones the last counts.
  init(_ names: [String]) {
    self.names = names
    var size = 4
    while size < 2 * names.count { size *= 2 }
    var places = Array(repeating: Int32(-1), count: size)
    for (place, name) in names.enumerated() {
      var index = NameTable.hash(name) & (size - 1)
      while places[index] >= 0, names[Int(places[index])] != name {
        index = (index + 1) & (size - 1)
      }
      places[index] = Int32(place)
    }
    self.places = places
  }

  func name(at place: Int) -> String { names[place] }

  /// The place of a name among the names.
  subscript(name: String) -> Int? {
    let mask = places.count - 1
    var index = NameTable.hash(name) & mask
    while places[index] >= 0 {
      let place = Int(places[index])
      if names[place] == name { return place }
      index = (index + 1) & mask
    }
    // Composed or decomposed otherwise than the name that is meant, or nobody's name.
    return names.lastIndex(of: name)
  }

  /// Takes in every byte, eight at a time.
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
    // All strings but those of Apple's older frameworks have their bytes in one place.
    return Int(truncatingIfNeeded: hash ?? 0)
  }

  @inline(__always)
  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product &>> 29
  }
}
