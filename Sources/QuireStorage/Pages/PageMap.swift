/// A page map: for each page of its group the *stamp* of the commit that wrote the page, 0 while it
/// is free; then the stamps of other maps.
/// The stamps identify the right content: a page whose last write was lost by the disk is intact,
/// has a right checksum and is where it belongs, and only its commit number is wrong. Maps are
/// pages, too, so their stamps are in other maps: those of groups *g* · *F* + 1 to *g* · *F* + *F*
/// in the map of group *g*, as in a heap. That of the first map is in the meta page. A meta page
/// thus verifies every page, and a changed page costs a word in each map on the way up; these are
/// few, and the same for all pages of a commit.
enum PageMap {
  static let entryByteCount = 4
  /// Commits whose numbers differ by this have the same stamp.
  static let stampCount: UInt32 = 0x8000_0000
  static let lowestStamp: UInt32 = 0x8000_0000

  /// The stamp of a page that `commit` wrote: never 0.
  static func stamp(of commit: CommitNumber) -> UInt32 {
    UInt32(truncatingIfNeeded: commit.rawValue) & (stampCount - 1) | lowestStamp
  }

  static func entry(_ index: Int, in map: Page) -> UInt32 {
    map.base.u32(at: PageHeader.byteCount &+ index &* entryByteCount)
  }

  static func set(_ index: Int, to entry: UInt32, in map: MutablePage) {
    map.base.setU32(entry, at: PageHeader.byteCount &+ index &* entryByteCount)
  }

  /// The first free page of the group at or after `index`.
  static func firstFree(in map: Page, from index: Int, geometry: PageGeometry) -> Int? {
    for index in index..<max(index, Int(geometry.groupPageCount))
    where entry(index, in: map) == 0 { return index }
    return nil
  }
}
