extension PageSpace {
  /// The defect of a page; `nil` if there is none. A page that the file has is read from the file,
  /// even if it is in memory. The caller must have entered.
  ///
  /// - Parameters:
  ///   - room: memory for one page.
  ///   - validation: the validation of a page that is only in memory.
  func defect(
    of id: PageID, room: PageMemory, validation: PageValidation
  ) throws(StorageError) -> String? {
    for _ in 0..<8 {
      let word = overlay[id]
      if word.hasContent {
        let page = word.isPage ? word.page : try page(id)
        if page.commit > commit { return "it carries commit \(page.commit)" }
        if let stamp = try stamp(of: id), stamp != PageMap.stamp(of: page.commit) {
          return "the maps know another commit of it than \(page.commit)"
        }
        return validation.defect(of: page, at: id, geometry: geometry)
      }
      guard word.isAbsent, let cache else { return "its content was found damaged" }
      let defect = try cache.defectOnDisk(
        of: id, for: commit, stamp: try stamp(of: id), in: room)
      // A checkpoint may be overwriting it; then the overlay has the page now.
      if defect == nil || overlay[id].isAbsent { return defect }
    }
    return "it keeps changing"
  }
}
