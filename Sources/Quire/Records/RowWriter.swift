import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Builds rows of one layout, one after the other, in memory that is reused.
final class RowWriter {
  enum Field {
    case value(AttributeValue)
    case reference(Reference)
    /// The bytes of a field of the same kind in another row; for a value outside of that row, the
    /// reference to it.
    case copy(of: Int, in: RowReader)
    case external(ExternalValue)
  }

  let layout: RowLayout
  // Sound: private, and not accessed again while they change.
  @exclusivity(unchecked) private var memory: UnsafeMutableRawBufferPointer
  /// The number of bytes of the row.
  @exclusivity(unchecked) private var count = 0
  // Sound: one element for each variable field of the layout; only the writer uses them.
  /// The ends of the variable fields, relative to the start of the first.
  private let ends: UnsafeMutablePointer<Int>
  let kinds: [FieldKind]

  /// The fields of the row whose values are outside of it.
  @exclusivity(unchecked) private var externals: [(field: Int, value: ExternalValue)] = []

  /// The values outside of the row that was built last.
  var externalValues: [ExternalValue] { externals.map(\.value) }

  init(_ layout: RowLayout) {
    self.layout = layout
    ends = .allocate(capacity: layout.variableCount)
    kinds = layout.fields.map(\.kind)
    memory = .allocate(
      byteCount: max(256, 2 * (layout.offsetsStart + 4 * layout.variableCount)), alignment: 16)
  }

  deinit {
    memory.deallocate()
    ends.deallocate()
  }

