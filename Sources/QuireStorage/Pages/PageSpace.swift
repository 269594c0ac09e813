import Synchronization

/// The pages of one version of the store: the differences from the file, the file, and the numbers
/// of the version.
///
/// A transaction changes a successor through its ``PageEditor``; publishing makes that the store's
/// newest version, and from then on it never changes. A version exists as long as it is held.
///
/// A published version that only snapshots hold may expire, so that its pages are freed although
/// this object exists: reading it throws then. What must be able to rely on the pages holds an
/// ``OwnedVersion``.
///
/// Addresses of pages are used only between ``enter()`` and ``leave(_:)``; to keep a page longer,
/// its frame must be retained.
///
/// `@unchecked Sendable`: until it is published, only the editor that made it (not Sendable) uses
/// it; publishing is guarded by a mutex; afterwards only the overlay's words change, atomically.
final class PageSpace: @unchecked Sendable {
  let geometry: PageGeometry
  /// The commit this version is, or will be when it is published.
  let commit: CommitNumber
  /// The last commit that changed something: earlier than this one, if this one only has a number
  /// that must not be used again.
  let contentCommit: CommitNumber
  /// The pages of the file; `nil` in memory.
  let cache: PageCache?
  // Sound: held above. Each page that is looked for is looked for here, and counts nothing.
  private let cacheReference: Unmanaged<PageCache>?
  let registry: VersionRegistry
  private(set) var overlay: PageOverlay
  /// The pages of the file, free ones included.
  var pageCount: UInt32
  /// The free pages among them.
  var freePageCount: Int
  /// No page below this number is free.
  var lowestFree: PageID
  /// The pages that the overlay has, for they are not in the file yet.
  private(set) var changedPageCount = 0
  /// This version among the living; `nil` until it is published.
  private(set) var record: VersionRecord? {
    didSet { recordReference = record.map { .passUnretained($0) } }
  }
  // Sound: the record and the registry keep them. Each operation looks here, and counts nothing.
  private var recordReference: Unmanaged<VersionRecord>?
  private let reclaimer: Unmanaged<Reclaimer>
  /// The version this one was made from, until it is published or given up.
  private(set) var parent: OwnedVersion?
  /// The chunks that this transaction copied or made.
  private var ownChunks: [Int] = []
  /// Where pages are that the transaction under way has moved. Trees refer to the new numbers, but
  /// an operation or a cursor may still have come by the old ones.
  private(set) var movedPages: [PageID: PageID] = [:]

  init(
    geometry: PageGeometry, commit: CommitNumber, cache: PageCache?, registry: VersionRegistry,
    overlay: PageOverlay, pageCount: UInt32, freePageCount: Int, lowestFree: PageID,
    parent: OwnedVersion? = nil, contentCommit: CommitNumber? = nil
  ) {
    self.geometry = geometry
    self.commit = commit
    self.contentCommit = contentCommit ?? commit
    self.cache = cache
    cacheReference = cache.map { .passUnretained($0) }
    self.registry = registry
    reclaimer = .passUnretained(registry.reclaimer)
    self.overlay = overlay
    self.pageCount = pageCount
    self.freePageCount = freePageCount
    self.lowestFree = lowestFree
    self.parent = parent
  }

  deinit {
    if let record {
      registry.end(record)
    } else {
      discardOwnPages()
      overlay.deallocate()
    }
  }

  /// The version that the next transaction starts from.
  ///
  /// - Parameters:
  ///   - commit: its number; the next one if `nil`.
  ///   - changesNothing: whether it will have the same content under another number.
  static func successor(
    of version: OwnedVersion, commit: CommitNumber? = nil, changesNothing: Bool = false
  ) -> PageSpace {
    let space = version.space
    let successor = PageSpace(
      geometry: space.geometry, commit: commit ?? space.commit.next, cache: space.cache,
      registry: space.registry,
      overlay: PageOverlay(copying: space.overlay, pageCount: space.pageCount),
      pageCount: space.pageCount, freePageCount: space.freePageCount,
      lowestFree: space.lowestFree, parent: version,
      contentCommit: changesNothing ? space.contentCommit : nil)
    successor.changedPageCount = space.changedPageCount
    return successor
  }

  /// The same version, without the content that the file has by now.
  func relieved(_ overlay: PageOverlay) -> PageSpace {
    let relieved = PageSpace(
      geometry: geometry, commit: commit, cache: cache, registry: registry, overlay: overlay,
      pageCount: pageCount, freePageCount: freePageCount, lowestFree: lowestFree,
      contentCommit: contentCommit)
    overlay.forEach { _, word in relieved.changedPageCount += word.hasContent ? 1 : 0 }
    return relieved
  }

