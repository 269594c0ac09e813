// Free space is a bitmap: one bit a page, set while the page is in use. Bitmap pages lie at fixed
// places, are ordinary logged pages, and need no memory of their own. Taking always finds the
// lowest free page, so files stay compact and the same operations always give the same file.

extension PageEditor {
  /// Marks the lowest free page as used.
  func takePage() throws(StorageError) -> PageID {
    guard space.freePageCount > 0 else { return try extend() }
    var candidate = space.lowestFree
    while candidate.rawValue < space.pageCount {
      let bitmapID = space.geometry.bitmapPage(for: candidate)
      let bitmap = try space.page(bitmapID)
      let group = bitmapID.rawValue - PageID.firstBitmap.rawValue
      let start = space.geometry.bitIndex(of: candidate)
      if let bit = Bitmap.firstClear(in: bitmap, from: start, geometry: space.geometry) {
        let found = PageID(group + UInt32(bit))
        guard found.rawValue < space.pageCount else { break }
        try mark(found)
        space.lowestFree = PageID(found.rawValue + 1)
        return found
      }
      candidate = PageID(group + min(space.geometry.groupPageCount, .max - group))
    }
    throw .damaged(
      page: .firstBitmap, reason: "the bitmaps have fewer free pages than when they were counted")
  }

  /// Marks the lowest run of `count` pages as used; pages past the end of the file count as free.
  ///
  /// - Returns: the first page; the others follow by ``PageGeometry/runSuccessor(of:)``.
  func takeRun(_ count: Int) throws(StorageError) -> PageID {
    if count == 1 { return try takePage() }
    var first = space.freePageCount == 0 ? PageID(space.pageCount) : space.lowestFree
    if space.geometry.isBitmap(first) { first = PageID(first.rawValue + 1) }
    var length = 0
    var next = first
    // Looks until the run is long enough or has reached the end, where everything is free.
    while length < count, next.rawValue < space.pageCount {
      let bitmap = try space.page(space.geometry.bitmapPage(for: next))
      if Bitmap.isSet(space.geometry.bitIndex(of: next), in: bitmap) {
        length = 0
        next = space.geometry.runSuccessor(of: next)
        first = next
      } else {
        length += 1
        next = space.geometry.runSuccessor(of: next)
      }
    }
    var page = first
    for _ in 0..<count {
      if page.rawValue < space.pageCount {
        try mark(page)
      } else {
        page = try extend()
      }
      page = space.geometry.runSuccessor(of: page)
    }
    return first
  }

  /// Gives a page back; its memory goes with the last snapshot that shows it.
  func release(_ id: PageID) throws(StorageError) {
    guard id >= .firstFree, id.rawValue < space.pageCount, !space.geometry.isBitmap(id) else {
      throw .damaged(page: id, reason: "a tree refers to it, but it is not a page trees may use")
    }
    let bitmapID = space.geometry.bitmapPage(for: id)
    let bit = space.geometry.bitIndex(of: id)
    guard Bitmap.isSet(bit, in: try space.page(bitmapID)) else {
      throw .damaged(page: id, reason: "two places refer to it")
    }
    Bitmap.set(bit, to: false, in: try writable(bitmapID))
    forget(id)
    space.freePageCount += 1
    if id < space.lowestFree { space.lowestFree = id }
  }

  /// Adds a page at the end of the file that may be written around the log.
  func extend(for direct: DirectPages) throws(StorageError) -> PageID {
    // What lies between the end and the first such page stays free.
    while space.pageCount < direct.firstPage.rawValue {
      let id = try extend()
      try unmark(id)
    }
    return try extend()
  }

  private func unmark(_ id: PageID) throws(StorageError) {
    let bitmap = try writable(space.geometry.bitmapPage(for: id))
    Bitmap.set(space.geometry.bitIndex(of: id), to: false, in: bitmap)
    space.freePageCount += 1
    space.lowestFree = min(space.lowestFree, id)
  }

  /// Lets the store end before the free pages at its end. Bitmap pages keep their places.
  func cutTrailingFreePages() throws(StorageError) {
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    while space.freePageCount > 0, space.pageCount > PageID.firstFree.rawValue {
      let last = PageID(space.pageCount - 1)
      guard !space.geometry.isBitmap(last) else { return }
      let bitmap = try space.page(space.geometry.bitmapPage(for: last))
      if Bitmap.isSet(space.geometry.bitIndex(of: last), in: bitmap) { return }
      space.pageCount -= 1
      space.freePageCount -= 1
      space.lowestFree = min(space.lowestFree, PageID(space.pageCount))
    }
  }

  /// Adds a page at the end of the file. The first page of a group brings the group's bitmap along,
  /// three pages on; the two pages between them start free.
  private func extend() throws(StorageError) -> PageID {
    let id = PageID(space.pageCount)
    guard id.rawValue < UInt32.max - 8 else { throw .storeFull(pageLimit: Int(id.rawValue)) }
    guard space.geometry.bitIndex(of: id) == 0 else {
      space.pageCount += 1
      space.freePageCount += 1
      try mark(id)
      return id
    }
    let bitmapID = space.geometry.bitmapPage(for: id)
    let bitmap = create(.bitmap, level: 0, at: bitmapID)
    Bitmap.set(space.geometry.bitIndex(of: bitmapID), to: true, in: bitmap)
    space.pageCount = bitmapID.rawValue + 1
    space.freePageCount += Int(bitmapID.rawValue - id.rawValue)
    space.lowestFree = min(space.lowestFree, id)
    try mark(id)
    return id
  }

  private func mark(_ id: PageID) throws(StorageError) {
    let bitmap = try writable(space.geometry.bitmapPage(for: id))
    Bitmap.set(space.geometry.bitIndex(of: id), to: true, in: bitmap)
    space.freePageCount -= 1
  }
}
