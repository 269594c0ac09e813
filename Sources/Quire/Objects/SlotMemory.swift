import QuireStorage

/// The memory of the slots of objects that are in one arena: pieces with room for many, as all take
/// the same (Bonwick, *The Slab Allocator*, 1994).
///
/// The general allocator would be asked once for each object, thousands of times in a row when many
/// are inserted, and give some bytes more than are wanted each time.
///
/// A piece has room for as many as are in use already, or two megabytes if those are many, and goes
/// when its last slots come back; but the piece that serves stays, unless it is large, for those
/// who come and go one after the other. An object that is saved moves to another arena of its
/// context while its slots stay where they are, so before them stands the piece that they came
/// from.
///
/// Not for two threads at once: objects come and go in their context's isolation, as
/// ``SharedByObjects`` says.
package final class SlotMemory {
  private let placeByteCount: Int
  // Nothing is called while these change.
  /// Serves next.
  @exclusivity(unchecked) private var current: Piece? {
    didSet { currentReference = current.map { .passUnretained($0) } }
  }
  // Sound: held above.
  @exclusivity(unchecked) private var currentReference: Unmanaged<Piece>?
  /// Others with room.
  @exclusivity(unchecked) private var roomy: [Piece] = []
  @exclusivity(unchecked) private var takenCount = 0
  /// The arenas that take from here.
  @exclusivity(unchecked) private var arenaCount = 1
  private let leastCapacity: Int

  /// What the pieces take, those included that empty after the arenas have gone.
  @exclusivity(unchecked) package private(set) var byteCount = 0

  /// - Parameters:
  ///   - byteCount: of the slots of one object: a multiple of eight.
  ///   - isForMany: whether an arena with only one object is an exception.
  package init(byteCount: Int, isForMany: Bool) {
    placeByteCount = SlotMemory.headerByteCount + byteCount
    leastCapacity = isForMany ? 8 : 1
  }

  private static let headerByteCount = MemoryLayout<Unmanaged<Piece>>.stride
  #if QUIRE_FRAMES_APART
    // Each place a piece of its own, for a sanitizer that watches the general allocator.
    private static let pieceByteLimit = 0
    private static let keptByteLimit = 0
  #else
    private static let pieceByteLimit = 2 << 20
    private static let keptByteLimit = 64 << 10
  #endif

  /// One more arena takes from here.
  package func join() { arenaCount += 1 }

  /// An arena goes; after the last one, pieces go as they empty.
  package func leave() {
    arenaCount -= 1
    guard arenaCount == 0 else { return }
    current = nil
    roomy = []
  }

  /// Room for the slots of one object, with arbitrary content.
  @inline(__always)
  package func take() -> UnsafeMutableRawPointer {
    takenCount &+= 1
    let place = currentReference?._withUnsafeGuaranteedRef { $0.take() }
    return (place ?? takeElsewhere()) + SlotMemory.headerByteCount
  }

  @inline(never)
  private func takeElsewhere() -> UnsafeMutableRawPointer {
    let piece: Piece
    if let last = roomy.popLast() {
      last.rank = nil
      piece = last
    } else {
      // A large page is taken whole, though the last of its places may have no room there; and from
      // an eighth of it on, as many small ones cost a fault each.
      let wanted = max(leastCapacity, takenCount) * placeByteCount
      let limit = SlotMemory.pieceByteLimit
      let byteCount = wanted < limit / 8 ? wanted : limit
      piece = Piece(self, placeByteCount, byteCount: max(placeByteCount, byteCount))
    }
    current = piece
    guard let place = piece.take() else { preconditionFailure("a piece with room has none") }
    return place
  }

  /// Takes room back; what the slots held has ended.
  @inline(__always)
  package static func give(_ slots: UnsafeMutableRawPointer) {
    let place = slots - headerByteCount
    // Sound: a piece lives as long as something of it is taken.
    place.load(as: Unmanaged<Piece>.self)._withUnsafeGuaranteedRef { $0.give(place) }
  }

  /// Something came back to a piece.
  @inline(__always)
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

  /// Memory with room for the slots of many objects. It holds itself while something is taken.
  private final class Piece {
    private let memory: PageMemory
    private let placeByteCount: Int
    private let owner: SlotMemory
    /// Where it is among those with room.
    @exclusivity(unchecked) var rank: Int?
    /// Places that came back; each begins with the address of the next.
    @exclusivity(unchecked) private var free: UnsafeMutableRawPointer?
    /// Where the places begin that were never taken, and where the last of them does: their memory
    /// is not touched before.
    @exclusivity(unchecked) private var untouched: UnsafeMutableRawPointer
    private let last: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var takenCount = 0

    init(_ owner: SlotMemory, _ placeByteCount: Int, byteCount: Int) {
      self.owner = owner
      self.placeByteCount = placeByteCount
      memory = PageMemory(byteCount: byteCount)
      untouched = memory.base
      last = memory.base + (byteCount / placeByteCount - 1) * placeByteCount
      owner.byteCount += memory.byteCount
    }

    deinit { owner.byteCount -= memory.byteCount }

    var byteCount: Int { memory.byteCount }

    @inline(__always)
    func take() -> UnsafeMutableRawPointer? {
      let place: UnsafeMutableRawPointer
      if let first = free {
        free = first.load(as: UnsafeMutableRawPointer?.self)
        place = first
      } else if untouched <= last {
        place = untouched
        untouched += placeByteCount
      } else {
        return nil
      }
      place.storeBytes(of: Unmanaged.passUnretained(self), as: Unmanaged<Piece>.self)
      takenCount &+= 1
      if takenCount == 1 { hold() }
      return place
    }

    @inline(__always)
    func give(_ place: UnsafeMutableRawPointer) {
      #if DEBUG
        // Whoever still reads it shall notice.
        place.initializeMemory(as: UInt8.self, repeating: 0xDB, count: placeByteCount)
      #endif
      place.storeBytes(of: free, as: UnsafeMutableRawPointer?.self)
      free = place
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
