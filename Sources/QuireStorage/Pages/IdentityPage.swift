/// Page 0: what the file is (`docs/file-format.md`). Written before the store has its name, and
/// again only when a meta page on disk has its new content
/// (``MetaPage/identityCopy(in:path:isReadOnly:)``).
struct IdentityPage: Equatable {
  var version = FormatVersion.current
  var pageSize: Int
  var identity: StoreIdentity
  /// What a reader must know of the store. Format 1 has none.
  var features = Features()

  /// `\x89Quire CR LF \x1A LF store \0`: damaged by every transfer that takes the file for text.
  static let magic: [UInt8] = [0x89] + Array("Quire\r\n\u{1A}\nstore\0".utf8)

  /// The beginning of SQLite databases, which are often mistaken for stores.
  static let sqliteMagic = Array("SQLite format 3\0".utf8)

  static let majorOffset = 16
  static let minorOffset = 18
  static let pageSizeOffset = 20
  static let identityOffset = 24
  static let flagsOffset = 40
  static let tailOffset = 44
  static let cipherOffset = 48
  static let keyOffset = 64
  static let keyCheckOffset = 80
  private static let checksumOffset = 96
  private static let checksumOffsetOfFormat1 = 40
  /// Enough for any format.
  static let largestByteCount = checksumOffset + 8

  /// The offset of the checksum, which is of all bytes before it.
  static func checksumOffset(_ version: FormatVersion) -> Int {
    version.major == FormatVersion.first.major ? checksumOffsetOfFormat1 : checksumOffset
  }

  /// The bytes of the page that are not always zero.
  var byteCount: Int { IdentityPage.checksumOffset(version) + 8 }

  var geometry: PageGeometry {
    PageGeometry(pageSize: pageSize, tailByteCount: features.tailByteCount)
  }

  /// The page of the same store in the format that this release writes.
  var current: IdentityPage {
    var page = self
    page.version = .current
    return page
  }

  var isCurrent: Bool { version.major == FormatVersion.current.major }

  /// - Parameter page: at least ``byteCount`` bytes, of which those between the fields stay.
  func encode(in page: UnsafeMutableRawPointer) {
    for (index, byte) in IdentityPage.magic.enumerated() {
      page.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
    }
    page.setU16(Int(version.major), at: IdentityPage.majorOffset)
    page.setU16(Int(version.minor), at: IdentityPage.minorOffset)
    page.setU32(UInt32(pageSize), at: IdentityPage.pageSizeOffset)
    for (index, byte) in identity.bytes.enumerated() {
      page.storeBytes(of: byte, toByteOffset: IdentityPage.identityOffset + index, as: UInt8.self)
    }
    if isCurrent { features.encode(in: page) }
    let checksumOffset = IdentityPage.checksumOffset(version)
    page.setU64(
      IdentityPage.checksum(of: page, byteCount: checksumOffset), at: checksumOffset)
  }

  /// The first bytes of the page, at least ``byteCount``.
  func encoded(byteCount: Int) -> PageMemory {
    let memory = PageMemory(byteCount: byteCount)
    memory.base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    encode(in: memory.base)
    return memory
  }

  init(_ geometry: PageGeometry, _ identity: StoreIdentity) {
    pageSize = geometry.pageSize
    self.identity = identity
    features.tailByteCount = geometry.pageSize - geometry.contentEnd
  }

  /// What the bytes of a damaged page say, of which nothing may be true.
  ///
  /// - Parameter page: at least ``largestByteCount`` bytes.
  init(unchecked page: UnsafeRawPointer) {
    pageSize = Int(page.u32(at: IdentityPage.pageSizeOffset))
    identity = StoreIdentity(at: page + IdentityPage.identityOffset)
    version = FormatVersion(
      major: UInt16(page.u16(at: IdentityPage.majorOffset)),
      minor: UInt16(page.u16(at: IdentityPage.minorOffset)))
  }

