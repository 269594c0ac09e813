/// The pages of one version of the store: a page table and the numbers that go with it.
///
/// A transaction changes a copy through its ``PageEditor``; publishing makes that copy the store's
/// newest version, and from then on it never changes again. Snapshots hold published ones.
///
/// `@unchecked Sendable`: until it is published, only the one editor that made it (not Sendable)
/// reaches it; publishing goes through a mutex; afterwards nothing changes it.
final class PageSpace: @unchecked Sendable {
  let geometry: PageGeometry
  /// The commit this version is, or will be when it is published.
  let commit: CommitNumber
  var table: PageTable
  /// The pages of the file, free ones included.
  var pageCount: UInt32
  /// The free pages among them.
  var freePageCount: Int
  /// No page below this number is free.
  var lowestFree: PageID
  /// Whether a transaction may still change pages that carry this version's commit number.
  private(set) var isPublished: Bool

  init(
    geometry: PageGeometry, commit: CommitNumber, table: PageTable, pageCount: UInt32,
    freePageCount: Int, lowestFree: PageID, isPublished: Bool
  ) {
    self.geometry = geometry
    self.commit = commit
    self.table = table
    self.pageCount = pageCount
    self.freePageCount = freePageCount
    self.lowestFree = lowestFree
    self.isPublished = isPublished
  }

  /// The version that the next transaction starts from.
  func successor() -> PageSpace {
    PageSpace(
      geometry: geometry, commit: commit.next, table: table, pageCount: pageCount,
      freePageCount: freePageCount, lowestFree: lowestFree, isPublished: false)
  }

  func publish() { isPublished = true }

  @inline(__always) var pageSize: Int { geometry.pageSize }

  /// A page in use. The one way to reach a page: reading from disk on demand would go here.
  ///
  /// - Throws: ``StorageError/damaged(page:reason:)`` if the page was found damaged when the store
  ///   was opened, is free, or lies beyond the end.
  @inline(__always)
  func page(_ id: PageID) throws(StorageError) -> Page {
    guard let page = table[id] else { throw missing(id) }
    return page
  }

  /// Whether the page is in use and could not be read; unknown, so `false`, without its bitmap.
  func isMissing(_ id: PageID) -> Bool {
    guard table[id] == nil, let bitmap = table[geometry.bitmapPage(for: id)] else { return false }
    return Bitmap.isSet(geometry.bitIndex(of: id), in: bitmap)
  }

  private func missing(_ id: PageID) -> StorageError {
    if id.rawValue >= pageCount {
      return .damaged(page: id, reason: "it is referred to but lies beyond the last page")
    }
    return .damaged(
      page: id, reason: "its content was found damaged, or it is free but referred to")
  }

  /// Whether the transaction under way may change this page in place.
  @inline(__always)
  func isPrivate(_ page: Page) -> Bool { !isPublished && page.commit == commit }
}

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
