/// A published version that cannot expire as long as this object exists.
///
/// Snapshots hold a ``PageSpace``, whose pages are given up when too much memory is kept for
/// snapshots. Everything else that works on a version shares the one object of this kind that
/// publishing makes: the newest versions of the store, the commits that wait for the disk, a
/// transaction (for what it began with), a checkpoint, a copy and an inspection. So the pages that
/// their version has in memory can be used for as long as they hold it.
///
/// The memory that this keeps is no part of ``PageStoreOptions/retainedByteLimit``. It is at most
/// one version of each page for each of them.
final class OwnedVersion: Sendable {
  let space: PageSpace

  /// - Parameter space: has its record by now, and is about to be published.
  init(_ space: PageSpace) {
    self.space = space
  }

  deinit { space.disown() }
}
