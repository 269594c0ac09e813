// Locations in the file for pages that go around the log: first those before the end that nothing
// needs, if there are such, then those after the end (`DirectPages`).

extension PageEditor {
  /// Takes a page that may be written around the log, in ascending order.
  func takePage(for direct: DirectPages) throws(StorageError) -> PageID {
    if let id = try firstReusable(for: direct) {
      direct.nextReusable = PageID(id.rawValue + 1)
      try take(id)
      return id
    }
    var id = direct.nextPage
    if space.geometry.isMap(id) { id = PageID(id.rawValue + 1) }
    if try !isFree(id) { id = PageID(space.pageCount) }
    try takeAfterEnd(id, for: direct)
    return id
  }

  /// Takes pages in a row, which may be written around the log.
  ///
  /// - Returns: the first; the others follow by ``PageGeometry/runSuccessor(of:)``.
  func takeRun(_ count: Int, for direct: DirectPages) throws(StorageError) -> PageID {
    if let first = try firstReusableRun(count, for: direct) {
      var id = first
      for _ in 0..<count {
        try take(id)
        id = space.geometry.runSuccessor(of: id)
      }
      direct.nextReusableRun = id
      return first
    }
    var first = try startAfterEnd(for: direct)
    if space.geometry.isMap(first) { first = PageID(first.rawValue + 1) }
    var id = first
    for index in 0..<count {
      if index > 0 { id = space.geometry.runSuccessor(of: id) }
      try takeAfterEnd(id, for: direct)
    }
    return first
  }

  /// Whether a page may be written around the log where it is.
  func isWritable(_ id: PageID, by direct: DirectPages) throws(StorageError) -> Bool {
    if id >= direct.firstPage { return true }
    return direct.reusesPages ? try isReusable(id) : false
  }

  /// The first of the pages for it from which on all are free.
  private func startAfterEnd(for direct: DirectPages) throws(StorageError) -> PageID {
    var id = direct.nextPage
    while id.rawValue < space.pageCount {
      if !space.geometry.isMap(id), try !isFree(id) { return PageID(space.pageCount) }
      id = PageID(id.rawValue + 1)
    }
    return direct.nextPage
  }

  private func takeAfterEnd(_ id: PageID, for direct: DirectPages) throws(StorageError) {
    // The pages between the end and that page remain free.
    while space.pageCount <= id.rawValue {
      let added = try extend()
      try unmark(added)
    }
    try take(id)
    direct.nextPage = PageID(id.rawValue + 1)
  }

  private func take(_ id: PageID) throws(StorageError) {
    try mark(id)
    // It may be known as free, from a version that had it; now the file has it.
    if !space.overlay[id].isAbsent { space.set(id, to: .absent) }
  }

  // MARK: Before the end

  /// Whether a page was free when the transaction began.
  private func isReusable(_ id: PageID) throws(StorageError) -> Bool {
    guard let parent = space.parent?.space, id.rawValue < parent.pageCount,
      !space.geometry.isMap(id)
    else { return false }
    let map = try parent.page(space.geometry.mapPage(for: id))
    return PageMap.entry(space.geometry.mapIndex(of: id), in: map) == 0
  }

  /// The pages after the end may begin further back than this store goes: where a longer version
  /// ends which is held, though it has expired. There are no maps in between.
  private func endOfReusable(for direct: DirectPages) -> PageID {
    min(direct.firstPage, PageID(space.parent?.space.pageCount ?? 0))
  }

  private func firstReusable(for direct: DirectPages) throws(StorageError) -> PageID? {
    guard direct.reusesPages else { return nil }
    while let id = try firstFree(from: direct.nextReusable, below: endOfReusable(for: direct)) {
      if try isReusable(id) { return id }
      direct.nextReusable = PageID(id.rawValue + 1)
    }
    direct.nextReusable = direct.firstPage
    return nil
  }

  private func firstReusableRun(
    _ count: Int, for direct: DirectPages
  ) throws(StorageError) -> PageID? {
    guard direct.reusesPages, count <= space.freePageCount else { return nil }
    var first: PageID?
    var length = 0
    var next = direct.nextReusableRun
    while let id = try firstFree(from: next, below: endOfReusable(for: direct)) {
      let continues = first != nil && id == next
      next = space.geometry.runSuccessor(of: id)
      guard try isReusable(id) else {
        first = nil
        continue
      }
      if !continues { (first, length) = (id, 0) }
      length += 1
      if length == count { return first }
    }
    // Each page is looked at once: a longer run will not be found either.
    direct.nextReusableRun = direct.firstPage
    return nil
  }
}
