// How a follower comes to the next version; see ``StoreFollower``.
extension StoreFollower {
  /// What the end of the log has brought.
  enum Progress {
    case nothing
    /// A commit that a crash may take, or the beginning of one.
    case unfinished
    case advanced
    /// The log builds on pages that are not to be had any more, or was written over meanwhile.
    case impossible
  }

  // MARK: Advancing

  /// Applies what the log has got since.
  ///
  /// - Parameter seen: what the meta pages said before: as long as they say so, what is in the log
  ///   stays.
  func advance(_ core: StoreCore, _ seen: Recovery.Moment) throws(StorageError) -> Progress {
    guard let position else { return .nothing }
    let current = core.latestVersion
    let log = position.file
    let byteCount = try log.byteCount()
    // Commits are like those before them.
    let step = min(max(4096, 2 * advanceByteCount), 1 << 18)
    let window = LogWindow(log, path: position.path, byteCount: byteCount, step: step)
    var found = LogRecords(
      checksum, position.version, epoch: position.epoch, fileByteCount: byteCount)
    let chain = try found.chain(
      from: position.offset, chain: position.chain, after: current.space.commit, in: window)
    let visible = chain.visible(after: current.space.commit, isSealed: position.isSealed)
    guard let last = visible.last else {
      if !chain.isEmpty { return .unfinished }
      // When it is whole it has the same beginning, by which it would not be noticed.
      let isBegun = try found.isBegun(
        position.offset, chain: position.chain, after: current.space.commit, in: window)
      return isBegun ? .unfinished : .nothing
    }
    guard visible.allSatisfy(\.isPossible) else { return .impossible }
    let version: OwnedVersion
    do throws(StorageError) {
      if let deferred = try deferring(visible, found, in: window, after: current, seen) {
        version = deferred
      } else if let made = try making(visible, found, in: window, after: current, seen) {
        version = made
      } else {
        return .impossible
      }
    } catch .logDamaged {
      // It was whole a moment before.
      return .impossible
    }
    core.show(version)
    advanceByteCount = visible.reduce(0) { $0 + $1.byteCount }
    self.position?.offset = last.end
    self.position?.chain = last.checksum
    records.append(visible.map(LiveRecord.init))
    noteRecords(in: core)
    core.registry.enforceLimit()
    return .advanced
  }

  /// The version after some records, with all pages that they change.
  ///
  /// - Returns: `nil` if these cannot be had.
  private func making(
    _ visible: [LogRecord], _ found: LogRecords, in window: LogWindow,
    after current: OwnedVersion, _ seen: Recovery.Moment
  ) throws(StorageError) -> OwnedVersion? {
    guard let last = visible.last, let position else { return nil }
    var replay = LogReplay(geometry, path: position.path, found)
    for record in visible {
      try replay.replay(record, in: window, takesLater: true, span: span) { entry in
        if entry.isWhole { return PageFrame(pageSize: geometry.pageSize) }
        return copy(of: entry.id, in: current.space) ?? later(entry.id)
      }
    }
    let known = replay.pages
    let reach = geometry.reach(filePageCount: try file.byteCount() / geometry.pageSize) {
      known[$0] != nil || current.space.overlay[$0].hasContent
    }
    replay.cut(to: min(last.pageCount, reach))
    guard replay.lost.isEmpty, areRight(replay.pages, at: last.commit),
      try Recovery.Moment(file, pageSize: geometry.pageSize) == seen
    else { return nil }
    return publish(replay.takePages(), as: last, after: current, reach: reach)
  }

  /// A page as a version has it, if it can be had.
  func copy(of id: PageID, in space: PageSpace) -> PageFrame? {
    do throws(StorageError) {
      let ticket = try space.enter()
      defer { space.leave(ticket) }
      let frame = PageFrame(pageSize: geometry.pageSize)
      let page = try space.page(id)
      frame.base.copyMemory(from: page.base, byteCount: geometry.pageSize)
      // If a record has all of it, a page that is changed here has an image there.
      let word = space.overlay[id]
      PageWord(Page(frame.base)).imageSpan = imageSpan(of: word)
      return frame
    } catch {
      return nil
    }
  }

  /// A page as the file has it, if it is whole: a checkpoint may have written it beyond a version.
  private func later(_ id: PageID) -> PageFrame? {
    let frame = PageFrame(pageSize: geometry.pageSize)
    let buffer = UnsafeMutableRawBufferPointer(start: frame.base, count: geometry.pageSize)
    guard let count = try? file.read(at: Int(id.rawValue) * geometry.pageSize, into: buffer),
      count == geometry.pageSize
    else { return nil }
    let page = Page(frame.base)
    return page.checksum == checksum.ofPage(id, page, pageSize: geometry.pageSize) ? frame : nil
  }

