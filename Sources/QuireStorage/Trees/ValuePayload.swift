/// A value as a leaf stores it: two bytes, then the value itself or a reference to its overflow
/// run.
///
/// The two bytes hold the length of an inline value; their top bit says that a reference follows
/// instead. Values are at most a quarter of a page inline, so 15 bits always suffice.
enum ValuePayload {
  private static let overflowBit = 0x8000
  private static let wordByteCount = 2
  private static let referenceByteCount = 12

  /// The location of a long value: `byteCount` bytes in a run of overflow pages from `first` on.
  struct Overflow: Equatable {
    var byteCount: UInt64
    var first: PageID
  }

  /// The length of the payload that begins here.
  static func byteCount(at start: UnsafeRawPointer) -> Int {
    let word = start.u16(at: 0)
    return wordByteCount + (word & overflowBit == 0 ? word : referenceByteCount)
  }

  /// The length of the payload of an inline value.
  static func byteCount(ofInline byteCount: Int) -> Int { wordByteCount &+ byteCount }

  /// The same for bytes from the disk: `nil` if the payload would not fit in `room` bytes, or is
  /// longer than payloads may be, on which splitting a node relies.
  static func validByteCount(
    at start: UnsafeRawPointer, room: Int, _ geometry: PageGeometry
  ) -> Int? {
    guard room >= wordByteCount else { return nil }
    let byteCount = byteCount(at: start)
    return byteCount <= min(room, wordByteCount + geometry.inlineValueLimit) ? byteCount : nil
  }

  /// Whether a payload that begins here is inline and no longer than payloads are.
  static func isShort(at start: UnsafeRawPointer, _ geometry: PageGeometry) -> Bool {
    // The top bit makes the number higher than any length.
    start.u16(at: 0) <= geometry.inlineValueLimit
  }

  /// The value if it is inline, borrowed from the payload.
  static func inlineValue(of payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    inlineValue(at: payload.baseAddress.unsafelyUnwrapped)
  }

  /// The value of the payload that begins here, if it is inline.
  static func inlineValue(at start: UnsafeRawPointer) -> UnsafeRawBufferPointer? {
    let word = start.u16(at: 0)
    guard word & overflowBit == 0 else { return nil }
    return UnsafeRawBufferPointer(start: start + wordByteCount, count: word)
  }

  /// The reference if the value is not inline.
  static func overflow(of payload: UnsafeRawBufferPointer) -> Overflow? {
    let start = payload.baseAddress.unsafelyUnwrapped
    guard start.u16(at: 0) & overflowBit != 0 else { return nil }
    return Overflow(
      byteCount: start.u64(at: wordByteCount), first: PageID(start.u32(at: wordByteCount + 8)))
  }

  /// Writes an inline value's payload into `room`.
  static func encode(
    inline value: UnsafeRawBufferPointer, in room: UnsafeMutableRawPointer
  ) -> UnsafeRawBufferPointer {
    room.setU16(value.count, at: 0)
    UnsafeMutableRawBufferPointer(start: room + wordByteCount, count: value.count)
      .copyMemory(from: value)
    return UnsafeRawBufferPointer(start: room, count: wordByteCount + value.count)
  }

  /// Writes a reference's payload into `room`.
  static func encode(
    _ overflow: Overflow, in room: UnsafeMutableRawPointer
  ) -> UnsafeRawBufferPointer {
    room.setU16(overflowBit, at: 0)
    room.setU64(overflow.byteCount, at: wordByteCount)
    room.setU32(overflow.first.rawValue, at: wordByteCount + 8)
    return UnsafeRawBufferPointer(start: room, count: wordByteCount + referenceByteCount)
  }
}
