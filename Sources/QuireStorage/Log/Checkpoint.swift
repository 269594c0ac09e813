/// Brings the file to one version, while readers read and the writer writes.
///
///     begin    under the turnstile: the version, and where the log goes on after it
///     write    on any thread: images written, synced; old pages put aside for older versions;
///              pages written, synced; meta page written, synced
///     complete under the turnstile: the newest version no longer carries what the file has
///
/// Between begin and the meta page a crash finds the old meta page and the whole log; after it, the
/// new pages and the rest of the log.
final class Checkpoint: Sendable {
  private let version: OwnedVersion
  /// The version that is written.
  var space: PageSpace { version.space }
  let position: LogWriter.Position
  /// What commits that it makes history have written around the log; `nil` after a crash, when that
  /// is not known.
  private let directRuns: [PageRuns]?

  init(_ version: OwnedVersion, _ position: LogWriter.Position, directRuns: [PageRuns]?) {
    self.version = version
    self.position = position
    self.directRuns = directRuns
  }

  /// The pages to write, in the order of the file: those the version has in memory and in use.
  func pages() -> [(id: PageID, page: Page)] {
    var pages: [(id: PageID, page: Page)] = []
    space.overlay.forEach { id, word in
      // A page that is free by now need not be written: nothing will read it.
      if word.isPage, id.rawValue < space.pageCount { pages.append((id, word.page)) }
    }
    return pages
  }

  /// Those of which the log has no whole image.
  func pagesWithoutImage(_ pages: [(id: PageID, page: Page)]) -> [(id: PageID, page: Page)] {
    pages.filter { PageWord($0.page).imageSpan != position.span }
  }

  /// Puts what is about to be overwritten into the versions that see it, then overwrites it.
  ///
  /// - Parameter former: the commit that the file shows.
  /// - Throws: ``StorageError/damaged(page:reason:)`` if these are not the pages that the version's
  ///   maps name (``CheckpointProof``).
  func writePages(
    _ pages: [(id: PageID, page: Page)], to file: any File, after former: CommitNumber,
    _ checksum: Checksum
  ) throws(StorageError) {
    try preserveOldPages(pages)
    var run = SealedRun(
      pageSize: space.pageSize, checksum, proof: proof(after: former))
    var first = PageID(0)
    for (id, page) in pages {
      // Neighbours are written together.
      if run.isFull || id.rawValue != first.rawValue + UInt32(run.count) {
        try run.write(to: file, at: Int(first.rawValue) * space.pageSize)
      }
      if run.count == 0 { first = id }
      try run.add(page, at: id)
    }
    try run.write(to: file, at: Int(first.rawValue) * space.pageSize)
    guard let directRuns else { return }
    let maps = pages.lazy.map(\.id).filter { self.space.geometry.isMap($0) }
    try run.proof?.finish(maps: maps, direct: directRuns)
  }

  /// After a crash pages are written that are in the file already: those of records which changed
  /// nothing in them, and whole ones that take the place of a page which was cut short.
  func proof(after former: CommitNumber) -> CheckpointProof {
    CheckpointProof(space, after: former, takesOlderPages: directRuns == nil)
  }

  private func preserveOldPages(_ pages: [(id: PageID, page: Page)]) throws(StorageError) {
    guard let cache = space.cache else { return }
    try space.registry.withVersions(of: cache, before: space.commit) {
      versions throws(StorageError) in
      guard !versions.isEmpty else { return }
      // Maps first, as they vouch for the pages: also for those that lie before the map of their
      // group. Maps that vouch for maps lie before these.
      let maps = pages.lazy.filter { self.space.geometry.isMap($0.id) }
      let others = pages.lazy.filter { !self.space.geometry.isMap($0.id) }
      for (id, _) in [Array(maps), Array(others)].joined() {
        let ticket = space.registry.reclaimer.enter()
        defer { space.registry.reclaimer.leave(ticket) }
        guard
          versions.contains(where: {
            $0.canBeRead && id.rawValue < $0.pageCount && $0.overlay[id].isAbsent
          })
        else { continue }
        var word = cache.find(id)
        if !word.isPage {
          // A page that was free has no useful content, and is not read by any version.
          let expected = PageCache.Expectation(
            commit: space.commit, pageCount: space.pageCount,
            stamp: { [self] in stamp(of: $0, in: versions) })
          guard case .page(let read) = try cache.read(id, expected) else { continue }
          word = read
        }
        space.registry.preserve(word, at: id, in: versions)
      }
    }
  }

  /// The stamp of a page in the newest of those versions in which it is in use: an older one may
  /// need a page that is free in a newer one. A page's map has been put aside before the page.
  private func stamp(of id: PageID, in versions: [VersionRecord]) -> UInt32? {
    guard let (map, index) = space.geometry.stampLocation(of: id), let cache = space.cache else {
      return nil
    }
    var isVouchedFor = false
    for version in versions.reversed()
    where version.canBeRead && id.rawValue < version.pageCount && version.overlay[id].isAbsent {
      var word = version.overlay[map]
      if word.isAbsent { word = cache.find(map) }
      guard word.isPage, word.page.commit <= version.commit else { continue }
      isVouchedFor = true
      let stamp = PageMap.entry(index, in: word.page)
      if stamp != 0 { return stamp }
    }
    return isVouchedFor ? 0 : nil
  }

  /// The content that the newest version need no longer keep in memory.
  ///
  /// - Returns: the newest version's overlay without it; the memory that it no longer shows; and
  ///   the pages that the cache must show instead.
  func relieve(
    _ newest: PageSpace
  ) -> (overlay: PageOverlay, retired: [RetiredMemory], cached: [(id: PageID, word: PageWord)]) {
    let overlay = PageOverlay(copying: newest.overlay, pageCount: newest.pageCount)
    var retired: [RetiredMemory] = []
    var cached: [(id: PageID, word: PageWord)] = []
    for index in 0..<space.overlay.capacity {
      guard let written = space.overlay.chunk(index), let chunk = newest.overlay.chunk(index) else {
        continue
      }
      var remaining: PageOverlay.Chunk?
      for slot in 0..<PageOverlay.chunkCount {
        let word = chunk[slot]
        let old = written[slot]
        let id = PageOverlay.id(chunk: index, slot: slot)
        let isWritten = word.showsSame(as: old)
        if old.isPage, !isWritten { cached.append((id, .absent)) }
        guard !word.isAbsent else { continue }
        if isWritten {
          // Put aside by a later checkpoint it cannot be: that would be one of a later version.
          if word.isPage {
            retired.append(RetiredMemory(word))
            cached.append((id, id.rawValue < space.pageCount ? word : .absent))
          }
        } else {
          let kept = remaining ?? PageOverlay.Chunk(commit: newest.commit)
          kept[slot] = word
          remaining = kept
        }
      }
      retired.append(RetiredMemory(chunk))
      overlay.setChunk(index, to: remaining)
    }
    return (overlay, retired, cached)
  }
}