  /// Whether pages are those of a commit: none is later, and all are what the maps among them say.
  private func areRight(_ pages: [PageID: PageFrame], at commit: CommitNumber) -> Bool {
    pages.allSatisfy { id, frame in
      guard Page(frame.base).commit <= commit else { return false }
      guard let (map, index) = geometry.stampLocation(of: id), let map = pages[map] else {
        return true
      }
      let stamp = PageMap.entry(index, in: Page(map.base))
      return stamp == 0 || stamp == PageMap.stamp(of: Page(frame.base).commit)
    }
  }

  /// The version after some records.
  ///
  /// - Parameter pages: as the records leave them, all changed maps among them.
  private func publish(
    _ pages: [PageID: PageFrame], as last: LogRecord, after current: OwnedVersion, reach: UInt32
  ) -> OwnedVersion {
    let space = PageSpace.successor(of: current, commit: last.commit)
    let maps = pages.filter { geometry.isMap($0.key) }
    var touched: [PageID] = []
    for (id, frame) in pages where isInUse(id, maps) {
      let isSound =
        PageValidation.ofTrees.defect(of: Page(frame.base), at: id, geometry: geometry) == nil
      space.set(id, to: isSound ? frame.intoTable() : .unreadable)
      touched.append(id)
    }
    return publish(space, touched, maps, as: last, after: current, reach: reach)
  }

  /// Whether a page is in use, as far as the changed maps say.
  func isInUse(_ id: PageID, _ maps: [PageID: PageFrame]) -> Bool {
    guard let (map, index) = geometry.stampLocation(of: id), let frame = maps[map] else {
      return true
    }
    return PageMap.entry(index, in: Page(frame.base)) != 0
  }

  /// - Parameters:
  ///   - space: has the pages in use that the records have, which are `touched`.
  ///   - maps: those among them.
  func publish(
    _ space: PageSpace, _ touched: [PageID], _ maps: [PageID: PageFrame], as last: LogRecord,
    after current: OwnedVersion, reach: UInt32
  ) -> OwnedVersion {
    space.pageCount = last.pageCount
    space.freePageCount = Int(last.freePageCount)
    // Pages that were given back, and those written around the log: what is in memory of them is
    // of another time.
    var left: [PageID] = []
    for (id, frame) in maps where isInUse(id, maps) {
      forEachChangedPage(of: id, Page(frame.base), since: current.space) { changed, stamp in
        // Where this process looks for free pages when it is its turn.
        if stamp == 0 { space.lowestFree = min(space.lowestFree, changed) }
        let word = space.overlay[changed]
        // The records have it.
        if word.bits != current.space.overlay[changed].bits { return }
        // Unchanged, if nobody knows what the map was.
        if word.hasContent, stamp == PageMap.stamp(of: word.commit) { return }
        space.set(changed, to: .absent)
        left.append(changed)
      }
    }
    // Before the present version gets what earlier ones alone will show.
    let replaced = space.replaced(touched: touched + left)
    if let cache = space.cache {
      letGo(of: left.map { ($0, .absent) }, in: cache, before: last.commit, space.registry)
      cache.setFile(pageCount: space.pageCount, byteLimit: options.cacheByteLimit)
    }
    return space.publish(reach: reach, replacing: replaced, of: current)
  }

  /// Calls `body` with the pages that a map speaks of otherwise than before, and their stamps.
  private func forEachChangedPage(
    of id: PageID, _ map: Page, since former: PageSpace, _ body: (PageID, UInt32) -> Void
  ) {
    let old = copy(of: id, in: former)
    let start = UInt64(id.rawValue - PageID.firstMap.rawValue)
    // Not those of other maps, which are in the log whenever they change.
    for index in 0..<Int(geometry.groupPageCount) {
      let stamp = PageMap.entry(index, in: map)
      if let old, PageMap.entry(index, in: Page(old.base)) == stamp { continue }
      let page = start + UInt64(index)
      guard page >= PageID.firstMap.rawValue, page < StoreLimits.pageCount else { continue }
      body(PageID(UInt32(page)), stamp)
    }
    withExtendedLifetime(old) {}
  }

