// Where pages may be written around the log (`DirectPages`).
extension StoreCore {
  /// The way around the log for a transaction; `nil` where there is no file.
  func directPages(for editor: PageEditor) throws(StorageError) -> DirectPages? {
    guard let storage, let cache = editor.space.cache else { return nil }
    try makeDurable(before: editor.commit)
    try storage.log?.note(.directPages, isBusy: true)
    let reusesPages = try makeFreePagesReusable(for: editor, cache, storage)
    // After everything that the log could bring back, that a snapshot shows, or that a crash could
    // lead back to; what commits that are synced one by one lead back to is what snapshots get.
    let first = max(
      editor.space.parent?.space.pageCount ?? 0, storage.log?.highestPageCount ?? 0,
      registry.largestPageCount(in: cache),
      storage.durability == .ordered ? durablePageCount : 0)
    return DirectPages(
      storage.file, cache, from: PageID(first), reusesPages: reusesPages,
      reserve: storage.reserve)
  }

  /// Whether free pages of a version are worth a checkpoint before they are written around the log.
  static func hasManyFreePages(_ version: PageSpace) -> Bool {
    version.freePageCount > Int(version.pageCount / 8)
  }

  /// Sees to it that nothing needs the pages which are free in the version that a transaction began
  /// with: the file has that version, so that the log brings nothing back, and no snapshot shows an
  /// earlier one. Snapshots that are taken meanwhile show this version.
  ///
  /// - Returns: whether it is so. Not while another thread writes a checkpoint, which may be about
  ///   to write the very pages.
  private func makeFreePagesReusable(
    for editor: PageEditor, _ cache: PageCache, _ storage: StoreFile
  ) throws(StorageError) -> Bool {
    guard let parent = editor.space.parent?.space, StoreCore.hasManyFreePages(parent) else {
      return false
    }
    // The first one may be a checkpoint that was begun before the last commits.
    for _ in 0..<2 where !isInFile(editor.space.parent?.space, storage) {
      if let checkpoint, checkpoint.currentOutcome == nil, !checkpoint.awaitsWriter { return false }
      do throws(StoreFile.Failure) {
        try makeRoomInLog(for: editor)
      } catch {
        switch error {
        case .aborted: return false
        case .unknown(let cause): throw poison(cause)
        }
      }
    }
    guard let version = editor.space.parent?.space, isInFile(version, storage) else { return false }
    return !registry.hasVersions(of: cache, before: version.contentCommit)
  }

  /// Whether the file has all of a version, and the log nothing.
  private func isInFile(_ version: PageSpace?, _ storage: StoreFile) -> Bool {
    checkpoint == nil && storage.logByteCount == 0 && version?.changedPageCount == 0
  }
}
