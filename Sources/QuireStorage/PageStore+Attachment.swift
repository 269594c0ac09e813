import Synchronization

/// An object of the layer above that belongs to an open store.
package protocol StoreAttachment: AnyObject, Sendable {
  /// Another process has committed to a store that is only read here. Called on the thread that has
  /// found it, which may be any; it may read the store.
  func store(_ identity: StoreIdentity, didMoveTo commit: CommitNumber)
}

extension PageStore {
  /// What the layer above keeps with an open store, shared by all handles of this process, and
  /// released with the store. There is one type of it.
  ///
  /// - Parameter make: called on first use. It must not call this method.
  package func attachment<Attachment: StoreAttachment>(_ make: () -> Attachment) -> Attachment {
    core.attachment.withLock { kept in
      if let attachment = kept as? Attachment { return attachment }
      precondition(kept == nil, "the layer above keeps one type of object with a store")
      let made = make()
      kept = made
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
