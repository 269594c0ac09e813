/// Knows whether a file that another process may be writing has changed.
protocol PageWitness: AnyObject, Sendable {
  /// The newest version of the store, looked for now; `nil` if this very thread is looking for it.
  func followedVersion() throws(StorageError) -> OwnedVersion?
  /// Whether somebody is writing it at the moment.
  func isBeingWritten() throws(StorageError) -> Bool
  /// The newest version is not to be gone on with: the store is to be read anew.
  func distrustNewest()
}

// A page that is not as its version needs it, in a file that another process may be writing.
extension PageSpace {
  /// The number of times that a page must be found wrong before it is damage, beside a writer;
  /// without one, twice.
  private static let damageLimit = 12

  /// Tells a page that was overwritten from a damaged one: it is overwritten if the newest version
  /// does not expect it as this one does.
  ///
  /// - Parameter number: how often it was found wrong before.
  /// - Throws: ``StorageError/snapshotTooOld(tries:)``; ``StorageError/damaged(page:reason:)`` with
  ///   `reason`. Nothing if the file is to be read once more.
  func lookAgain(
    at id: PageID, for number: Int, _ reason: String, _ witness: any PageWitness
  ) throws(StorageError) {
    let damage = StorageError.damaged(page: id, reason: reason)
    guard let newest = try witness.followedVersion() else { throw damage }
    let other = newest.space
    if other === self || other.commit == commit && other.cache === cache {
      if number == 0 { return }
      guard number < PageSpace.damageLimit, try witness.isBeingWritten() else { throw damage }
      Posix.pause(milliseconds: UInt32(number))
      return
    }
    let ticket = try other.enter()
    defer { other.leave(ticket) }
    guard id.rawValue < other.pageCount else { throw .snapshotTooOld(tries: 1) }
    // Only the newest version can tell that a page is damaged. The stamp of the first map is in the
    // meta page, which every checkpoint writes.
    guard number < PageSpace.damageLimit, id != .firstMap,
      let expected = try stamp(of: id), try other.stamp(of: id) == expected
    else { throw .snapshotTooOld(tries: 1) }
  }

  /// What the log changes of a page cannot be put into what the file has of it: a checkpoint has
  /// gone beyond this version, or its process has died in the middle. Then the log has images,
  /// which are read with the store as a whole.
  ///
  /// - Parameter number: how often that was found before.
  /// - Throws: ``StorageError/snapshotTooOld(tries:)``, or `damage` to the thread that is looking
  ///   for a newer version. Nothing if it is to be tried once more.
  func lookAgainForDeferred(
    for number: Int, _ damage: StorageError, _ witness: any PageWitness
  ) throws(StorageError) {
    guard let newest = try witness.followedVersion() else { throw damage }
    if newest.space.commit == commit, newest.space.cache === cache {
      guard number > 1 else { return Posix.pause(milliseconds: UInt32(number)) }
      witness.distrustNewest()
    }
    throw .snapshotTooOld(tries: 1)
  }
}