  /// - Throws: ``StorageError/notAStore(path:reason:)``,
  ///   ``StorageError/unsupportedFormat(found:supported:)``,
  ///   ``StorageError/unsupportedFeature(_:)`` or ``StorageError/damaged(page:reason:)``.
  init(from file: UnsafeRawBufferPointer, path: String, isReadOnly: Bool) throws(StorageError) {
    guard file.count >= IdentityPage.checksumOffsetOfFormat1 + 8, let page = file.baseAddress else {
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
    guard IdentityPage.isSupported(version, isReadOnly: isReadOnly) else {
      throw .unsupportedFormat(found: version, supported: .current)
    }
    let checksumOffset = IdentityPage.checksumOffset(version)
    guard file.count >= checksumOffset + 8 else {
      throw .notAStore(path: path, reason: "it has only \(file.count) bytes")
    }
    guard
      page.u64(at: checksumOffset) == IdentityPage.checksum(of: page, byteCount: checksumOffset)
    else {
      throw .damaged(page: .identity, reason: "its checksum is wrong")
    }
    pageSize = Int(page.u32(at: IdentityPage.pageSizeOffset))
    guard PageGeometry.isLegal(pageSize: pageSize) else {
      throw .damaged(page: .identity, reason: "pages cannot have \(pageSize) bytes")
    }
    identity = StoreIdentity(at: page + IdentityPage.identityOffset)
    if isCurrent { features = Features(page) }
    try features.check()
  }

  /// A newer minor version has only added what an older reader may overlook, but not overwrite.
  private static func isSupported(_ version: FormatVersion, isReadOnly: Bool) -> Bool {
    let known = version.major == FormatVersion.first.major ? FormatVersion.first : .current
    return version.major == known.major && (isReadOnly || version.minor <= known.minor)
  }

  private static func checksum(of page: UnsafeRawPointer, byteCount: Int) -> UInt64 {
    XXH3.hash(UnsafeRawBufferPointer(start: page, count: byteCount), seed: 0)
  }
}

extension IdentityPage {
  /// What a store may have since format 2, and this release does not: whoever does not know of it
  /// must not read or write the store.
  struct Features: Equatable {
    /// Bit 0: processes write in turn. A bit that is not known refuses the store.
    var flags: UInt32 = 0
    /// Whether processes write in turn, each with a lock for its turn alone (``StoreTurns``).
    var isShared: Bool {
      get { flags & Features.sharedFlag != 0 }
      set { flags = newValue ? flags | Features.sharedFlag : flags & ~Features.sharedFlag }
    }
    /// The bytes at the end of each page that a cipher has for itself.
    var tailByteCount = 0
    /// Which cipher the pages are sealed with, which key it uses, and what tells a wrong key; all
    /// zeros without one.
    var cipher = Label()
    var key = Label()
    var keyCheck = Label()

    static let sharedFlag: UInt32 = 1

    /// Sixteen bytes whose meaning is another's.
    struct Label: Equatable {
      var low: UInt64 = 0
      var high: UInt64 = 0
      var isZero: Bool { low == 0 && high == 0 }
    }

    init() {}

    fileprivate init(_ page: UnsafeRawPointer) {
      func label(_ offset: Int) -> Label {
        Label(low: page.u64(at: offset), high: page.u64(at: offset + 8))
      }
      flags = page.u32(at: IdentityPage.flagsOffset)
      tailByteCount = Int(page.u16(at: IdentityPage.tailOffset))
      cipher = label(IdentityPage.cipherOffset)
      key = label(IdentityPage.keyOffset)
      keyCheck = label(IdentityPage.keyCheckOffset)
    }

    fileprivate func encode(in page: UnsafeMutableRawPointer) {
      page.setU32(flags, at: IdentityPage.flagsOffset)
      page.setU16(tailByteCount, at: IdentityPage.tailOffset)
      for (label, offset) in [
        (cipher, IdentityPage.cipherOffset), (key, IdentityPage.keyOffset),
        (keyCheck, IdentityPage.keyCheckOffset),
      ] {
        page.setU64(label.low, at: offset)
        page.setU64(label.high, at: offset + 8)
      }
    }

    /// - Throws: ``StorageError/unsupportedFeature(_:)`` if this release does not have one of them.
    fileprivate func check() throws(StorageError) {
      guard flags & ~Features.sharedFlag == 0 else {
        throw .unsupportedFeature("has the flags \(String(flags, radix: 16))")
      }
      guard cipher.isZero, key.isZero, keyCheck.isZero else {
        throw .unsupportedFeature("is encrypted")
      }
      guard tailByteCount <= PageGeometry.tailLimit else {
        throw .unsupportedFeature("leaves \(tailByteCount) bytes of each page to a cipher")
      }
    }
  }
}

extension IdentityPage {
  /// What is said of a damaged page of which a meta page has the copy.
  static func mendable(_ reason: String) -> String {
    "\(reason); a meta page repeats it, and the next opening for writing writes it anew"
  }

  /// Reads the identity of a file that is only inspected, for which a later minor version is no
  /// obstacle.
  static func read(from file: any File, path: String) throws(StorageError) -> IdentityPage {
    let head = PageMemory(byteCount: min(try file.byteCount(), largestByteCount))
    try head.withBytes { bytes throws(StorageError) in
      try file.readFully(at: 0, into: bytes, path: path)
    }
    defer { withExtendedLifetime(head) {} }
    return try read(
      UnsafeRawBufferPointer(head.bytes), of: file, path: path, isReadOnly: true
    ).page
  }

  /// Reads the identity from the first page; from the copies in the meta pages if that is damaged,
  /// or does not even begin as one does.
  ///
  /// - Parameter head: the first bytes of the file.
  static func read(
    _ head: UnsafeRawBufferPointer, of file: any File, path: String, isReadOnly: Bool
  ) throws(StorageError) -> (page: IdentityPage, isDamaged: Bool) {
    func copy() throws(StorageError) -> IdentityPage? {
      try MetaPage.identityCopy(in: file, path: path, isReadOnly: isReadOnly)
    }
    do throws(StorageError) {
      return (try IdentityPage(from: head, path: path, isReadOnly: isReadOnly), false)
    } catch .damaged(let page, let reason) {
      guard let copy = try copy() else { throw .damaged(page: page, reason: reason) }
      return (copy, true)
    } catch .notAStore(let path, let reason) {
      guard let copy = try copy() else { throw .notAStore(path: path, reason: reason) }
      return (copy, true)
    }
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