  /// Continues from a version that differs from the parent only in content that it need not keep.
  func rebase(on newest: OwnedVersion) {
    guard let old = parent?.space else { return }
    // With room for every chunk, those included whose pages were cut off again.
    let rebased = PageOverlay(
      copying: newest.space.overlay, pageCount: pageCount, capacity: overlay.capacity)
    for index in ownChunks {
      guard let chunk = overlay.chunk(index), chunk.commit == commit else { continue }
      let before = old.overlay.chunk(index)
      let now = newest.space.overlay.chunk(index)
      for slot in 0..<PageOverlay.chunkCount
      where chunk[slot].showsSame(as: before?[slot] ?? .absent) {
        chunk[slot] = now?[slot] ?? .absent
      }
      rebased.setChunk(index, to: chunk)
    }
    overlay.deallocate()
    overlay = rebased
    changedPageCount = 0
    overlay.forEach { _, word in changedPageCount += word.hasContent ? 1 : 0 }
    parent = newest
  }

  /// Ends all changes. A checkpoint may put the content of any page into the overlay from now on,
  /// for which there is room.
  ///
  /// - Parameters:
  ///   - reach: the largest possible number of pages, in case a damaged file claims more.
  ///   - replaced: what this version no longer shows, and the one before it does.
  /// - Returns: the version, which cannot expire as long as this is held.
  func publish(
    reach: UInt32 = .max, replacing replaced: [RetiredMemory] = [], of last: OwnedVersion? = nil
  ) -> OwnedVersion {
    let roomCount = min(pageCount, reach)
    if overlay.capacity << Int(PageOverlay.chunkShift) < Int(roomCount) {
      let larger = PageOverlay(copying: overlay, pageCount: roomCount)
      overlay.deallocate()
      overlay = larger
    }
    let record = VersionRecord(
      commit: commit, overlay: overlay, pageCount: pageCount, source: cache)
    self.record = record
    let owned = OwnedVersion(self)
    registry.begin(record, retiring: replaced, shownBy: last?.space.record)
    parent = nil
    ownChunks = []
    movedPages = [:]
    return owned
  }

  /// From now on snapshots alone hold this version.
  func disown() {
    // Sound: the record is held by this.
    recordReference?._withUnsafeGuaranteedRef { $0.disown() }
  }

  @inline(__always) var pageSize: Int { geometry.pageSize }

  // MARK: Reading

  /// Begins an operation that follows addresses of pages.
  ///
  /// - Throws: ``StorageError/closed`` or
  ///   ``StorageError/snapshotExpired(holder:commit:retainedByteCount:limit:)`` when this version
  ///   cannot be read any more.
  @inline(__always)
  func enter() throws(StorageError) -> Reclaimer.Ticket {
    let ticket = reclaimer._withUnsafeGuaranteedRef { $0.enter() }
    if let recordReference,
      let ending = recordReference._withUnsafeGuaranteedRef({ $0.ending })
    {
      leave(ticket)
      throw ending
    }
    return ticket
  }

  @inline(__always)
  func leave(_ ticket: Reclaimer.Ticket) {
    reclaimer._withUnsafeGuaranteedRef { $0.leave(ticket) }
  }

  /// A page in use. The one way to reach a page.
  ///
  /// - Throws: ``StorageError/damaged(page:reason:)`` if what the file has is no page of this
  ///   version, or the page is free or lies beyond the end; an error of the file.
  @inline(__always)
  func page(_ id: PageID) throws(StorageError) -> Page {
    let word = overlay[id]
    if word.isPage { return word.page }
    if let cacheReference, word.isAbsent {
      let cached = cacheReference._withUnsafeGuaranteedRef { $0.find(id) }
      if cached.isPage, cached.page.commit <= commit, id.rawValue < pageCount {
        if pagesShouldNotBeKept { PageFrame.noteUse(of: cached.base) }
        return cached.page
      }
    }
    return try readPage(id)
  }

  private func readPage(_ id: PageID) throws(StorageError) -> Page {
    let word = overlay[id]
    if word.isDeferred, let page = word.deferredPage.madePage { return page }
    do throws(StorageError) {
      return try findPage(id)
    } catch .damaged(let page, let reason) {
      // For a version that cannot be read any more, nobody has kept what is overwritten.
      if let ending = record?.ending { throw ending }
      throw .damaged(page: page, reason: reason)
    }
  }

