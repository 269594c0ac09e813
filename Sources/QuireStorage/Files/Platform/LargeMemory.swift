#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Memory in pieces that the system can give as one large page of the processor: touching it the
/// first time then costs one fault for all of a piece, where small pages cost one each, and the
/// processor finds its addresses faster.
enum LargeMemory {
  /// The bytes of a piece, and what its address is a multiple of: x86's and ARM's large page over
  /// pages of 4 KiB.
  static let byteCount = 2 << 20

  /// - Parameter count: the number of adjacent pieces.
  /// - Returns: `nil` if the system has no memory left.
  static func map(_ count: Int = 1) -> UnsafeMutableRawPointer? {
    // One more piece than wanted contains an aligned range of the right size; the rest is unmapped.
    let wanted = count * byteCount
    let mapped = mmap(
      nil, wanted + byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    guard let mapped, mapped != MAP_FAILED else { return nil }
    let start = mapped.alignedUp(toMultipleOf: byteCount)
    let before = start - mapped
    if before > 0 { munmap(mapped, before) }
    munmap(start + wanted, byteCount - before)
    #if os(Linux) || os(Android)
      // A wish; a system without large pages ignores it.
      madvise(start, wanted, MADV_HUGEPAGE)
    #endif
    return start
  }

  static func unmap(_ start: UnsafeMutableRawPointer, _ count: Int = 1) {
    munmap(start, count * byteCount)
  }
}
