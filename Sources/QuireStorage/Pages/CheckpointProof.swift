/// Compares what a checkpoint writes with what the page maps of its version say, before the meta
/// page makes it count.
///
/// The maps name the commit that wrote each page. So the pages to write are known apart from the
/// table that they are taken from: those whose stamp is of a commit after the last checkpoint. Each
/// page must be one of these, as it goes to the file, and in the end none may be missing. If the
/// table had lost a page, or had memory that is another page's by now, the file would look sound
/// and show something else; so it is found out while the log still has everything.
struct CheckpointProof {
  private let space: PageSpace
  /// The commit that the file shows.
  private let former: CommitNumber
  private let takesOlderPages: Bool
  private var writtenCount = 0
  /// The map that was looked at last.
  private var mapID: PageID?
  private var map: Page?

  /// - Parameters:
  ///   - space: the version that is written; its maps that have changed are in memory.
  ///   - former: the commit that the file shows until the checkpoint counts.
  ///   - takesOlderPages: whether pages may be written that the file has already.
  init(_ space: PageSpace, after former: CommitNumber, takesOlderPages: Bool) {
    self.space = space
    self.former = former
    self.takesOlderPages = takesOlderPages
  }

  /// Accepts a page.
  ///
  /// - Throws: ``StorageError/damaged(page:reason:)`` if it is not one to be written there.
  mutating func add(_ page: Page, at id: PageID) throws(StorageError) {
    let commit = page.commit
    guard commit > former || takesOlderPages, commit <= space.commit else {
      throw refusal(of: id, "it is of commit \(commit)")
    }
    guard let type = PageType(rawValue: page.typeByte),
      (type == .map) == space.geometry.isMap(id)
    else { throw refusal(of: id, "a page of type \(page.typeByte) does not belong there") }
    writtenCount += 1
    // The meta page has the stamp of the first map.
    guard let (mapID, index) = space.geometry.stampLocation(of: id) else { return }
    if mapID != self.mapID {
      let word = space.overlay[mapID]
      (self.mapID, map) = (mapID, word.isPage ? word.page : nil)
    }
    guard let map, PageMap.entry(index, in: map) == PageMap.stamp(of: commit) else {
      throw refusal(of: id, "the page maps do not have it as of commit \(commit)")
    }
  }

  /// After all pages: none may be missing.
  ///
  /// - Parameters:
  ///   - maps: the maps that were written.
  ///   - direct: what commits after `former` have written around the log.
  /// - Throws: ``StorageError/damaged(page:reason:)`` if a page is missing.
  func finish(maps: some Sequence<PageID>, direct: [PageRuns]) throws(StorageError) {
    // More commits than stamps can tell apart.
    let commitCount = space.commit.rawValue - former.rawValue
    guard commitCount < UInt64(PageMap.stampCount) else { return }
    let stamps = StampRange(after: former, count: UInt32(commitCount))
    var namedCount = 0
    for map in maps {
      // The first one has no stamp in a map.
      if map == .firstMap { namedCount += 1 }
      namedCount += stamps.count(in: space.overlay[map].page, space.geometry)
    }
    // All that were written are named: so these are all.
    guard namedCount != writtenCount else { return }
    for map in maps {
      for index in 0..<space.geometry.mapEntryCount
      where stamps.contains(PageMap.entry(index, in: space.overlay[map].page)) {
        let id = space.geometry.page(at: index, ofMap: map)
        if space.overlay[id].isPage || direct.contains(where: { $0.contains(id) }) { continue }
        guard try isOlder(id) else {
          throw refusal(of: id, "it was changed, and is not in memory")
        }
      }
    }
  }

  /// Whether a page is of a commit that is so long ago that a later one has the same stamp.
  private func isOlder(_ id: PageID) throws(StorageError) -> Bool {
    guard space.commit.rawValue >= UInt64(PageMap.stampCount) else { return false }
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    return try space.page(id).commit <= former
  }

  private func refusal(of id: PageID, _ reason: String) -> StorageError {
    .damaged(
      page: id,
      reason: "a checkpoint of commits \(former.next) to \(space.commit) was not completed, as "
        + "what it was to write there is not what the page maps have: \(reason); the log has all "
        + "commits, and opening the store again brings them back")
  }
}

/// The stamps of commits that follow each other.
private struct StampRange {
  private let first: UInt32
  private let length: UInt32

  /// - Parameter count: less than there are stamps.
  init(after commit: CommitNumber, count: UInt32) {
    first = PageMap.stamp(of: commit.next)
    length = count
  }

  @inline(__always)
  func contains(_ entry: UInt32) -> Bool {
    entry >= PageMap.lowestStamp && (entry &- first) & (PageMap.stampCount - 1) < length
  }

  /// The entries of a map that are in the range.
  func count(in map: Page, _ geometry: PageGeometry) -> Int {
    var count = 0
    for index in 0..<geometry.mapEntryCount where contains(PageMap.entry(index, in: map)) {
      count &+= 1
    }
    return count
  }
}