  private func findPage(_ id: PageID) throws(StorageError) -> Page {
    try registry.process.check()
    guard id >= .firstMap else {
      throw .damaged(page: id, reason: "it is referred to, and no page is for trees there")
    }
    guard id.rawValue < pageCount else {
      throw .damaged(page: id, reason: "it is referred to but lies beyond the last page")
    }
    var attempt = 0
    while true {
      // A checkpoint may have put the page here meanwhile.
      let word = overlay[id]
      if word.isPage { return word.page }
      if word.isDeferred, let cache {
        switch try word.deferredPage.make(in: cache, registry.reclaimer) {
        case .page(let page): return page
        case .unsound(let reason): throw .damaged(page: id, reason: reason)
        case .unusable(let reason):
          let damage = StorageError.damaged(page: id, reason: reason)
          guard let witness = cache.witness else { throw damage }
          try lookAgainForDeferred(for: attempt, damage, witness)
        }
        attempt += 1
        continue
      }
      guard word.isAbsent, let cache else {
        if let newID = movedPages[id] { return try page(newID) }
        throw .damaged(
          page: id, reason: "its content was found damaged, or it is free but referred to")
      }
      let cached = cache.find(id)
      if cached.isPage, cached.page.commit <= commit { return cached.page }
      // A page too new was shown after the old one was put into the overlay: it is there now.
      if cached.isPage, attempt == 0 {
        attempt += 1
        continue
      }
      let expected = PageCache.Expectation(
        commit: commit, pageCount: pageCount,
        stamp: { [self] id throws(StorageError) in try stamp(of: id) })
      switch try cache.read(id, expected) {
      case .page(let word):
        guard word.page.commit <= commit else { break }
        return word.page
      case .unusable(let reason, let fileChanged):
        if let witness = cache.witness {
          try lookAgain(at: id, for: attempt, reason, witness)
          break
        }
        guard fileChanged, attempt < 8 else {
          // The last look: the checkpoint that spoilt the reading has put the page here before.
          let word = overlay[id]
          if word.isPage { return word.page }
          throw .damaged(page: id, reason: reason)
        }
      }
      attempt += 1
      if attempt > 64 {
        throw .damaged(page: id, reason: "it is newer than the version that refers to it")
      }
    }
  }

  /// The stamp of a page in the maps: 0 if it is free, `nil` if its map is damaged, so that the
  /// content in the file cannot be verified. The caller must have entered.
  func stamp(of id: PageID) throws(StorageError) -> UInt32? {
    guard let (map, index) = geometry.stampLocation(of: id), map.rawValue < pageCount else {
      return nil
    }
    do throws(StorageError) {
      return PageMap.entry(index, in: try page(map))
    } catch .damaged {
      return nil
    }
  }

  /// Whether the transaction under way may change this page in place.
  @inline(__always)
  func isPrivate(_ page: Page) -> Bool { record == nil && page.commit == commit }

  /// Whether a page that is handed out should be copied rather than kept from being given up.
  @inline(__always)
  var pagesShouldNotBeKept: Bool {
    cacheReference?._withUnsafeGuaranteedRef { $0.isLargerThanBudget } ?? false
  }

  // MARK: Changing, before publication

  /// Shows something else at `id`.
  func set(_ id: PageID, to word: PageWord) {
    let index = Int(id.rawValue >> PageOverlay.chunkShift)
    if index >= overlay.capacity {
      // With some room beyond. No sum here is above the highest number there is.
      let more = id.rawValue.addingReportingOverflow(id.rawValue / 8 + 1)
      let larger = PageOverlay(
        copying: overlay, pageCount: more.overflow ? .max : more.partialValue)
      overlay.deallocate()
      overlay = larger
    }
    let slot = PageOverlay.slot(of: id)
    let hadContent = overlay[id].hasContent
    changedPageCount += (word.hasContent ? 1 : 0) - (hadContent ? 1 : 0)
    if let chunk = overlay.chunk(index), chunk.commit == commit {
      chunk[slot] = word
      return
    }
    let chunk =
      overlay.chunk(index).map { PageOverlay.Chunk(copying: $0, commit: commit) }
      ?? PageOverlay.Chunk(commit: commit)
    chunk[slot] = word
    overlay.setChunk(index, to: chunk)
    ownChunks.append(index)
  }

  /// Records that a page lies elsewhere from now on.
  func noteMove(of id: PageID, to newID: PageID) { movedPages[id] = newID }

  /// The memory that the parent shows and this version does not: to be kept as long as a snapshot
  /// may show it.
  ///
  /// - Parameter touched: the pages that were set, some possibly twice.
  func replaced(touched: [PageID]) -> [RetiredMemory] {
    guard let parent = parent?.space else { return [] }
    var retired: [RetiredMemory] = []
    retired.reserveCapacity(touched.count + ownChunks.count)
    var last: PageID?
    for id in touched where id != last {
      last = id
      let old = parent.overlay[id]
      if old.hasContent, !old.showsSame(as: overlay[id]) { retired.append(RetiredMemory(old)) }
    }
    for index in ownChunks {
      if let chunk = parent.overlay.chunk(index) { retired.append(RetiredMemory(chunk)) }
    }
    return retired
  }

  /// Retires all memory of a published version when it ends: for the last one, as it has no
  /// successor that does so.
  func retireEverything() {
    guard let record else { return }
    var retired: [RetiredMemory] = []
    for index in 0..<overlay.capacity {
      guard let chunk = overlay.chunk(index) else { continue }
      for slot in 0..<PageOverlay.chunkCount where chunk[slot].hasContent {
        retired.append(RetiredMemory(chunk[slot]))
      }
      retired.append(RetiredMemory(chunk))
    }
    registry.retire(retired, shownBy: record)
  }

  /// Releases the pages that an aborted transaction made.
  private func discardOwnPages() {
    for index in ownChunks {
      guard let chunk = overlay.chunk(index), chunk.commit == commit else { continue }
      // All other pages are the parent's, which this still holds.
      for slot in 0..<PageOverlay.chunkCount {
        let word = chunk[slot]
        if word.hasContent, word.commit == commit { word.release() }
      }
      chunk.deallocate()
    }
  }
}
