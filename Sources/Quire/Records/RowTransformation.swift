import QuireModel

/// Makes rows of one layout from rows of another: what goes where is decided once, and carried out
/// on bytes for each row.
///
/// Fields that lie together in both layouts are copied together, so that a row of ten fields that
/// gains an eleventh takes a few copies and no look at any value.
struct RowTransformation: Sendable {
  /// Where a field of a new row comes from.
  enum Source: Hashable, Sendable {
    /// The field with this index in the old row, which is of the same kind.
    case copy(Int)
    /// The same, or this value where the old row has none.
    case copyOrDefault(Int, AttributeValue)
    /// A composite whose elements changed, or this value where the old row has none.
    case convert(Int, CompositeConversion, orDefault: AttributeValue?)
    case constant(AttributeValue)
    /// A reference that is asked for row by row, under this number.
    case link(Int)
    case absent
  }

  /// Bits of the old row's nil values that are next to each other in both rows.
  private struct BitRun {
    var from: Int
    var to: Int
    var count: Int
  }

  /// Bytes of the fixed part that are next to each other in both rows.
  private struct FixedRun {
    var from: Int
    var to: Int
    var count: Int
  }

  /// Some of the new row's variable fields, which follow each other.
  private enum VariableRun {
    /// This many fields of the old row from this one on.
    case copy(first: Int, count: Int)
    /// A field of the old row, or these bytes where it is nil.
    case copyOrDefault(variable: Int, field: Int, bytes: [UInt8])
    /// The bytes that were converted for this row, by their number.
    case converted(Int)
    case constant([UInt8])
    case absent
  }

  private struct Default {
    var from: Int
    var to: Int
    /// Where a fixed field lies, and what it holds; `nil` for a variable one.
    var fixed: (place: Int, bytes: [UInt8])?
  }

  private let old: RowLayout
  private let new: RowLayout
  /// Whether the bits of either row fit into 64.
  private let hasFewFields: Bool
  /// The fixed part of a new row, without what differs from row to row.
  private var template: [UInt8] = []
  private var bitRuns: [BitRun] = []
  private var fixedRuns: [FixedRun] = []
  private var variableRuns: [VariableRun] = []
  private var defaults: [Default] = []
  private var conversions: [(field: Int, from: Int, CompositeConversion, orDefault: [UInt8]?)] = []
  private var links: [(field: Int, place: Int, number: Int)] = []
  /// The bytes of all variable constants and defaults.
  private var constantByteCount = 0

  /// - Parameter sources: one for each field of the new layout.
  /// - Throws: ``RowError`` when a constant is not of its field's kind or out of its range, or a
  ///   field is to be copied to one of another kind.
  init(from old: RowLayout, to new: RowLayout, _ sources: [Source]) throws {
    self.old = old
    self.new = new
    hasFewFields = max(old.fields.count, new.fields.count) <= 64
    for (field, source) in sources.enumerated() {
      switch source {
      case .copy(let from), .copyOrDefault(let from, _), .convert(let from, _, _):
        guard old.fields[from].kind == new.fields[field].kind else {
          throw RowError(
            reason: "the field \(new.fields[field].name) cannot be copied from one of kind "
              + "\(old.fields[from].kind)")
        }
      case .constant, .link, .absent: break
      }
    }
    // A row with nothing but the constants: its fixed part is the template, its variable fields are
    // the constants' bytes.
    var writer = RowWriter(new)
    try writer.write(version: 0) { field in
      switch sources[field] {
      case .constant(let value), .copyOrDefault(_, let value): .value(value)
      case .convert(_, _, let value): value.map(RowWriter.Field.value)
      case .copy, .link, .absent: nil
      }
    }
    var template = Array(writer.bytes[..<new.offsetsStart])
    template[2] = 0
    let constants = writer.bytes
    try constants.withUnsafeBytes { bytes in
      let row = try RowReader(bytes, layout: new)
      for (field, source) in sources.enumerated() {
        if let width = new.fields[field].kind.fixedWidth {
          addFixed(field, source, width, row, &template)
        } else {
          addVariable(field, source, row, &template)
        }
      }
    }
    self.template = template
  }

  // MARK: Deciding

  private mutating func addFixed(
    _ field: Int, _ source: Source, _ width: Int, _ constants: RowReader,
    _ template: inout [UInt8]
  ) {
    let place = new.places[field]
    switch source {
    case .copy(let from):
      addCopy(from, field, width, &template)
    case .copyOrDefault(let from, _):
      addCopy(from, field, width, &template)
      let bytes = Array(constants.bytes[place..<place + width])
      defaults.append(Default(from: from, to: field, fixed: (place, bytes)))
    case .link(let number): links.append((field, place, number))
    case .constant, .convert, .absent: break
    }
  }

