extension PageGeometry {
  /// The largest number of pages of a store, whatever it claims: those of its file, and beyond
  /// these as many as there are maps for in its log. Each group of pages has its map, which is
  /// written with the group's first page, so that a valid store never exceeds this, and a claim of
  /// many pages needs many pages.
  ///
  /// - Parameters:
  ///   - filePageCount: the number of whole pages in the file.
  ///   - isLogged: whether the log has a page.
  /// - Complexity: O(groups in the log beyond the end of the file).
  func reach(filePageCount: Int, isLogged: (PageID) -> Bool) -> UInt32 {
    var end = min(UInt32(clamping: filePageCount), StoreLimits.pageCount)
    while true {
      let (map, isNone) = (end / groupPageCount * groupPageCount)
        .addingReportingOverflow(PageID.firstMap.rawValue)
      guard !isNone, end < StoreLimits.pageCount, map < end || isLogged(PageID(map)) else {
        return end
      }
      let next = UInt64(end / groupPageCount + 1) * UInt64(groupPageCount)
      end = min(UInt32(clamping: next), StoreLimits.pageCount)
    }
  }
}
