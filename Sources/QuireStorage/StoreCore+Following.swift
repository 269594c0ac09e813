// A store that is only read here, and that another process may be writing (``StoreFollower``).
extension StoreCore: PageWitness {
  func followedVersion() throws(StorageError) -> OwnedVersion? {
    guard let follower, try follower.follow(self) else { return nil }
    return latestVersion
  }

  func isBeingWritten() throws(StorageError) -> Bool {
    try latestVersion.space.cache?.file?.isBeingWritten() ?? false
  }

  /// The newest version as far as it is known.
  var latestVersion: OwnedVersion { state.withLock { $0.latest } }

  /// Makes a version the newest.
  ///
  /// - Parameter identifier: its file, if that is another one.
  func show(_ version: OwnedVersion, of identifier: FileIdentifier? = nil) {
    // The old ones end when the mutex is free again, as that frees their pages.
    let old = state.withLock { state in
      let old = [state.current, state.latest]
      (state.current, state.latest) = (version, version)
      if let identifier { state.identifier = identifier }
      return old
    }
    withExtendedLifetime(old) {}
  }
}
