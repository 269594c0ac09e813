/// Content that the engine would not write, with right checksums: for fixtures and tests.
package enum StoreForgery {
  /// A closed store as a release of format 1 would have written it.
  ///
  /// - Returns: `nil` for bytes that are no store.
  package static func inFormat1(_ store: [UInt8]) -> [UInt8]? {
    var bytes = store
    let isDone = bytes.withUnsafeMutableBytes { bytes -> Bool in
      guard let base = bytes.baseAddress,
        var page = try? IdentityPage(
          from: UnsafeRawBufferPointer(bytes), path: "", isReadOnly: true)
      else { return false }
      let checksum = Checksum(page.identity)
      guard
        let (newest, other) = MetaPage.both(
          in: UnsafeRawBufferPointer(bytes), checksum, pageSize: page.pageSize)
      else { return false }
      page.version = .first
      base.initializeMemory(as: UInt8.self, repeating: 0, count: page.pageSize)
      page.encode(in: base)
      for meta in [newest, other].compactMap(\.self) {
        let memory = meta.encoded(checksum, page)
        (base + Int(meta.id.rawValue) * page.pageSize).copyMemory(
          from: memory.base, byteCount: page.pageSize)
        withExtendedLifetime(memory) {}
      }
      return true
    }
    return isDone ? bytes : nil
  }

  /// Something in an identity page that this release does not know.
  package enum Feature: CaseIterable, Sendable {
    case anotherFlag, cipher, key, keyCheck, longTail
  }

  /// An identity page, of any format and identity.
  package static func identityPage(
    pageSize: Int, identity: StoreIdentity, version: FormatVersion, with feature: Feature? = nil
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: pageSize)
    var page = IdentityPage(PageGeometry(pageSize: pageSize), identity)
    page.version = version
    let label = IdentityPage.Features.Label(low: 1, high: 2)
    switch feature {
    case nil: break
    case .anotherFlag: page.features.flags = 1 << 31
    case .cipher: page.features.cipher = label
    case .key: page.features.key = label
    case .keyCheck: page.features.keyCheck = label
    case .longTail: page.features.tailByteCount = PageGeometry.tailLimit + 1
    }
    bytes.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress, bytes.count >= page.byteCount else { return }
      page.encode(in: base)
    }
    return bytes
  }
}
