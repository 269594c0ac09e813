extension RowTransformation {
  // Conversion of single rows, as the transformation was prepared.

  /// The bytes of those fields of the row that need a conversion of their values.
  ///
  /// - Throws: ``RowError`` if one of them cannot be read; ``NumberRefusal`` if a number cannot be
  ///   converted.
  func converted(_ row: RowReader) throws -> [[UInt8]] {
    if conversions.isEmpty { return [] }
    return try conversions.map { conversion in
      try row.value(conversion.from).map(conversion.bytes) ?? conversion.orDefault ?? []
    }
  }

  /// The largest number of bytes that the new row of an old one can have.
  func byteLimit(for row: RowReader, _ converted: [[UInt8]]) -> Int {
    let fixed = max(template.count, RowTransformation.wordByteCount)
    return fixed + 4 * new.variableCount + variableByteLimit(for: row, converted)
  }

  private func variableByteLimit(for row: RowReader, _ converted: [[UInt8]]) -> Int {
    row.variableByteCount + constantByteCount + converted.reduce(0) { $0 + $1.count }
  }

  /// The number of bytes of a row's header and 64 bits.
  private static let wordByteCount = RowLayout.headerByteCount + 8

  /// Writes the new row of `row` to `target`, which has room for ``byteLimit(for:_:)`` bytes.
  ///
  /// - Parameters:
  ///   - converted: the result of ``converted(_:)`` for the row.
  ///   - link: returns the reference with a number, if there is one.
  /// - Returns: the number of bytes written.
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
        fixed.bytes.withUnsafeBytes { copy($0, to: target + fixed.offset) }
      }
    }
    for (number, conversion) in conversions.enumerated() {
      if conversion.orDefault != nil, row.isNil(conversion.from) {
        clearBit(conversion.field, in: target)
      }
      guard let offset = conversion.offset else { continue }
      converted[number].withUnsafeBytes { copy($0, to: target + offset) }
    }
    for (field, offset, number) in links {
      guard let reference = try link(number) else { continue }
      clearBit(field, in: target)
      target.storeBytes(
        of: reference.rawValue.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
    let count = writeVariables(of: row, converted, to: target)
    return row.hasExternal ? writeExternals(of: row, to: target, after: count) : count
  }

  /// Appends the list of fields whose values are outside of the new row.
  @inline(never)
  private func writeExternals(
    of row: RowReader, to target: UnsafeMutableRawPointer, after start: Int
  ) -> Int {
    var count = start
    for index in 0..<row.externalCount {
      guard let field = externalFields[row.externalField(index)] else { continue }
      target.storeBytes(
        of: UInt16(truncatingIfNeeded: field).littleEndian, toByteOffset: count, as: UInt16.self)
      count += 2
    }
    if count > start {
      let flags = target.load(fromByteOffset: 2, as: UInt8.self) | RowLayout.externalFlag
      target.storeBytes(of: flags, toByteOffset: 2, as: UInt8.self)
    }
    return count
  }

  private func copy(_ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) {
    if let base = bytes.baseAddress { target.copyMemory(from: base, byteCount: bytes.count) }
  }

  private func clearBit(_ field: Int, in target: UnsafeMutableRawPointer) {
    let offset = RowLayout.headerByteCount + field >> 3
    let byte = target.load(fromByteOffset: offset, as: UInt8.self)
    target.storeBytes(of: byte & ~(1 << UInt8(field & 7)), toByteOffset: offset, as: UInt8.self)
  }

  private func copyBits(of row: RowReader, to target: UnsafeMutableRawPointer) {
    if hasFewFields, row.bytes.count >= RowTransformation.wordByteCount,
      let source = row.bytes.baseAddress
    {
      // All bits at once. The bytes after them keep the values of the template.
      let offset = RowLayout.headerByteCount
      let old = UInt64(littleEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      var bits = UInt64(littleEndian: target.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      for run in bitRuns {
        let mask: UInt64 = 1 << UInt64(run.count) - 1
        bits |= (old >> UInt64(run.from) & mask) << UInt64(run.to)
      }
      target.storeBytes(of: bits.littleEndian, toByteOffset: offset, as: UInt64.self)
    } else {
      for run in bitRuns {
        for bit in 0..<run.count where row.isNil(run.from + bit) {
          let field = run.to + bit
          let offset = RowLayout.headerByteCount + field >> 3
          let byte = target.load(fromByteOffset: offset, as: UInt8.self)
          target.storeBytes(
            of: byte | 1 << UInt8(field & 7), toByteOffset: offset, as: UInt8.self)
        }
      }
    }
  }

  /// Writes the end offsets, and the values after them.
  private func writeVariables(
    of row: RowReader, _ converted: [[UInt8]], to target: UnsafeMutableRawPointer
  ) -> Int {
    let limit = variableByteLimit(for: row, converted)
    // If 16 bits are not surely enough for the offsets, the exact size decides.
    let isWide =
      limit > Int(UInt16.max) && variableByteCount(for: row, converted) > Int(UInt16.max)
    let values = target + new.offsetsStart + new.variableCount * (isWide ? 4 : 2)
    if isWide { target.storeBytes(of: RowLayout.wideOffsetsFlag, toByteOffset: 2, as: UInt8.self) }
    var index = 0
    var end = 0
    func record(_ end: Int) {
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
        for variable in first..<first + count {
          record(end + row.end(ofVariable: variable) - start)
        }
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
        record(end)
      case .converted(let number):
        converted[number].withUnsafeBytes { copy($0, to: values + end) }
        end += converted[number].count
        record(end)
      case .constant(let constant):
        constant.withUnsafeBytes { copy($0, to: values + end) }
        end += constant.count
        record(end)
      case .absent:
        record(end)
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
