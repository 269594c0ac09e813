import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Changes numbers and the like in rows where they lie, for as many rows as that is enough for.
///
/// A value of fixed width has a place of its own in every row. Where no index and no derived value
/// has to do with it, all that a change takes is to write over its bytes, and over the version's.
final class BatchPatching {
  private enum Source {
    case bits(UInt64?)
    case arithmetic(RowArithmetic)
  }

  private struct Field {
    let slot: Int
    let kind: FieldKind
    let place: FieldTable.Place
    let rule: AttributeRule?
    let source: Source
  }

  private struct Patch {
    let place: FieldTable.Place
    let width: Int
    let bits: UInt64?
  }

  private let write: BatchWrite
  private let storage: EntityStorage
  private let execution: BatchExecution
  private var fields: [Field] = []
  // Private, and nothing that a run calls comes back here.
  @exclusivity(unchecked) private var patches: [Patch] = []
  @exclusivity(unchecked) private var changedSlots = SlotSet()
  /// Keys of rows that take more.
  @exclusivity(unchecked) private var left: [Int64] = []
  @exclusivity(unchecked) private var failure: (any Error)?

  /// - Returns: `nil` where rows have to be written anew.
  init?(
    _ write: BatchWrite, _ storage: EntityStorage, _ sources: [(slot: Int, BatchUpdate.Source)],
    _ execution: BatchExecution
  ) throws {
    let slots = SlotSet(sources.map(\.slot))
    guard storage.canPatchRows,
      write.entities.derivations?.dependsOn(slots, storage.binding) != true,
      try write.writer.indexUpkeep()?.dependsOn(slots, storage) != true
    else { return nil }
    self.write = write
    self.storage = storage
    self.execution = execution
    for (slot, source) in sources {
      let kind = storage.layout.fields[storage.fieldBySlot[slot]].kind
      let isNumber = [.integer16, .integer32, .integer64, .double].contains(kind)
      let made: Source
      switch source {
      case .value(let value):
        let bits = value.flatMap(kind.bits)
        guard kind.bitWidth != nil, value == nil || bits != nil else { return nil }
        made = .bits(bits)
      case .expression(let expression):
        guard isNumber, let arithmetic = RowArithmetic(expression, storage) else { return nil }
        made = .arithmetic(arithmetic)
      case .object, .place: return nil
      }
      fields.append(
        Field(
          slot: slot, kind: kind, place: storage.table.places[slot],
          rule: storage.binding.rules[slot], source: made))
    }
  }

  /// Changes rows, in the order of their places, all of the one entity.
  ///
  /// - Returns: where rows are that have to be written anew, which are as they were.
  func patch(_ places: ArraySlice<Reference>) throws -> [Reference] {
    left = []
    let rows = try write.writer.rows(of: storage.stored)
    let number = storage.stored.number
    // Not all at once, so that a leaf is not held for long, and somebody may stop it.
    for start in stride(from: places.startIndex, to: places.endIndex, by: 1024) {
      let keys = places[start..<min(start + 1024, places.endIndex)].map(\.key)
      try keys.withUnsafeBufferPointer { keys in
        try rows.change(
          run: keys,
          visiting: { key, bytes in visit(Reference(entity: number, key: key), bytes) },
          changing: { bytes in change(bytes) })
      }
      if let failure { throw failure }
      try write.stopAtManyErrors()
      for _ in keys { try execution.advance() }
    }
    return left.map { Reference(entity: number, key: $0) }
  }

  private func visit(
    _ reference: Reference, _ bytes: UnsafeRawBufferPointer?
  ) -> ValueChange {
    guard let bytes, let row = bytes.baseAddress, RowReader.isCurrent(bytes, storage.layout),
      RowReader.endsRight(bytes, storage.layout)
    else {
      left.append(reference.key)
      return .none
    }
    patches.removeAll(keepingCapacity: true)
    changedSlots = SlotSet()
    for field in fields {
      let new: UInt64?
      switch field.source {
      case .bits(let bits): new = bits
      case .arithmetic(let arithmetic):
        guard let number = arithmetic.value(in: row), let bits = field.kind.bits(of: number) else {
          left.append(reference.key)
          return .none
        }
        new = bits
      }
      guard let width = field.kind.bitWidth else { continue }
      if field.place.isNil(in: row) ? new == nil : new == field.place.bits(in: row, width) {
        continue
      }
      // What is wrong is told where rows are written anew.
      if let rule = field.rule, !isAllowed(new, field.kind, rule) {
        left.append(reference.key)
        return .none
      }
      patches.append(Patch(place: field.place, width: width, bits: new))
      changedSlots.append(field.slot)
    }
    if patches.isEmpty { return .none }
    write.changes.noteChange(of: changedSlots, at: reference)
    return .bytes
  }

