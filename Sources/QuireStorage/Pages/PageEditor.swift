/// A transaction's hand on the pages: copies a page before its first change, takes and gives back
/// pages.
///
/// Pages keep their numbers for life, so a change never has to rewrite the path to the root. A page
/// that carries the transaction's own commit number is already a private copy.
final class PageEditor {
  let space: PageSpace
  /// The process whose store it is: asked with each change.
  let process: ProcessMark
  /// Pages made, copied or given back, in order, some perhaps twice.
  private(set) var touched: [PageID] = []
  /// So many are in the order of the file, each of them once, if there are no more by now.
  private var sortedCount = 0
  /// Room to put a node aside while it is rebuilt, and to assemble an entry, as the bytes handed in
  /// may lie in the very page that is about to change. Allocated when first needed, until the end.
  private var scratch: UnsafeMutableRawPointer?
  private var usesSecondChildRoom = false
  /// The path from the root to the current node; kept here so that its memory is reused.
  @exclusivity(unchecked) var path: [PathStep] = []
  /// Whether what the commit needs may be taken from the ``DiskReserve``.
  var isForRemoval = false
  /// Set when a change failed half-way: the transaction can then only be aborted.
  var failure: StorageError? {
    didSet { hasFailed = failure != nil }
  }
  @exclusivity(unchecked) private(set) var hasFailed = false

  struct PathStep {
    var page: PageID
    var slot: Int
  }

  /// Pages as the file has them which this transaction changes: what the log's differences are
  /// about. Kept here, as the cache may give them up.
  private(set) var cleanBases: [CleanBase] = []

  /// A page as the file has it; the editor keeps its frame.
  struct CleanBase {
    let id: PageID
    let page: Page
  }

  /// The bases in the order of the file. Valid as long as the editor.
  func sortedCleanBases() -> [CleanBase] { cleanBases.sorted { $0.id < $1.id } }

  /// The number of pages that this transaction has in memory of its own, and the largest number of
  /// bytes that they and what they were made from may take.
  private var ownPageCount = 0
  let byteLimit: Int
  /// Moves pages of trees out of memory, to locations around the log.
  var spillTrees: (() throws(StorageError) -> Void)?
  /// How often that was done: an address of a page of this transaction, kept from before, may lead
  /// nowhere.
  private(set) var spillCount = 0
  /// The pages of this transaction that long values have in memory.
  var overflowPageCount = 0

  init(_ space: PageSpace, byteLimit: Int) {
    self.space = space
    process = space.registry.process
    self.byteLimit = byteLimit
    // As most transactions need.
    touched.reserveCapacity(8)
  }

  /// So many pages a transaction may have in any case, as they cannot go to the file: some trees'
  /// roots, and every map that it may need, with what they were made from.
  private var pageCountInAnyCase: Int {
    64 + 2 * space.geometry.mapCount(forPages: space.pageCount)
  }

  /// The memory that only the transaction's end would give back.
  var ownByteCount: Int { (ownPageCount + cleanBases.count) * pageSize }

  /// Between two operations: gives memory back if the transaction has outgrown its limit.
  ///
  /// - Throws: ``StorageError/transactionTooLarge(byteCount:limit:)`` if too little of it can go to
  ///   the file.
  func keepWithinLimit() throws(StorageError) {
    if ownByteCount > byteLimit { try spill() }
  }

  private func spill() throws(StorageError) {
    if let spillTrees {
      spillCount += 1
      try spillTrees()
    }
    let limit = max(byteLimit, pageCountInAnyCase * pageSize)
    guard ownByteCount > limit else { return }
    throw .transactionTooLarge(byteCount: ownByteCount, limit: limit)
  }

  /// Gives back what pages were made from that have gone to the file.
  func releaseUnneededBases() {
    cleanBases.removeAll { base in
      guard !isOwn(base.id) else { return false }
      space.registry.reclaimer.release(PageWord(base.page))
      return true
    }
  }

  var pageSize: Int { space.pageSize }
  var commit: CommitNumber { space.commit }

  /// One page of memory for a node that is put aside.
  func nodeScratch() -> UnsafeMutableRawPointer { scratchBytes() }

  /// One page of memory for the current entry.
  func keyScratch() -> UnsafeMutableRawPointer { scratchBytes() + pageSize }

  /// An inner node's payload: the number of a child. Valid until the next call but one, as pushing
  /// the root down makes one entry while another is still waiting for its slot.
  func childPayload(_ id: PageID) -> UnsafeRawBufferPointer {
    usesSecondChildRoom.toggle()
    let room = scratchBytes() + 2 * pageSize + (usesSecondChildRoom ? 4 : 0)
    room.setU32(id.rawValue, at: 0)
    return UnsafeRawBufferPointer(start: room, count: 4)
  }

