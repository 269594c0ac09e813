/// The memory of one identity map's lines: pieces that grow with their number, and are freed
/// together.
struct LineMemory: ~Copyable {
  // Sound: belongs to one map alone; a line that was taken is not taken again until it is given
  // back.
  private var pieces: [UnsafeMutableRawPointer] = []
  private var unused: UnsafeMutableRawPointer?
  private var unusedCount = 0
  private var pieceCount = 4
  /// A list of lines that were given back, all zero except for the address of the next.
  private var free: UnsafeMutableRawPointer?

  deinit { for piece in pieces { piece.deallocate() } }

  /// A line of zeros.
  mutating func take() -> UnsafeMutableRawPointer {
    if let line = free {
      free = line.load(as: UnsafeMutableRawPointer?.self)
      line.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
      return line
    }
    if unusedCount == 0 {
      pieceCount = min(2 * pieceCount, 1024)
      let piece = UnsafeMutableRawPointer.allocate(
        byteCount: pieceCount * IdentityMap.lineByteCount,
        alignment: IdentityMap.lineByteCount)
      pieces.append(piece)
      (unused, unusedCount) = (piece, pieceCount)
    }
    guard let line = unused else { preconditionFailure("there is a piece with unused lines") }
    unused = line + IdentityMap.lineByteCount
    unusedCount -= 1
    line.initializeMemory(as: UInt64.self, repeating: 0, count: IdentityMap.lineByteCount / 8)
    return line
  }

  /// Takes back a line of zeros.
  mutating func give(_ line: UnsafeMutableRawPointer) {
    line.storeBytes(of: free, as: UnsafeMutableRawPointer?.self)
    free = line
  }
}
