import QuireModel
import QuireStorage

/// A key of a link tree: one entry for each destination of a to-many relationship.
///
/// Big-endian, so that the order of bytes is the order of owners, then of positions, then of
/// destinations; `docs/file-format.md` has the picture. An entry has no value.
struct LinkKey {
  var owner: Int64
  /// 0 in relationships without an order.
  var position: UInt64 = 0
  var member: Reference

  static func byteCount(isOrdered: Bool) -> Int { isOrdered ? 24 : 16 }

  func bytes(isOrdered: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(24)
    withUnsafeBytes(of: owner.bigEndian) { bytes.append(contentsOf: $0) }
    if isOrdered { withUnsafeBytes(of: position.bigEndian) { bytes.append(contentsOf: $0) } }
    withUnsafeBytes(of: member.rawValue.bigEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// Calls `body` with the bytes, which are valid within the call. No array is allocated.
  func withBytes<R>(
    isOrdered: Bool, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    let (owner, member) = (owner.bigEndian, member.rawValue.bigEndian)
    if isOrdered { return try withUnsafeBytes(of: (owner, position.bigEndian, member), body) }
    return try withUnsafeBytes(of: (owner, member), body)
  }

  init(owner: Int64, position: UInt64 = 0, member: Reference) {
    self.owner = owner
    self.position = position
    self.member = member
  }

  /// - Returns: `nil` if the number of bytes is not that of keys in this kind of tree.
  init?(_ bytes: UnsafeRawBufferPointer, isOrdered: Bool) {
    guard bytes.count == LinkKey.byteCount(isOrdered: isOrdered) else { return nil }
    func load(_ offset: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    owner = Int64(bitPattern: load(0))
    position = isOrdered ? load(8) : 0
    member = Reference(rawValue: load(isOrdered ? 16 : 8))
  }

  /// The common prefix of the keys of all links of an owner.
  static func prefix(of owner: Int64) -> [UInt8] {
    withUnsafeBytes(of: owner.bigEndian) { Array($0) }
  }
}

/// The links of one to-many relationship in a snapshot or a transaction.
struct LinkReader {
  let tree: IndexTree
  let isOrdered: Bool

  /// The destinations of one owner, in order if the relationship is ordered.
  ///
  /// - Complexity: O(log *n* + destinations).
  func members(of owner: Int64) throws -> [Reference] {
    var members: [Reference] = []
    let byteCount = LinkKey.byteCount(isOrdered: isOrdered)
    let misfit = try tree.visitTails(ofKeysWith: UInt64(bitPattern: owner), byteCount: byteCount) {
      members.append(Reference(rawValue: $0))
    }
    if let misfit { throw self.misfit(misfit) }
    return members
  }

  /// The same with the positions of the links, in an ordered relationship.
  func order(of owner: Int64) throws -> (members: [Reference], positions: [UInt64]) {
    var members: [Reference] = []
    var positions: [UInt64] = []
    let misfit = try tree.visitMiddlesAndTails(
      ofKeysWith: UInt64(bitPattern: owner), byteCount: LinkKey.byteCount(isOrdered: true)
    ) { position, member in
      members.append(Reference(rawValue: member))
      positions.append(position)
    }
    if let misfit { throw self.misfit(misfit) }
    return (members, positions)
  }

  func forEach(of owner: Int64, _ body: (LinkKey) throws -> Void) throws {
    var cursor = tree.cursor()
    var isInside = try cursor.seek(to: LinkKey.prefix(of: owner))
    while isInside {
      let key = try key(at: cursor)
      if key.owner != owner { break }
      try body(key)
      isInside = try cursor.next()
    }
  }

  /// All links of all owners.
  func forEach(_ body: (LinkKey) throws -> Void) throws {
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      try body(try key(at: cursor))
      isInside = try cursor.next()
    }
  }

  private func key(at cursor: IndexCursor) throws -> LinkKey {
    let bytes = try cursor.key
    guard let key = LinkKey(bytes, isOrdered: isOrdered) else { throw misfit(bytes.count) }
    return key
  }

  private func misfit(_ byteCount: Int) -> PersistenceError {
    PersistenceError(.persistentStoreOpen, "a link tree holds a key of \(byteCount) bytes")
  }
}
