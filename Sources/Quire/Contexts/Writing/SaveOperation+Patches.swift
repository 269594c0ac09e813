import QuireModel

// Rows of which a save changes only fields of fixed width: they are copied and patched.
extension SaveOperation {
  /// Writes a changed object's row as a patched copy of its former one, if all changed fields have
  /// a fixed width, and the entity has neither derived attributes nor values outside of rows.
  ///
  /// - Returns: whether that was possible.
  func patchRow(
    of object: ManagedObject, _ changed: SlotSet, _ storage: EntityStorage, _ writer: StoreWriter
  ) throws -> Bool {
    guard storage.canPatchRows, let start = object.rowStart,
      object.reference == finalReference(object)
    else { return false }
    let row = rowWriter(for: storage)
    let bytes = UnsafeRawBufferPointer(start: start, count: Int(object.rowByteCount))
    let commit = writer.transaction.commitNumber
    guard row.begin(copyOf: bytes, version: newVersion(of: object, at: object.reference, commit))
    else {
      return false
    }
    let slots = object.slots
    for slot in changed {
      let field = storage.fieldBySlot[slot]
      // A relationship without a field in this row.
      if field < 0 { continue }
      switch slots[slot] {
      case .value(let value):
        guard try row.patch(field, value) else { return false }
      case .one(let destination):
        let target = destination.flatMap { $0.isLive ? finalReference($0) : nil }
        guard row.patch(field, reference: target) else { return false }
      case .unchanged, .many: return false
      }
    }
    try writer.putPatchedRow(row, at: object.reference, in: storage, changing: changed)
    return true
  }
}
