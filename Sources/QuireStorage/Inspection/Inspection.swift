/// Walks everything reachable once and compares it with what the page maps say.
struct Inspection {
  let space: PageSpace
  var report = CheckReport()
  /// The pages that were reached, to see that none is reached twice.
  private var reached: Set<PageID> = []
  private let progress: (_ done: Int, _ total: Int) -> Void

  init(_ space: PageSpace, progress: @escaping (_ done: Int, _ total: Int) -> Void = { _, _ in }) {
    self.space = space
    self.progress = progress
  }

  /// Each page is read as such, and once more as a part of a tree.
  private func tell() {
    let done = report.pageCount + reached.count
    if done.isMultiple(of: 256) {
      progress(done, 2 * (Int(space.pageCount) - Int(space.freePageCount)))
    }
  }

  mutating func add(_ message: String, page: PageID? = nil, tree: String? = nil) {
    report.findings.addWithinLimit(
      CheckReport.Finding(page: page, tree: tree, message: message))
  }

  /// Notes a page as used.
  ///
  /// - Returns: `false` if it was used already, so that no walk goes round in circles.
  mutating func reach(_ id: PageID, from tree: String) -> Bool {
    guard reached.insert(id).inserted else {
      add("there are two references to it", page: id, tree: tree)
      return false
    }
    tell()
    return true
  }

  /// - Parameter progress: is called from time to time with the number of pages read, of which each
  ///   is read twice, and the number of those to be read.
  static func inspect(
    _ space: PageSpace, progress: @escaping (_ done: Int, _ total: Int) -> Void
  ) throws(StorageError) -> CheckReport {
    var inspection = Inspection(space, progress: progress)
    try inspection.inspectPages()
    inspection.inspectTrees()
    inspection.inspectFreeSpace()
    return inspection.report
  }

  /// Inspects every page in use: in memory if the file does not have it yet, otherwise in the file,
  /// even if it is in memory as well.
  private mutating func inspectPages() throws(StorageError) {
    let room = PageMemory(byteCount: space.pageSize)
    let end = try pageCountInReach()
    if end < space.pageCount {
      add("the store is said to have \(space.pageCount) pages, and ends after \(end)")
    }
    let readsUnvouchedPages = space.cache?.readsUnvouchedPages ?? false
    var next = PageID.firstMap
    while next.rawValue < end {
      let id = next
      let mark = isMarked(id)
      next = mark == nil && !readsUnvouchedPages ? nextOfUnread(id) : PageID(id.rawValue + 1)
      // An unreadable map is reported once for its whole group.
      let isUnvouched = readsUnvouchedPages || space.geometry.isMap(id)
      guard mark ?? isUnvouched else { continue }
      let ticket = try space.enter()
      defer { space.leave(ticket) }
      if let defect = try space.defect(of: id, room: room, validation: .ofTrees) {
        add("\(defect), and it is in use", page: id)
      } else {
        report.pageCount += 1
        tell()
      }
    }
  }

  /// The pages that there can be at most, whatever the store says of itself.
  private func pageCountInReach() throws(StorageError) -> UInt32 {
    var end: UInt32 = 0
    space.overlay.forEach { id, _ in end = max(end, id.rawValue &+ 1) }
    if let cache = space.cache {
      let byteCount = try cache.fileByteCount()
      end = max(end, UInt32(clamping: (byteCount + space.pageSize - 1) / space.pageSize))
    }
    return min(end, space.pageCount)
  }

  /// Whether a page is in use; `nil` when its map cannot be read.
  private func isMarked(_ id: PageID) -> Bool? {
    do throws(StorageError) {
      let ticket = try space.enter()
      defer { space.leave(ticket) }
      let map = try space.page(space.geometry.mapPage(for: id))
      return PageMap.entry(space.geometry.mapIndex(of: id), in: map) != 0
    } catch {
      return nil
    }
  }

  /// The next page to inspect after one whose map cannot be read: the map, and then the next group.
  private func nextOfUnread(_ id: PageID) -> PageID {
    let (map, group) = (space.geometry.mapPage(for: id), space.geometry.groupPageCount)
    if id < map { return map }
    let start = map.rawValue - PageID.firstMap.rawValue
    return PageID(start + min(group, .max - start))
  }

  /// A map that cannot be read, with what that means for the pages of its group.
  private mutating func addMap(_ id: PageID) {
    let first = id.rawValue - PageID.firstMap.rawValue
    let last = first + min(space.geometry.groupPageCount, space.pageCount - first) - 1
    add("this page map cannot be read: nothing vouches for pages \(first) to \(last)", page: id)
  }

  private mutating func inspectTrees() {
    var catalog = TreeInspection<IndexLayout>(space: space, name: "(catalog)")
    catalog.inspect(root: .catalogRoot, in: &self)
    let trees: [(name: String, state: TreeState)]
    do throws(StorageError) {
      trees = try Catalog(space).all()
    } catch {
      add("the catalog cannot be read: \(error)")
      return
    }
    for (name, state) in trees {
      let count: Int
      switch state.kind {
      case .record:
        var tree = TreeInspection<RecordLayout>(space: space, name: name)
        tree.inspect(root: state.root, in: &self)
        count = tree.entryCount
      case .index:
        var tree = TreeInspection<IndexLayout>(space: space, name: name)
        tree.inspect(root: state.root, in: &self)
        count = tree.entryCount
      }
      report.entryCount += count
      if count != state.count {
        add("it has \(count) entries, the catalog says \(state.count)", tree: name)
      }
    }
  }

  private mutating func inspectFreeSpace() {
    var free = 0
    var isCounted = true
    let end: UInt32
    do throws(StorageError) {
      end = try pageCountInReach()
    } catch {
      return
    }
    var next = PageID.identity
    while next.rawValue < end {
      let id = next
      guard let isMarked = isMarked(id) else {
        if space.geometry.isMap(id) { addMap(id) }
        isCounted = false
        next = nextOfUnread(id)
        continue
      }
      next = PageID(id.rawValue + 1)
      let isUsed = id < .firstMap || space.geometry.isMap(id) || reached.contains(id)
      if !isMarked { free += 1 }
      if isMarked, !isUsed { add("it is marked as used, but nothing refers to it", page: id) }
      if !isMarked, isUsed { add("it is marked as free, but something refers to it", page: id) }
    }
    if isCounted, free != space.freePageCount {
      add("\(free) pages are free, \(space.freePageCount) were counted")
    }
  }
}
