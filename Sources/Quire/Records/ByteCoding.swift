/// Appends numbers and strings in the byte order of all records of a store: little-endian, each
/// string and list after its length.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  init() {}

  mutating func append(_ integer: some FixedWidthInteger) {
    withUnsafeBytes(of: integer.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func append(_ flag: Bool) { append(UInt8(flag ? 1 : 0)) }

  mutating func append(_ text: String) {
    append(contentsOf: text.utf8)
  }

  mutating func append(contentsOf slice: some Collection<UInt8>) {
    append(UInt32(slice.count))
    bytes.append(contentsOf: slice)
  }

  mutating func append(_ text: String?) {
    append(text != nil)
    if let text { append(text) }
  }
}

/// An error in encoded bytes: they end early, or have contents that are never written.
struct ByteReaderError: Error, Hashable {
  var offset: Int
  var expected: String
}

/// Reads the bytes of a ``ByteWriter`` and trusts none of them: every length is checked against the
/// bytes that are left.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  /// The bytes must stay valid as long as the reader is used.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  func failure(_ expected: String) -> ByteReaderError {
    ByteReaderError(offset: offset, expected: expected)
  }

  mutating func read<T: FixedWidthInteger>(
    _ type: T.Type = T.self
  ) throws(ByteReaderError) -> T {
    let width = MemoryLayout<T>.size
    guard bytes.count - offset >= width else { throw failure("\(width) more bytes") }
    defer { offset += width }
    return T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  mutating func readBool() throws(ByteReaderError) -> Bool {
    switch try read(UInt8.self) {
    case 0: return false
    case 1: return true
    default: throw failure("a flag of 0 or 1")
    }
  }

  /// A view of the reader's bytes, without a copy.
  mutating func readSlice() throws(ByteReaderError) -> UnsafeRawBufferPointer {
    let count = Int(try read(UInt32.self))
    guard bytes.count - offset >= count else { throw failure("\(count) more bytes") }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  mutating func readString() throws(ByteReaderError) -> String {
    let slice = try readSlice()
    // Most names are short and ASCII; the general validation takes ten times as long for them.
    if slice.allSatisfy({ $0 < 0x80 }) { return String(decoding: slice, as: UTF8.self) }
    guard let text = String(validating: slice, as: UTF8.self) else { throw failure("UTF-8") }
    return text
  }

  mutating func readOptionalString() throws(ByteReaderError) -> String? {
    try readBool() ? try readString() : nil
  }

  /// The length of a list whose elements take at least `minimumWidth` bytes each.
  mutating func readCount(minimumWidth: Int = 1) throws(ByteReaderError) -> Int {
    let count = Int(try read(UInt32.self))
    guard count <= (bytes.count - offset) / max(minimumWidth, 1) else {
      throw failure("a count that fits the bytes left")
    }
    return count
  }
}
