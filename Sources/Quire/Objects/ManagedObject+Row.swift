// The row of an object. An object keeps the parts that it needs, and not a ``Row``: there may be
// many objects, and what a row's layout is they know by their storage.
extension ManagedObject {
  /// What the store said of the object when it was read, in the layout of the object's storage;
  /// `nil` in a fault, and in an object that was never saved.
  final var row: Row? {
    get {
      guard let rowStart, let owner = rowHold.owner, let storage else { return nil }
      return Row(
        RowBytes(start: rowStart, byteCount: Int(rowByteCount), owner: owner), storage.layout)
    }
    set { set(newValue?.bytes) }
  }

  final func set(_ bytes: RowBytes?) {
    let former = rowHold
    rowStart = bytes?.start
    // The offsets in a row have no more bits.
    rowByteCount = UInt32(truncatingIfNeeded: bytes?.byteCount ?? 0)
    rowHold = bytes.map { RowHold(.passUnretained($0.owner)) } ?? .none
    // The former owner may go now that nothing leads to its bytes.
    former.end()
  }

  /// Takes a row in a leaf that the object does not keep alone. To an object without a row only.
  @inline(__always)
  final func set(_ start: UnsafeRawPointer, _ byteCount: Int, in keeper: Unmanaged<RowKeeper>) {
    rowStart = start
    rowByteCount = UInt32(truncatingIfNeeded: byteCount)
    rowHold = RowHold(sharing: keeper)
  }

  /// Takes a row in a leaf in the place of the one it has, if it has one.
  @inline(__always)
  final func replaceRow(
    _ start: UnsafeRawPointer, _ byteCount: Int, in keeper: Unmanaged<RowKeeper>
  ) {
    let former = rowHold
    set(start, byteCount, in: keeper)
    // The former owner may go now that nothing leads to its bytes.
    former.end()
  }

  /// Takes a row that has its own owner. To an object without a row only.
  @inline(__always)
  final func set(_ row: UnsafeRawBufferPointer, keptBy owner: Unmanaged<AnyObject>) {
    rowStart = row.baseAddress
    rowByteCount = UInt32(truncatingIfNeeded: row.count)
    rowHold = RowHold(owner)
  }

  @inline(__always)
  final var hasRow: Bool { rowStart != nil }

  /// How often the row was written; 0 where there is none.
  final var rowVersion: UInt32 {
    guard let rowStart, rowByteCount >= RowLayout.headerByteCount else { return 0 }
    return UInt32(littleEndian: rowStart.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
  }
}
