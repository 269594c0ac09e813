/// What follows from the page size alone.
struct PageGeometry: Hashable, Sendable {
  let pageSize: Int

  static let defaultPageSize = 4096
  static func isLegal(pageSize: Int) -> Bool {
    pageSize >= 512 && pageSize <= 32_768 && pageSize & (pageSize - 1) == 0
  }

  /// The bytes of a page after its header.
  @inline(__always) var capacity: Int { pageSize - PageHeader.byteCount }
  /// The longest index key: four entries fit in an inner node, whatever its keys.
  @inline(__always) var keyLimit: Int { capacity / 4 - 32 }
  /// The longest value kept in its leaf; longer ones go to a run of overflow pages.
  @inline(__always) var inlineValueLimit: Int { capacity / 4 }

  /// The pages one bitmap page speaks for, itself included.
  @inline(__always) var groupPageCount: UInt32 { UInt32(capacity * 8) }
  /// The bitmap page that speaks for `id`.
  @inline(__always) func bitmapPage(for id: PageID) -> PageID {
    PageID(id.rawValue / groupPageCount * groupPageCount + PageID.firstBitmap.rawValue)
  }
  @inline(__always) func isBitmap(_ id: PageID) -> Bool {
    id.rawValue % groupPageCount == PageID.firstBitmap.rawValue
  }
  @inline(__always) func bitIndex(of id: PageID) -> Int { Int(id.rawValue % groupPageCount) }

  /// The page after `id` in an overflow run: bitmap pages keep their places and are stepped over.
  func runSuccessor(of id: PageID) -> PageID {
    let next = PageID(id.rawValue &+ 1)
    return isBitmap(next) ? PageID(next.rawValue &+ 1) : next
  }
}
