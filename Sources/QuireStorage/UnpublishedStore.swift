/// A store under construction: it has another name until it is complete and on disk, so that an
/// error or a crash leaves nothing that could be taken for the store.
///
/// Files that a crash leaves are removed by the next attempt with the same name. The other name is
/// always the same one for this reason, where a ``NewFile`` has one of its own: a store is more
/// than a file as long as it is open.
package final class UnpublishedStore {
  package let pages: PageStore
  /// The path that the store is to have.
  package let path: String
  private let partPath: String
  private let fileSystem: any FileSystem
  private var isFinished = false

  /// What is appended to the path while the store is under construction, unless another suffix is
  /// given.
  package static let suffix = "-part"

  /// - Parameters:
  ///   - path: the path of the finished store; no file may exist there, unless the store will not
  ///     be published.
  ///   - suffix: appended to the path while the store is under construction.
  /// - Throws: ``StorageError/alreadyExists(path:)``; ``StorageError/locked(_:)`` if another
  ///   process is constructing the same store; an error of the disk.
  package init(
    _ path: String, suffix: String = UnpublishedStore.suffix, mustNotExist: Bool = true,
    options: PageStoreOptions, in fileSystem: any FileSystem
  ) throws(StorageError) {
    self.path = fileSystem.destination(of: path)
    self.fileSystem = fileSystem
    partPath = CompanionName.path(of: self.path, suffix)
    if mustNotExist, try fileSystem.identifier(of: self.path) != nil {
      throw .alreadyExists(path: self.path)
    }
    var options = options
    options.mustNotExist = true
    try PageStore.remove(partPath, followsLink: false, in: fileSystem)
    pages = try PageStore.open(partPath, options: options, in: fileSystem)
  }

  deinit { discard() }

  /// Closes the store and renames it to its final name.
  ///
  /// - Throws: ``StorageError/alreadyExists(path:)`` if a file of that name was created in the
  ///   meantime; an error of the disk. ``StorageError/outcomeUnknown(cause:)`` if only the last
  ///   sync fails: the complete store has its name, which a crash may take from it.
  package func publish() throws(StorageError) {
    try pages.close()
    // Closing a poisoned store is no error: its log has what a failed checkpoint could not write.
    // The log would not go with the file.
    if let cause = pages.core.state.withLock({ $0.poison }) { throw .poisoned(cause: cause) }
    // The removal of the log by closing must be durable before the new name is: otherwise, after a
    // crash, the log could remain under the old name for ever.
    try fileSystem.makeNamesDurable(beside: path, for: .creationFolder)
    try fileSystem.publish(partPath, as: path)
    isFinished = true
    try fileSystem.confirmName(path, for: .creationFolder)
  }

  /// Removes the files. What cannot be removed here is removed by the next attempt.
  package func discard() {
    guard !isFinished else { return }
    isFinished = true
    try? pages.close()
    try? PageStore.remove(partPath, followsLink: false, in: fileSystem)
  }
}