  private func isAllowed(_ bits: UInt64?, _ kind: FieldKind, _ rule: AttributeRule) -> Bool {
    var isAllowed = true
    rule.check(bits.flatMap(kind.value)) { _ in isAllowed = false }
    return isAllowed
  }

  private func change(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let row = bytes.baseAddress else { return }
    let version = UInt32(littleEndian: row.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    row.storeBytes(
      of: BatchWrite.version(after: version).littleEndian, toByteOffset: 4, as: UInt32.self)
    for patch in patches { patch.place.store(patch.bits, in: row, patch.width) }
  }
}

extension FieldKind {
  /// The bytes of a field whose value is told by its bits alone; `nil` for other kinds.
  fileprivate var bitWidth: Int? {
    switch self {
    case .boolean: 1
    case .integer16: 2
    case .integer32, .float: 4
    case .integer64, .double, .date: 8
    default: nil
    }
  }

  /// A value as the bits of a field; `nil` where that cannot be.
  fileprivate func bits(_ value: AttributeValue) -> UInt64? {
    switch (value, self) {
    case (.boolean(let flag), .boolean): flag ? 1 : 0
    case (.integer(let number), _): bits(of: .integer(number))
    case (.double(let number), .double): number.bitPattern
    case (.float(let number), .float): UInt64(number.bitPattern)
    case (.date(let date), .date): date.timeIntervalSinceReferenceDate.bitPattern
    default: nil
    }
  }

  fileprivate func bits(of number: RowArithmetic.Number) -> UInt64? {
    switch (number, self) {
    case (.integer(let number), .integer64): UInt64(bitPattern: number)
    case (.integer(let number), .integer32):
      Int32(exactly: number).map { UInt64(UInt32(bitPattern: $0)) }
    case (.integer(let number), .integer16):
      Int16(exactly: number).map { UInt64(UInt16(bitPattern: $0)) }
    case (_, .double): number.double.bitPattern
    default: nil
    }
  }

  fileprivate func value(_ bits: UInt64) -> AttributeValue? {
    switch self {
    case .boolean: .boolean(bits != 0)
    case .integer16: .integer(Int64(Int16(truncatingIfNeeded: bits)))
    case .integer32: .integer(Int64(Int32(truncatingIfNeeded: bits)))
    case .integer64: .integer(Int64(bitPattern: bits))
    case .double: .double(Double(bitPattern: bits))
    case .float: .float(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
    default: nil
    }
  }
}

extension FieldTable.Place {
  @inline(__always)
  fileprivate func bits(in row: UnsafeRawPointer, _ width: Int) -> UInt64 {
    switch width {
    case 1: UInt64(fixed(in: row) as UInt8)
    case 2: UInt64(fixed(in: row) as UInt16)
    case 4: UInt64(fixed(in: row) as UInt32)
    default: fixed(in: row)
    }
  }

  /// Writes over a fixed field; one without a value is zero.
  @inline(__always)
  fileprivate func store(_ bits: UInt64?, in row: UnsafeMutableRawPointer, _ width: Int) {
    let flags = row.load(fromByteOffset: Int(nilOffset), as: UInt8.self)
    row.storeBytes(
      of: bits == nil ? flags | nilMask : flags & ~nilMask, toByteOffset: Int(nilOffset),
      as: UInt8.self)
    let bits = bits ?? 0
    switch width {
    case 1:
      row.storeBytes(of: UInt8(truncatingIfNeeded: bits), toByteOffset: Int(place), as: UInt8.self)
    case 2:
      row.storeBytes(
        of: UInt16(truncatingIfNeeded: bits).littleEndian, toByteOffset: Int(place),
        as: UInt16.self)
    case 4:
      row.storeBytes(
        of: UInt32(truncatingIfNeeded: bits).littleEndian, toByteOffset: Int(place),
        as: UInt32.self)
    default: row.storeBytes(of: bits.littleEndian, toByteOffset: Int(place), as: UInt64.self)
    }
  }
}