  /// Calls `body` with the row that was built last; the bytes are valid within the call.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(self) {
      try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
  }

  /// The offset of the variable fields in a row that is not wide.
  private var valuesStart: Int { layout.offsetsStart + 2 * layout.variableCount }

  /// Builds a row, which ``withBytes(_:)`` then gives access to.
  ///
  /// - Parameter field: returns the content of the field with an index; `nil` for no value.
  /// - Throws: ``RowError`` if a value is not of its field's kind or out of its range.
  func write(version: UInt32, _ field: (Int) throws -> Field?) throws {
    try write(
      version: version,
      putting: { index in
        guard let content = try field(index) else { return false }
        try put(content, index)
        return true
      })
  }

  /// Builds a row, which ``withBytes(_:)`` then gives access to.
  ///
  /// - Parameter put: writes the content of the field with an index by ``put(_:_:)`` or
  ///   ``put(_:in:)``; returns `false` for no value.
  /// - Throws: ``RowError`` if a value is not of its field's kind or out of its range.
  func write(version: UInt32, putting put: (Int) throws -> Bool) throws {
    var variableCount = 0
    if !externals.isEmpty { externals = [] }
    count = valuesStart
    memory[..<count].initializeMemory(as: UInt8.self, repeating: 0)
    store(layout.number, at: 0)
    store(version, at: 4)
    for index in 0..<kinds.count {
      if try !put(index) {
        memory[RowLayout.headerByteCount + index >> 3] |= 1 << UInt8(index & 7)
      }
      if kinds[index].isVariable {
        ends[variableCount] = count - valuesStart
        variableCount += 1
      }
    }
    if count - valuesStart > Int(UInt16.max) {
      makeWide()
    } else {
      var offset = layout.offsetsStart
      for index in 0..<variableCount {
        store(UInt16(truncatingIfNeeded: ends[index]), at: offset)
        offset += 2
      }
    }
    if !externals.isEmpty { recordExternals() }
  }

  /// Appends the list of fields whose values are outside of the row.
  private func recordExternals() {
    memory[2] |= RowLayout.externalFlag
    reserve(2 * externals.count)
    for external in externals {
      store(UInt16(truncatingIfNeeded: external.field), at: count)
      count += 2
    }
  }

  /// Changes the end offsets to 32 bits each, as the values are too long for 16.
  private func makeWide() {
    let growth = 2 * layout.variableCount
    reserve(growth)
    copy(
      UnsafeRawBufferPointer(rebasing: memory[valuesStart..<count]), to: valuesStart + growth)
    count += growth
    memory[2] |= RowLayout.wideOffsetsFlag
    for index in 0..<layout.variableCount {
      store(UInt32(truncatingIfNeeded: ends[index]), at: layout.offsetsStart + 4 * index)
    }
  }

  func put(_ content: Field, _ index: Int) throws {
    let kind = layout.fields[index].kind
    switch content {
    case .reference(let reference): try put(reference, in: index)
    case .copy(let source, let reader):
      guard reader.layout.fields[source].kind == kind else {
        throw mismatch(index, "a copy of another kind of field")
      }
      if let width = kind.fixedWidth {
        let start = reader.layout.positions[source]
        copy(
          UnsafeRawBufferPointer(rebasing: reader.bytes[start..<start + width]),
          to: layout.positions[index])
      } else {
        if let external = reader.external(source) { externals.append((index, external)) }
        append(reader.variable(source))
      }
    case .external(let external):
      guard kind.canBeExternal else { throw mismatch(index, "a value outside of its row") }
      externals.append((index, external))
      let bytes = (external.number.littleEndian, Int64(external.byteCount).littleEndian)
      withUnsafeBytes(of: bytes) { append($0) }
    case .value(let value):
      try put(value, kind, index)
    }
  }

  /// Writes a value to a field of the row that is being built.
  func put(_ value: AttributeValue, in field: Int) throws {
    // The most frequent types, without a switch over pairs of value and kind.
    switch value {
    case .string(let text): try put(text, in: field)
    case .double(let number): try put(number, in: field)
    default: try put(value, kinds[field], field)
    }
  }

  private func put(_ value: AttributeValue, _ kind: FieldKind, _ index: Int) throws {
    let offset = layout.positions[index]
    switch kind {
    case .boolean:
      if case .boolean(let flag) = value { return store(flag ? 1 : 0 as UInt8, at: offset) }
    case .integer16:
      if case .integer(let number) = value {
        return store(try narrow(number, index) as Int16, at: offset)
      }
    case .integer32:
      if case .integer(let number) = value {
        return store(try narrow(number, index) as Int32, at: offset)
      }
    case .integer64: if case .integer(let number) = value { return store(number, at: offset) }
    case .double:
      if case .double(let number) = value { return store(number.bitPattern, at: offset) }
    case .float: if case .float(let number) = value { return store(number.bitPattern, at: offset) }
    case .date:
      if case .date(let date) = value {
        return store(date.timeIntervalSinceReferenceDate.bitPattern, at: offset)
      }
    case .uuid:
      if case .uuid(let uuid) = value {
        return withUnsafeBytes(of: uuid.uuid) { copy($0, to: offset) }
      }
    case .string: if case .string(let text) = value { return append(text) }
    case .binary:
      if case .binary(let data) = value { return data.withUnsafeBytes { append($0) } }
    case .transformed:
      if case .transformed(let data) = value { return data.withUnsafeBytes { append($0) } }
    case .decimal: if case .decimal(let number) = value { return append(number.rowText) }
    case .uri: if case .uri(let url) = value { return append(url.absoluteString) }
    case .objectID: if case .objectID(let url) = value { return append(url.absoluteString) }
    case .composite:
      if case .composite = value { return value.archived().withUnsafeBytes { append($0) } }
    case .reference: break
    }
    throw mismatch(index, "\(value)")
  }

  private func narrow<T: FixedWidthInteger>(_ number: Int64, _ index: Int) throws -> T {
    guard let narrow = T(exactly: number) else { throw mismatch(index, "\(number)") }
    return narrow
  }

  func mismatch(_ index: Int, _ found: String) -> RowError {
    let field = layout.fields[index]
    return RowError(reason: "the field \(field.name) of kind \(field.kind) cannot hold \(found)")
  }

  /// Starts with a copy of another row of this layout.
  func take(_ row: UnsafeRawBufferPointer, _ version: UInt32) {
    if !externals.isEmpty { externals = [] }
    count = 0
    append(row)
    store(version, at: 4)
  }

  /// Sets whether a field of fixed width is absent; an absent one is filled with zeros.
  func setAbsent(_ field: Int, _ isAbsent: Bool, _ width: Int) {
    let (offset, mask) = (RowLayout.headerByteCount + field >> 3, 1 << UInt8(field & 7) as UInt8)
    if isAbsent {
      memory[offset] |= mask
      let start = layout.positions[field]
      memory[start..<start + width].initializeMemory(as: UInt8.self, repeating: 0)
    } else {
      memory[offset] &= ~mask
    }
  }

  // MARK: Bytes

  func append(_ text: String) {
    let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
      append(UnsafeRawBufferPointer($0))
    }
    if isDone == nil { Array(text.utf8).withUnsafeBytes { append($0) } }
  }

  private func append(_ values: UnsafeRawBufferPointer) {
    reserve(values.count)
    copy(values, to: count)
    count += values.count
  }

  private func copy(_ source: UnsafeRawBufferPointer, to offset: Int) {
    UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyMemory(from: source)
  }

  private func reserve(_ additional: Int) {
    guard count + additional > memory.count else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(count + additional, 2 * memory.count), alignment: 16)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
    memory.deallocate()
    memory = larger
  }

  func store<Integer: FixedWidthInteger>(_ integer: Integer, at offset: Int) {
    memory.storeBytes(of: integer.littleEndian, toByteOffset: offset, as: Integer.self)
  }
}
