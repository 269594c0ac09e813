import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A row's bytes contradict its layout.
struct RowError: Error, Hashable, CustomStringConvertible {
  var reason: String
  var description: String { reason }
}

/// Reads the fields of one row in place.
///
/// Making a reader checks every offset of the row once; reading fields then costs no further check
/// of bounds. A checksum has vouched for the bytes, but not for whoever wrote them.
struct RowReader {
  let bytes: UnsafeRawBufferPointer
  let layout: RowLayout
  private let isWide: Bool
  private let valuesStart: Int

  /// Reads a row of this layout, and refuses one of another.
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

  /// Reads a row of this layout, or of one of its older ones: then what is read is the row as it is
  /// in this one, in `scratch`, which must outlive the reader.
  @inline(__always)
  init(
    _ bytes: UnsafeRawBufferPointer, layout: RowLayout, _ scratch: RowScratch
  ) throws(RowError) {
    if RowReader.isCurrent(bytes, layout) {
      try self.init(current: bytes, layout)
    } else {
      try self.init(current: try scratch.row(of: bytes, layout), layout)
    }
  }

  /// Whether the row has this layout and its whole fixed part.
  @inline(__always)
  static func isCurrent(_ bytes: UnsafeRawBufferPointer, _ layout: RowLayout) -> Bool {
    bytes.count >= layout.offsetsStart
      && UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self)) == layout.number
  }

  /// The version of a row of this layout, if one look tells that its fields end right.
  @inline(__always)
  static func version(of bytes: UnsafeRawBufferPointer, _ layout: RowLayout) -> UInt32? {
    guard isCurrent(bytes, layout), endsRight(bytes, layout) else { return nil }
    return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
  }

  /// Whether the row's fields end where the row does, as far as one look tells; of rows with values
  /// outside, or of more than 64 KiB, it does not. For rows that are not looked at any further.
  ///
  /// - Parameter bytes: of this layout, with their whole fixed part.
  @inline(__always)
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

  /// - Returns: `nil` when the bytes are too few for any row.
  static func layoutNumber(of bytes: UnsafeRawBufferPointer) -> UInt16? {
    guard bytes.count >= RowLayout.headerByteCount else { return nil }
    return UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self))
  }

  /// - Parameter bytes: of this layout, with their whole fixed part.
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

  /// - Parameter bytes: which a reader of this layout has checked before.
  @inline(__always)
  init(checked bytes: UnsafeRawBufferPointer, _ layout: RowLayout) {
    self.bytes = bytes
    self.layout = layout
    isWide = bytes[2] & RowLayout.wideOffsetsFlag != 0
    valuesStart = layout.offsetsStart + layout.variableCount * (isWide ? 4 : 2)
  }

  /// How often the row has been written: 1 when it is new.
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
    case .boolean: return .boolean(bytes[layout.places[field]] != 0)
    case .integer16: return .integer(Int64(fixed(field) as Int16))
    case .integer32: return .integer(Int64(fixed(field) as Int32))
    case .integer64: return .integer(fixed(field))
    case .double: return .double(Double(bitPattern: fixed(field)))
    case .float: return .float(Float(bitPattern: fixed(field)))
    case .date:
      return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: fixed(field))))
    case .uuid:
      return .uuid(
        UUID(uuid: bytes.loadUnaligned(fromByteOffset: layout.places[field], as: uuid_t.self)))
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

  /// The bytes of a variable field, valid as long as the row's are.
  func variable(_ field: Int) -> UnsafeRawBufferPointer {
    variables(layout.places[field], 1)
  }

  private func url(_ field: Int) throws(RowError) -> URL {
    let text = String(decoding: variable(field), as: UTF8.self)
    guard let url = URL(string: text) else { throw RowError(reason: "'\(text)' is not a URI") }
    return url
  }

  private func fixed<T: FixedWidthInteger>(_ field: Int) -> T {
    T(littleEndian: bytes.loadUnaligned(fromByteOffset: layout.places[field], as: T.self))
  }

  /// Where the last variable field ends.
  var variableEnd: Int {
    valuesStart + (layout.variableCount == 0 ? 0 : end(ofVariable: layout.variableCount - 1))
  }

  /// The bytes of all variable fields together, and what follows them.
  var variableByteCount: Int { bytes.count - valuesStart }

  /// The bytes of variable fields that follow each other, by their index among the variable ones.
  func variables(_ first: Int, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      rebasing: bytes[
        valuesStart + start(ofVariable: first)..<valuesStart + end(ofVariable: first + count - 1)])
  }

  /// Where a variable field begins, counted from the first one.
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
  /// Reads what ``rowText`` wrote.
  init?(rowText text: String) {
    if text == "NaN" {
      self = .nan
    } else if let value = Decimal(string: text) {
      self = value
    } else {
      return nil
    }
  }

  /// All digits of the number, independent of any locale.
  var rowText: String { isNaN ? "NaN" : description }
}
