#if canImport(Glibc)
  import Glibc
  import Synchronization
#endif

/// Room on the C library's heap for many small objects that are about to be made.
///
/// The memory of an object is the runtime's to ask for. The heap grows for it by little and little,
/// and each page costs a fault when it is touched for the first time, 1 to 2 µs on a virtual
/// machine: 2,000 of them for 100,000 objects, a third of what fetching these takes. So the heap is
/// made to grow at once, and large pages are asked for under what has come.
///
/// A block that is asked for and given back does that, by what glibc documents (`mallopt(3)`, on
/// `M_MMAP_THRESHOLD`): a large block has a mapping of its own at first; but when it is given back,
/// blocks of its size come from the heap from then on, which keeps up to twice that size when it is
/// free again. Nothing is done with other C libraries, and nothing comes of it with another
/// allocator.
package enum HeapRoom {
  /// Two large pages; less is not worth it.
  private static let leastByteCount = 2 * LargeMemory.byteCount
  /// What glibc learns at most, where addresses have 64 bits.
  private static let greatestByteCount = 32 << 20

  #if canImport(Glibc)
    /// The largest block that was given back so that the next one comes from the heap.
    private static let learned = Atomic(0)
  #endif

  /// Makes room for so many bytes of objects, if they are many. A hint: nothing is kept.
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
