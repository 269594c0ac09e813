import QuireModel

// Rows of which a save changes nothing but numbers and the like: they are copied, and written over.
extension SaveOperation {
  /// Writes a changed object's row over a copy of the one that it has, if that is enough: where
  /// what has changed has a place of its own in every row, and the row says everything.
  func patchRow(
    of object: ManagedObject, _ changed: SlotSet, _ storage: EntityStorage, _ writer: StoreWriter
  ) throws -> Bool {
    guard storage.canPatchRows, let start = object.rowStart,
      object.reference == finalReference(object)
    else { return false }
    let row = rowWriter(for: storage)
    let bytes = UnsafeRawBufferPointer(start: start, count: Int(object.rowByteCount))
    guard row.begin(copyOf: bytes, version: newVersion(of: object, at: object.reference)) else {
      return false
    }
    let slots = object.slots
    for slot in changed {
      let field = storage.fieldBySlot[slot]
      // A relationship that is no field of this row.
      if field < 0 { continue }
      switch slots[slot] {
      case .value(let value):
        guard try row.patch(field, value) else { return false }
      case .one(let destination):
        let target = destination.flatMap { remains($0) ? finalReference($0) : nil }
        guard row.patch(field, reference: target) else { return false }
      case .unchanged, .many: return false
      }
    }
    try writer.putPatchedRow(row, at: object.reference, in: storage, changing: changed)
    return true
  }
}
