import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The error for a row whose bytes contradict its layout.
struct RowError: Error, Hashable, CustomStringConvertible {
  var reason: String
  var description: String { reason }
}

/// Reads the fields of one row in place.
///
/// The initialiser checks all offsets of the row once; reading a field then needs no check of
/// bounds. The checksum of a page proves that its bytes are those written, not that the row in them
/// is valid.
struct RowReader {
  let bytes: UnsafeRawBufferPointer
  let layout: RowLayout
  private let isWide: Bool
  private let valuesStart: Int

  /// Reads a row of this layout, and rejects one of another.
  init(_ bytes: UnsafeRawBufferPointer, layout: RowLayout) throws(RowError) {
    guard bytes.count >= layout.offsetsStart else {
      throw RowError(reason: "a row of \(bytes.count) bytes is shorter than its fixed part")
    }
    let number = UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self))
    guard number == layout.number else {
      throw RowError(reason: "a row has layout \(number), its entity has \(layout.number)")
    }
    try self.init(current: bytes, layout)
  }

  /// Reads a row of this layout or of one of its older ones. The latter is converted to this one in
  /// `scratch`, which must outlive the reader.
  init(
    _ bytes: UnsafeRawBufferPointer, layout: RowLayout, _ scratch: RowScratch
  ) throws(RowError) {
    if RowReader.isCurrent(bytes, layout) {
      try self.init(current: bytes, layout)
    } else {
      try self.init(current: try scratch.row(of: bytes, layout), layout)
    }
  }

  /// Whether the row has this layout and a complete fixed part.
  static func isCurrent(_ bytes: UnsafeRawBufferPointer, _ layout: RowLayout) -> Bool {
    bytes.count >= layout.offsetsStart
      && UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self)) == layout.number
  }

  /// The version of a row of this layout; `nil` if a quick check does not show that its end is
  /// valid.
  static func version(of bytes: UnsafeRawBufferPointer, _ layout: RowLayout) -> UInt32? {
    guard isCurrent(bytes, layout), endsRight(bytes, layout) else { return nil }
    return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
  }

  /// Whether the row's fields end where the row does. It is a quick check, which fails for rows
  /// with values outside, and for rows of more than 64 KiB. For rows of which no more is read.
  ///
  /// - Parameter bytes: a row of this layout with a complete fixed part.
  static func endsRight(_ bytes: UnsafeRawBufferPointer, _ layout: RowLayout) -> Bool {
    let rest = bytes.count &- layout.offsetsStart &- 2 &* layout.variableCount
    guard rest >= 0, bytes[2] & (RowLayout.wideOffsetsFlag | RowLayout.externalFlag) == 0 else {
      return false
    }
    if layout.variableCount == 0 { return rest == 0 }
    let last = layout.offsetsStart &+ 2 &* (layout.variableCount &- 1)
    return Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: last, as: UInt16.self)))
      == rest
  }

  /// - Returns: `nil` if the bytes are too few for any row.
  static func layoutNumber(of bytes: UnsafeRawBufferPointer) -> UInt16? {
    guard bytes.count >= RowLayout.headerByteCount else { return nil }
    return UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self))
  }

  /// - Parameter bytes: a row of this layout with a complete fixed part.
  init(current bytes: UnsafeRawBufferPointer, _ layout: RowLayout) throws(RowError) {
    self.init(checked: bytes, layout)
    guard valuesStart <= bytes.count else {
      throw RowError(reason: "a row of \(bytes.count) bytes has no room for its offsets")
    }
    var previous = 0
    for index in 0..<layout.variableCount {
      let end = end(ofVariable: index)
      guard end >= previous else { throw RowError(reason: "a row has a field that ends too early") }
      previous = end
    }
    if bytes[2] & RowLayout.externalFlag != 0 {
      try checkExternal()
      return
    }
    guard previous == bytes.count - valuesStart else {
      throw RowError(reason: "a row's fields end at \(previous) of \(bytes.count - valuesStart)")
    }
  }

  /// - Parameter bytes: a row that a reader of this layout has checked before.
  init(checked bytes: UnsafeRawBufferPointer, _ layout: RowLayout) {
    self.bytes = bytes
    self.layout = layout
    isWide = bytes[2] & RowLayout.wideOffsetsFlag != 0
    valuesStart = layout.offsetsStart + layout.variableCount * (isWide ? 4 : 2)
  }

  /// The number of times that the row was written: 1 for a new row.
  var version: UInt32 {
    UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
  }

  func isNil(_ field: Int) -> Bool {
    bytes[RowLayout.headerByteCount + field >> 3] & (1 << UInt8(field & 7)) != 0
  }

  /// The destination of a to-one relationship; the field must be a reference.
  func reference(_ field: Int) -> Reference? {
    isNil(field) ? nil : Reference(rawValue: fixed(field))
  }

  func value(_ field: Int) throws(RowError) -> AttributeValue? {
    if isNil(field) { return nil }
    switch layout.fields[field].kind {
    case .boolean: return .boolean(bytes[layout.positions[field]] != 0)
    case .integer16: return .integer(Int64(fixed(field) as Int16))
    case .integer32: return .integer(Int64(fixed(field) as Int32))
    case .integer64: return .integer(fixed(field))
    case .double: return .double(Double(bitPattern: fixed(field)))
    case .float: return .float(Float(bitPattern: fixed(field)))
    case .date:
      return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: fixed(field))))
    case .uuid:
      return .uuid(
        UUID(uuid: bytes.loadUnaligned(fromByteOffset: layout.positions[field], as: uuid_t.self)))
    case .reference: throw RowError(reason: "a relationship was read as an attribute")
    case .string: return .string(String(decoding: variable(field), as: UTF8.self))
    case .binary, .transformed:
      guard external(field) == nil else {
        throw RowError(
          reason: "\(layout.fields[field].name) was looked for in its row, but is outside")
      }
      return externalValue(field, Data(variable(field)))
    case .decimal:
      let text = String(decoding: variable(field), as: UTF8.self)
      guard let decimal = Decimal(rowText: text) else {
        throw RowError(reason: "'\(text)' is not a decimal number")
      }
      return .decimal(decimal)
    case .uri: return .uri(try url(field))
    case .objectID: return .objectID(try url(field))
    case .composite:
      do {
        guard case .composite(let values)? = try AttributeValue(archived: variable(field)) else {
          throw RowError(reason: "a composite field holds something else")
        }
        return .composite(values)
      } catch {
        throw RowError(reason: "a composite field cannot be read: \(error)")
      }
    }
  }

  /// The bytes of a variable field, valid as long as those of the row.
  func variable(_ field: Int) -> UnsafeRawBufferPointer {
    variables(layout.positions[field], 1)
  }

  private func url(_ field: Int) throws(RowError) -> URL {
    let text = String(decoding: variable(field), as: UTF8.self)
    guard let url = URL(string: text) else { throw RowError(reason: "'\(text)' is not a URI") }
    return url
  }

  private func fixed<T: FixedWidthInteger>(_ field: Int) -> T {
    T(littleEndian: bytes.loadUnaligned(fromByteOffset: layout.positions[field], as: T.self))
  }

  /// The offset of the end of the last variable field.
  var variableEnd: Int {
    valuesStart + (layout.variableCount == 0 ? 0 : end(ofVariable: layout.variableCount - 1))
  }

  /// The number of bytes of all variable fields, and of what follows them.
  var variableByteCount: Int { bytes.count - valuesStart }

  /// The bytes of consecutive variable fields, given by their index among the variable ones.
  func variables(_ first: Int, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      rebasing: bytes[
        valuesStart + start(ofVariable: first)..<valuesStart + end(ofVariable: first + count - 1)])
  }

  /// The start of a variable field, relative to that of the first one.
  func start(ofVariable index: Int) -> Int { index == 0 ? 0 : end(ofVariable: index - 1) }

  func end(ofVariable index: Int) -> Int {
    if isWide {
      let end = bytes.loadUnaligned(
        fromByteOffset: layout.offsetsStart + index * 4, as: UInt32.self)
      return Int(UInt32(littleEndian: end))
    }
    let end = bytes.loadUnaligned(fromByteOffset: layout.offsetsStart + index * 2, as: UInt16.self)
    return Int(UInt16(littleEndian: end))
  }
}

extension Decimal {
  /// Parses the text of ``rowText``.
  init?(rowText text: String) {
    if text == "NaN" {
      self = .nan
    } else if let value = Decimal(string: text) {
      self = value
    } else {
      return nil
    }
  }

  /// The number as text with all digits, independent of any locale.
  var rowText: String { isNaN ? "NaN" : description }
}
