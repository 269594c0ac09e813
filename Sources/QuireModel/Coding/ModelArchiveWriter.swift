#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Appends the parts of a model to an archive.
struct ModelArchiveWriter {
  var bytes: [UInt8] = []

  // MARK: Primitives

  mutating func write<Number: UnsignedInteger & FixedWidthInteger>(unsigned number: Number) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Zigzag: small numbers of either sign are short.
  mutating func write(signed number: Int64) {
    write(unsigned: UInt64(bitPattern: number << 1 ^ number >> 63))
  }

  mutating func write(_ count: Int) { write(unsigned: UInt64(count)) }

  mutating func write<Number: FixedWidthInteger>(fixed number: Number) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func write(_ string: String) {
    var string = string
    string.withUTF8 {
      write($0.count)
      bytes.append(contentsOf: $0)
    }
  }

  mutating func write(_ data: Data) {
    write(data.count)
    bytes.append(contentsOf: data)
  }

  mutating func write(_ date: Date) {
    write(fixed: date.timeIntervalSinceReferenceDate.bitPattern)
  }

  mutating func write(_ pairs: [String: String]) {
    write(pairs.count)
    for (key, value) in pairs.sorted(by: { $0.key < $1.key }) {
      write(key)
      write(value)
    }
  }

  /// Writes what is there; the flags say whether it is.
  mutating func write(ifPresent string: String?) { if let string { write(string) } }

  // MARK: Values

  mutating func write(_ value: AttributeValue?) {
    switch value {
    case nil: write(.absent)
    case .boolean(let flag)?: write(flag ? .yes : .no)
    case .integer(let number)?:
      write(.integer)
      write(signed: number)
    case .double(let number)?:
      write(.double)
      write(fixed: number.bitPattern)
    case .float(let number)?:
      write(.float)
      write(fixed: number.bitPattern)
    case .decimal(let number)?: write(number)
    case .string(let string)?:
      write(.string)
      write(string)
    case .date(let date)?:
      write(.date)
      write(date)
    case .binary(let data)?:
      write(.binary)
      write(data)
    case .uuid(let uuid)?:
      write(.uuid)
      withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
    case .uri(let url)?:
      write(.uri)
      write(url.absoluteString)
    case .transformed(let data)?:
      write(.transformed)
      write(data)
    case .objectID(let url)?:
      write(.objectID)
      write(url.absoluteString)
    case .composite(let values)?:
      write(.composite)
      write(values.count)
      for (name, value) in values.sorted(by: { $0.key < $1.key }) {
        write(name)
        write(value)
      }
    }
  }

  private mutating func write(_ tag: ValueTag) { bytes.append(tag.rawValue) }

  private mutating func write(_ decimal: Decimal) {
    guard let parts = DecimalParts(decimal) else { return write(.decimalNotANumber) }
    write(parts.isNegative ? .negativeDecimal : .positiveDecimal)
    write(signed: Int64(parts.exponent))
    write(unsigned: parts.mantissa)
  }
}
