// Pages that were written around the log for a commit that never came: the transaction was given
// up, or its process died. They lie after the end of the store or are free, and nothing refers to
// them. But they carry the number of the next commit; and if that one writes to their locations and
// the disk loses the writes, they would be taken for its pages, with a right checksum and the right
// stamp.
//
// So that number is given to a commit of nothing. There can be no other numbers among stray pages:
// when the first page is written around the log, every commit before is on disk.
extension StoreCore {
  /// At opening: what lies after the end may be such pages, and what is free, if it is so much
  /// that it may have been written around the log.
  func noteStrayPages(fileByteCount: Int) {
    let latest = state.withLock { $0.latest.space }
    mayHaveStrayPages =
      fileByteCount > Int(latest.pageCount) * geometry.pageSize
      || StoreCore.hasManyFreePages(latest)
  }

  /// A transaction has ended without a commit.
  func noteEnd(ofGivenUp editor: PageEditor) {
    if editor.hasDirectPages { mayHaveStrayPages = true }
  }

  /// Before the first page of a transaction goes around the log: the commits before it are durable,
  /// so that after a crash its number is the next one, and not one of several.
  func makeDurable(before commit: CommitNumber) throws(StorageError) {
    guard let storage, storage.durability != .none, let log = storage.log else { return }
    let last = CommitNumber(rawValue: commit.rawValue - 1)
    guard commits.durableCommit < last else { return }
    commits.noteWritten(last)
    try waitUntilDurable(last, in: log, of: storage)
  }

  /// Commits nothing, so that no commit gets the number that stray pages have.
  ///
  /// - Returns: the version that has it.
  func skipNumber(after latest: OwnedVersion) throws(StorageError) -> OwnedVersion {
    let editor = PageEditor(
      .successor(of: latest, changesNothing: true), byteLimit: transactionByteLimit)
    try editor.operate { () throws(StorageError) in _ = try editor.writable(.firstMap) }
    _ = try commit(editor)
    mayHaveStrayPages = false
    return state.withLock { $0.latest }
  }
}