  /// Shows pages of the file in place of those in memory; earlier versions that see these keep
  /// them.
  private func letGo(
    of pages: [(id: PageID, word: PageWord)], in cache: PageCache, before commit: CommitNumber,
    mapCommit: CommitNumber? = nil, _ registry: VersionRegistry
  ) {
    // The closure throws nothing, so nothing is.
    do throws(StorageError) {
      try registry.withVersions(of: cache, before: commit) { versions throws(StorageError) in
        for (id, _) in pages {
          let ticket = registry.reclaimer.enter()
          defer { registry.reclaimer.leave(ticket) }
          let word = cache.find(id)
          if word.isPage { registry.preserve(word, at: id, in: versions) }
        }
      }
    } catch {}
    cache.beginState()
    cache.replace(pages, mapCommit: mapCommit)
  }

  // MARK: Letting go

  /// After a checkpoint up to which the newest version has come: it need not keep what the file
  /// has.
  ///
  /// - Returns: whether it was one: the same log goes on.
  func relieve(_ core: StoreCore, _ seen: Recovery.Moment) throws(StorageError) -> Bool {
    let newest = core.latestVersion
    let space = newest.space
    guard let position, let cache = space.cache, let meta = try newestMeta(),
      meta.sequence == seen.newestSequence, meta.epoch == position.epoch, !meta.isClean,
      meta.lastCommit <= space.commit
    else { return false }
    let overlay = PageOverlay(copying: space.overlay, pageCount: space.pageCount)
    var retired: [RetiredMemory] = []
    var written: [(id: PageID, word: PageWord)] = []
    for index in 0..<space.overlay.capacity {
      guard let chunk = space.overlay.chunk(index) else { continue }
      var remaining: PageOverlay.Chunk?
      for slot in 0..<PageOverlay.chunkCount where !chunk[slot].isAbsent {
        let (word, id) = (chunk[slot], PageOverlay.id(chunk: index, slot: slot))
        if word.hasContent, word.commit <= meta.lastCommit {
          retired.append(RetiredMemory(word))
          written.append((id, id.rawValue < space.pageCount ? word.made : .absent))
        } else {
          // An image of an earlier record is history.
          setImageSpan(0, of: word)
          let kept = remaining ?? PageOverlay.Chunk(commit: space.commit)
          kept[slot] = word
          remaining = kept
        }
      }
      retired.append(RetiredMemory(chunk))
      overlay.setChunk(index, to: remaining)
    }
    let relieved = space.relieved(overlay)
    letGo(of: written, in: cache, before: space.commit, mapCommit: meta.mapCommit, core.registry)
    core.show(relieved.publish(replacing: retired, of: newest))
    records.remove(through: meta.lastCommit)
    noteRecords(in: core)
    return true
  }

  func newestMeta() throws(StorageError) -> MetaPage? {
    let head = PageMemory(byteCount: Int(PageID.firstMap.rawValue) * geometry.pageSize)
    defer { withExtendedLifetime(head) {} }
    guard try file.readAll(into: head) == head.byteCount else { return nil }
    return MetaPage.both(
      in: UnsafeRawBufferPointer(head.bytes), checksum, pageSize: geometry.pageSize)?.newest
  }

  // MARK: Beginning again

  /// Reads the store as a whole, as opening does.
  ///
  /// - Returns: whether its newest version is what was read; if not, that is of an earlier commit:
  ///   of a log that is being recovered.
  func beginAgain(_ core: StoreCore) throws(StorageError) -> Bool {
    let (recovery, file, moment) = try Recovery.reading(
      path, in: fileSystem, options: options, validation: .ofTrees, registry: core.registry)
    let newest = core.latestVersion
    let isSameFile = file.identifier == self.file.identifier
    let isLater = recovery.space.commit >= newest.space.commit
    guard recovery.identity == core.identity, recovery.page.geometry == geometry,
      isLater || isSameFile
    else {
      recovery.space.retireEverything()
      throw .replaced(path: path)
    }
    guard isLater else {
      recovery.space.retireEverything()
      return false
    }
    let space = recovery.space
    space.cache?.witness = core
    if isSameFile, let old = newest.space.cache, let cache = space.cache {
      move(from: old, to: cache, in: space)
    }
    take(recovery, file, moment)
    noteRecords(in: core)
    core.show(recovery.version, of: file.identifier)
    newest.space.retireEverything()
    core.registry.enforceLimit()
    return true
  }

  private func move(from old: PageCache, to cache: PageCache, in space: PageSpace) {
    do throws(StorageError) {
      let ticket = try space.enter()
      defer { space.leave(ticket) }
      cache.move(from: old) { id, page in
        guard space.overlay[id].isAbsent, id.rawValue < space.pageCount,
          let stamp = try? space.stamp(of: id)
        else { return false }
        return stamp == PageMap.stamp(of: page.commit)
      }
    } catch {}
  }

  private func noteRecords(in core: StoreCore) {
    core.noteLog(byteCount: records.byteCount)
  }
}
