/// Content that the engine would not write, with right checksums: for fixtures.
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
}
