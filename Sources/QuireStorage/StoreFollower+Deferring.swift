// Commits of which a follower makes the pages when somebody reads them; see ``DeferredPage``.
extension StoreFollower {
  /// The version after some records, whose pages are made when they are read.
  ///
  /// - Returns: `nil` if a record does not change what the version before has: a transaction has
  ///   written the page around the log, or it is damaged.
  func deferring(
    _ visible: [LogRecord], _ found: LogRecords, in window: LogWindow,
    after current: OwnedVersion, _ seen: Recovery.Moment
  ) throws(StorageError) -> OwnedVersion? {
    guard let last = visible.last, current.space.cache != nil else { return nil }
    var commits = DeferredCommits(after: current, last.commit, span: span)
    var isPublished = false
    defer { if !isPublished { commits.discard() } }
    let ticket = try current.space.enter()
    defer { current.space.leave(ticket) }
    for record in visible {
      guard let bytes = try window.bytes(at: record.offset, count: record.byteCount),
        try commits.add(record, bytes, trailerByteCount: found.trailerByteCount)
      else { return nil }
    }
    let space = commits.space
    let filePageCount = try file.byteCount() / geometry.pageSize
    let maps = commits.maps
    let reach = geometry.reach(filePageCount: filePageCount) {
      maps[$0] != nil || space.overlay[$0].hasContent
    }
    guard commits.finish(end: min(last.pageCount, reach)),
      try Recovery.Moment(file, pageSize: geometry.pageSize) == seen
    else { return nil }
    isPublished = true
    hasDeferredPages = true
    return publish(space, commits.touched, commits.maps, as: last, after: current, reach: reach)
  }

  /// Makes all pages of the newest version, for whoever writes on; and those of earlier ones, as
  /// what they are made of will be overwritten.
  ///
  /// - Returns: whether the file has what the newest version's pages are made of.
  func makeDeferredPages(_ core: StoreCore) -> Bool {
    guard hasDeferredPages else { return true }
    let newest = core.latestVersion
    guard let cache = newest.space.cache else { return true }
    do throws(StorageError) {
      let ticket = try newest.space.enter()
      defer { newest.space.leave(ticket) }
      try core.registry.withVersions(of: cache, before: newest.space.commit) {
        versions throws(StorageError) in
        // What another process's checkpoint has overtaken is lost anyway.
        for version in versions where version.canBeRead {
          _ = version.overlay.makeDeferredPages(in: cache, core.registry.reclaimer)
        }
      }
      guard newest.space.overlay.makeDeferredPages(in: cache, core.registry.reclaimer) else {
        return false
      }
    } catch {
      return false
    }
    hasDeferredPages = false
    let (overlay, retired) = made(newest.space)
    core.show(newest.space.relieved(overlay).publish(replacing: retired, of: newest))
    return true
  }

  /// The table of a version with the pages in the place of deferred ones, which were made; and what
  /// it no longer shows.
  private func made(_ space: PageSpace) -> (PageOverlay, [RetiredMemory]) {
    let overlay = PageOverlay(copying: space.overlay, pageCount: space.pageCount)
    var retired: [RetiredMemory] = []
    for index in 0..<space.overlay.capacity {
      guard let chunk = space.overlay.chunk(index), chunk.hasDeferredPages else { continue }
      let copy = PageOverlay.Chunk(copying: chunk, commit: space.commit)
      for slot in 0..<PageOverlay.chunkCount where chunk[slot].isDeferred {
        let (old, new) = (chunk[slot], chunk[slot].made)
        assert(new.isPage)
        new.retain()
        new.imageSpan = old.deferredPage.imageSpan
        copy[slot] = new
        retired.append(RetiredMemory(old))
      }
      overlay.setChunk(index, to: copy)
      retired.append(RetiredMemory(chunk))
    }
    return (overlay, retired)
  }

  /// See ``PageWord/imageSpan``; 0 where there is no page in a version's own memory.
  func imageSpan(of word: PageWord) -> UInt64 {
    if word.isPage { return word.imageSpan }
    return word.isDeferred ? word.deferredPage.imageSpan : 0
  }

  func setImageSpan(_ span: UInt64, of word: PageWord) {
    if word.isPage {
      word.imageSpan = span
    } else if word.isDeferred {
      word.deferredPage.imageSpan = span
    }
  }
}

extension PageOverlay {
  /// The caller is inside the reclaimer.
  ///
  /// - Returns: whether all of them could be made.
  fileprivate func makeDeferredPages(in cache: PageCache, _ reclaimer: Reclaimer) -> Bool {
    var areMade = true
    forEach { _, word in
      guard word.isDeferred else { return }
      let making = try? word.deferredPage.make(in: cache, reclaimer)
      guard case .page? = making else { return areMade = false }
    }
    return areMade
  }
}

extension PageOverlay.Chunk {
  var hasDeferredPages: Bool {
    (0..<PageOverlay.chunkCount).contains { self[$0].isDeferred }
  }
}

/// A version that is put together from records, page by page. The caller has entered the version
/// before.
private struct DeferredCommits {
  let space: PageSpace
  /// The pages that the records change, each once.
  private(set) var touched: [PageID] = []
  /// The maps among them, which are made at once: they tell what is in use.
  private(set) var maps: [PageID: PageFrame] = [:]
  private let former: PageSpace
  private let span: UInt64
  private var geometry: PageGeometry { space.geometry }

  init(after current: OwnedVersion, _ commit: CommitNumber, span: UInt64) {
    space = PageSpace.successor(of: current, commit: commit)
    former = current.space
    self.span = span
  }

