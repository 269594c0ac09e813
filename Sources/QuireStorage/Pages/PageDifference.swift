/// The difference between two contents of a page, as ranges of bytes that changed.
///
/// The first eight bytes, which hold the checksum in the file, are never part of it.
enum PageDifference {
  /// A difference in a log: the page's number, flags and ranges; then the ranges; then their bytes.
  /// On disk: never changed.
  enum Format {
    static let id = 0
    static let flags = 4
    static let rangeCount = 6
    /// The stamp of the page that the ranges apply to.
    static let base = 8
    static let headerByteCount = 12
    /// Flag: the ranges apply to a page of zeros, not to the page as it was.
    static let isWhole = 1
    static let rangeByteCount = 4
  }

  private static let start = 8
  /// Two ranges with a shorter gap between them are one: naming a range takes four bytes.
  private static let shortestGap = 12

  /// The most bytes an entry can take: ranges and gaps alternate, so that in the worst case every
  /// 16 bytes bring a range.
  static func byteCountLimit(pageSize: Int) -> Int {
    Format.headerByteCount + pageSize + pageSize / 2
  }

  /// Writes the entry of one page into `room`.
  ///
  /// - Parameter base: the page as it was when it was last logged; `nil` compares with zeros, and
  ///   makes the entry independent of what came before.
  /// - Returns: the bytes written; 0 when nothing has changed.
  static func encode(
    _ page: Page, from base: Page?, at id: PageID, pageSize: Int, in room: UnsafeMutableRawPointer
  ) -> Int {
    // Ranges first; their bytes follow when their number is known.
    var rangeCount = 0
    var from = -1
    var to = 0
    let ranges = room + Format.headerByteCount
    func add(_ from: Int, _ to: Int) {
      ranges.setU16(from, at: rangeCount &* Format.rangeByteCount)
      ranges.setU16(to &- from, at: rangeCount &* Format.rangeByteCount &+ 2)
      rangeCount &+= 1
    }
    var offset = start
    while offset < pageSize {
      // Most of a page is mostly equal: compare eight words in one step first.
      if offset & 63 == 0, isEqual64(page.base, base?.base, at: offset) {
        offset &+= 64
        continue
      }
      let new = page.base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let old = base?.base.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ?? 0
      let difference = UInt64(littleEndian: new ^ old)
      if difference != 0 {
        let first = offset &+ difference.trailingZeroBitCount >> 3
        let last = offset &+ 8 &- difference.leadingZeroBitCount >> 3
        if from < 0 {
          from = first
        } else if first &- to >= shortestGap {
          add(from, to)
          from = first
        }
        to = last
      }
      offset &+= 8
    }
    guard from >= 0 else { return 0 }
    add(from, to)
    room.setU32(id.rawValue, at: Format.id)
    room.setU16(base == nil ? Format.isWhole : 0, at: Format.flags)
    room.setU16(rangeCount, at: Format.rangeCount)
    room.setU32(base.map { PageMap.stamp(of: $0.commit) } ?? 0, at: Format.base)
    var end = Format.headerByteCount &+ rangeCount &* Format.rangeByteCount
    for index in 0..<rangeCount {
      let range = UnsafeRawPointer(ranges + index &* Format.rangeByteCount)
      let byteCount = range.u16(at: 2)
      (room + end).copyMemory(from: page.base + range.u16(at: 0), byteCount: byteCount)
      end &+= byteCount
    }
    return end
  }

  @inline(__always)
  private static func isEqual64(
    _ page: UnsafeRawPointer, _ base: UnsafeRawPointer?, at offset: Int
  ) -> Bool {
    // Differences are joined and tested once: a comparison for each word would take half as long
    // again.
    var difference = SIMD2<UInt64>.zero
    for word in 0..<4 {
      let wordOffset = offset &+ word &* 16
      let new = page.loadUnaligned(fromByteOffset: wordOffset, as: SIMD2<UInt64>.self)
      if let base {
        difference |= new ^ base.loadUnaligned(fromByteOffset: wordOffset, as: SIMD2<UInt64>.self)
      } else {
        difference |= new
      }
    }
    return difference[0] | difference[1] == 0
  }

  /// One entry as read from a log.
  struct Entry {
    let id: PageID
    let isWhole: Bool
    /// The stamp of the page it changes, if it is not whole.
    let base: UInt32
    /// The bytes of the entry.
    let byteCount: Int
    private let start: UnsafeRawPointer
    private let rangeCount: Int

    /// - Parameter room: the bytes up to the end of the record.
    /// - Returns: `nil` if the entry cannot be one: no range, one outside the page, or beyond the
    ///   record.
    init?(at start: UnsafeRawPointer, room: Int, pageSize: Int) {
      guard room >= Format.headerByteCount else { return nil }
      self.start = start
      id = PageID(start.u32(at: Format.id))
      isWhole = start.u16(at: Format.flags) & Format.isWhole != 0
      base = start.u32(at: Format.base)
      rangeCount = start.u16(at: Format.rangeCount)
      var end = Format.headerByteCount + rangeCount * Format.rangeByteCount
      guard rangeCount > 0, end <= room else { return nil }
      for index in 0..<rangeCount {
        let range = start + Format.headerByteCount + index * Format.rangeByteCount
        let (offset, byteCount) = (range.u16(at: 0), range.u16(at: 2))
        guard offset >= PageDifference.start, offset + byteCount <= pageSize else { return nil }
        end += byteCount
      }
      guard end <= room else { return nil }
      byteCount = end
    }

    /// Changes the page; one that is whole begins with zeros.
    func apply(to page: UnsafeMutableRawPointer, pageSize: Int) {
      if isWhole { page.initializeMemory(as: UInt8.self, repeating: 0, count: pageSize) }
      var source = start + Format.headerByteCount + rangeCount * Format.rangeByteCount
      for index in 0..<rangeCount {
        let range = start + Format.headerByteCount + index * Format.rangeByteCount
        let byteCount = range.u16(at: 2)
        (page + range.u16(at: 0)).copyMemory(from: source, byteCount: byteCount)
        source += byteCount
      }
    }
  }
}
