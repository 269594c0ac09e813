import Synchronization

/// The pages of the file that are in memory as the file has them, shared by all versions.
///
/// Finding a page takes no lock: a directory of chunks of addresses, read atomically. A page that
/// is not there is read, verified, and kept; beyond the budget the pages that were not used lately
/// go, in turn (CLOCK, Corbató 1968), and the ``Reclaimer`` frees them when no reader is at them.
/// The turn is that of a list of the pages in memory, so that its cost does not depend on the
/// size of the file.
///
/// A version never sees a page of another one: a page contains its commit number, and before a
/// checkpoint overwrites a page that an older version needs, it puts the old content into that
/// version's overlay. A reader that finds a page too new, or torn, reads it from there.
///
/// `@unchecked Sendable`: the directory is atomic, everything else is behind the mutex.
final class PageCache: @unchecked Sendable {
  private static let chunkShift: UInt32 = 9
  private static let chunkCount = 1 << Int(chunkShift)

  let geometry: PageGeometry
  let checksum: Checksum
  let validation: PageValidation
  let reclaimer: Reclaimer
  /// See ``PageStoreOptions/readsUnvouchedPages``.
  let readsUnvouchedPages: Bool
  private let directory: Atomic<UInt>
  let filling: Mutex<Filling>
  /// Memory that many pages were read into at once, and will be again.
  let spareRun = Mutex<PageMemory?>(nil)
  private let process = ProcessMark(nil)
  /// Set before the cache is shared, where another process may be writing the file.
  weak var witness: (any PageWitness)?

  struct Filling {
    /// `nil` when the store was closed.
    var file: (any File)?
    /// Changes whenever what the file holds begins or ceases to change.
    var generation = 0
    /// The version that a checkpoint is writing to the file at the moment.
    var overwritingCommit: CommitNumber?
    /// The commit of the first page map in the file.
    var mapCommit: CommitNumber
    var frameLimit: Int
    /// The pages in memory; a frame knows its index in the list.
    var ring: [PageID] = []
    /// The index at which the search for pages to evict continues. New pages come after it: it
    /// meets them last.
    var hand = 0
    /// The page after the last one read, to detect reading in order.
    var nextInOrder = PageID(0)
    /// Directories that were replaced by larger ones: readers may be at them. Small, and few.
    var oldDirectories: [UnsafeMutableRawPointer] = []
  }

