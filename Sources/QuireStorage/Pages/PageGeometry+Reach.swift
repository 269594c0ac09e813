extension PageGeometry {
  /// How many pages a store can have, whatever it says of itself: those of its file, and behind
  /// these as many as there are maps for in its log. Each group of pages has its map, which comes
  /// with the group's first page; so nothing is lost of a store by asking for it, and whoever
  /// claims many pages has to have written many.
  ///
  /// - Parameters:
  ///   - filePageCount: the whole pages of the file.
  ///   - isLogged: whether the log has this page.
  /// - Complexity: O(groups that the log has behind the file).
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
