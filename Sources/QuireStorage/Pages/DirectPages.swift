/// Writes pages of a transaction to their place in the file at once, around the log.
///
/// Only pages may be written so that nothing can need as they were: they lie behind every page that
/// a living version has, and behind every page that the log could bring back. Nothing refers to
/// them before the transaction's commit; a crash or an abort leaves them free. They must be on disk
/// before the commit's record is, which is the business of ``StoreCore``.
final class DirectPages {
  private let file: any File
  private let cache: PageCache
  private let pageSize: Int
  /// Pages that follow each other, not yet written.
  private let run: PageMemory
  private var runStart = PageID(0)
  private var runCount = 0
  private(set) var hasWritten = false
  /// Where to look for the next page to write.
  var nextPage: PageID

  private static let runByteCount = 1 << 20

  init(_ file: any File, _ cache: PageCache, from firstPage: PageID) {
    self.file = file
    self.cache = cache
    nextPage = firstPage
    pageSize = cache.geometry.pageSize
    run = PageMemory(byteCount: max(DirectPages.runByteCount, cache.geometry.pageSize))
  }

  /// Writes a page, sooner or later; in ascending order at best.
  func put(_ page: Page, at id: PageID) throws(StorageError) {
    if runCount > 0,
      id.rawValue != runStart.rawValue + UInt32(runCount)
        || (runCount + 1) * pageSize > run.byteCount
    {
      try flush()
    }
    if runCount == 0 { runStart = id }
    let copy = MutablePage(run.base + runCount * pageSize)
    copy.base.copyMemory(from: page.base, byteCount: pageSize)
    copy.checksum = cache.checksum.ofPage(id, copy.page, pageSize: pageSize)
    runCount += 1
  }

  /// Writes what waits.
  func flush() throws(StorageError) {
    guard runCount > 0 else { return }
    hasWritten = true
    // An aborted transaction may have left others in memory.
    cache.replace((0..<runCount).map { (PageID(runStart.rawValue + UInt32($0)), .absent) })
    try file.write(run, byteCount: runCount * pageSize, at: Int(runStart.rawValue) * pageSize)
    runCount = 0
  }
}
