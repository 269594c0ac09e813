import QuireStorage

/// The memory of the slots of objects that are in one arena: pieces with room for many objects, as
/// all slots take the same room (Bonwick, *The Slab Allocator*, 1994).
///
/// The general allocator would be called once for each object, thousands of times in a row when
/// many are inserted, and would round each size up.
///
/// A piece has room for as many objects as are in use already, up to two megabytes, and is freed
/// when its last slots are given back. The current piece is kept then, unless it is large, so that
/// objects which are made and released one after the other allocate nothing. An object that is
/// saved moves to another arena of its context while its slots stay where they are, so a reference
/// to their piece is stored before them.
///
/// Not for two threads at once: objects are made and released in their context's isolation, as
/// ``SharedByObjects`` says.
package final class SlotMemory {
  /// The size of the block of one object: a reference to its piece, and its slots.
  private let blockByteCount: Int
  /// The piece that room is taken from first.
  private var current: Piece? {
    didSet { currentReference = current.map { .passUnretained($0) } }
  }
  // Sound: held above.
  private var currentReference: Unmanaged<Piece>?
  /// Other pieces with room.
  private var roomy: [Piece] = []
  private var takenCount = 0
  /// The number of arenas that take from here.
  private var arenaCount = 1
  private let leastCapacity: Int

  /// The size of the pieces, including those in use after the arenas have ended.
  package private(set) var byteCount = 0

  /// - Parameters:
  ///   - byteCount: of the slots of one object: a multiple of eight.
  ///   - isForMany: whether an arena with only one object is an exception.
  package init(byteCount: Int, isForMany: Bool) {
    blockByteCount = SlotMemory.headerByteCount + byteCount
    leastCapacity = isForMany ? 8 : 1
  }

  private static let headerByteCount = MemoryLayout<Unmanaged<Piece>>.stride
  #if QUIRE_FRAMES_APART
    // Each block a piece of its own, for a sanitizer that watches the general allocator.
    private static let pieceByteLimit = 0
    private static let keptByteLimit = 0
  #else
    private static let pieceByteLimit = 2 << 20
    private static let keptByteLimit = 64 << 10
  #endif

  /// Counts one more arena that takes from here.
  package func join() { arenaCount += 1 }

  /// Counts one arena less; after the last one, pieces are freed when they are empty.
  package func leave() {
    arenaCount -= 1
    guard arenaCount == 0 else { return }
    current = nil
    roomy = []
  }

  /// Room for the slots of one object, with arbitrary content.
  package func take() -> UnsafeMutableRawPointer {
    takenCount &+= 1
    let block = currentReference?._withUnsafeGuaranteedRef { $0.take() }
    return (block ?? takeElsewhere()) + SlotMemory.headerByteCount
  }

  @inline(never)
  private func takeElsewhere() -> UnsafeMutableRawPointer {
    let piece: Piece
    if let last = roomy.popLast() {
      last.rank = nil
      piece = last
    } else {
      // From an eighth of a large page on, a whole one is taken, though its end may be too short
      // for an object: small pages would cost a page fault each.
      let wanted = max(leastCapacity, takenCount) * blockByteCount
      let limit = SlotMemory.pieceByteLimit
      let byteCount = wanted < limit / 8 ? wanted : limit
      piece = Piece(self, blockByteCount, byteCount: max(blockByteCount, byteCount))
    }
    current = piece
    guard let block = piece.take() else { preconditionFailure("a piece with room has none") }
    return block
  }

  /// Gives room back; the slots were deinitialised.
  package static func give(_ slots: UnsafeMutableRawPointer) {
    let block = slots - headerByteCount
    // Sound: a piece lives as long as something of it is taken.
    block.load(as: Unmanaged<Piece>.self)._withUnsafeGuaranteedRef { $0.give(block) }
  }

  /// Records that room was given back to a piece.
  private func record(_ piece: Piece, isEmpty: Bool) {
    takenCount &-= 1
    if current === piece {
      if isEmpty, piece.byteCount > SlotMemory.keptByteLimit { current = nil }
    } else if arenaCount > 0 {
      recordRoom(in: piece, isEmpty: isEmpty)
    }
  }

  @inline(never)
  private func recordRoom(in piece: Piece, isEmpty: Bool) {
    if isEmpty {
      guard let rank = piece.rank else { return }
      roomy.swapAt(rank, roomy.count - 1)
      roomy[rank].rank = rank
      roomy.removeLast()
      piece.rank = nil
    } else if piece.rank == nil {
      piece.rank = roomy.count
      roomy.append(piece)
    }
  }

  /// Memory with room for the slots of many objects. It retains itself while something is taken.
  private final class Piece {
    private let memory: PageMemory
    private let blockByteCount: Int
    private let owner: SlotMemory
    /// Its index among the pieces with room.
    var rank: Int?
    /// A list of the blocks that were given back; each begins with the address of the next.
    private var free: UnsafeMutableRawPointer?
    /// The first block that was never taken, whose memory is not touched before that; `last` is the
    /// last block.
    private var untouched: UnsafeMutableRawPointer
    private let last: UnsafeMutableRawPointer
    private var takenCount = 0

    init(_ owner: SlotMemory, _ blockByteCount: Int, byteCount: Int) {
      self.owner = owner
      self.blockByteCount = blockByteCount
      memory = PageMemory(byteCount: byteCount)
      untouched = memory.base
      last = memory.base + (byteCount / blockByteCount - 1) * blockByteCount
      owner.byteCount += memory.byteCount
    }

    deinit { owner.byteCount -= memory.byteCount }

    var byteCount: Int { memory.byteCount }

    func take() -> UnsafeMutableRawPointer? {
      let block: UnsafeMutableRawPointer
      if let first = free {
        free = first.load(as: UnsafeMutableRawPointer?.self)
        block = first
      } else if untouched <= last {
        block = untouched
        untouched += blockByteCount
      } else {
        return nil
      }
      block.storeBytes(of: Unmanaged.passUnretained(self), as: Unmanaged<Piece>.self)
      takenCount &+= 1
      if takenCount == 1 { hold() }
      return block
    }

    func give(_ block: UnsafeMutableRawPointer) {
      #if DEBUG
        // A pattern that makes a use after the release visible.
        block.initializeMemory(as: UInt8.self, repeating: 0xDB, count: blockByteCount)
      #endif
      block.storeBytes(of: free, as: UnsafeMutableRawPointer?.self)
      free = block
      takenCount &-= 1
      owner.record(self, isEmpty: takenCount == 0)
      if takenCount == 0 { letGo() }
    }

    // Sound: retained for the first that is taken, and released for the last one.
    @inline(never)
    private func hold() { _ = Unmanaged.passRetained(self) }

    @inline(never)
    private func letGo() { Unmanaged.passUnretained(self).release() }
  }
}
