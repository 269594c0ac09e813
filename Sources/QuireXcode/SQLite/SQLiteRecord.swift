import Foundation

/// The content of a row: a header with a type per column, and the values after it.
///
/// Lengths are checked when the record is made; values are decoded on access, so that reading only
/// keys makes no strings.
struct SQLiteRecord {
  private struct Field {
    var type: Int64
    var offset: Int
  }

  private let payload: [UInt8]
  private let fields: [Field]
  private let textEncoding: SQLiteHeader.TextEncoding

  /// - Returns: `nil` if header and values do not fit the payload.
  init?(_ payload: [UInt8], textEncoding: SQLiteHeader.TextEncoding) {
    var position = 0
    guard let headerSize = payload.sqliteVarint(at: &position, limit: payload.count),
      headerSize >= Int64(position), headerSize <= Int64(payload.count)
    else { return nil }
    var fields: [Field] = []
    var offset = Int(headerSize)
    while position < Int(headerSize) {
      guard let type = payload.sqliteVarint(at: &position, limit: Int(headerSize)),
        let byteCount = Self.byteCount(of: type), byteCount <= payload.count - offset
      else { return nil }
      fields.append(Field(type: type, offset: offset))
      offset += byteCount
    }
    self.payload = payload
    self.fields = fields
    self.textEncoding = textEncoding
  }

  var count: Int { fields.count }

  /// - Precondition: `index < count`.
  func value(at index: Int) -> SQLiteValue {
    let field = fields[index]
    switch field.type {
    case 0: return .null
    case 1...6: return .integer(integer(field.offset, Self.byteCount(of: field.type) ?? 0))
    case 7:
      let number = Double(bitPattern: UInt64(bitPattern: integer(field.offset, 8)))
      return number.isNaN ? .null : .real(number)  // as SQLite reads a NaN
    case 8: return .integer(0)
    case 9: return .integer(1)
    default:
      let count = Self.byteCount(of: field.type) ?? 0
      let bytes = payload[field.offset..<field.offset + count]
      return field.type % 2 == 0 ? .blob(Data(bytes)) : .text(text(bytes))
    }
  }

  /// Whether the text at `index` has bytes that are not text in the encoding of the file.
  func hasMalformedText(at index: Int) -> Bool {
    let field = fields[index]
    guard field.type >= 13, field.type % 2 == 1 else { return false }
    let bytes = payload[field.offset..<field.offset + (Self.byteCount(of: field.type) ?? 0)]
    switch textEncoding {
    case .utf8: return String(validating: bytes, as: UTF8.self) == nil
    default: return String(validating: codeUnits(bytes), as: UTF16.self) == nil
    }
  }

  /// Codes 10 and 11 are never written to a file.
  private static func byteCount(of type: Int64) -> Int? {
    switch type {
    case 0, 8, 9: 0
    case 1...4: Int(type)
    case 5: 6
    case 6, 7: 8
    case 12...: Int((type - 12) / 2)
    default: nil
    }
  }

  private func integer(_ offset: Int, _ byteCount: Int) -> Int64 {
    var value: Int64 = payload[offset] & 0x80 == 0 ? 0 : -1
    for index in offset..<offset + byteCount { value = value << 8 | Int64(payload[index]) }
    return value
  }

  private func text(_ bytes: ArraySlice<UInt8>) -> String {
    switch textEncoding {
    case .utf8: String(decoding: bytes, as: UTF8.self)
    default: String(decoding: codeUnits(bytes), as: UTF16.self)
    }
  }

  private func codeUnits(_ bytes: ArraySlice<UInt8>) -> [UInt16] {
    let low = textEncoding == .utf16LittleEndian ? 0 : 1
    return stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
      UInt16(bytes[$0 + low]) | UInt16(bytes[$0 + 1 - low]) << 8
    }
  }
}