  /// - Parameter start: the bytes of the record, valid during the call.
  /// - Returns: whether it changes what is there.
  mutating func add(
    _ record: LogRecord, _ start: UnsafeRawPointer, trailerByteCount: Int
  ) throws(StorageError) -> Bool {
    let bytes = PageMemory(byteCount: record.byteCount)
    bytes.base.copyMemory(from: start, byteCount: record.byteCount)
    var offset = LogFormat.Record.headerByteCount
    let end = record.byteCount - trailerByteCount
    for _ in 0..<record.pageEntryCount {
      guard
        let entry = PageDifference.Entry(
          at: UnsafeRawPointer(bytes.base + offset), room: end - offset,
          pageSize: geometry.pageSize),
        entry.id >= .firstMap, entry.id.rawValue < record.pageCount
      else { return false }
      offset += entry.byteCount
      let isAdded =
        geometry.isMap(entry.id)
        ? addMap(entry, record.commit) : try add(entry, of: bytes, record.commit)
      guard isAdded else { return false }
    }
    return true
  }

  private mutating func addMap(_ entry: PageDifference.Entry, _ commit: CommitNumber) -> Bool {
    let frame: PageFrame
    if let known = maps[entry.id] {
      frame = known
    } else {
      frame = PageFrame(pageSize: geometry.pageSize)
      maps[entry.id] = frame
      let word = former.overlay[entry.id]
      if word.isPage { PageWord(Page(frame.base)).imageSpan = word.imageSpan }
      if !entry.isWhole {
        guard let page = try? former.page(entry.id) else { return false }
        frame.base.copyMemory(from: page.base, byteCount: geometry.pageSize)
      }
    }
    let page = Page(frame.base)
    guard entry.isWhole || PageMap.stamp(of: page.commit) == entry.base else { return false }
    if entry.isWhole { PageWord(page).imageSpan = span }
    entry.apply(to: frame.base, pageSize: geometry.pageSize)
    return page.commit == commit
  }

  private mutating func add(
    _ entry: PageDifference.Entry, of record: PageMemory, _ commit: CommitNumber
  ) throws(StorageError) -> Bool {
    let (id, before) = (entry.id, former.overlay[entry.id])
    let word = space.overlay[id]
    let isOwn = word.bits != before.bits
    let base: PageWord
    var imageSpan: UInt64 = 0
    if entry.isWhole {
      base = .absent
      imageSpan = span
    } else if word.hasContent {
      guard PageMap.stamp(of: word.commit) == entry.base else { return false }
      if word.isDeferred {
        imageSpan = word.deferredPage.imageSpan
        base = word.deferredPage.isLong(pageSize: geometry.pageSize) ? try make(word) : word.latest
        if !base.hasContent { return false }
      } else {
        imageSpan = word.imageSpan
        base = word
      }
    } else {
      guard word.isAbsent, try former.stamp(of: id) == entry.base else { return false }
      let cached = space.cache?.find(id) ?? .absent
      base =
        cached.isPage && PageMap.stamp(of: cached.page.commit) == entry.base ? cached : .absent
    }
    if base.hasContent { base.retain() }
    let page = DeferredPage(entry, of: record, commit, on: base, imageSpan: imageSpan)
    space.set(id, to: page.intoTable())
    // No version has shown it.
    if isOwn { word.release() } else { touched.append(id) }
    return true
  }

  /// A deferred page as it is; absent if it cannot be made.
  private func make(_ word: PageWord) throws(StorageError) -> PageWord {
    guard let cache = space.cache else { return .absent }
    guard case .page(let page) = try word.deferredPage.make(in: cache, space.registry.reclaimer)
    else { return .absent }
    return PageWord(page)
  }

  /// Leaves out pages from `end` on, which are never read, and such as were given back.
  ///
  /// - Returns: whether all are what the maps say.
  mutating func finish(end: UInt32) -> Bool {
    for (id, frame) in maps {
      if let stamp = stamp(of: id), stamp != 0,
        stamp != PageMap.stamp(of: Page(frame.base).commit)
      {
        return false
      }
    }
    var kept: [PageID] = []
    for (index, id) in touched.enumerated() {
      let stamp = stamp(of: id)
      if id.rawValue < end, stamp != 0 {
        guard stamp == nil || stamp == PageMap.stamp(of: space.overlay[id].commit) else {
          touched = kept + touched[index...]
          return false
        }
        kept.append(id)
      } else {
        // The maps tell what becomes of it.
        let word = space.overlay[id]
        space.set(id, to: former.overlay[id])
        word.release()
      }
    }
    touched = kept
    for (id, frame) in maps where id.rawValue < end && stamp(of: id) != 0 {
      let isSound =
        PageValidation.ofTrees.defect(of: Page(frame.base), at: id, geometry: geometry) == nil
      space.set(id, to: isSound ? frame.intoTable() : .unreadable)
      touched.append(id)
    }
    return true
  }

  /// What the changed maps say of a page; `nil` if they do not.
  private func stamp(of id: PageID) -> UInt32? {
    guard let (map, index) = geometry.stampLocation(of: id), let frame = maps[map] else {
      return nil
    }
    return PageMap.entry(index, in: Page(frame.base))
  }

  /// Releases what no version will show.
  mutating func discard() {
    for id in touched {
      let word = space.overlay[id]
      space.set(id, to: former.overlay[id])
      if word.hasContent { word.release() }
    }
    touched = []
  }
}

extension PageWord {
  /// A deferred page that was made is the page.
  fileprivate var latest: PageWord {
    let page = made
    return page.isPage ? page : self
  }
}