  private mutating func addCopy(
    _ from: Int, _ field: Int, _ width: Int, _ template: inout [UInt8]
  ) {
    addBit(from, field, &template)
    let run = FixedRun(from: old.places[from], to: new.places[field], count: width)
    if let last = fixedRuns.last, last.from + last.count == run.from, last.to + last.count == run.to
    {
      fixedRuns[fixedRuns.count - 1].count += width
    } else {
      fixedRuns.append(run)
    }
  }

  /// The bit of a nil value is copied: in the template there is none.
  private mutating func addBit(_ from: Int, _ field: Int, _ template: inout [UInt8]) {
    template[RowLayout.headerByteCount + field >> 3] &= ~(1 << UInt8(field & 7))
    // At most 56, so that a run fits into the 64 bits read from the byte where it begins.
    if let last = bitRuns.last, last.from + last.count == from, last.to + last.count == field,
      last.count < 56
    {
      bitRuns[bitRuns.count - 1].count += 1
    } else {
      bitRuns.append(BitRun(from: from, to: field, count: 1))
    }
  }

  private mutating func addVariable(
    _ field: Int, _ source: Source, _ constants: RowReader, _ template: inout [UInt8]
  ) {
    switch source {
    case .copy(let from):
      addBit(from, field, &template)
      let first = old.places[from]
      if case .copy(let start, let count)? = variableRuns.last, start + count == first {
        variableRuns[variableRuns.count - 1] = .copy(first: start, count: count + 1)
      } else {
        variableRuns.append(.copy(first: first, count: 1))
      }
    case .copyOrDefault(let from, _):
      addBit(from, field, &template)
      let bytes = Array(constants.variable(field))
      constantByteCount += bytes.count
      variableRuns.append(
        .copyOrDefault(variable: old.places[from], field: from, bytes: bytes))
      defaults.append(Default(from: from, to: field, fixed: nil))
    case .convert(let from, let conversion, let value):
      addBit(from, field, &template)
      let bytes = value.map { _ in Array(constants.variable(field)) }
      variableRuns.append(.converted(conversions.count))
      conversions.append((field, from, conversion, bytes))
    case .constant:
      let bytes = Array(constants.variable(field))
      constantByteCount += bytes.count
      variableRuns.append(.constant(bytes))
    case .absent, .link:
      variableRuns.append(.absent)
    }
  }

  // MARK: Carrying out

  /// The bytes of the row's fields that are neither copied nor the same in all rows.
  ///
  /// - Throws: ``RowError`` when one of them cannot be read.
  func converted(_ row: RowReader) throws -> [[UInt8]] {
    try conversions.map { _, from, conversion, orDefault in
      try row.value(from).map { conversion($0).archived() } ?? orDefault ?? []
    }
  }

  /// The most bytes that the new row of an old one may have.
  func byteLimit(for row: RowReader, _ converted: [[UInt8]]) -> Int {
    let fixed = max(template.count, RowTransformation.wordByteCount)
    return fixed + 4 * new.variableCount + variableByteLimit(for: row, converted)
  }

  private func variableByteLimit(for row: RowReader, _ converted: [[UInt8]]) -> Int {
    row.variableByteCount + constantByteCount + converted.reduce(0) { $0 + $1.count }
  }

  /// The header of a row and 64 bits.
  private static let wordByteCount = RowLayout.headerByteCount + 8

  /// Writes the new row of `row` to `target`, which has room for ``byteLimit(for:_:)`` bytes.
  ///
  /// - Parameters:
  ///   - converted: what ``converted(_:)`` says of the row.
  ///   - link: the reference with a number, if there is one.
  /// - Returns: how many bytes there are.
  func write(
    _ row: RowReader, _ converted: [[UInt8]], to target: UnsafeMutableRawPointer,
    link: (Int) throws -> Reference?
  ) rethrows -> Int {
    template.withUnsafeBytes { copy($0, to: target) }
    target.storeBytes(of: row.version.littleEndian, toByteOffset: 4, as: UInt32.self)
    copyBits(of: row, to: target)
    for run in fixedRuns {
      copy(
        UnsafeRawBufferPointer(rebasing: row.bytes[run.from..<run.from + run.count]),
        to: target + run.to)
    }
    for value in defaults where row.isNil(value.from) {
      clearBit(value.to, in: target)
      if let fixed = value.fixed {
        fixed.bytes.withUnsafeBytes { copy($0, to: target + fixed.place) }
      }
    }
    for (field, from, _, orDefault) in conversions where orDefault != nil && row.isNil(from) {
      clearBit(field, in: target)
    }
    for (field, place, number) in links {
      guard let reference = try link(number) else { continue }
      clearBit(field, in: target)
      target.storeBytes(
        of: reference.rawValue.littleEndian, toByteOffset: place, as: UInt64.self)
    }
    return writeVariables(of: row, converted, to: target)
  }