  /// - Parameter mapCommit: the commit of the first page map in the file.
  init(
    _ file: any File, geometry: PageGeometry, checksum: Checksum, validation: PageValidation,
    reclaimer: Reclaimer, byteLimit: Int, mapCommit: CommitNumber,
    readsUnvouchedPages: Bool = false
  ) {
    self.readsUnvouchedPages = readsUnvouchedPages
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
    guard process.isCurrent else { return }
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

  /// The page if it is in memory; its commit number tells the version. The caller must be inside
  /// the reclaimer.
  func find(_ id: PageID) -> PageWord {
    guard let slot = slot(of: id) else { return .absent }
    return PageWord(bits: slot.pointee.load(ordering: .acquiring))
  }

  private func slot(of id: PageID) -> UnsafeMutablePointer<Atomic<UInt>>? {
    let directory = currentDirectory
    let index = Int(id.rawValue >> PageCache.chunkShift)
    guard index < PageCache.capacity(of: directory),
      let chunk = PageCache.chunk(index, in: directory)
    else { return nil }
    return chunk + (Int(id.rawValue) & (PageCache.chunkCount - 1))
  }

  private var currentDirectory: UnsafeMutablePointer<Atomic<UInt>> {
    UnsafeMutableRawPointer(bitPattern: directory.load(ordering: .acquiring)).unsafelyUnwrapped
      .assumingMemoryBound(to: Atomic<UInt>.self)
  }

  // A directory: how many chunks it has room for, then their addresses.
  private static func capacity(of directory: UnsafeMutablePointer<Atomic<UInt>>) -> Int {
    Int(directory[0].load(ordering: .relaxed))
  }

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
  func makeSlot(
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

  // MARK: Giving up

  /// Evicts pages that were not used recently, until the budget holds. The caller holds the mutex.
  func evict(_ filling: inout Filling) -> [PageWord] {
    var evicted: [PageWord] = []
    // Readers may use pages as fast as this looks at them.
    var patience = 2 * filling.ring.count
    while filling.ring.count > filling.frameLimit, patience > 0 {
      if filling.hand >= filling.ring.count { filling.hand = 0 }
      if let slot = slot(of: filling.ring[filling.hand]) {
        let word = PageWord(bits: slot.pointee.load(ordering: .acquiring))
        if !PageFrame.takeUse(of: word.base) {
          slot.pointee.store(0, ordering: .releasing)
          leaveRing(word, &filling)
          evicted.append(word)
        }
      }
      filling.hand += 1
      patience -= 1
    }
    return evicted
  }

  /// Enters a page that was absent. The caller holds the mutex, as below.
  func enterRing(_ id: PageID, _ word: PageWord, _ filling: inout Filling) {
    if filling.hand >= filling.ring.count { filling.hand = 0 }
    word.ringIndex = filling.ring.count
    filling.ring.append(id)
  }

  /// The last of the ring takes the place.
  private func leaveRing(_ word: PageWord, _ filling: inout Filling) {
    let last = filling.ring.removeLast()
    guard word.ringIndex < filling.ring.count else { return }
    filling.ring[word.ringIndex] = last
    find(last).ringIndex = word.ringIndex
  }

  /// Whether pages may be evicted, so that their use is recorded, and they should not be held long.
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

  /// Sets the size of the file, which decides whether all of it fits in the budget.
  func setFile(pageCount: UInt32, byteLimit: Int) {
    tightness.store(Int(pageCount) * geometry.pageSize > byteLimit, ordering: .relaxed)
  }

  var byteCount: Int { filling.withLock { $0.ring.count } * geometry.pageSize }

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
        if word.isAbsent, find(id).isAbsent { continue }
        if word.isPage { word.retain() }
        let slot = makeSlot(of: id, &filling)
        let old = PageWord(
          bits: slot.pointee.exchange(word.bits, ordering: .acquiringAndReleasing))
        switch (old.isPage, word.isPage) {
        case (true, true): word.ringIndex = old.ringIndex
        case (true, false): leaveRing(old, &filling)
        case (false, true): enterRing(id, word, &filling)
        case (false, false): break
        }
        if old.isPage { replaced.append(old) }
      }
      replaced += evict(&filling)
    }
    for word in replaced { reclaimer.release(word) }
  }

  /// What is read from the file from now on is of another state: what is being read is not kept.
  func beginState() { filling.withLock { $0.generation += 1 } }

  /// Takes over the pages of an earlier state of the same file that are right in this one.
  func move(from old: PageCache, where isRight: (PageID, Page) -> Bool) {
    var released: [PageWord] = []
    for id in old.filling.withLock({ $0.ring }) {
      let word = old.find(id)
      guard word.isPage, isRight(id, word.page), old.give(word, of: id) else { continue }
      filling.withLock { filling in
        let slot = makeSlot(of: id, &filling)
        guard slot.pointee.load(ordering: .relaxed) == 0 else { return released.append(word) }
        enterRing(id, word, &filling)
        slot.pointee.store(word.bits, ordering: .releasing)
      }
    }
    released += filling.withLock { evict(&$0) }
    for word in released { reclaimer.release(word) }
  }

  /// Gives a page up, with its reference; not if there is another by now.
  private func give(_ word: PageWord, of id: PageID) -> Bool {
    filling.withLock { filling in
      guard let slot = slot(of: id),
        slot.pointee.compareExchange(
          expected: word.bits, desired: 0, ordering: .acquiringAndReleasing
        ).exchanged
      else { return false }
      leaveRing(word, &filling)
      return true
    }
  }

  /// The file; `nil` when the store was closed.
  var file: (any File)? { filling.withLock { $0.file } }

  /// Releases the file; operations in progress keep what they use.
  func close() {
    let file = filling.withLock { filling in
      defer { filling.file = nil }
      return filling.file
    }
    withExtendedLifetime(file) {}
  }
}
