import QuireModel

/// Where an entity's fields are in its rows, by slot, for reading one of them in a few
/// instructions.
///
/// It has the information of ``RowLayout`` in memory of its own: an object that keeps the table's
/// address reads an attribute without reference counting.
final class FieldTable: Sendable {
  struct Field {
    /// The raw value of the ``FieldKind``; 0 where the slot has no field.
    var kind: UInt8 = 0
    /// The bit that is set if there is no value, in the byte at `nilOffset`.
    var nilMask: UInt8 = 0
    /// Whether the destination of a reference exists, as long as nothing is unsaved.
    var isSure = false
    var nilOffset: Int32 = 0
    /// The offset of a fixed field, or the index of a variable one among the variable fields.
    var position: Int32 = 0
    /// For a variable field: the offset of the row's end offsets, and their number.
    var offsetsStart: Int32 = 0
    var variableCount: Int32 = 0
  }

  // Sound: written only in `init`, and freed with the table.
  nonisolated(unsafe) let fields: UnsafePointer<Field>

  /// - Parameters:
  ///   - fieldBySlot: -1 for slots without a field.
  ///   - traits: the traits of the same slots.
  init(_ layout: RowLayout, _ fieldBySlot: [Int], _ traits: [EntityBinding.Trait]) {
    let fields = UnsafeMutablePointer<Field>.allocate(capacity: max(1, fieldBySlot.count))
    for (slot, field) in fieldBySlot.enumerated() {
      var entry = Field()
      if field >= 0 {
        entry.kind = layout.fields[field].kind.rawValue
        entry.nilMask = 1 << UInt8(field & 7)
        entry.isSure = !traits[slot].canDangle
        entry.nilOffset = Int32(RowLayout.headerByteCount + field >> 3)
        entry.position = Int32(layout.positions[field])
        entry.offsetsStart = Int32(layout.offsetsStart)
        entry.variableCount = Int32(layout.variableCount)
      }
      (fields + slot).initialize(to: entry)
    }
    self.fields = UnsafePointer(fields)
  }

  deinit { fields.deallocate() }
}

extension FieldTable.Field {
  func isKind(_ kind: FieldKind) -> Bool { self.kind == kind.rawValue }

  func isNil(in row: UnsafeRawPointer) -> Bool {
    row.load(fromByteOffset: Int(nilOffset), as: UInt8.self) & nilMask != 0
  }

  /// The bits of a fixed field.
  func fixed<Bits: FixedWidthInteger>(in row: UnsafeRawPointer) -> Bits {
    Bits(littleEndian: row.loadUnaligned(fromByteOffset: Int(position), as: Bits.self))
  }

  /// The bytes of a variable field.
  func variable(in row: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    let isWide = row.load(fromByteOffset: 2, as: UInt8.self) & RowLayout.wideOffsetsFlag != 0
    let offsets = row + Int(offsetsStart)
    let index = Int(position)
    let start: Int
    let end: Int
    if isWide {
      start = index == 0 ? 0 : Self.offset(offsets, index - 1, as: UInt32.self)
      end = Self.offset(offsets, index, as: UInt32.self)
    } else {
      start = index == 0 ? 0 : Self.offset(offsets, index - 1, as: UInt16.self)
      end = Self.offset(offsets, index, as: UInt16.self)
    }
    let values = offsets + Int(variableCount) * (isWide ? 4 : 2)
    return UnsafeRawBufferPointer(start: values + start, count: end - start)
  }

  private static func offset<Offset: FixedWidthInteger>(
    _ offsets: UnsafeRawPointer, _ index: Int, as type: Offset.Type
  ) -> Int {
    let width = MemoryLayout<Offset>.size
    return Int(
      Offset(littleEndian: offsets.loadUnaligned(fromByteOffset: index * width, as: type)))
  }
}
