import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Builds rows of one layout, one after the other, in a buffer it keeps.
struct RowWriter {
  enum Field {
    case value(AttributeValue)
    case reference(Reference)
    /// The variable or fixed bytes of a field of the same kind in another row.
    case copy(of: Int, in: RowReader)
  }

  let layout: RowLayout
  private(set) var bytes: [UInt8] = []
  private var values: [UInt8] = []
  private var ends: [Int] = []

  init(_ layout: RowLayout) { self.layout = layout }

  /// Builds a row in ``bytes``.
  ///
  /// - Parameter field: what the field with this index holds; `nil` for no value.
  /// - Throws: ``RowError`` when a value is not of its field's kind or out of its range.
  mutating func write(
    version: UInt32, _ field: (Int) throws -> Field?
  ) throws {
    bytes.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: repeatElement(0, count: layout.offsetsStart))
    store(layout.number, at: 0)
    store(version, at: 4)
    for index in layout.fields.indices {
      if let content = try field(index) {
        try put(content, index)
      } else {
        bytes[RowLayout.headerByteCount + index >> 3] |= 1 << UInt8(index & 7)
      }
      if layout.fields[index].kind.fixedWidth == nil { ends.append(values.count) }
    }
    let isWide = values.count > Int(UInt16.max)
    if isWide { bytes[2] |= RowLayout.wideOffsetsFlag }
    for end in ends {
      if isWide {
        withUnsafeBytes(of: UInt32(end).littleEndian) { bytes.append(contentsOf: $0) }
      } else {
        withUnsafeBytes(of: UInt16(end).littleEndian) { bytes.append(contentsOf: $0) }
      }
    }
    bytes.append(contentsOf: values)
  }

  private mutating func put(_ content: Field, _ index: Int) throws {
    let kind = layout.fields[index].kind
    switch content {
    case .reference(let reference):
      guard kind == .reference else { throw mismatch(index, "a reference") }
      store(reference.rawValue, at: layout.places[index])
    case .copy(let source, let reader):
      guard reader.layout.fields[source].kind == kind else {
        throw mismatch(index, "a copy of another kind of field")
      }
      if let width = kind.fixedWidth {
        let start = reader.layout.places[source]
        for offset in 0..<width {
          bytes[layout.places[index] + offset] = reader.bytes[start + offset]
        }
      } else {
        values.append(contentsOf: reader.variable(source))
      }
    case .value(let value):
      try put(value, kind, index)
    }
  }

  private mutating func put(_ value: AttributeValue, _ kind: FieldKind, _ index: Int) throws {
    let place = layout.places[index]
    switch (value, kind) {
    case (.boolean(let flag), .boolean): bytes[place] = flag ? 1 : 0
    case (.integer(let number), .integer16): store(try narrow(number, index) as Int16, at: place)
    case (.integer(let number), .integer32): store(try narrow(number, index) as Int32, at: place)
    case (.integer(let number), .integer64): store(number, at: place)
    case (.double(let number), .double): store(number.bitPattern, at: place)
    case (.float(let number), .float): store(number.bitPattern, at: place)
    case (.date(let date), .date):
      store(date.timeIntervalSinceReferenceDate.bitPattern, at: place)
    case (.uuid(let uuid), .uuid):
      withUnsafeBytes(of: uuid.uuid) { source in
        for offset in 0..<16 { bytes[place + offset] = source[offset] }
      }
    case (.string(let text), .string): values.append(contentsOf: text.utf8)
    case (.binary(let data), .binary), (.transformed(let data), .transformed):
      values.append(contentsOf: data)
    case (.decimal(let number), .decimal): values.append(contentsOf: number.rowText.utf8)
    case (.uri(let url), .uri), (.objectID(let url), .objectID):
      values.append(contentsOf: url.absoluteString.utf8)
    case (.composite, .composite): values.append(contentsOf: value.archived())
    default: throw mismatch(index, "\(value)")
    }
  }

  private func narrow<T: FixedWidthInteger>(_ number: Int64, _ index: Int) throws -> T {
    guard let narrow = T(exactly: number) else { throw mismatch(index, "\(number)") }
    return narrow
  }

  private func mismatch(_ index: Int, _ found: String) -> RowError {
    let field = layout.fields[index]
    return RowError(reason: "the field \(field.name) of kind \(field.kind) cannot hold \(found)")
  }

  private mutating func store(_ integer: some FixedWidthInteger, at offset: Int) {
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: integer.littleEndian, toByteOffset: offset, as: type(of: integer))
    }
  }
}

extension AttributeValue {
  /// The value as bytes that say their own type.
  func archived() -> [UInt8] {
    var bytes: [UInt8] = []
    ModelArchive.append(self, to: &bytes)
    return bytes
  }

  /// Reads what ``archived()`` wrote; `nil` when that was no value.
  init?(archived bytes: UnsafeRawBufferPointer) throws(ModelArchiveError) {
    var offset = 0
    guard let value = try ModelArchive.decodeValue(bytes, at: &offset) else { return nil }
    self = value
  }
}
