import Synchronization

/// The memory of frames of one page size: slabs with room for many, shared by all stores of the
/// process (Bonwick, *The Slab Allocator*, 1994).
///
/// The general allocator would be asked for pieces a little larger than a page, thousands at a
/// time: each costs a page fault when it is first touched and a search when it is freed. A slab is
/// one piece of ``LargeMemory``; the first ones are smaller, so that a small store stays small.
///
/// The slab of lowest index with room is used next, so that others may become empty. Empty ones are
/// returned to the system, except for a quarter of all and one more: memory that a checkpoint frees
/// is needed again by the next transactions, and the system would clear it each time.
///
/// A child made by `fork` has slabs of its own; memory in its copy of the parent's slabs is never
/// freed there, as the parent's threads may have been changing them.
///
/// `@unchecked Sendable`: all mutable state is behind the mutex.
package final class FrameMemory: @unchecked Sendable {
  /// The bytes from one slot to the next: the frame's header and the page, in whole cache lines.
  package let slotByteCount: Int
  private let state = Mutex(State())
  private let process = ProcessMark(nil)

  private struct State {
    var slabs: [Slab] = []
    /// No slab of lower index has room.
    var firstWithRoom = 0
    var byteCount = 0
    var emptyCount = 0
  }

  /// One for each legal page size, by its power of two.
  private final class BySize: Sendable {
    let all = (9...15).map { FrameMemory(pageSize: 1 << $0) }
  }
  private static let bySize = PerProcess { BySize() }

  static func of(pageSize: Int) -> FrameMemory {
    bySize.value.all[pageSize.trailingZeroBitCount - 9]
  }

  package init(pageSize: Int) {
    slotByteCount = (PageFrame.headerByteCount + pageSize + 63) & ~63
  }

  /// A slot with arbitrary content.
  package func take() -> (slot: UnsafeMutableRawPointer, slab: Slab) {
    state.withLock { state in
      while state.firstWithRoom < state.slabs.count,
        !state.slabs[state.firstWithRoom].hasRoom
      {
        state.firstWithRoom += 1
      }
      if state.firstWithRoom == state.slabs.count { addSlab(&state) }
      let slab = state.slabs[state.firstWithRoom]
      if slab.isEmpty { state.emptyCount -= 1 }
      return (slab.take(), slab)
    }
  }

  /// Takes a slot back.
  package func give(_ slot: UnsafeMutableRawPointer, of slab: Slab) {
    guard process.isCurrent else { return }
    #if DEBUG
      // To reveal readers that still use it.
      slot.initializeMemory(
        as: UInt64.self, repeating: 0xDBDB_DBDB_DBDB_DBDB, count: slotByteCount / 8)
    #endif
    let emptied: Slab? = state.withLock { state in
      slab.give(slot)
      state.firstWithRoom = min(state.firstWithRoom, slab.index)
      guard slab.isEmpty else { return nil }
      state.emptyCount += 1
      #if QUIRE_FRAMES_APART
        // None is kept, so that the allocator knows at once.
        let keptCount = 0
      #else
        let keptCount = 1 + state.slabs.count / 4
      #endif
      return state.emptyCount > keptCount ? removeEmpty(&state) : nil
    }
    // Outside of the lock, as returning memory to the system takes time.
    withExtendedLifetime(emptied) {}
  }

  /// The bytes that the slabs take.
  package var byteCount: Int { state.withLock { $0.byteCount } }

  private func addSlab(_ state: inout State) {
    #if QUIRE_FRAMES_APART
      // Each frame a piece of its own, for a sanitizer that watches the general allocator.
      let byteCount = slotByteCount
    #else
      // Two small ones, of which the second has three times the first's room. From there on the
      // pages of a store that is read for the first time would each cost a fault of their own.
      let byteCount =
        state.byteCount < LargeMemory.byteCount / 8
        ? max(3 * state.byteCount, 16 * slotByteCount) : LargeMemory.byteCount
    #endif
    state.slabs.append(
      Slab(self, byteCount: byteCount, slotByteCount: slotByteCount, index: state.slabs.count))
    state.byteCount += byteCount
    state.emptyCount += 1
  }

  /// The empty slab of the highest index; its index is given to the last one.
  private func removeEmpty(_ state: inout State) -> Slab? {
    guard let index = state.slabs.lastIndex(where: { $0.isEmpty }) else { return nil }
    let slab = state.slabs[index]
    state.slabs.swapAt(index, state.slabs.count - 1)
    state.slabs.removeLast()
    if index < state.slabs.count { state.slabs[index].index = index }
    state.byteCount -= slab.byteCount
    state.emptyCount -= 1
    return slab
  }

  /// One piece of memory; all of it except assigned slots belongs to the mutex.
  package final class Slab: @unchecked Sendable {
    /// Sound: it exists as long as the process, and its children.
    unowned(unsafe) let memory: FrameMemory
    let byteCount: Int
    fileprivate var index: Int
    private let piece: PageMemory
    private let slotByteCount: Int
    /// Slots that came back; each begins with the address of the next.
    private var free: UnsafeMutableRawPointer?
    /// The start of the slots that were never used, whose memory is untouched.
    private var untouched: UnsafeMutableRawPointer
    private var takenCount = 0

    fileprivate init(_ memory: FrameMemory, byteCount: Int, slotByteCount: Int, index: Int) {
      self.memory = memory
      piece = PageMemory(byteCount: byteCount)
      untouched = piece.base
      self.byteCount = byteCount
      self.slotByteCount = slotByteCount
      self.index = index
    }

    fileprivate var isEmpty: Bool { takenCount == 0 }
    fileprivate var hasRoom: Bool {
      free != nil || untouched + slotByteCount <= piece.base + byteCount
    }

    /// Only while it has room.
    fileprivate func take() -> UnsafeMutableRawPointer {
      takenCount += 1
      if let slot = free {
        free = slot.load(as: UnsafeMutableRawPointer?.self)
        return slot
      }
      defer { untouched += slotByteCount }
      return untouched
    }

    fileprivate func give(_ slot: UnsafeMutableRawPointer) {
      takenCount -= 1
      slot.storeBytes(of: free, as: UnsafeMutableRawPointer?.self)
      free = slot
    }
  }
}
