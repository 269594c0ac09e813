// The row of an object. An object stores the parts that it needs, and not a ``Row``: there may be
// many objects, and the layout of the row is known by their storage.
extension ManagedObject {
  /// The object's row as it was read, in the layout of the object's storage; `nil` in a fault, and
  /// in an object that was never saved.
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
    // Enough, as offsets in a row have 32 bits.
    rowByteCount = UInt32(truncatingIfNeeded: bytes?.byteCount ?? 0)
    rowHold = bytes.map { RowHold(.passUnretained($0.owner)) } ?? .none
    // The former owner may be released now that its bytes are not referred to any more.
    former.end()
  }

  /// Sets a row in a leaf whose keeper other objects share. The object must not have a row.
  final func set(_ start: UnsafeRawPointer, _ byteCount: Int, in keeper: Unmanaged<RowKeeper>) {
    rowStart = start
    rowByteCount = UInt32(truncatingIfNeeded: byteCount)
    rowHold = RowHold(sharing: keeper)
  }

  /// Sets a row in a leaf whose keeper is shared, and releases the former row if there is one.
  final func replaceRow(
    _ start: UnsafeRawPointer, _ byteCount: Int, in keeper: Unmanaged<RowKeeper>
  ) {
    let former = rowHold
    set(start, byteCount, in: keeper)
    // The former owner may be released now that its bytes are not referred to any more.
    former.end()
  }

  /// Sets a row that has an owner of its own. The object must not have a row.
  final func set(_ row: UnsafeRawBufferPointer, keptBy owner: Unmanaged<AnyObject>) {
    rowStart = row.baseAddress
    rowByteCount = UInt32(truncatingIfNeeded: row.count)
    rowHold = RowHold(owner)
  }

  final var hasRow: Bool { rowStart != nil }

  /// The version of the row, which each save raises; 0 where there is no row.
  final var rowVersion: UInt32 {
    guard let rowStart, rowByteCount >= RowLayout.headerByteCount else { return 0 }
    return UInt32(littleEndian: rowStart.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
  }
}
