extension PageSpace {
  /// The first version of every store: no trees, five pages, all of them in use.
  static func empty(
    _ geometry: PageGeometry, commit: CommitNumber = .creation, retainedByteLimit: Int = .max
  ) -> OwnedVersion {
    let pageCount = PageID.firstFree.rawValue
    let space = PageSpace(
      geometry: geometry, commit: commit, cache: nil,
      registry: VersionRegistry(
        pageSize: geometry.pageSize, retainedByteLimit: retainedByteLimit,
        process: ProcessMark(nil)),
      overlay: PageOverlay(pageCount: pageCount), pageCount: pageCount, freePageCount: 0,
      lowestFree: .firstFree)
    func add(_ id: PageID, _ type: PageType) -> MutablePage {
      let frame = PageFrame(pageSize: geometry.pageSize)
      let page = MutablePage(frame.base)
      page.initialize(type, level: 0, commit: commit, in: geometry)
      space.set(id, to: frame.intoTable())
      return page
    }
    let map = add(.firstMap, .map)
    for index in 0..<Int(pageCount) {
      PageMap.set(index, to: PageMap.stamp(of: commit), in: map)
    }
    _ = add(.catalogRoot, .indexLeaf)
    return space.publish()
  }
}
