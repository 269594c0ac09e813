#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the parts of a model from an archive, and trusts none of its bytes.
struct ModelArchiveReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset: Int
  private var end: Int

  init(_ bytes: UnsafeRawBufferPointer, offset: Int = 0) {
    self.bytes = bytes
    // An offset outside is the end: whatever is read there is missing.
    self.offset = offset < 0 || offset > bytes.count ? bytes.count : offset
    end = bytes.count
  }

  var isAtEnd: Bool { offset == end }

  func damaged(_ reason: String) -> ModelArchiveError { .damaged(offset: offset, reason: reason) }

  /// Takes the checksum off the end.
  mutating func checkChecksum() throws(ModelArchiveError) {
    let contentEnd = bytes.count - ModelArchiveFormat.checksumByteCount
    if contentEnd < offset { throw damaged("it ends too early") }
    var checksumReader = ModelArchiveReader(bytes, offset: contentEnd)
    if try checksumReader.readFixed(UInt64.self)
      != ModelArchiveFormat.checksum(bytes[..<contentEnd])
    {
      throw .damaged(offset: contentEnd, reason: "the checksum is not that of the bytes")
    }
    end = contentEnd
  }

  // MARK: Primitives

  mutating func readByte() throws(ModelArchiveError) -> UInt8 {
    if offset >= end { throw damaged("it ends too early") }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func readUnsigned<Number: UnsignedInteger & FixedWidthInteger>(
    _: Number.Type
  ) throws(ModelArchiveError) -> Number {
    var number: Number = 0
    var shift = 0
    while true {
      let byte = try readByte()
      let part = Number(byte & 0x7F)
      if shift >= Number.bitWidth || (part << shift) >> shift != part {
        throw damaged("a number is too large")
      }
      number |= part << shift
      if byte < 0x80 { return number }
      shift += 7
    }
  }

  mutating func readSigned() throws(ModelArchiveError) -> Int64 {
    let number = try readUnsigned(UInt64.self)
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  mutating func readInt() throws(ModelArchiveError) -> Int {
    guard let number = Int(exactly: try readSigned()) else {
      throw damaged("a number is too large")
    }
    return number
  }

  /// A small number that is not a count of what follows.
  mutating func readNumber(limit: Int) throws(ModelArchiveError) -> Int {
    guard let number = Int(exactly: try readUnsigned(UInt64.self)), number <= limit else {
      throw damaged("a number is too large")
    }
    return number
  }

  /// The number of things that follow; each of them has one byte or more.
  mutating func readCount() throws(ModelArchiveError) -> Int {
    // Compared with what is left once the count itself was read.
    guard let count = Int(exactly: try readUnsigned(UInt64.self)), count <= end - offset else {
      throw damaged("a count is larger than what is left of the bytes")
    }
    return count
  }

  mutating func readFixed<Number: FixedWidthInteger>(
    _: Number.Type
  ) throws(ModelArchiveError) -> Number {
    let size = MemoryLayout<Number>.size
    if end - offset < size { throw damaged("it ends too early") }
    defer { offset += size }
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  private mutating func readBytes() throws(ModelArchiveError) -> UnsafeRawBufferPointer {
    let count = try readCount()
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  mutating func readString() throws(ModelArchiveError) -> String {
    guard let string = String(validating: try readBytes(), as: UTF8.self) else {
      throw damaged("a text is not UTF-8")
    }
    return string
  }

  mutating func readString(if isThere: Bool) throws(ModelArchiveError) -> String? {
    isThere ? try readString() : nil
  }

  mutating func readDate() throws(ModelArchiveError) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(bitPattern: try readFixed(UInt64.self)))
  }

  private mutating func readUUID() throws(ModelArchiveError) -> UUID {
    var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    if end - offset < 16 { throw damaged("it ends too early") }
    withUnsafeMutableBytes(of: &uuid) {
      $0.copyMemory(from: .init(rebasing: bytes[offset..<offset + 16]))
    }
    offset += 16
    return UUID(uuid: uuid)
  }

  private mutating func readURL() throws(ModelArchiveError) -> URL {
    guard let url = URL(string: try readString()) else { throw damaged("a text is not a URI") }
    return url
  }

  mutating func readPairs() throws(ModelArchiveError) -> [String: String] {
    var pairs: [String: String] = [:]
    for _ in 0..<(try readCount()) {
      let key = try readString()
      pairs[key] = try readString()
    }
    return pairs
  }

  mutating func readFlags<Flags: OptionSet>(
    _ all: Flags
  ) throws(ModelArchiveError) -> Flags where Flags.RawValue == UInt64 {
    let bits = try readUnsigned(UInt64.self)
    if bits & ~all.rawValue != 0 { throw damaged("a flag has no meaning in this format") }
    return Flags(rawValue: bits)
  }

  mutating func readList<Element>(
    _ read: (inout ModelArchiveReader) throws(ModelArchiveError) -> Element
  ) throws(ModelArchiveError) -> [Element] {
    let count = try readCount()
    var list: [Element] = []
    // What a byte claims is believed only step by step: an element is larger than its bytes.
    list.reserveCapacity(min(count, 64))
    for _ in 0..<count { list.append(try read(&self)) }
    return list
  }

  mutating func readStrings() throws(ModelArchiveError) -> [String] {
    try readList { (reader) throws(ModelArchiveError) in try reader.readString() }
  }

  // MARK: Values

  mutating func readValue(depth: Int = 0) throws(ModelArchiveError) -> AttributeValue? {
    guard let tag = ValueTag(rawValue: try readByte()) else {
      throw damaged("a value has an unknown type")
    }
    switch tag {
    case .absent: return nil
    case .no: return .boolean(false)
    case .yes: return .boolean(true)
    case .integer: return .integer(try readSigned())
    case .double: return .double(Double(bitPattern: try readFixed(UInt64.self)))
    case .float: return .float(Float(bitPattern: try readFixed(UInt32.self)))
    case .positiveDecimal: return .decimal(try readDecimal(isNegative: false))
    case .negativeDecimal: return .decimal(try readDecimal(isNegative: true))
    case .decimalNotANumber: return .decimal(.nan)
    case .string: return .string(try readString())
    case .date: return .date(try readDate())
    case .binary: return .binary(Data(try readBytes()))
    case .uuid:
      return .uuid(try readUUID())
    case .uri: return .uri(try readURL())
    case .transformed: return .transformed(Data(try readBytes()))
    case .objectID: return .objectID(try readURL())
    case .composite: return .composite(try readComposite(depth: depth + 1))
    }
  }

  private mutating func readDecimal(isNegative: Bool) throws(ModelArchiveError) -> Decimal {
    let exponent = try readSigned()
    let mantissa = try readUnsigned(UInt128.self)
    guard (-1000...1000).contains(exponent),
      let decimal = DecimalParts(
        isNegative: isNegative, mantissa: mantissa, exponent: Int(exponent)
      ).decimal
    else { throw damaged("a decimal number is too large") }
    return decimal
  }

  private mutating func readComposite(
    depth: Int
  ) throws(ModelArchiveError) -> [String: AttributeValue] {
    if depth > ModelArchiveFormat.maximumDepth { throw damaged("composites are nested too deep") }
    var values: [String: AttributeValue] = [:]
    for _ in 0..<(try readCount()) {
      let name = try readString()
      values[name] = try readValue(depth: depth)
    }
    return values
  }
}
