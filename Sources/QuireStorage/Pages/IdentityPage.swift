/// Page 0: what the file is. Written once, before the store has its name (`docs/file-format.md`).
struct IdentityPage: Equatable {
  var version = FormatVersion.current
  var pageSize: Int
  var identity: StoreIdentity

  /// `\x89Quire CR LF \x1A LF store \0`: damaged by every transfer that takes the file for text.
  static let magic: [UInt8] = [0x89] + Array("Quire\r\n\u{1A}\nstore\0".utf8)

  /// The beginning of SQLite databases, which are often mistaken for stores.
  static let sqliteMagic = Array("SQLite format 3\0".utf8)

  static let majorOffset = 16
  static let minorOffset = 18
  static let pageSizeOffset = 20
  static let identityOffset = 24
  static let checksumOffset = 40
  static let byteCount = 48

  func encode(in page: UnsafeMutableRawPointer) {
    for (index, byte) in (IdentityPage.magic).enumerated() {
      page.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
    }
    page.setU16(Int(version.major), at: IdentityPage.majorOffset)
    page.setU16(Int(version.minor), at: IdentityPage.minorOffset)
    page.setU32(UInt32(pageSize), at: IdentityPage.pageSizeOffset)
    for (index, byte) in identity.bytes.enumerated() {
      page.storeBytes(of: byte, toByteOffset: IdentityPage.identityOffset + index, as: UInt8.self)
    }
    page.setU64(IdentityPage.checksum(of: page), at: IdentityPage.checksumOffset)
  }

  init(pageSize: Int, identity: StoreIdentity) {
    self.pageSize = pageSize
    self.identity = identity
  }

  /// What the bytes of a damaged page say, of which nothing may be true.
  ///
  /// - Parameter page: at least ``byteCount`` bytes.
  init(unchecked page: UnsafeRawPointer) {
    pageSize = Int(page.u32(at: IdentityPage.pageSizeOffset))
    identity = StoreIdentity(at: page + IdentityPage.identityOffset)
    version = FormatVersion(
      major: UInt16(page.u16(at: IdentityPage.majorOffset)),
      minor: UInt16(page.u16(at: IdentityPage.minorOffset)))
  }

  /// - Throws: ``StorageError/notAStore(path:reason:)``,
  ///   ``StorageError/unsupportedFormat(found:supported:)`` or
  ///   ``StorageError/damaged(page:reason:)``.
  init(from file: UnsafeRawBufferPointer, path: String, isReadOnly: Bool) throws(StorageError) {
    guard file.count >= IdentityPage.byteCount, let page = file.baseAddress else {
      throw .notAStore(path: path, reason: "it has only \(file.count) bytes")
    }
    guard file.prefix(IdentityPage.magic.count).elementsEqual(IdentityPage.magic) else {
      let isSQLite = file.prefix(IdentityPage.sqliteMagic.count)
        .elementsEqual(IdentityPage.sqliteMagic)
      throw .notAStore(
        path: path,
        reason: isSQLite ? StorageError.sqliteReason : "it does not begin as a store does")
    }
    version = FormatVersion(
      major: UInt16(page.u16(at: IdentityPage.majorOffset)),
      minor: UInt16(page.u16(at: IdentityPage.minorOffset)))
    let supported = FormatVersion.current
    // A newer minor version has only added what an older reader may overlook, but not overwrite.
    guard version.major == supported.major, isReadOnly || version.minor <= supported.minor else {
      throw .unsupportedFormat(found: version, supported: supported)
    }
    guard page.u64(at: IdentityPage.checksumOffset) == IdentityPage.checksum(of: page) else {
      throw .damaged(page: .identity, reason: "its checksum is wrong")
    }
    pageSize = Int(page.u32(at: IdentityPage.pageSizeOffset))
    guard PageGeometry.isLegal(pageSize: pageSize) else {
      throw .damaged(page: .identity, reason: "pages cannot have \(pageSize) bytes")
    }
    identity = StoreIdentity(at: page + IdentityPage.identityOffset)
  }

  private static func checksum(of page: UnsafeRawPointer) -> UInt64 {
    XXH3.hash(UnsafeRawBufferPointer(start: page, count: checksumOffset), seed: 0)
  }
}

extension IdentityPage {
  /// The first page of a file that is only inspected: a later minor version is no obstacle.
  static func read(from file: any File, path: String) throws(StorageError) -> IdentityPage {
    let head = PageMemory(byteCount: min(try file.byteCount(), byteCount))
    try head.withBytes { bytes throws(StorageError) in
      try file.readFully(at: 0, into: bytes, path: path)
    }
    defer { withExtendedLifetime(head) {} }
    return try IdentityPage(
      from: UnsafeRawBufferPointer(head.bytes), path: path, isReadOnly: true)
  }
}

extension StoreIdentity {
  /// Reads the 16 bytes as they are on disk.
  init(at start: UnsafeRawPointer) {
    self.init(
      high: UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }
}
