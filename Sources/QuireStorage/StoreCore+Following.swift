// A store that is only read here, and that another process may be writing (``StoreFollower``).
extension StoreCore: PageWitness {
  func followedVersion() throws(StorageError) -> OwnedVersion? {
    guard let follower, try follower.follow(self) else { return nil }
    return latestVersion
  }

  func isBeingWritten() throws(StorageError) -> Bool {
    try latestVersion.space.cache?.file?.isBeingWritten() ?? false
  }

  func distrustNewest() { follower?.forget() }

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

extension PageStore {
  /// Whether the store is only read here, and may be written by another process.
  package var isFollowing: Bool { core.follower != nil }

  /// Looks whether another process has committed. Nothing is to be found where it is written here.
  ///
  /// - Throws: what taking a snapshot throws.
  package func follow() throws(StorageError) {
    try checkOpen()
    try core.follower?.follow(core)
  }

  /// Looks from time to time whether another process has committed, for as long as somebody wants
  /// to know; the store's attachment is told (``StoreAttachment/store(_:didMoveTo:)``).
  package func watch(while isWanted: @escaping @Sendable () -> Bool) {
    core.follower?.watch(core, while: isWanted)
  }
}
