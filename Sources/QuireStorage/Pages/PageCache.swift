import Synchronization

/// The pages of the file that are in memory as the file has them, shared by all versions.
///
/// Finding a page takes no lock: a directory of chunks of addresses, read atomically. A page that
/// is not there is read, verified, and kept; beyond the budget the pages that were not used lately
/// go, in turn (CLOCK, Corbató 1968), and the ``Reclaimer`` frees them when no reader is at them.
///
/// What keeps a version from seeing a page of another: a page carries its commit number, and a
/// checkpoint, before it overwrites a page that an older version needs, puts the old content into
/// that version's overlay. So a page that is too new, or torn, means: look there again.
///
/// `@unchecked Sendable`: the directory is atomic, everything else is behind the mutex.
final class PageCache: @unchecked Sendable {
  private static let chunkShift: UInt32 = 9
  private static let chunkCount = 1 << Int(chunkShift)
  /// The pages read at once when pages are read in the order of the file.
  private static let readAheadPageCount = 32

  let geometry: PageGeometry
  let checksum: Checksum
  private let validation: PageValidation
  let reclaimer: Reclaimer
  private let directory: Atomic<UInt>
  private let filling: Mutex<Filling>

  private struct Filling {
    /// `nil` when the store was closed.
    var file: (any File)?
    /// Changes whenever what the file holds begins or ceases to change.
    var generation = 0
    /// The version that a checkpoint is writing to the file at the moment.
    var overwritingCommit: CommitNumber?
    /// The commit of the first page map in the file.
    var mapCommit: CommitNumber
    var frameCount = 0
    var frameLimit: Int
    /// Where the search for pages to give up goes on.
    var hand = 0
    /// The page after the last one that was read, to see that reading goes in order.
    var nextInOrder = PageID(0)
    /// Directories that were replaced by larger ones: readers may be at them. Small, and few.
    var oldDirectories: [UnsafeMutableRawPointer] = []
  }

  /// - Parameter mapCommit: the commit of the first page map in the file.
  init(
    _ file: any File, geometry: PageGeometry, checksum: Checksum, validation: PageValidation,
    reclaimer: Reclaimer, byteLimit: Int, mapCommit: CommitNumber
  ) {
    self.geometry = geometry
    self.checksum = checksum
    self.validation = validation
    self.reclaimer = reclaimer
    directory = Atomic(UInt(bitPattern: UnsafeRawPointer(PageCache.makeDirectory(capacity: 8))))
    filling = Mutex(
      Filling(
        file: file, mapCommit: mapCommit, frameLimit: max(64, byteLimit / geometry.pageSize)))
  }

  deinit {
    let directory = currentDirectory
    for index in 0..<PageCache.capacity(of: directory) {
      guard let chunk = PageCache.chunk(index, in: directory) else { continue }
      for slot in 0..<PageCache.chunkCount {
        let word = PageWord(bits: chunk[slot].load(ordering: .relaxed))
        if word.isPage { word.release() }
      }
      chunk.deallocate()
    }
    directory.deallocate()
    filling.withLock { for directory in $0.oldDirectories { directory.deallocate() } }
  }

  // MARK: Finding

  /// The page if it is in memory; whose version it is, its commit number tells. The caller is
  /// inside the reclaimer.
  @inline(__always)
  func find(_ id: PageID) -> PageWord {
    guard let slot = slot(of: id) else { return .absent }
    return PageWord(bits: slot.pointee.load(ordering: .acquiring))
  }

  @inline(__always)
  private func slot(of id: PageID) -> UnsafeMutablePointer<Atomic<UInt>>? {
    let directory = currentDirectory
    let index = Int(id.rawValue >> PageCache.chunkShift)
    guard index < PageCache.capacity(of: directory),
      let chunk = PageCache.chunk(index, in: directory)
    else { return nil }
    return chunk + (Int(id.rawValue) & (PageCache.chunkCount - 1))
  }

  @inline(__always)
  private var currentDirectory: UnsafeMutablePointer<Atomic<UInt>> {
    UnsafeMutableRawPointer(bitPattern: directory.load(ordering: .acquiring)).unsafelyUnwrapped
      .assumingMemoryBound(to: Atomic<UInt>.self)
  }

