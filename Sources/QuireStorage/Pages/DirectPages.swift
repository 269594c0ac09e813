/// Writes pages of a transaction to their location in the file at once, around the log.
///
/// Only pages may be written so that nothing can need as they were: they lie after every page that
/// a living version has, and after every page that the log could bring back; or they are free in
/// the version that the transaction began with, if that is the only living one, and the file has
/// all of it. Nothing refers to them before the transaction's commit; a crash or an abort leaves
/// them free. They must be on disk before the commit's record is, which is the business of
/// ``StoreCore``.
final class DirectPages {
  private let file: any File
  private let reserve: DiskReserve?
  private let cache: PageCache
  /// Pages that follow each other, not yet written.
  private var run: SealedRun
  private var runStart = PageID(0)
  private(set) var hasWritten = false
  /// What was written.
  private(set) var written = PageRuns()
  /// The first page after all that may be needed.
  let firstPage: PageID
  /// Whether pages before that may be written which were free when the transaction began.
  let reusesPages: Bool
  /// The page at which the search for the next one starts: after the end, before it, and before it
  /// for several in a row.
  var nextPage: PageID
  var nextReusable = PageID.firstFree
  var nextReusableRun = PageID.firstFree

  /// - Parameter reserve: that of the file, if it is a store's.
  init(
    _ file: any File, _ cache: PageCache, from firstPage: PageID, reusesPages: Bool = false,
    reserve: DiskReserve? = nil
  ) {
    self.file = file
    self.reserve = reserve
    self.cache = cache
    self.firstPage = firstPage
    self.reusesPages = reusesPages
    nextPage = firstPage
    run = SealedRun(pageSize: cache.geometry.pageSize, cache.checksum)
  }

  /// Writes a page, sooner or later; in ascending order at best.
  func put(_ page: Page, at id: PageID) throws(StorageError) {
    if run.isFull || id.rawValue != runStart.rawValue + UInt32(run.count) { try flush() }
    if run.count == 0 { runStart = id }
    try run.add(page, at: id)
  }

  /// Writes what waits.
  func flush() throws(StorageError) {
    guard run.count > 0 else { return }
    hasWritten = true
    written.insert(runStart, count: run.count)
    // An aborted transaction may have left others in memory.
    cache.replace((0..<run.count).map { (PageID(runStart.rawValue + UInt32($0)), .absent) })
    func write() throws(StorageError) {
      try run.write(to: file, at: Int(runStart.rawValue) * cache.geometry.pageSize)
    }
    if let reserve { try reserve.duringGrowth(write) } else { try write() }
  }
}
