/// A value too long for its leaf: a run of pages in a row, each with its own header and checksum.
///
/// The run steps over page maps, which stay where they are. Each page but the last is full.
struct OverflowRun {
  let first: PageID
  let byteCount: Int
  let pageCount: Int
  /// The length up to which memory for a value is allocated before all its pages were checked.
  private static let trustedByteCount = 1 << 30

  /// - Throws: ``StorageError/damaged(page:reason:)``, naming the referring page, if a run of that
  ///   length cannot be in the store.
  init(
    _ overflow: ValuePayload.Overflow, referredToBy leaf: PageID, in space: PageSpace
  ) throws(StorageError) {
    let capacity = UInt64(space.geometry.capacity)
    let (rounded, overflows) = overflow.byteCount.addingReportingOverflow(capacity - 1)
    let pages = rounded / capacity
    guard !overflows, overflow.byteCount > 0, pages <= UInt64(space.pageCount),
      overflow.first >= .firstFree, overflow.first.rawValue < space.pageCount
    else {
      throw .damaged(
        page: leaf,
        reason: "a value of \(overflow.byteCount) bytes is said to begin at page \(overflow.first)")
    }
    first = overflow.first
    byteCount = Int(overflow.byteCount)
    pageCount = Int(pages)
  }

  /// The pages of the run in order.
  func pages(in geometry: PageGeometry) -> some Sequence<PageID> {
    sequence(first: first) { geometry.runSuccessor(of: $0) }.lazy.prefix(pageCount)
  }

  /// The value in memory of its own.
  func assembled(in space: PageSpace) throws(StorageError) -> PageMemory {
    // A length that is nonsense would ask for memory without end: the last page must be there.
    _ = try overflowPage(lastPage(in: space.geometry), in: space)
    if byteCount > OverflowRun.trustedByteCount {
      // The others, too: a file may be long and have nothing in it.
      for id in pages(in: space.geometry) { _ = try overflowPage(id, in: space) }
    }
    let memory = PageMemory(byteCount: byteCount)
    var offset = 0
    for id in pages(in: space.geometry) {
      let part = min(space.geometry.capacity, byteCount - offset)
      let page = try overflowPage(id, in: space)
      guard page.count == part else {
        throw .damaged(page: id, reason: "it is not the overflow page it is referred to as")
      }
      (memory.base + offset).copyMemory(from: page.base + PageHeader.byteCount, byteCount: part)
      offset += part
    }
    return memory
  }

  private func overflowPage(_ id: PageID, in space: PageSpace) throws(StorageError) -> Page {
    let page = try space.page(id)
    guard page.typeByte == PageType.overflow.rawValue else {
      throw .damaged(page: id, reason: "it is not the overflow page it is referred to as")
    }
    return page
  }

  /// The last page, by counting the maps that are stepped over.
  private func lastPage(in geometry: PageGeometry) -> PageID {
    let group = UInt64(geometry.groupPageCount)
    let map = UInt64(PageID.firstMap.rawValue)
    var last = UInt64(first.rawValue) + UInt64(pageCount) - 1
    // Each map in between moves the end by one, which may bring in another map.
    while true {
      let maps = (last + group - map) / group - (UInt64(first.rawValue) + group - map) / group
      let moved = UInt64(first.rawValue) + UInt64(pageCount) - 1 + maps
      if moved == last { return PageID(UInt32(clamping: last)) }
      last = moved
    }
  }

  /// Stores a value in a new run.
  static func store(
    _ value: UnsafeRawBufferPointer, with editor: PageEditor
  ) throws(StorageError) -> ValuePayload.Overflow {
    if let direct = try editor.directPagesForOverflow(ofBytes: value.count) {
      let overflow = try store(value, around: direct, with: editor)
      try direct.flush()
      return overflow
    }
    let geometry = editor.space.geometry
    let capacity = geometry.capacity
    let pageCount = (value.count + capacity - 1) / capacity
    var id = try editor.takeRun(pageCount)
    editor.overflowPageCount += pageCount
    let overflow = ValuePayload.Overflow(byteCount: UInt64(value.count), first: id)
    var offset = 0
    while offset < value.count {
      let part = min(capacity, value.count - offset)
      let page = editor.create(.overflow, level: 0, at: id)
      UnsafeMutableRawBufferPointer(start: page.base + PageHeader.byteCount, count: part)
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: value[offset..<(offset + part)]))
      page.count = part
      offset += part
      id = geometry.runSuccessor(of: id)
    }
    return overflow
  }

  /// Stores a value in a new run around the log.
  static func store(
    _ value: UnsafeRawBufferPointer, around direct: DirectPages, with editor: PageEditor
  ) throws(StorageError) -> ValuePayload.Overflow {
    let geometry = editor.space.geometry
    let capacity = geometry.capacity
    let room = PageMemory(byteCount: editor.pageSize)
    let page = MutablePage(room.base)
    let first = try editor.takeRun((value.count + capacity - 1) / capacity, for: direct)
    var id = first
    var offset = 0
    while offset < value.count {
      let part = min(capacity, value.count - offset)
      page.initialize(.overflow, level: 0, commit: editor.commit, in: editor.space.geometry)
      UnsafeMutableRawBufferPointer(start: page.base + PageHeader.byteCount, count: part)
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: value[offset..<(offset + part)]))
      page.count = part
      try direct.put(page.page, at: id)
      offset += part
      id = geometry.runSuccessor(of: id)
    }
    return ValuePayload.Overflow(byteCount: UInt64(value.count), first: first)
  }

  /// Frees the run's pages.
  func release(with editor: PageEditor) throws(StorageError) {
    for id in pages(in: editor.space.geometry) {
      _ = try overflowPage(id, in: editor.space)
      try editor.release(id)
    }
  }
}
