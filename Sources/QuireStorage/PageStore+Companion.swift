import Synchronization

extension PageStore {
  /// An object of the layer above that belongs to an open store, shared by all handles of this
  /// process, and released with the store. All callers must use one type.
  ///
  /// - Parameter make: called on first use. It must not call this method.
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
