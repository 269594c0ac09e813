/// The memory of one page, or of many read in one go, freed with the last table that shows it.
///
/// Much of it is ``LargeMemory``, of which untouched parts cost only address space.
///
/// Swift may let go of an object right after its last use, even while a pointer taken from it is
/// still needed. So a local `PageMemory` is either handed on as a whole or used through
/// ``withBytes(_:)``.
///
/// `@unchecked Sendable`: written by one thread before it is published, constant afterwards.
package final class PageMemory: @unchecked Sendable {
  package let base: UnsafeMutableRawPointer
  package let byteCount: Int
  /// 0 where the memory is the general allocator's.
  private let largePieceCount: Int

  /// Memory with arbitrary content.
  package init(byteCount: Int) {
    self.byteCount = byteCount
    if byteCount >= LargeMemory.byteCount {
      let count = (byteCount + LargeMemory.byteCount - 1) / LargeMemory.byteCount
      if let start = LargeMemory.map(count) {
        (base, largePieceCount) = (start, count)
        return
      }
    }
    // Asking for whole cache lines costs several times an ordinary allocation, and a row that is
    // copied out of its page has no use for them.
    base = .allocate(byteCount: byteCount, alignment: byteCount < 512 ? 16 : 64)
    largePieceCount = 0
  }

  deinit {
    if largePieceCount > 0 { LargeMemory.unmap(base, largePieceCount) } else { base.deallocate() }
  }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }
  /// The bytes, with the memory kept for the duration of `body`.
  func withBytes<R>(
    _ body: (UnsafeMutableRawBufferPointer) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    defer { withExtendedLifetime(self) {} }
    return try body(mutableBytes)
  }

  var mutableBytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: base, count: byteCount)
  }
}
