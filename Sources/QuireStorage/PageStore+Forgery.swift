extension PageStore {
  /// Changes a page of the newest commit that the file does not have yet, as a stray pointer would,
  /// without a transaction: for tests of what finds it.
  ///
  /// - Returns: whether there is such a page in memory.
  package func alterInMemory(
    _ id: PageID, _ body: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(StorageError) -> Bool {
    let version = try newestVersion()
    defer { withExtendedLifetime(version) {} }
    let word = version.space.overlay[id]
    guard word.isPage else { return false }
    body(
      UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(mutating: word.base), count: pageSize))
    return true
  }
}
