// A transaction that has changed more pages than it may have in memory moves some of them to the
// file, around the log, where nothing can need what is overwritten (`DirectPages`). A page that
// lies at such a location already is written there. Another one gets a new number, and its parent
// refers to that; the old location stays taken until the commit, since the version that the
// transaction began with has it.
//
// So a transaction of any size needs a bounded amount of memory and a small record in the log, a
// crash before the record finds nothing changed, and snapshots read what they always read. The
// price is room: what is moved has two locations until the commit.

extension PageEditor {
  /// Pages on their way out of memory.
  struct Spill {
    fileprivate let direct: DirectPages
    /// Pages that stay where they are: written last, in the order of the file.
    fileprivate var inPlace: [PageID] = []
  }

  /// Begins to move pages out of memory.
  ///
  /// - Returns: `nil` in memory, where pages cannot go elsewhere.
  func beginSpill() throws(StorageError) -> Spill? {
    guard let direct = try directPages() else { return nil }
    return Spill(direct: direct)
  }

  /// Moves one of this transaction's own pages out of memory.
  ///
  /// - Returns: the number by which it has to be referred to from now on.
  func moveOut(_ id: PageID, _ spill: inout Spill) throws(StorageError) -> PageID {
    if try isWritable(id, by: spill.direct) {
      spill.inPlace.append(id)
      return id
    }
    let newID = try takePage(for: spill.direct)
    try spill.direct.put(space.overlay[id].page, at: newID)
    replaceOwn(id, by: .unreadable)
    space.noteMove(of: id, to: newID)
    return newID
  }

  /// Writes what waits, and gives the memory back.
  func finish(_ spill: Spill) throws(StorageError) {
    for id in spill.inPlace.sorted() {
      try spill.direct.put(space.overlay[id].page, at: id)
    }
    try spill.direct.flush()
    for id in spill.inPlace { replaceOwn(id, by: .absent) }
    releaseUnneededBases()
  }

  /// Frees the old locations of pages that were moved. Before the commit.
  func releaseMovedPages() throws(StorageError) {
    guard !space.movedPages.isEmpty else { return }
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    for id in space.movedPages.keys.sorted() { try release(id) }
  }

  /// The way around the log for the pages of a long value, if the transaction has as many of such
  /// in memory as it may: they are not moved later.
  func directPagesForOverflow(ofBytes byteCount: Int) throws(StorageError) -> DirectPages? {
    let memory = overflowPageCount * pageSize + byteCount
    return memory > byteLimit / 2 ? try directPages() : nil
  }
}
