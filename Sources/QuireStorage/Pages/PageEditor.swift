/// A transaction's hand on the pages: copies a page before its first change, takes and gives back
/// pages.
///
/// Pages keep their numbers for life, so a change never has to rewrite the path to the root. A page
/// that carries the transaction's own commit number is already a private copy.
final class PageEditor {
  let space: PageSpace
  /// Pages made or copied, in order, some perhaps twice, some perhaps free again since.
  private(set) var touched: [PageID] = []
  /// Room to put a node aside while it is rebuilt, and to assemble an entry, as the bytes handed in
  /// may lie in the very page that is about to change. Made when first needed.
  private var scratch: PageMemory?
  private var usesSecondChildRoom = false
  /// The way from the root to the node at hand; kept here so that its memory is reused.
  var path: [PathStep] = []
  /// Set when a change failed half-way: the transaction can then only be aborted.
  var failure: StorageError?

  struct PathStep {
    var page: PageID
    var slot: Int
  }

  init(_ space: PageSpace) {
    self.space = space
  }

  var pageSize: Int { space.pageSize }
  var commit: CommitNumber { space.commit }

  /// One page of room for a node put aside.
  func nodeScratch() -> UnsafeMutableRawPointer { scratchMemory().base }

  /// One page of room for an entry's payload.
  func payloadScratch() -> UnsafeMutableRawPointer { scratchMemory().base + pageSize }

  /// One page of room for an entry's key.
  func keyScratch() -> UnsafeMutableRawPointer { scratchMemory().base + 2 * pageSize }

  /// An inner node's payload: the number of a child. Valid until the next call but one, as pushing
  /// the root down makes one entry while another is still waiting for its place.
  func childPayload(_ id: PageID) -> UnsafeRawBufferPointer {
    usesSecondChildRoom.toggle()
    let room = scratchMemory().base + 3 * pageSize + (usesSecondChildRoom ? 4 : 0)
    room.setU32(id.rawValue, at: 0)
    return UnsafeRawBufferPointer(start: room, count: 4)
  }

  private func scratchMemory() -> PageMemory {
    if let scratch { return scratch }
    let memory = PageMemory(byteCount: 3 * pageSize + 8)
    scratch = memory
    return memory
  }

  /// The page, private to this transaction.
  func writable(_ id: PageID) throws(StorageError) -> MutablePage {
    let slot = space.table.slot(id)
    guard let page = slot.page, let owner = slot.owner else {
      // Fails with the right words.
      _ = try space.page(id)
      throw .damaged(page: id, reason: "it has no memory")
    }
    if space.isPrivate(page) {
      // A private page is alone in its memory: `writable` and `create` made it so.
      return MutablePage(owner.base)
    }
    let memory = PageMemory(byteCount: pageSize)
    memory.base.copyMemory(from: page.base, byteCount: pageSize)
    let copy = MutablePage(memory.base)
    copy.commit = commit
    space.table.set(id, to: copy.page, owner: memory)
    touched.append(id)
    return copy
  }

  /// Puts an empty page at `id`, which must be marked as in use.
  func create(_ type: PageType, level: Int, at id: PageID) -> MutablePage {
    let memory = PageMemory(byteCount: pageSize)
    let page = MutablePage(memory.base)
    page.initialize(type, level: level, commit: commit, pageSize: pageSize)
    space.table.set(id, to: page.page, owner: memory)
    touched.append(id)
    return page
  }

  /// Takes a free page, or a new one at the end of the file.
  func allocate(_ type: PageType, level: Int) throws(StorageError) -> (PageID, MutablePage) {
    let id = try takePage()
    return (id, create(type, level: level, at: id))
  }

  /// The pages to log, sorted: every page this transaction made or changed that is still in use.
  func changedPages() -> [(id: PageID, page: MutablePage)] {
    touched.sort()
    var pages: [(id: PageID, page: MutablePage)] = []
    pages.reserveCapacity(touched.count)
    for id in touched where pages.last?.id != id {
      // Touched and in use, hence private and alone in its memory.
      guard let owner = space.table.slot(id).owner else { continue }
      pages.append((id, MutablePage(owner.base)))
    }
    return pages
  }
}