  @inline(__always)
  private func copy(_ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) {
    if let base = bytes.baseAddress { target.copyMemory(from: base, byteCount: bytes.count) }
  }

  private func clearBit(_ field: Int, in target: UnsafeMutableRawPointer) {
    let place = RowLayout.headerByteCount + field >> 3
    let byte = target.load(fromByteOffset: place, as: UInt8.self)
    target.storeBytes(of: byte & ~(1 << UInt8(field & 7)), toByteOffset: place, as: UInt8.self)
  }

  @inline(__always)
  private func copyBits(of row: RowReader, to target: UnsafeMutableRawPointer) {
    if hasFewFields, row.bytes.count >= RowTransformation.wordByteCount,
      let source = row.bytes.baseAddress
    {
      // All bits at once. What lies behind them in the new row stays as the template has it.
      let place = RowLayout.headerByteCount
      let old = UInt64(littleEndian: source.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      var bits = UInt64(littleEndian: target.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      for run in bitRuns {
        let mask: UInt64 = 1 << UInt64(run.count) - 1
        bits |= (old >> UInt64(run.from) & mask) << UInt64(run.to)
      }
      target.storeBytes(of: bits.littleEndian, toByteOffset: place, as: UInt64.self)
    } else {
      for run in bitRuns {
        for bit in 0..<run.count where row.isNil(run.from + bit) {
          let field = run.to + bit
          let place = RowLayout.headerByteCount + field >> 3
          let byte = target.load(fromByteOffset: place, as: UInt8.self)
          target.storeBytes(
            of: byte | 1 << UInt8(field & 7), toByteOffset: place, as: UInt8.self)
        }
      }
    }
  }

  /// The end offsets and the values behind them.
  @inline(__always)
  private func writeVariables(
    of row: RowReader, _ converted: [[UInt8]], to target: UnsafeMutableRawPointer
  ) -> Int {
    let limit = variableByteLimit(for: row, converted)
    // Whether 16 bits are enough is known only when all is counted, if it is not clear beforehand.
    let isWide =
      limit > Int(UInt16.max) && variableByteCount(for: row, converted) > Int(UInt16.max)
    let values = target + new.offsetsStart + new.variableCount * (isWide ? 4 : 2)
    if isWide { target.storeBytes(of: RowLayout.wideOffsetsFlag, toByteOffset: 2, as: UInt8.self) }
    var index = 0
    var end = 0
    func note(_ end: Int) {
      if isWide {
        let end = UInt32(truncatingIfNeeded: end).littleEndian
        target.storeBytes(of: end, toByteOffset: new.offsetsStart + 4 * index, as: UInt32.self)
      } else {
        let end = UInt16(truncatingIfNeeded: end).littleEndian
        target.storeBytes(of: end, toByteOffset: new.offsetsStart + 2 * index, as: UInt16.self)
      }
      index += 1
    }
    for run in variableRuns {
      switch run {
      case .copy(let first, let count):
        let start = row.start(ofVariable: first)
        for variable in first..<first + count { note(end + row.end(ofVariable: variable) - start) }
        let bytes = row.variables(first, count)
        copy(bytes, to: values + end)
        end += bytes.count
      case .copyOrDefault(let variable, let field, let constant):
        if row.isNil(field) {
          constant.withUnsafeBytes { copy($0, to: values + end) }
          end += constant.count
        } else {
          let bytes = row.variables(variable, 1)
          copy(bytes, to: values + end)
          end += bytes.count
        }
        note(end)
      case .converted(let number):
        converted[number].withUnsafeBytes { copy($0, to: values + end) }
        end += converted[number].count
        note(end)
      case .constant(let constant):
        constant.withUnsafeBytes { copy($0, to: values + end) }
        end += constant.count
        note(end)
      case .absent:
        note(end)
      }
    }
    return values + end - target
  }

  private func variableByteCount(for row: RowReader, _ converted: [[UInt8]]) -> Int {
    variableRuns.reduce(0) { sum, run in
      switch run {
      case .copy(let first, let count): sum + row.variables(first, count).count
      case .copyOrDefault(let variable, let field, let constant):
        sum + (row.isNil(field) ? constant.count : row.variables(variable, 1).count)
      case .converted(let number): sum + converted[number].count
      case .constant(let constant): sum + constant.count
      case .absent: sum
      }
    }
  }
}
