import Synchronization

extension PageStore {
  /// What the floor above keeps with an open store, one for all handles of this process that share
  /// it; it goes with the store. There is one kind of it.
  ///
  /// - Parameter make: called for the first who asks. Must not come back here.
  package func companion<Companion: AnyObject & Sendable>(_ make: () -> Companion) -> Companion {
    core.companion.withLock { companion in
      if let companion = companion as? Companion { return companion }
      let made = make()
      companion = made
      return made
    }
  }
}

extension Snapshot {
  /// - Throws: why the snapshot cannot be read any more, when it cannot.
  package func checkReadable() throws(StorageError) {
    if let ending = space.record?.ending { throw ending }
  }
}
