/// Content that the engine would not write, with right checksums: for fixtures, and for tests of
/// what finds it.
package enum StoreForgery {
  /// An identity page, of any format and identity.
  package static func identityPage(
    pageSize: Int, identity: StoreIdentity, version: FormatVersion
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: pageSize)
    var page = IdentityPage(pageSize: pageSize, identity: identity)
    page.version = version
    bytes.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress, bytes.count >= IdentityPage.byteCount else { return }
      page.encode(in: base)
    }
    return bytes
  }

  /// Changes a page of the newest commit that the file does not have yet, as a stray pointer would,
  /// without a transaction.
  ///
  /// - Returns: whether there is such a page in memory.
  package static func alterInMemory(
    _ id: PageID, of store: PageStore, _ body: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(StorageError) -> Bool {
    let version = try store.newestVersion()
    defer { withExtendedLifetime(version) {} }
    let word = version.space.overlay[id]
    guard word.isPage else { return false }
    body(
      UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(mutating: word.base), count: store.pageSize))
    return true
  }
}
