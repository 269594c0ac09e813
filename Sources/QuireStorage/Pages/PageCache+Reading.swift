import Synchronization

/// Reading of pages from the file.
extension PageCache {
  /// The pages read at once when pages are read in the order of the file.
  private static let readAheadPageCount = 32

  /// The result of reading a page from the file.
  enum Reading {
    case page(PageWord)
    /// The bytes are no page of that version; why. If a checkpoint is or was under way, the
    /// version's overlay may have the page by now.
    case unusable(String, fileChanged: Bool)
  }

  /// The knowledge of a reader about the pages that it requests.
  struct Expectation {
    /// The version for which a page is read.
    let commit: CommitNumber
    /// The pages it has.
    let pageCount: UInt32
    /// The stamp of a page; 0 if it is free, `nil` if its map is damaged.
    let stamp: (PageID) throws(StorageError) -> UInt32?
  }

  /// Reads a page that was not found. The caller is inside the reclaimer, and the page stays in
  /// memory at least until it leaves.
  func read(_ id: PageID, _ expected: Expectation) throws(StorageError) -> Reading {
    let (file, generation, runCount) = filling.withLock { filling in
      let isInOrder = filling.nextInOrder == id
      let count =
        isInOrder
        ? min(PageCache.readAheadPageCount, Int(expected.pageCount - id.rawValue)) : 1
      filling.nextInOrder = PageID(id.rawValue &+ UInt32(count))
      return (filling.file, filling.generation, count)
    }
    guard let file else { throw .closed }
    let frame = PageFrame(pageSize: geometry.pageSize)
    if runCount == 1 {
      let buffer = UnsafeMutableRawBufferPointer(start: frame.base, count: geometry.pageSize)
      let count = try file.read(at: Int(id.rawValue) * geometry.pageSize, into: buffer)
      let defect = defect(
        in: Page(frame.base), byteCount: count, at: id, for: expected.commit,
        stamp: try expected.stamp(id))
      return settle(frame, at: id, for: expected.commit, generation, defect)
    }
    // Memory that was used before: fresh memory costs more than reading into it.
    let run =
      spareRun.withLock { $0.take() }
      ?? PageMemory(byteCount: PageCache.readAheadPageCount * geometry.pageSize)
    defer { spareRun.withLock { $0 = run } }
    let count = try run.withBytes { bytes throws(StorageError) in
      try file.read(
        at: Int(id.rawValue) * geometry.pageSize,
        into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<(runCount * geometry.pageSize)]))
    }
    // The pages after the requested one are a guess: they are kept only if they are surely right.
    // Index pages between rows are of no use when rows are read in order.
    let leavesIndexes = Page(run.base).isOfRecords
    for index in stride(from: 1, to: runCount, by: 1) {
      let nextID = PageID(id.rawValue + UInt32(index))
      if leavesIndexes, Page(run.base + index * geometry.pageSize).isOfIndex { continue }
      guard find(nextID).isAbsent, let stamp = try expected.stamp(nextID), stamp != 0 else {
        continue
      }
      let next = PageFrame(pageSize: geometry.pageSize)
      let nextCount = take(next, from: run, at: index, byteCount: count)
      let defect = defect(
        in: Page(next.base), byteCount: nextCount, at: nextID, for: expected.commit, stamp: stamp)
      if defect == nil { _ = settle(next, at: nextID, for: expected.commit, generation, nil) }
    }
    let firstCount = take(frame, from: run, at: 0, byteCount: count)
    let defect = defect(
      in: Page(frame.base), byteCount: firstCount, at: id, for: expected.commit,
      stamp: try expected.stamp(id))
    return settle(frame, at: id, for: expected.commit, generation, defect)
  }

  /// Copies one page of several that were read at once.
  ///
  /// - Returns: how many of its bytes were read.
  private func take(
    _ frame: PageFrame, from run: PageMemory, at index: Int, byteCount: Int
  ) -> Int {
    let start = index * geometry.pageSize
    frame.base.copyMemory(from: run.base + start, byteCount: geometry.pageSize)
    return max(0, min(geometry.pageSize, byteCount - start))
  }

  /// Why bytes from the file are not the page of that version, or `nil` when they are.
  ///
  /// - Parameter stamp: what the maps say of the page; `nil` where they are damaged, and of the
  ///   first map.
  func defect(
    in page: Page, byteCount: Int, at id: PageID, for commit: CommitNumber, stamp: UInt32?
  ) -> String? {
    guard byteCount == geometry.pageSize else { return "the file ends before it" }
    guard page.checksum == checksum.ofPage(id, page, pageSize: geometry.pageSize) else {
      return "its checksum is wrong"
    }
    guard page.commit <= commit else {
      return "it carries commit \(page.commit), the store is at \(commit)"
    }
    if id == .firstMap {
      let expected = filling.withLock { $0.mapCommit }
      if page.commit != expected {
        return "it is of commit \(page.commit), that of commit \(expected) is missing"
      }
    } else if let stamp {
      if stamp == 0 { return "it is free, but referred to" }
      if stamp != PageMap.stamp(of: page.commit) {
        return "it is of commit \(page.commit), which is not the one that wrote it last"
      }
    } else if !readsUnvouchedPages {
      let map = geometry.stampLocation(of: id)?.map ?? .firstMap
      return "page map \(map) is damaged, so that nothing vouches for it"
    }
    return validation.defect(of: page, at: id, geometry: geometry)
  }

  /// Puts a page that was read into its slot, unless what was read may be history by now.
  private func settle(
    _ frame: PageFrame, at id: PageID, for commit: CommitNumber, _ generation: Int,
    _ defect: String?
  ) -> Reading {
    if let defect {
      let fileChanged = filling.withLock {
        $0.generation != generation || $0.overwritingCommit != nil
      }
      return .unusable(defect, fileChanged: fileChanged)
    }
    let word = frame.intoTable()
    let (other, isKept, evicted) = filling.withLock { filling -> (PageWord?, Bool, [PageWord]) in
      // A version older than the one being written may have read a page that is overwritten now.
      guard filling.generation == generation, filling.file != nil,
        filling.overwritingCommit.map({ commit >= $0 }) ?? true
      else { return (nil, false, []) }
      let slot = makeSlot(of: id, &filling)
      let (isFirst, other) = slot.pointee.compareExchange(
        expected: 0, desired: word.bits, ordering: .acquiringAndReleasing)
      guard isFirst else { return (PageWord(bits: other), false, []) }
      enterRing(id, word, &filling)
      return (nil, true, evict(&filling))
    }
    for word in evicted { reclaimer.release(word) }
    if let other {
      // Another reader was faster.
      word.release()
      return .page(other)
    }
    // Good for the caller alone, and until it leaves.
    if !isKept { reclaimer.release(word) }
    return .page(word)
  }

  /// Keeps the pages that are in the file's first bytes, which were read at opening; those that are
  /// not sound are left for ``read(_:_:)`` to complain of.
  func preload(_ head: UnsafeRawBufferPointer, for commit: CommitNumber) {
    guard let base = head.baseAddress else { return }
    let pageSize = geometry.pageSize
    let mapIndex = Int(PageID.firstMap.rawValue)
    guard (mapIndex + 1) * pageSize <= head.count else { return }
    let map = Page(base + mapIndex * pageSize)
    guard
      defect(in: map, byteCount: pageSize, at: .firstMap, for: commit, stamp: nil) == nil
    else { return }
    let count = min(head.count / pageSize, Int(geometry.groupPageCount))
    for number in stride(from: mapIndex, to: count, by: 1) {
      let id = PageID(UInt32(number))
      let stamp = PageMap.entry(number, in: map)
      guard stamp != 0 else { continue }
      let page = Page(base + number * pageSize)
      guard defect(in: page, byteCount: pageSize, at: id, for: commit, stamp: stamp) == nil else {
        continue
      }
      let frame = PageFrame(pageSize: pageSize)
      frame.base.copyMemory(from: page.base, byteCount: pageSize)
      _ = settle(frame, at: id, for: commit, 0, nil)
    }
  }

  func fileByteCount() throws(StorageError) -> Int {
    guard let file = filling.withLock({ $0.file }) else { throw .closed }
    return try file.byteCount()
  }

  /// Compares what the file holds with its checksum, whatever is in memory.
  func defectOnDisk(
    of id: PageID, for commit: CommitNumber, stamp: UInt32?, in room: PageMemory
  ) throws(StorageError) -> String? {
    guard let file = filling.withLock({ $0.file }) else { throw .closed }
    return try room.withBytes { bytes throws(StorageError) in
      let count = try file.read(at: Int(id.rawValue) * geometry.pageSize, into: bytes)
      return defect(
        in: Page(UnsafeRawPointer(room.base)), byteCount: count, at: id, for: commit, stamp: stamp)
    }
  }
}
