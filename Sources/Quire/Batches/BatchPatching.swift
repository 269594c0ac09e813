import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Changes values of fixed width in the bytes of existing rows.
///
/// Such a value has the same offset in every row. If no index and no derived value depends on it, a
/// change overwrites its bytes and those of the version. Rows that need more (those of an older
/// layout, or with a value that is not allowed) are left to the caller.
final class BatchPatching {
  /// The change of a field: without references to count, as it is read for each row.
  private struct Field {
    let slot: Int
    let kind: FieldKind
    let field: FieldTable.Field
    let width: Int
    /// The steps that compute the bits for each row; `nil` if they are the same for all.
    let steps: UnsafePointer<RowArithmetic.Step>?
    /// The bits for all rows; `nil` for no value.
    let bits: UInt64?
    /// Whether the model's rules allow these bits.
    let isAllowed: Bool
    /// Whether computed values must be validated by the rules.
    let isLimited: Bool
  }

  private let write: BatchWrite
  private let storage: EntityStorage
  private let execution: BatchExecution
  private let number: UInt16
  private let shape: RowShape
  /// Keeps the steps whose addresses the fields have.
  private let arithmetics: [RowArithmetic]
  // Sound: both are written in `init`, freed with the object, and contain plain values; only the
  // object's own functions use their addresses.
  private let fields: UnsafeMutableBufferPointer<Field>
  /// The new bits of the current row's fields.
  private let newBits: UnsafeMutablePointer<UInt64?>
  /// The fields of the current row that change, a bit for each.
  private var changedFields: UInt64 = 0
  /// The rows of the last portion that must be written anew.
  private var left: [Reference] = []
  /// The number of rows in the last portion.
  private var visitedCount = 0
  /// Rows that are not recorded yet: adjacent keys, and the fields that have changed in all of
  /// them; no fields for rows that stay as they are.
  private var run: (first: Int64, count: Int, fields: UInt64) = (0, 0, 0)

  /// The number of rows that are changed together: few, so that a leaf is not held for long, and a
  /// request can be cancelled.
  private static let portion = 1024

  /// - Returns: `nil` if all rows must be written anew.
  init?(
    _ write: BatchWrite, _ storage: EntityStorage, _ sources: [(slot: Int, BatchUpdate.Source)],
    _ execution: BatchExecution
  ) throws {
    let slots = SlotSet(sources.map(\.slot))
    guard storage.canPatchRows, sources.count <= UInt64.bitWidth,
      write.entities.derivations?.dependsOn(slots, storage.binding) != true,
      try write.writer.indexUpkeep()?.dependsOn(slots, storage) != true
    else { return nil }
    var fields: [Field] = []
    var arithmetics: [RowArithmetic] = []
    for (slot, source) in sources {
      let kind = storage.layout.fields[storage.fieldBySlot[slot]].kind
      guard let width = kind.bitWidth else { return nil }
      let rule = storage.binding.rules[slot]
      var bits: UInt64?
      var arithmetic: RowArithmetic?
      switch source {
      case .value(let value):
        bits = value.flatMap(kind.bits)
        guard value == nil || bits != nil else { return nil }
      case .expression(let expression):
        let isNumber = [.integer16, .integer32, .integer64, .double].contains(kind)
        guard isNumber, let made = RowArithmetic(expression, storage) else { return nil }
        arithmetics.append(made)
        arithmetic = made
      case .object, .reference: return nil
      }
      fields.append(
        Field(
          slot: slot, kind: kind, field: storage.table.fields[slot], width: width,
          steps: arithmetic?.steps, bits: bits,
          isAllowed: rule?.allows(bits.flatMap(kind.value)) ?? true,
          isLimited: rule?.limitsStoredValues ?? false))
    }
    self.write = write
    self.storage = storage
    self.execution = execution
    self.arithmetics = arithmetics
    number = storage.stored.number
    shape = storage.shape
    self.fields = .allocate(capacity: fields.count)
    _ = self.fields.initialize(from: fields)
    newBits = .allocate(capacity: fields.count)
    newBits.initialize(repeating: nil, count: fields.count)
  }

  deinit {
    fields.deallocate()
    newBits.deallocate()
  }

  /// Changes rows of the entity.
  ///
  /// - Parameters:
  ///   - references: the references, in order; `nil` for all rows.
  ///   - rewrite: called with each row that must be written anew, and is unchanged.
  func patch(
    _ references: ArraySlice<Reference>?, _ rewrite: (Reference) throws -> Void
  ) throws {
    defer { withExtendedLifetime(arithmetics) {} }
    let rows = try write.writer.rows(of: storage.stored)
    guard let references else {
      var first: Int64? = .min
      while let start = first {
        first = try rows.change(
          from: start, limit: Self.portion, visiting: visit, changing: change)
        try finishPortion(rewrite)
      }
      return
    }
    for start in stride(from: references.startIndex, to: references.endIndex, by: Self.portion) {
      let keys = references[start..<min(start + Self.portion, references.endIndex)].map(\.key)
      try keys.withUnsafeBufferPointer {
        try rows.change(run: $0, visiting: visit, changing: change)
      }
      try finishPortion(rewrite)
    }
  }

