import QuireStorage
import Testing

@Suite("Memory in one piece")
struct PageMemoryTests {
  /// Below, at and beyond a large page, which comes from the system and not from the allocator.
  @Test(arguments: [0, 1, 511, 4096, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 7 << 20])
  func `all of it can be written, and no two pieces share a byte`(byteCount: Int) {
    let pieces = (0..<3).map { _ in PageMemory(byteCount: byteCount) }
    // Some of each page of the processor, and the last byte.
    let places =
      Array(stride(from: 0, to: byteCount, by: 512)) + (byteCount > 0 ? [byteCount - 1] : [])
    for (mark, piece) in pieces.enumerated() {
      #expect(piece.byteCount == byteCount)
      for place in places {
        piece.base.storeBytes(of: UInt8(mark), toByteOffset: place, as: UInt8.self)
      }
    }
    for (mark, piece) in pieces.enumerated() {
      let isWhole = places.allSatisfy {
        piece.base.load(fromByteOffset: $0, as: UInt8.self) == UInt8(mark)
      }
      #expect(isWhole)
    }
    withExtendedLifetime(pieces) {}
  }
}
