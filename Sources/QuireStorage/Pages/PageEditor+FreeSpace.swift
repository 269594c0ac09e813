// Free pages are recorded in the page maps (`PageMap`), which are at fixed locations and are
// ordinary logged pages. Allocation always finds the lowest free page, so that files stay compact
// and the same operations always produce the same file.

extension PageEditor {
  /// Marks the lowest free page as used.
  func takePage() throws(StorageError) -> PageID {
    guard space.freePageCount > 0 else { return try extend() }
    guard let found = try firstFree(from: space.lowestFree, below: PageID(space.pageCount)) else {
      throw .damaged(
        page: .firstMap, reason: "the maps have fewer free pages than when they were counted")
    }
    try mark(found)
    space.lowestFree = PageID(found.rawValue + 1)
    return found
  }

  /// The first free page in a range.
  func firstFree(from first: PageID, below end: PageID) throws(StorageError) -> PageID? {
    var candidate = first
    while candidate < end {
      let mapID = space.geometry.mapPage(for: candidate)
      let map = try space.page(mapID)
      let group = mapID.rawValue - PageID.firstMap.rawValue
      let start = space.geometry.mapIndex(of: candidate)
      if let index = PageMap.firstFree(in: map, from: start, geometry: space.geometry) {
        let found = PageID(group + UInt32(index))
        return found < end ? found : nil
      }
      candidate = PageID(group + min(space.geometry.groupPageCount, .max - group))
    }
    return nil
  }

  /// Marks the lowest run of `count` pages as used; pages past the end of the file count as free.
  ///
  /// - Returns: the first page; the others follow by ``PageGeometry/runSuccessor(of:)``.
  func takeRun(_ count: Int) throws(StorageError) -> PageID {
    if count == 1 { return try takePage() }
    var first = space.freePageCount == 0 ? PageID(space.pageCount) : space.lowestFree
    if space.geometry.isMap(first) { first = PageID(first.rawValue + 1) }
    var length = 0
    var next = first
    // Until the run is long enough or has reached the end of the store, after which all pages are
    // free.
    while length < count, next.rawValue < space.pageCount {
      let map = try space.page(space.geometry.mapPage(for: next))
      if PageMap.entry(space.geometry.mapIndex(of: next), in: map) != 0 {
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

  /// Frees a page; its memory is released with the last snapshot that shows it.
  func release(_ id: PageID) throws(StorageError) {
    guard id >= .firstFree, id.rawValue < space.pageCount, !space.geometry.isMap(id) else {
      throw .damaged(page: id, reason: "a tree refers to it, but it is not a page trees may use")
    }
    let mapID = space.geometry.mapPage(for: id)
    let index = space.geometry.mapIndex(of: id)
    guard PageMap.entry(index, in: try space.page(mapID)) != 0 else {
      throw .damaged(page: id, reason: "there are two references to it")
    }
    try countFree(1)
    PageMap.set(index, to: 0, in: try writable(mapID))
    forget(id)
    if id < space.lowestFree { space.lowestFree = id }
  }

  /// Whether a page is free; those after the end are.
  func isFree(_ id: PageID) throws(StorageError) -> Bool {
    guard id.rawValue < space.pageCount else { return true }
    let map = try space.page(space.geometry.mapPage(for: id))
    return PageMap.entry(space.geometry.mapIndex(of: id), in: map) == 0
  }

  func unmark(_ id: PageID) throws(StorageError) {
    let map = try writable(space.geometry.mapPage(for: id))
    PageMap.set(space.geometry.mapIndex(of: id), to: 0, in: map)
    try countFree(1)
    space.lowestFree = min(space.lowestFree, id)
  }

  /// Shortens the store by the free pages at its end, and by completely free groups with their
  /// maps.
  func cutTrailingFreePages() throws(StorageError) {
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    while space.freePageCount > 0, space.pageCount > PageID.firstFree.rawValue {
      let last = PageID(space.pageCount - 1)
      if space.geometry.isMap(last) {
        guard try cutGroup(ofMap: last) else { return }
      } else {
        guard try isFree(last) else { return }
        try countFree(-1)
        space.pageCount -= 1
      }
      space.lowestFree = min(space.lowestFree, PageID(space.pageCount))
    }
  }

  /// - Returns: `false` if a page before the map, which is the last page, is in use.
  private func cutGroup(ofMap id: PageID) throws(StorageError) -> Bool {
    let first = id.rawValue - PageID.firstMap.rawValue
    guard first > 0 else { return false }
    for number in first..<id.rawValue where try !isFree(PageID(number)) { return false }
    try countFree(-Int(id.rawValue - first))
    if let (parent, index) = space.geometry.stampLocation(ofMap: id) {
      PageMap.set(index, to: 0, in: try writable(parent))
    }
    forget(id)
    space.pageCount = first
    return true
  }

  /// Adds a page at the end of the file. The first page of a group brings the group's map along,
  /// three pages on; the two pages between them start free.
  func extend() throws(StorageError) -> PageID {
    let id = PageID(space.pageCount)
    let isFirstOfGroup = space.geometry.mapIndex(of: id) == 0
    let last = isFirstOfGroup ? space.geometry.mapPage(for: id) : id
    guard last.rawValue < StoreLimits.pageCount else {
      throw .storeFull(pageLimit: Int(id.rawValue))
    }
    guard isFirstOfGroup else {
      space.pageCount += 1
      space.freePageCount += 1
      try mark(id)
      return id
    }
    let mapID = last
    let map = create(.map, level: 0, at: mapID)
    PageMap.set(space.geometry.mapIndex(of: mapID), to: PageMap.stamp(of: commit), in: map)
    space.pageCount = mapID.rawValue + 1
    space.freePageCount += Int(mapID.rawValue - id.rawValue)
    space.lowestFree = min(space.lowestFree, id)
    try mark(id)
    return id
  }

  func mark(_ id: PageID) throws(StorageError) {
    let map = try writable(space.geometry.mapPage(for: id))
    PageMap.set(space.geometry.mapIndex(of: id), to: PageMap.stamp(of: commit), in: map)
    try countFree(-1)
  }

  /// Counts free pages that come or go. What the store says of their number need not be what its
  /// maps say, in a damaged file.
  private func countFree(_ change: Int) throws(StorageError) {
    let count = space.freePageCount + change
    guard count >= 0, count < Int(space.pageCount) else {
      throw .damaged(
        page: .firstMap,
        reason: "the maps have other free pages than the \(space.freePageCount) that were counted")
    }
    space.freePageCount = count
  }

  /// Notes in the maps which commit wrote the pages, and in other maps which wrote the maps. The
  /// last thing a transaction does.
  func stampPages() throws(StorageError) {
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    let stamp = PageMap.stamp(of: commit)
    for id in touchedPages() where space.overlay[id].isPage && !space.geometry.isMap(id) {
      let map = try writable(space.geometry.mapPage(for: id))
      PageMap.set(space.geometry.mapIndex(of: id), to: stamp, in: map)
    }
    for id in touchedPages() where space.overlay[id].isPage && space.geometry.isMap(id) {
      var id = id
      while let (parentID, index) = space.geometry.stampLocation(ofMap: id) {
        let parent = try writable(parentID)
        // From here on another map has been up already.
        if PageMap.entry(index, in: parent.page) == stamp { break }
        PageMap.set(index, to: stamp, in: parent)
        id = parentID
      }
    }
  }
}