  private func finishPortion(_ rewrite: (Reference) throws -> Void) throws {
    recordRun()
    for reference in left { try rewrite(reference) }
    left.removeAll(keepingCapacity: true)
    for _ in 0..<visitedCount { try execution.advance() }
    visitedCount = 0
  }

  private func visit(_ key: Int64, _ bytes: UnsafeRawBufferPointer?) -> ValueChange {
    visitedCount &+= 1
    guard let bytes, let row = bytes.baseAddress, shape.isRight(row, bytes.count),
      let changed = work(on: row)
    else {
      left.append(Reference(entity: number, key: key))
      return .none
    }
    changedFields = changed
    if run.fields == changed, run.first &+ Int64(run.count) == key {
      run.count += 1
    } else {
      recordRun()
      run = (key, 1, changed)
    }
    return changed == 0 ? .none : .bytes
  }

  /// Computes the new values of the fields.
  ///
  /// - Returns: the fields that change; `nil` if the row must be written anew, which also reports
  ///   an error such as a value that is not allowed.
  private func work(on row: UnsafeRawPointer) -> UInt64? {
    var changed: UInt64 = 0
    for index in 0..<fields.count {
      let field = fields[index]
      var new = field.bits
      if var steps = field.steps {
        guard let number = RowArithmetic.value(of: &steps, in: row),
          let bits = field.kind.bits(of: number)
        else { return nil }
        new = bits
      }
      if field.field.isNil(in: row)
        ? new == nil : new == field.field.bits(in: row, field.width)
      {
        continue
      }
      guard field.steps == nil ? field.isAllowed : !field.isLimited || allows(new, field) else {
        return nil
      }
      newBits[index] = new
      changed |= 1 << UInt64(index)
    }
    return changed
  }

  @inline(never)
  private func allows(_ bits: UInt64?, _ field: Field) -> Bool {
    storage.binding.rules[field.slot]?.allows(bits.flatMap(field.kind.value)) ?? true
  }

  private func recordRun() {
    if run.count == 0 { return }
    defer { run = (0, 0, 0) }
    let first = Reference(entity: number, key: run.first)
    if run.fields == 0 { return write.changes.recordUnchanged(from: first, count: run.count) }
    let slots = SlotSet(
      fields.indices.filter { run.fields & 1 << UInt64($0) != 0 }.map { fields[$0].slot })
    write.changes.recordChanges(of: slots, from: first, count: run.count)
  }

  private func change(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let row = bytes.baseAddress else { return }
    let version = UInt32(littleEndian: row.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    row.storeBytes(
      of: BatchWrite.version(after: version).littleEndian, toByteOffset: 4, as: UInt32.self)
    var rest = changedFields
    while rest != 0 {
      let index = rest.trailingZeroBitCount
      rest &= rest &- 1
      fields[index].field.store(newBits[index], in: row, fields[index].width)
    }
  }
}

extension AttributeRule {
  fileprivate func allows(_ value: AttributeValue?) -> Bool {
    var isAllowed = true
    check(value) { _ in isAllowed = false }
    return isAllowed
  }
}

extension FieldKind {
  /// The number of bytes of a field whose value is its bits; `nil` for other kinds.
  fileprivate var bitWidth: Int? {
    switch self {
    case .boolean: 1
    case .integer16: 2
    case .integer32, .float: 4
    case .integer64, .double, .date: 8
    default: nil
    }
  }

  /// A value as the bits of a field; `nil` if it does not fit.
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

extension FieldTable.Field {
  fileprivate func bits(in row: UnsafeRawPointer, _ width: Int) -> UInt64 {
    switch width {
    case 1: UInt64(fixed(in: row) as UInt8)
    case 2: UInt64(fixed(in: row) as UInt16)
    case 4: UInt64(fixed(in: row) as UInt32)
    default: fixed(in: row)
    }
  }

  /// Overwrites a fixed field; an absent value is filled with zeros.
  fileprivate func store(_ bits: UInt64?, in row: UnsafeMutableRawPointer, _ width: Int) {
    let flags = row.load(fromByteOffset: Int(nilOffset), as: UInt8.self)
    row.storeBytes(
      of: bits == nil ? flags | nilMask : flags & ~nilMask, toByteOffset: Int(nilOffset),
      as: UInt8.self)
    let bits = bits ?? 0
    switch width {
    case 1:
      row.storeBytes(
        of: UInt8(truncatingIfNeeded: bits), toByteOffset: Int(position), as: UInt8.self)
    case 2:
      row.storeBytes(
        of: UInt16(truncatingIfNeeded: bits).littleEndian, toByteOffset: Int(position),
        as: UInt16.self)
    case 4:
      row.storeBytes(
        of: UInt32(truncatingIfNeeded: bits).littleEndian, toByteOffset: Int(position),
        as: UInt32.self)
    default: row.storeBytes(of: bits.littleEndian, toByteOffset: Int(position), as: UInt64.self)
    }
  }
}
