/// The properties of usual rows of a layout, for checking many rows in a few instructions each.
struct RowShape {
  private let number: UInt16
  private let offsetsStart: Int
  private let variableCount: Int

  init(_ layout: RowLayout) {
    number = layout.number
    offsetsStart = layout.offsetsStart
    variableCount = layout.variableCount
  }

  /// Whether the bytes are a row of the usual form: of this layout, with narrow offsets that are
  /// consistent, and without values outside. Any other row, damaged or not, is left to
  /// ``RowReader``.
  func isRight(_ row: UnsafeRawPointer, _ byteCount: Int) -> Bool {
    let valuesStart = offsetsStart &+ 2 &* variableCount
    guard byteCount >= valuesStart,
      UInt16(littleEndian: row.loadUnaligned(as: UInt16.self)) == number,
      row.load(fromByteOffset: 2, as: UInt8.self) & RowShape.unusualFlags == 0
    else { return false }
    var previous: UInt16 = 0
    var offset = offsetsStart
    while offset < valuesStart {
      let end = UInt16(
        littleEndian: row.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
      guard end >= previous else { return false }
      previous = end
      offset &+= 2
    }
    return Int(previous) == byteCount &- valuesStart
  }

  /// Whether the fixed part and the end have the usual form: enough if no variable field is read.
  func endsRight(_ row: UnsafeRawPointer, _ byteCount: Int) -> Bool {
    let rest = byteCount &- offsetsStart &- 2 &* variableCount
    guard rest >= 0, UInt16(littleEndian: row.loadUnaligned(as: UInt16.self)) == number,
      row.load(fromByteOffset: 2, as: UInt8.self) & RowShape.unusualFlags == 0
    else { return false }
    if variableCount == 0 { return rest == 0 }
    let last = offsetsStart &+ 2 &* (variableCount &- 1)
    return Int(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: last, as: UInt16.self)))
      == rest
  }

  private static var unusualFlags: UInt8 { RowLayout.wideOffsetsFlag | RowLayout.externalFlag }
}
