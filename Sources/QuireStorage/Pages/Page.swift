/// The type of a page, as written in its header. On disk: add cases, never renumber.
enum PageType: UInt8 {
  case map = 1
  case recordLeaf = 2
  case recordInner = 3
  case indexLeaf = 4
  case indexInner = 5
  case overflow = 6
}

/// The offsets of fields in the 24-byte page header (`docs/file-format.md`). On disk: never moved.
enum PageHeader {
  static let byteCount = 24
  static let checksum = 0
  static let commit = 8
  static let type = 16
  static let level = 17
  static let count = 18
  static let cellStart = 20
  static let freeBytes = 22
}

/// The bytes of one page, read only.
///
/// An unowned pointer: a holder of it must also hold, directly or through a page table, the
/// ``PageMemory`` that owns the bytes.
///
/// `@unchecked Sendable`: the bytes of a committed page never change, and an uncommitted page is
/// reachable from its one transaction only, which is not Sendable.
struct Page: @unchecked Sendable {
  let base: UnsafeRawPointer

  init(_ base: UnsafeRawPointer) { self.base = base }

  var checksum: UInt64 { base.u64(at: PageHeader.checksum) }
  var commit: CommitNumber {
    CommitNumber(rawValue: base.u64(at: PageHeader.commit))
  }
  var typeByte: UInt8 {
    base.load(fromByteOffset: PageHeader.type, as: UInt8.self)
  }
  var isOfRecords: Bool {
    typeByte == PageType.recordLeaf.rawValue || typeByte == PageType.recordInner.rawValue
  }
  var isOfIndex: Bool {
    typeByte == PageType.indexLeaf.rawValue || typeByte == PageType.indexInner.rawValue
  }
  /// Tree nodes: how far above the leaves this node is. Strictly falling on the way down, so that
  /// no damage can send a descent in circles.
  var level: Int {
    Int(base.load(fromByteOffset: PageHeader.level, as: UInt8.self))
  }
  /// Tree nodes: the number of entries. Overflow pages: the number of value bytes.
  var count: Int { base.u16(at: PageHeader.count) }
  /// Tree nodes: where the lowest cell begins.
  var cellStart: Int { base.u16(at: PageHeader.cellStart) }
  /// Tree nodes: all unused bytes, the holes between cells included.
  var freeBytes: Int { base.u16(at: PageHeader.freeBytes) }
}

/// The bytes of one page that its transaction may change.
struct MutablePage {
  let base: UnsafeMutableRawPointer

  init(_ base: UnsafeMutableRawPointer) { self.base = base }

  var page: Page { Page(UnsafeRawPointer(base)) }

  var checksum: UInt64 {
    get { page.checksum }
    nonmutating set { base.setU64(newValue, at: PageHeader.checksum) }
  }
  var commit: CommitNumber {
    get { page.commit }
    nonmutating set { base.setU64(newValue.rawValue, at: PageHeader.commit) }
  }
  var count: Int {
    get { page.count }
    nonmutating set { base.setU16(newValue, at: PageHeader.count) }
  }
  var cellStart: Int {
    get { page.cellStart }
    nonmutating set { base.setU16(newValue, at: PageHeader.cellStart) }
  }
  var freeBytes: Int {
    get { page.freeBytes }
    nonmutating set { base.setU16(newValue, at: PageHeader.freeBytes) }
  }

  /// Makes this an empty page: the type given, every byte after the header zero.
  ///
  /// All of it is zeroed, so that the file depends on nothing but what was stored.
  ///
  /// - Parameter zeroing: the number of bytes to zero; the caller writes all the others, but for
  ///   the tail.
  func initialize(
    _ type: PageType, level: Int, commit: CommitNumber, in geometry: PageGeometry,
    zeroing: Int? = nil
  ) {
    base.initializeMemory(as: UInt8.self, repeating: 0, count: zeroing ?? geometry.pageSize)
    if zeroing != nil {
      (base + geometry.contentEnd).initializeMemory(
        as: UInt8.self, repeating: 0, count: geometry.pageSize - geometry.contentEnd)
    }
    self.commit = commit
    base.storeBytes(of: type.rawValue, toByteOffset: PageHeader.type, as: UInt8.self)
    base.storeBytes(of: UInt8(level), toByteOffset: PageHeader.level, as: UInt8.self)
    cellStart = geometry.contentEnd
    freeBytes = geometry.capacity
  }
}