  // A directory: how many chunks it has room for, then their addresses.
  @inline(__always)
  private static func capacity(of directory: UnsafeMutablePointer<Atomic<UInt>>) -> Int {
    Int(directory[0].load(ordering: .relaxed))
  }

  @inline(__always)
  private static func chunk(
    _ index: Int, in directory: UnsafeMutablePointer<Atomic<UInt>>
  ) -> UnsafeMutablePointer<Atomic<UInt>>? {
    UnsafeMutableRawPointer(bitPattern: directory[index &+ 1].load(ordering: .acquiring))?
      .assumingMemoryBound(to: Atomic<UInt>.self)
  }

  private static func makeDirectory(capacity: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    makeWords(capacity + 1, first: UInt(capacity))
  }

  private static func makeWords(_ count: Int, first: UInt) -> UnsafeMutablePointer<Atomic<UInt>> {
    let words = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: count)
    words.initialize(to: Atomic(first))
    for index in 1..<count { (words + index).initialize(to: Atomic(0)) }
    return words
  }

  /// The slot, made if need be. The caller holds the mutex.
  private func makeSlot(
    of id: PageID, _ filling: inout Filling
  ) -> UnsafeMutablePointer<Atomic<UInt>> {
    if let slot = slot(of: id) { return slot }
    let index = Int(id.rawValue >> PageCache.chunkShift)
    var current = currentDirectory
    if index >= PageCache.capacity(of: current) {
      let larger = PageCache.makeDirectory(
        capacity: max(2 * PageCache.capacity(of: current), index + 1))
      for other in 1...PageCache.capacity(of: current) {
        larger[other].store(current[other].load(ordering: .relaxed), ordering: .relaxed)
      }
      filling.oldDirectories.append(UnsafeMutableRawPointer(current))
      directory.store(UInt(bitPattern: UnsafeRawPointer(larger)), ordering: .releasing)
      current = larger
    }
    let chunk = PageCache.makeWords(PageCache.chunkCount, first: 0)
    current[index + 1].store(UInt(bitPattern: UnsafeRawPointer(chunk)), ordering: .releasing)
    return chunk + (Int(id.rawValue) & (PageCache.chunkCount - 1))
  }

  // MARK: Reading

  private let spareRun = Mutex<PageMemory?>(nil)

  /// What reading a page from the file came to.
  enum Reading {
    case page(PageWord)
    /// The bytes are no page of that version; why. If a checkpoint is or was under way, the
    /// version's overlay may have the page by now.
    case unusable(String, fileChanged: Bool)
  }

  /// What a reader knows about the pages it asks for.
  struct Expectation {
    /// The version that asks.
    let commit: CommitNumber
    /// The pages it has.
    let pageCount: UInt32
    /// The stamp of a page; 0 if it is free, `nil` if that is unknown.
    let stamp: (PageID) -> UInt32?
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
        stamp: expected.stamp(id))
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
    // What comes after the page wanted is a guess: kept when it is surely right, else forgotten.
    // An index that lies between rows is of no use to whoever reads these in order.
    let leavesIndexes = Page(run.base).isOfRecords
    for index in stride(from: 1, to: runCount, by: 1) {
      let nextID = PageID(id.rawValue + UInt32(index))
      if leavesIndexes, Page(run.base + index * geometry.pageSize).isOfIndex { continue }
      guard find(nextID) == .absent, let stamp = expected.stamp(nextID), stamp != 0 else {
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
      stamp: expected.stamp(id))
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
  /// - Parameter stamp: what the maps say of the page; `nil` where they cannot be read.
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
    } else if let stamp, stamp != PageMap.stamp(of: page.commit) {
      return stamp == 0
        ? "it is free, but referred to"
        : "it is of commit \(page.commit), which is not the one that wrote it last"
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
    let (kept, evicted) = filling.withLock { filling -> (PageWord?, [PageWord]) in
      // A version older than the one being written may have read a page that is overwritten now.
      guard filling.generation == generation, filling.file != nil,
        filling.overwritingCommit.map({ commit >= $0 }) ?? true
      else { return (nil, []) }
      let slot = makeSlot(of: id, &filling)
      let (isFirst, other) = slot.pointee.compareExchange(
        expected: 0, desired: word.bits, ordering: .acquiringAndReleasing)
      guard isFirst else { return (PageWord(bits: other), []) }
      filling.frameCount += 1
      return (word, evict(&filling))
    }
    for word in evicted { reclaimer.release(word) }
    guard let kept else {
      // Good for the caller alone, and until it leaves.
      reclaimer.release(word)
      return .page(word)
    }
    if kept != word { word.release() }
    return .page(kept)
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

  // MARK: Giving up

  /// Takes pages out that were not used lately, until the budget holds. The caller holds the mutex.
  private func evict(_ filling: inout Filling) -> [PageWord] {
    var evicted: [PageWord] = []
    guard filling.frameCount > filling.frameLimit else { return evicted }
    let directory = currentDirectory
    let slotCount = PageCache.capacity(of: directory) * PageCache.chunkCount
    var looked = 0
    while filling.frameCount > filling.frameLimit, looked < 2 * slotCount {
      if filling.hand >= slotCount { filling.hand = 0 }
      guard let chunk = PageCache.chunk(filling.hand / PageCache.chunkCount, in: directory) else {
        filling.hand += PageCache.chunkCount
        looked += PageCache.chunkCount
        continue
      }
      let slot = chunk + filling.hand % PageCache.chunkCount
      let word = PageWord(bits: slot.pointee.load(ordering: .acquiring))
      if word.isPage, !PageFrame.takeUse(of: word.base) {
        slot.pointee.store(0, ordering: .releasing)
        filling.frameCount -= 1
        evicted.append(word)
      }
      filling.hand += 1
      looked += 1
    }
    return evicted
  }

  /// Whether pages may go, so that their use is worth noting and nobody should keep them long.
  var isLargerThanBudget: Bool { tightness.load(ordering: .relaxed) }
  private let tightness = Atomic(false)

  /// Sets the budget; what other pages in memory take is the caller's to subtract.
  func setLimit(byteCount: Int) {
    let evicted = filling.withLock { filling in
      filling.frameLimit = max(64, byteCount / geometry.pageSize)
      return evict(&filling)
    }
    for word in evicted { reclaimer.release(word) }
  }

  /// Tells how large the file is, so that it is known whether all of it fits.
  func setFile(pageCount: UInt32, byteLimit: Int) {
    tightness.store(Int(pageCount) * geometry.pageSize > byteLimit, ordering: .relaxed)
  }

  var byteCount: Int { filling.withLock { $0.frameCount } * geometry.pageSize }

  // MARK: Checkpoint

  /// From now on the file is about to change to `commit`'s pages: what older versions read may not
  /// be kept.
  func beginOverwriting(with commit: CommitNumber) {
    filling.withLock { filling in
      filling.generation += 1
      filling.overwritingCommit = commit
    }
  }

  /// The file is at rest again.
  func endOverwriting() {
    filling.withLock { filling in
      filling.generation += 1
      filling.overwritingCommit = nil
    }
  }

  /// Shows the pages that are in the file now, in place of what was there. A page gets a reference
  /// of the cache's own; an absent word empties the slot.
  ///
  /// - Parameter mapCommit: the commit of the first page map there, if that has changed.
  func replace(_ pages: [(id: PageID, word: PageWord)], mapCommit: CommitNumber? = nil) {
    var replaced: [PageWord] = []
    filling.withLock { filling in
      filling.mapCommit = mapCommit ?? filling.mapCommit
      for (id, word) in pages {
        if word == .absent, find(id) == .absent { continue }
        if word.isPage { word.retain() }
        let slot = makeSlot(of: id, &filling)
        let old = PageWord(
          bits: slot.pointee.exchange(word.bits, ordering: .acquiringAndReleasing))
        filling.frameCount += (word.isPage ? 1 : 0) - (old.isPage ? 1 : 0)
        if old.isPage { replaced.append(old) }
      }
      replaced += evict(&filling)
    }
    for word in replaced { reclaimer.release(word) }
  }

  /// Lets go of the file; operations under way end on what they have.
  func close() {
    let file = filling.withLock { filling in
      defer { filling.file = nil }
      return filling.file
    }
    withExtendedLifetime(file) {}
  }
}
