#if canImport(Glibc)
  import Glibc
  import Synchronization
#endif

/// Room on the C library's heap for many small objects that are about to be made.
///
/// The Swift runtime allocates objects on the heap, which grows in small steps, and each page costs
/// a fault when it is first touched, 1 to 2 µs on a virtual machine: 2,000 faults for 100,000
/// objects, a third of the time to fetch these. So the heap is made to grow at once, and large
/// pages are requested for the new part.
///
/// A block that is allocated and freed at once does that, by documented behaviour of glibc
/// (`mallopt(3)`, on `M_MMAP_THRESHOLD`): a large block first has a mapping of its own; when it is
/// freed, blocks of its size come from the heap from then on, which keeps up to twice that size
/// when it is free again. With other C libraries nothing is done, and with another allocator it has
/// no effect.
package enum HeapRoom {
  /// Two large pages; for less it does not pay.
  private static let leastByteCount = 2 * LargeMemory.byteCount
  /// The largest threshold of glibc with 64-bit addresses.
  private static let greatestByteCount = 32 << 20

  #if canImport(Glibc)
    /// The largest block that was given back so that the next one comes from the heap.
    private static let learned = Atomic(0)
  #endif

  /// Makes room for a number of bytes of objects, if it is large. Only a hint: nothing is kept.
  ///
  /// - Complexity: O(1), and 20 µs for the first of each size.
  package static func prepare(byteCount: Int) {
    #if canImport(Glibc)
      let byteCount = min(byteCount, greatestByteCount)
      guard byteCount >= leastByteCount else { return }
      if byteCount > learned.load(ordering: .relaxed) {
        learned.store(byteCount, ordering: .relaxed)
        takeAndGiveBack(byteCount)
      }
      takeAndGiveBack(byteCount)
    #endif
  }

  #if canImport(Glibc)
    /// Wishes for large pages under a block, wherever it comes from.
    private static func takeAndGiveBack(_ byteCount: Int) {
      guard let block = malloc(byteCount) else { return }
      defer { free(block) }
      // Whole pages only: what is beyond is touched as it comes, and takes no more than it needs.
      let start = block.alignedUp(toMultipleOf: LargeMemory.byteCount)
      let end = (block + byteCount).alignedDown(toMultipleOf: LargeMemory.byteCount)
      if start < end { madvise(start, end - start, MADV_HUGEPAGE) }
    }
  #endif
}