  private func scratchBytes() -> UnsafeMutableRawPointer {
    if let scratch { return scratch }
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: 2 * pageSize + 8, alignment: MemoryLayout<UInt64>.alignment)
    scratch = bytes
    return bytes
  }

  /// The page, private to this transaction.
  func writable(_ id: PageID) throws(StorageError) -> MutablePage {
    let word = space.overlay[id]
    if word.isPage, word.page.commit == commit {
      return MutablePage(UnsafeMutableRawPointer(mutating: word.base))
    }
    let page = try space.page(id)
    let frame = PageFrame(pageSize: pageSize)
    frame.base.copyMemory(from: page.base, byteCount: pageSize)
    let copy = MutablePage(frame.base)
    copy.commit = commit
    if word.isAbsent, space.cache != nil {
      _ = Unmanaged.passRetained(page.frame)
      cleanBases.append(CleanBase(id: id, page: page))
    }
    space.set(id, to: frame.intoTable())
    touched.append(id)
    ownPageCount += 1
    return copy
  }

  /// Whether a page is in memory as a private copy of this transaction.
  func isOwn(_ id: PageID) -> Bool {
    let word = space.overlay[id]
    return word.isPage && word.page.commit == commit
  }

  /// Shows something else in place of a page of this transaction, whose memory is given back when
  /// no operation can be using it any more.
  func replaceOwn(_ id: PageID, by word: PageWord) {
    let own = space.overlay[id]
    space.set(id, to: word)
    ownPageCount -= 1
    space.registry.reclaimer.release(own)
  }

  /// Shows a page as free; what this transaction had made of it stays until the next operation,
  /// since the present one may still be looking at it.
  func forget(_ id: PageID) {
    let word = space.overlay[id]
    if word.isPage, word.page.commit == commit {
      dropped.append(word)
      ownPageCount -= 1
    }
    space.set(id, to: .unreadable)
    touched.append(id)
  }

  /// Makes the object for writing around the log, if there is a file; called at most once.
  var makeDirectPages: ((PageEditor) throws(StorageError) -> DirectPages?)?
  private var direct: DirectPages?

  /// The way around the log; `nil` in memory.
  func directPages() throws(StorageError) -> DirectPages? {
    if direct == nil { direct = try makeDirectPages?(self) }
    return direct
  }

  /// Writes what was given to go around the log.
  func flushDirectPages() throws(StorageError) { try direct?.flush() }

  /// Whether pages went around the log, which must be on disk before the commit is.
  var hasDirectPages: Bool { direct?.hasWritten ?? false }
  /// Those pages, with some perhaps that the transaction has given back since.
  var directRuns: PageRuns? { hasDirectPages ? direct?.written : nil }

  @exclusivity(unchecked) private var dropped: [PageWord] = []

  /// Frees what the last operation dropped.
  func freeDropped() {
    guard !dropped.isEmpty else { return }
    for word in dropped { word.release() }
    dropped.removeAll(keepingCapacity: true)
  }

  deinit {
    freeDropped()
    for base in cleanBases { PageWord(base.page).release() }
    scratch?.deallocate()
  }

  /// Puts an empty page at `id`, which must be marked as in use.
  func create(_ type: PageType, level: Int, at id: PageID) -> MutablePage {
    let frame = PageFrame(pageSize: pageSize)
    let page = MutablePage(frame.base)
    page.initialize(type, level: level, commit: commit, in: space.geometry)
    space.set(id, to: frame.intoTable())
    touched.append(id)
    ownPageCount += 1
    return page
  }

  /// Allocates a free page, or a new one at the end of the file.
  func allocate(_ type: PageType, level: Int) throws(StorageError) -> (PageID, MutablePage) {
    let id = try takePage()
    return (id, create(type, level: level, at: id))
  }

  /// Whether the store will have more pages than before.
  var isGrowing: Bool {
    guard let parent = space.parent else { return true }
    return space.pageCount > parent.space.pageCount
  }

  /// The pages this transaction made, changed or gave back, in the order of the file, each once.
  func touchedPages() -> [PageID] {
    guard touched.count != sortedCount else { return touched }
    // In place, with one look at the property.
    var pages = exchange(&touched, with: [])
    pages.sort()
    var count = 0
    for index in pages.indices where count == 0 || pages[index] != pages[count - 1] {
      pages[count] = pages[index]
      count += 1
    }
    pages.removeLast(pages.count - count)
    touched = pages
    sortedCount = count
    return pages
  }
}
