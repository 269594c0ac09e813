/// The checksums of one store: XXH3-64, seeded so that bytes in the wrong location, or of another
/// store, are as wrong as damaged ones.
///
/// The first word of what is checked holds its checksum and is not part of it.
struct Checksum: Sendable {
  private let identitySeed: UInt64

  init(_ identity: StoreIdentity) {
    identitySeed = identity.bytes.withUnsafeBytes { XXH3.hash($0, seed: 0) }
  }

  /// The checksum of a page, without its first eight bytes.
  func ofPage(_ id: PageID, _ page: Page, pageSize: Int) -> UInt64 {
    XXH3.hash(
      UnsafeRawBufferPointer(start: page.base + 8, count: pageSize - 8),
      seed: identitySeed ^ UInt64(id.rawValue) &* 0x9E37_79B1_85EB_CA87)
  }

  /// The checksum of a log record without its trailer, or of the log's header.
  func ofLog(_ bytes: UnsafeRawBufferPointer, epoch: UInt64) -> UInt64 {
    XXH3.hash(bytes, seed: identitySeed ^ (epoch &+ 1) &* 0xC2B2_AE3D_27D4_EB4F)
  }

  /// The predecessor's checksum in the first record of an epoch.
  func logChainStart(epoch: UInt64) -> UInt64 {
    ofLog(UnsafeRawBufferPointer(start: nil, count: 0), epoch: epoch)
  }
}
